/** Timeouts that follow the round-trip time of each link (RFC 6298). */
import type { AdaptiveOptions, RttState } from './model.js';

/** The estimate after a sample of `roundTripNs` (RFC 6298, sections 2.2 and 2.3: alpha 1/8, beta 1/4). */
export function afterSample(state: RttState | null, roundTripNs: number): RttState {
  if (state === null) return { smoothedNs: roundTripNs, variationNs: roundTripNs / 2, backoff: 0 };
  const variationNs = state.variationNs + (Math.abs(state.smoothedNs - roundTripNs) - state.variationNs) / 4;
  return { smoothedNs: state.smoothedNs + (roundTripNs - state.smoothedNs) / 8, variationNs, backoff: 0 };
}

/** The estimate after a timeout: the next timeout is twice as long (RFC 6298, section 5.5). */
export function afterTimeout(state: RttState | null): RttState | null {
  // 2^40 ns is longer than any clamp in use.
  return state === null ? null : { ...state, backoff: Math.min(state.backoff + 1, 40) };
}

/** The timeout of a link: srtt + 4 rttvar, doubled per timeout since, within the clamps; `initialNs` before any sample. */
export function timeoutOf(state: RttState | null, options: AdaptiveOptions, initialNs: number): number {
  const raw = state === null ? initialNs : (state.smoothedNs + 4 * state.variationNs) * 2 ** state.backoff;
  return Math.round(Math.min(Math.max(raw, options.minNs), options.maxNs));
}

/**
 * Feedback timeouts of a number of links, each with its own estimate: for the ports of a switch, or the switches of a
 * monitor. Every send has its own request id, which identifies its samples, so samples of resent probes count as well
 * (unlike Karn's rule).
 */
export class AdaptiveTimeouts {
  readonly #states: (RttState | null)[];
  readonly #options: AdaptiveOptions;
  readonly #initialNs: number;

  /**
   * @param links number of links (ports)
   * @param options clamps, ns
   * @param initialNs timeout before the first sample, ns; the clamps apply to it too
   */
  constructor(links: number, options: AdaptiveOptions, initialNs: number) {
    if (!(options.minNs > 0 && options.maxNs >= options.minNs)) throw new RangeError('0 < minNs <= maxNs is required');
    this.#states = new Array<RttState | null>(links).fill(null);
    this.#options = options;
    this.#initialNs = initialNs;
  }

  /** Timeout of a link, ns. */
  timeoutNs(link: number): number {
    return timeoutOf(this.#states[link] ?? null, this.#options, this.#initialNs);
  }

  /** Notes feedback after `roundTripNs`. */
  sample(link: number, roundTripNs: number): void {
    if (link < this.#states.length) this.#states[link] = afterSample(this.#states[link] ?? null, roundTripNs);
  }

  /** Notes a missing feedback. */
  expired(link: number): void {
    if (link < this.#states.length) this.#states[link] = afterTimeout(this.#states[link] ?? null);
  }
}
