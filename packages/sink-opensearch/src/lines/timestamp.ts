import { putPadded } from './digits.js';

const NS_PER_SECOND = 1e9;

/** Milliseconds since the epoch, rounded down, of nanoseconds in two 32-bit words. */
export function timeMs(high: number, low: number): number {
  // Each part is exact in a double: 2^32 ns are 4294 ms and 967,296 ns.
  return high * 4294 + Math.floor((high * 967_296 + low) / 1e6);
}

/** Writes times as RFC 3339 has them, in UTC, with nine digits behind the point. */
export class Timestamps {
  #second = -1;
  /** `YYYY-MM-DDTHH:MM:SS.`; times come in order, nearly, so it seldom changes. */
  #text: Buffer = Buffer.alloc(0);

  /**
   * Writes 30 bytes, `2026-11-21T23:05:00.123456789Z`.
   * @param high upper 32 bits of the nanoseconds since the epoch
   * @param low lower 32 bits
   * @returns the position behind them
   */
  put(bytes: Uint8Array, start: number, high: number, low: number): number {
    const below = high * 967_296 + low;
    const whole = Math.floor(below / 1e6);
    const ms = high * 4294 + whole;
    const second = Math.floor(ms / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = Buffer.from(new Date(second * 1000).toISOString().slice(0, 20), 'latin1');
    }
    bytes.set(this.#text, start);
    const nanoseconds = (ms - second * 1000) * 1e6 + (below - whole * 1e6);
    const at = putPadded(bytes, start + this.#text.length, nanoseconds % NS_PER_SECOND, 9);
    bytes[at] = 0x5a;
    return at + 1;
  }
}
