/**
 * Internal times are whole microseconds since the epoch. Numbers hold them exactly, and sums and comparisons are cheap.
 * Nanoseconds would exceed 2^53.
 */

/** A limit in the year 2112, which replaces later times. State stores times with a sign, in 53 bits. */
const LATEST_US = 2 ** 52 - 2 ** 40;

/** Converts a 64-bit time in nanoseconds, given as two words, to whole microseconds. */
export function microseconds(high: number, low: number): number {
  // 2^32 = 4,294,967 * 1000 + 296, so nothing here exceeds 53 bits.
  const time = high * 4_294_967 + Math.floor((high * 296 + low) / 1000);
  return Math.min(time, LATEST_US);
}

/** @throws RangeError for an invalid time */
export function microsecondsOfMs(timeMs: number): number {
  if (!(timeMs >= 0 && timeMs < Number.POSITIVE_INFINITY)) throw new RangeError(`timeMs must not be ${timeMs}`);
  return Math.min(Math.floor(timeMs * 1000), LATEST_US);
}

/** The time in nanoseconds, as decimal digits. */
export function nanosecondText(timeUs: number): string {
  return timeUs === 0 ? '0' : `${timeUs}000`;
}
