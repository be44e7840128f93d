/** Parameters of recovery, and a bound of its duration. */
import type { RecoveryConfig, SessionProbe } from './model.js';

/** Parameters that reliable GPINT, section V-B3, calls fine-tuned (GPINT-FT): t_f 0.4 s, r_a 2. */
export const FINE_TUNED: Pick<RecoveryConfig, 'timeoutNs' | 'maxAttempts'> = /* @__PURE__ */ Object.freeze({
  timeoutNs: 400_000_000,
  maxAttempts: 2,
});

function requireInteger(name: string, value: number, least: number, most: number): void {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
  }
}

/** A day: no answer of a network takes longer, and sums stay exact. */
const LONGEST_NS = 86_400_000_000_000;

/** Half of the request ids, so that a free one is always near. */
const MOST_IN_FLIGHT = 16_384;

/**
 * Completes the parameters with defaults. Defaults: those of reliable GPINT, section IV-C (t_f 1.5 s, r_a 10) and V-A
 * (12 probes in flight); t_ro is half of t_f.
 *
 * @throws RangeError for a value outside its range
 */
export function recoveryConfig(overrides: Partial<RecoveryConfig> = {}): RecoveryConfig {
  const timeoutNs = overrides.timeoutNs ?? 1_500_000_000;
  const config: RecoveryConfig = {
    timeoutNs,
    resolutionNs: overrides.resolutionNs ?? Math.max(1, Math.floor(timeoutNs / 2)),
    maxAttempts: overrides.maxAttempts ?? 10,
    maxInFlight: overrides.maxInFlight ?? 12,
    recover: overrides.recover ?? true,
    keepDeadlineOnNotice: overrides.keepDeadlineOnNotice ?? false,
    sessionTimeoutNs: overrides.sessionTimeoutNs ?? null,
    adaptive: overrides.adaptive ?? null,
    prefixTo: overrides.prefixTo ?? null,
    maxPrefixHops: overrides.maxPrefixHops ?? 0,
  };
  requireInteger('timeoutNs', config.timeoutNs, 1, LONGEST_NS);
  requireInteger('resolutionNs', config.resolutionNs, 1, LONGEST_NS);
  requireInteger('maxAttempts', config.maxAttempts, 0, 1_000_000);
  requireInteger('maxInFlight', config.maxInFlight, 1, MOST_IN_FLIGHT);
  requireInteger('maxPrefixHops', config.maxPrefixHops, 0, 0xffff);
  if (config.sessionTimeoutNs !== null) requireInteger('sessionTimeoutNs', config.sessionTimeoutNs, 1, LONGEST_NS);
  if (config.adaptive !== null) {
    requireInteger('adaptive.minNs', config.adaptive.minNs, 1, LONGEST_NS);
    requireInteger('adaptive.maxNs', config.adaptive.maxNs, config.adaptive.minNs, LONGEST_NS);
  }
  return Object.freeze(config);
}

/** Longest t_f that a monitor uses for its own link. */
function longestTimeout(config: RecoveryConfig): number {
  return config.adaptive === null ? config.timeoutNs : Math.max(config.adaptive.maxNs, config.timeoutNs);
}

/**
 * An upper bound of the duration of a session in ns, for all losses, failures and duplicates, provided that ticks come
 * when they are due.
 *
 * Why: let a probe have n switches, and let h be the hops (links) ahead of it when it is sent from position i: the
 * n - 1 - i of its path and those of its prefix. The deadline of a send is t_f (h + 1) after it. At the first tick after
 * the deadline, at most t_ro later, the probe is either finished or resent, because it waits in Q: feedback put it there,
 * or a notice, or a tick that found t_f exceeded. (t_f is not longer than t_f (h + 1); where they are equal, that tick
 * itself may come t_ro after the deadline.) Notices only make it earlier. So a send holds its probe for at most
 * t_f (h + 1) + t_ro. Every failed send adds to `attempts`, which is reset only when the index grows: a position takes at
 * most r_a + 2 sends, and there are n positions. So a probe takes at most
 *
 *     T = (r_a + 2) * sum over i of (t_f (n - i + prefix) + t_ro)
 *
 * Probes start as places get free (m of them), in a fixed order, so the last one ends by sum(T) / m + max(T) (Graham,
 * "Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 1969). After giving up switches, the session waits for
 * late answers until t_f (h + 2) after the last send. That is less than t_f (n + prefix + 1) + t_ro after the end of the
 * last probe. Without recovery a probe takes one send, and the session waits for nothing. A shorter `sessionTimeoutNs`
 * ends the session at the first tick after it.
 */
export function sessionBoundNs(probes: readonly SessionProbe[], config: RecoveryConfig): number {
  const timeout = longestTimeout(config);
  let sum = 0;
  let most = 0;
  let wait = 0;
  for (const { switches } of probes) {
    let time = 0;
    for (let i = 0; i < (config.recover ? switches.length : 1); i++) {
      time += timeout * (switches.length - i + config.maxPrefixHops) + config.resolutionNs;
    }
    if (config.recover) {
      time *= config.maxAttempts + 2;
      wait = Math.max(wait, config.timeoutNs * (switches.length + config.maxPrefixHops + 1) + config.resolutionNs);
    }
    sum += time;
    most = Math.max(most, time);
  }
  const bound = wait + (probes.length <= config.maxInFlight ? most : Math.ceil(sum / config.maxInFlight) + most);
  return config.sessionTimeoutNs === null ? bound : Math.min(bound, config.sessionTimeoutNs + config.resolutionNs);
}
