import type { Arena } from '@int/codec';
import { signed } from '@int/codec/internals';
import { entriesFor, FOUND } from './flow-table.js';

const WAYS = 8;
const FREE = -1;

/** Switches by their exact id, in a fixed number of entries. In a full set of 8, the least recently seen switch gives way. */
export class SwitchTable {
  /** How the last {@link find} went: see {@link FOUND}. */
  outcome: number = FOUND.KNOWN;
  /** Whether ticks are time, so that entries can be idle for too long. */
  ages = false;
  readonly #ids: Int32Array;
  readonly #ticks: Int32Array;
  readonly #sets: number;
  readonly #setShift: number;
  readonly #idleTicks: number;

  constructor(arena: Arena, capacity: number, idleTicks: number) {
    const count = entriesFor(capacity);
    this.#sets = count / WAYS;
    this.#setShift = 32 - Math.log2(this.#sets);
    this.#idleTicks = idleTicks;
    const words = signed(arena.words(count * 2));
    this.#ids = words.subarray(0, count).fill(FREE);
    this.#ticks = words.subarray(count);
  }

  static byteLength(capacity: number): number {
    return entriesFor(capacity) * 8 + 64;
  }

  /** @param id the switch, as a signed word; not all ones */
  find(id: number, tick: number): number {
    const set = this.#sets === 1 ? 0 : Math.imul(id, 0x9e3779b1) >>> this.#setShift;
    const first = set * WAYS;
    const ids = this.#ids;
    for (let entry = first; entry < first + WAYS; entry++) {
      if (ids[entry] !== id) continue;
      const idle = (tick - this.#ticks[entry]!) | 0;
      this.outcome = this.#isIdle(idle) ? FOUND.AGED : FOUND.KNOWN;
      this.#ticks[entry] = tick;
      return entry;
    }
    return this.#insert(id, first, tick);
  }

  #insert(id: number, first: number, tick: number): number {
    let victim = first;
    let oldest = -1;
    for (let entry = first; entry < first + WAYS; entry++) {
      if (this.#ids[entry] === FREE) {
        victim = entry;
        break;
      }
      const idle = Math.max(0, (tick - this.#ticks[entry]!) | 0);
      if (idle > oldest) {
        oldest = idle;
        victim = entry;
      }
    }
    const isFree = this.#ids[victim] === FREE;
    this.outcome = isFree ? FOUND.NEW : this.#isIdle(oldest) ? FOUND.AGED : FOUND.EVICTED;
    this.#ids[victim] = id;
    this.#ticks[victim] = tick;
    return victim;
  }

  #isIdle(ticks: number): boolean {
    return this.ages && this.#idleTicks !== 0 && ticks > this.#idleTicks;
  }
}
