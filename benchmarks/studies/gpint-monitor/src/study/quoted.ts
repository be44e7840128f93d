/** What the README says of the results. */
import { Lookup, type Where } from './lookup.js';
import type { Measure } from './measures.js';
import type { StudyResults } from './report.js';

const seconds = (value: number): string => `${value.toFixed(2)} s`;
const probes = (value: number): string => value.toFixed(1);

/** How many of the paper's statements are confirmed, and some of the figures. */
export function claimsInWords({ outcomes, results }: StudyResults): string {
  const look = new Lookup(results);
  const count = (wanted: string): number => outcomes.filter(({ outcome }) => outcome === wanted).length;
  const fineTuned = results
    .filter(({ cell }) => cell.method === 'gpint-3-ft')
    .map((each) => each.estimates.failedSessions);
  const failed = fineTuned.reduce((sum, { mean }) => sum + mean, 0) / fineTuned.length / 100;
  const busy = (method: Where['method']): number =>
    look.mean({ method, load: 'high', switches: 100, recover: true }, 'elapsed');
  const lossy = (method: Where['method'], loss: number, measure: Measure): number =>
    look.mean({ method, load: 'high', switches: 100, recover: true, loss }, measure);
  const quiet = (method: Where['method'], loss: number, losesFeedback: boolean): string =>
    probes(look.mean({ method, load: 'none', switches: 100, recover: true, loss, losesFeedback }, 'probes'));
  const background = (loss: number): string =>
    look
      .mean({ method: 'gpint-3', load: 'high', switches: look.largestDegraded, recover: false, loss }, 'backgroundLoss')
      .toFixed(0);
  return [
    `Of the paper's ${outcomes.length} statements, ${count('as in the paper')} are confirmed. [results/REPORT.md](results/REPORT.md) lists all of them, with the
measurements, the reasons for the ${count('differs')} differences, and every table; the charts are beside it. Among them:`,
    [
      `- With recovery (t_f 1.5 s, r_a 10) no session failed, whatever the load and the loss. Fine-tuned (0.4 s, 2), one in ${Math.round(1 / failed).toLocaleString('en')} did:
  a switch so busy that it drops every fifth packet was given up after as many lost tries as it is allowed.`,
      `- Under high load with recovery, 100 switches take Euler's trails ${seconds(busy('euler'))}, GPINT-2, -3, -5 ${busy('gpint-2').toFixed(2)}, ${busy('gpint-3').toFixed(2)}, ${seconds(busy('gpint-5'))},
  one probe a switch ${seconds(busy('snmp'))}, and only GPINT-3-FT less, ${seconds(busy('gpint-3-ft'))}.`,
      `- At 20 % loss one probe a switch is far faster (${seconds(lossy('snmp', 0.2, 'elapsed'))} against ${seconds(lossy('gpint-3-ft', 0.2, 'elapsed'))} of GPINT-3-FT) and costs 100 probes, where 25
  paths cost ${quiet('paths-25', 0.2, false)}, and ${quiet('paths-25', 0.05, false)} at 5 %; 30 paths ${quiet('paths-30', 0.2, false)} and ${quiet('paths-30', 0.05, false)}. That is one more for each link that loses a probe.
  Feedback that is lost as well changes nothing (${[quiet('paths-25', 0.2, true), quiet('paths-25', 0.05, true), quiet('paths-30', 0.2, true), quiet('paths-30', 0.05, true)].join(', ')}) as long as probes are home before t_f.`,
      `- Not as in the paper: background traffic loses more (${background(0.15)} and ${background(0.2)} % at 15 and 20 % a link, for 40 and 55), since every hop
  loses its share; Euler's trails lose more probes.`,
    ].join('\n'),
  ].join('\n\n');
}
