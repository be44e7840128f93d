import { afterSample, afterTimeout, timeoutOf } from '../../../src/recovery/adaptive.js';
import type { AdaptiveOptions, RttState } from '../../../src/recovery/model.js';

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
