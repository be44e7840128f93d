/**
 * The probabilities that a slot is overwritten and that a foreign checksum matches. Source: section 4 of "Zero-CPU
 * Collection with Direct Telemetry Access" (DART). Symbols, here and in the neighbouring files:
 *
 * - M: slots of the store; N: slots of a key (copies); b: bits of the checksum
 * - K: distinct keys written since the queried key; load = K / M
 * - p: probability that a given slot has been overwritten since
 * - q: probability that a given foreign slot has the queried key's checksum
 */
import { whole } from '../layout.js';

function atLeastZero(name: string, value: number): void {
  if (!(value >= 0)) throw new RangeError(`${name} must be 0 or more, not ${value}`);
}

/**
 * p = 1 - exp(-N K / M): the probability that a slot has been overwritten. It is the Poisson approximation of the
 * binomial 1 - (1 - 1/M)^(N K) and exceeds it by less than 1 / M. It is accurate to the last digits for tiny p.
 *
 * @param keys K
 * @param slots M
 * @param copies N; a mean, possibly not whole, if keys write different numbers of slots
 */
export function overwriteProbability(keys: number, slots: number, copies: number): number {
  atLeastZero('keys', keys);
  atLeastZero('copies', copies);
  if (!(slots > 0)) throw new RangeError(`slots must be above 0, not ${slots}`);
  return -Math.expm1((-copies * keys) / slots);
}

/**
 * Like {@link overwriteProbability}, but binomial and with the bias of the modulo. A slot is h mod M for a uniform
 * 32-bit h: with Q = floor(2^32 / M) and r = 2^32 mod M, r slots have Q + 1 preimages and M - r have Q. A key's slot is
 * one of the former with probability r (Q + 1) / 2^32, and then every write of another key hits it with probability
 * (Q + 1) / 2^32:
 *
 * p = 1 - sum over both kinds of weight * (1 - hit)^(N K)
 *
 * Exact for independent uniform hashes. The bias is zero if M is a power of two, and otherwise below M / 2^32 of the
 * load: it matters in stores of hundreds of millions of slots. The kinds of a key's slots are independent, so powers of
 * this p are exact, too.
 *
 * @param keys K
 * @param slots M, 1..2^32
 * @param copies N, as in {@link overwriteProbability}
 */
export function overwriteProbabilityWithModuloBias(keys: number, slots: number, copies: number): number {
  atLeastZero('keys', keys);
  atLeastZero('copies', copies);
  whole('slots', slots, 1, 2 ** 32);
  const preimages = Math.floor(2 ** 32 / slots);
  const remainder = 2 ** 32 % slots;
  let overwritten = 0;
  for (const [count, of] of [
    [preimages + 1, remainder],
    [preimages, slots - remainder],
  ] as const) {
    const hit = count / 2 ** 32;
    if (of > 0) overwritten += of * hit * -Math.expm1(copies * keys * Math.log1p(-hit));
  }
  // Without writes p is 0; for M = 1, log1p(-1) * 0 would be NaN.
  return keys * copies === 0 ? 0 : overwritten;
}

/**
 * The rule "0 is stored as 1" divides keys into two kinds: [probability of the kind, q of the kind]. The value 1 stands
 * for two of the 2^b hashes. All slots of a key match with the same q, so average powers of q over the kinds; do not
 * take powers of the average.
 *
 * @param checksumBits b
 */
export function checksumKinds(checksumBits: number): readonly (readonly [number, number])[] {
  const inverse = 2 ** -checksumBits;
  return [
    [1 - 2 * inverse, inverse],
    [2 * inverse, 2 * inverse],
  ];
}
