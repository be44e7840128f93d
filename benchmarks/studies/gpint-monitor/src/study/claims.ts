/** The statements of section V of the reliable GPINT paper, figure by figure. */
import { WITH_RECOVERY } from './claims-with-recovery.js';
import { WITHOUT_RECOVERY } from './claims-without-recovery.js';
import type { Expectation } from './expectations.js';
import { METHODS, PROBES_SWITCHES } from './matrix.js';

/** Ranges that independent simulation gives for the number of probes of a session; the upper ends are with lost feedback. */
const PROBES = [
  ['paths-25', 0.05, 29, 33, 'about 30 in the paper'],
  ['paths-25', 0.2, 40, 55, 'about 42 in the paper'],
  ['paths-30', 0.05, 34, 37, 'which is GPINT-3 by its formula'],
  ['paths-30', 0.2, 44, 57, 'which is GPINT-3 by its formula'],
] as const;

const SESSION_PROBES: readonly Expectation[] = PROBES.map(([method, loss, low, high, note]) => ({
  figure: 'section V-B3',
  claim: `${METHODS[method].label}, ${loss * 100} % loss, ${PROBES_SWITCHES} switches: ${low} to ${high} probes a session (${note}), where SNMP-like collection takes ${PROBES_SWITCHES}.`,
  check: (look) => {
    const of = (losesFeedback: boolean): number =>
      look.mean({ method, load: 'none', switches: PROBES_SWITCHES, recover: true, loss, losesFeedback }, 'probes');
    const [safe, lossy] = [of(false), of(true)];
    return {
      holds: Math.min(safe, lossy) >= low - 1 && Math.max(safe, lossy) <= high + 1,
      measured: `${safe.toFixed(1)} if feedback is safe, ${lossy.toFixed(1)} if it is lost like the rest`,
    };
  },
  why: 'each link of a path is tried once and brings a probe if it loses; a lost feedback brings none, since the probe is home long before t_f has passed.',
}));

export const CLAIMS: readonly Expectation[] = [...WITHOUT_RECOVERY, ...WITH_RECOVERY, ...SESSION_PROBES];
