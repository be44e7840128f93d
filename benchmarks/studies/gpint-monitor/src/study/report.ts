/** The study in words and tables (Markdown). */
import { markdownTable as table } from '@int/harness';
import type { Outcome } from './expectations.js';
import { type FigurePart, facetOf, figureParts, methodsOf } from './figures.js';
import { type Extent, keyOf, METHODS, PROBES_SWITCHES } from './matrix.js';
import type { CellResult } from './measures.js';
import type { Estimate } from './statistics.js';
import { SURROUNDINGS } from './surroundings.js';

/** What `results/study.json` holds, its head aside: the same for the same seed and extent. */
export interface StudyResults {
  readonly extent: Extent;
  readonly seed: string;
  readonly virtualSeconds: number;
  readonly outcomes: readonly Outcome[];
  readonly results: readonly CellResult[];
}

function digits(value: number): string {
  return value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value >= 1
        ? value.toFixed(2)
        : value.toFixed(3);
}

function estimateText({ mean, halfWidth, count }: Estimate): string {
  if (mean === 0 && halfWidth === 0) return '0';
  return count === 1 ? digits(mean) : `${digits(mean)} ± ${digits(halfWidth)}`;
}

function partTable(part: FigurePart): string {
  const methods = methodsOf(part);
  const sizes = [...new Set(part.results.map(({ cell }) => cell.switches))];
  const facets = [...new Set(part.results.map(({ cell }) => facetOf(part.facet, cell)))];
  const rows = facets.flatMap((facet) =>
    sizes.map((switches) => {
      const cells = methods.map((method) => {
        const found = part.results.find(
          ({ cell }) => cell.method === method && cell.switches === switches && facetOf(part.facet, cell) === facet,
        );
        return found === undefined ? '' : estimateText(found.estimates[part.measure]);
      });
      return part.facet === 'none' ? [switches, ...cells] : [facet, switches, ...cells];
    }),
  );
  const labels = methods.map((method) => METHODS[method].label);
  return table(part.facet === 'none' ? ['switches', ...labels] : ['', 'switches', ...labels], rows);
}

function probesTable(results: readonly CellResult[]): string {
  const rows = results
    .filter(({ cell }) => cell.load === 0)
    .map(({ cell, estimates }) => [
      METHODS[cell.method].label,
      `${Math.round(cell.loss * 100)} %`,
      cell.losesFeedback ? 'lost like the rest' : 'safe',
      estimateText(estimates.probes),
      estimateText(estimates.recoveryRatio),
    ]);
  return table(['', 'loss per link', 'feedback', 'probes a session', 'recovery probes, % of initial'], rows, 3);
}

function setting({ extent }: StudyResults): string {
  const ms = (ns: number): string => `${ns / 1e6} ms`;
  const { degree, rewired, hosts, packetBytes, queuePackets, linkDelayNs, hostDelayNs, inFlight } = SURROUNDINGS;
  return [
    `Watts-Strogatz graphs (${degree} neighbours, ${rewired} rewired), ${hosts} hosts at random switches, UDP packets of ${packetBytes} bytes between random hosts at Poisson times, shortest paths (ties drawn).`,
    `Links 1 Gbit/s and ${ms(linkDelayNs)}, those of the monitor to every switch included (which lose nothing); ${ms(hostDelayNs)} to hosts.`,
    `Switch queues of ${queuePackets} packets, in which clones take places; all switches of a network equally fast, so that the busiest is ${SURROUNDINGS.utilisation * 100} % used by 10,000 packets/s and saturated by 14,000; at most ${inFlight} probes in flight.`,
    `${extent.rounds} rounds in each of ${extent.repetitions} repetitions (each with its own graph, hosts and traffic, the same for all methods), after warm-up; ± is half the 95 % confidence interval over repetitions (Student's t).`,
    'Timeouts: t_f 1.5 s and 10 attempts, GPINT-3-FT 0.4 s and 2. Failed sessions: with recovery a switch is missing; without, a probe is.',
  ].join('\n');
}

function usedTable({ results }: StudyResults): string {
  const rows = results
    .filter(({ cell }) => cell.method === 'gpint-3' && !cell.recover)
    .map(({ cell, estimates }) => [
      cell.load.toLocaleString('en'),
      `${Math.round(cell.loss * 100)} %`,
      cell.switches,
      estimateText(estimates.busiest),
      estimateText(estimates.utilisation),
      estimateText(estimates.backgroundLoss),
    ]);
  return table(
    ['packets/s', 'loss per link', 'switches', 'busiest switch used, %', 'mean of switches, %', 'background lost, %'],
    rows,
  );
}

export function renderReport(study: StudyResults): string {
  const { extent, outcomes, results } = study;
  const count = (outcome: Outcome['outcome']): number => outcomes.filter((each) => each.outcome === outcome).length;
  const longest = results.filter(({ cell }) => cell.method === 'euler' && !cell.recover);
  const sections = [
    '# Figures 8 to 15 of reliable GPINT, simulated',
    setting(study),
    '## What the paper states, and what comes out',
    ...(extent.repetitions < 10 ? ['Few repetitions: where it differs, that may be chance.'] : []),
    `${count('as in the paper')} as in the paper, ${count('differs')} differ, ${count('not measured')} not measured.`,
    table(
      ['figure', 'statement', 'outcome', 'measured'],
      outcomes.map(({ figure, claim, outcome, measured, why }) => [
        figure,
        claim,
        outcome === 'differs' ? `differs: ${why}` : outcome,
        measured,
      ]),
      4,
    ),
  ];
  if (results.some(({ cell }) => cell.method === 'gpint-3' && !cell.recover)) {
    sections.push('## How busy the switches are', usedTable(study));
  }
  if (longest.length > 0) {
    const visits = [...new Map(longest.map((each) => [each.cell.switches, each.estimates.longest])).entries()];
    sections.push(
      `Longest trail of Euler, visits: ${visits.map(([switches, value]) => `${estimateText(value)} (${switches} switches)`).join(', ')}.`,
    );
  }
  for (const part of figureParts(extent, results)) {
    sections.push(
      `## Figure ${part.name}: ${part.title}, ${part.yLabel}`,
      `![${part.title}](figure-${part.name}.svg)`,
      partTable(part),
    );
  }
  if (results.some(({ cell }) => cell.load === 0)) {
    sections.push(`## Probes of a session, ${PROBES_SWITCHES} switches, no background traffic`, probesTable(results));
  }
  sections.push(`Seed ${study.seed}; ${new Set(results.map(({ cell }) => keyOf(cell))).size} combinations.`);
  return `${sections.join('\n\n')}\n`;
}
