/**
 * Time inside is whole microseconds since the epoch: numbers hold them exactly, and sums and comparisons cost nothing.
 * Nanoseconds are beyond 2^53.
 */

/** In the year 2112; later times are taken to be it. State holds times with a sign, in 53 bits. */
const LATEST_US = 2 ** 52 - 2 ** 40;

/** Whole microseconds of a 64-bit time in nanoseconds, given as two words. */
export function microseconds(high: number, low: number): number {
  // 2^32 = 4,294,967 * 1000 + 296: nothing here exceeds 53 bits.
  const time = high * 4_294_967 + Math.floor((high * 296 + low) / 1000);
  return Math.min(time, LATEST_US);
}

/** @throws RangeError for a time that is none */
export function microsecondsOfMs(timeMs: number): number {
  if (!(timeMs >= 0 && timeMs < Number.POSITIVE_INFINITY)) throw new RangeError(`timeMs must not be ${timeMs}`);
  return Math.min(Math.floor(timeMs * 1000), LATEST_US);
}

/** Nanoseconds as decimal digits. */
export function nanosecondText(timeUs: number): string {
  return timeUs === 0 ? '0' : `${timeUs}000`;
}
