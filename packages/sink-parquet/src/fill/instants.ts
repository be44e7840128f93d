/** Nanoseconds in an hour. */
const HOUR_NS = 3_600_000_000_000n;
/** The latest time that a column of times holds as a time: the greatest numbers stand for infinity there. */
const LAST_HIGH = 0x7ffffffe;

/** The hour that a time lies in. Asks for the exact hour only when a time leaves the last one. */
export class HourFinder {
  #hour = -1;
  #fromHigh = 1;
  #fromLow = 0;
  #toHigh = 0;
  #toLow = 0;

  /** Upper half of a time, not later than a column of times can hold: 2262. */
  static clampHigh(high: number): number {
    return Math.min(high, LAST_HIGH);
  }

  /** @returns hours since 1970-01-01 00:00 UTC */
  find(high: number, low: number): number {
    const isAfter = high > this.#fromHigh || (high === this.#fromHigh && low >= this.#fromLow);
    const isBefore = high < this.#toHigh || (high === this.#toHigh && low < this.#toLow);
    if (isAfter && isBefore) return this.#hour;
    const hour = ((BigInt(high) << 32n) | BigInt(low)) / HOUR_NS;
    const from = hour * HOUR_NS;
    const to = from + HOUR_NS;
    this.#hour = Number(hour);
    this.#fromHigh = Number(from >> 32n);
    this.#fromLow = Number(from & 0xffffffffn);
    this.#toHigh = Number(to >> 32n);
    this.#toLow = Number(to & 0xffffffffn);
    return this.#hour;
  }
}
