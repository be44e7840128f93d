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
