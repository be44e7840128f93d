import { randomInt } from 'node:crypto';
import { integer } from '../delivery/option-checks.js';

/** Not a row. */
export const NO_ROW = -1;

/** Time between two elections, in milliseconds. */
const ELECTION_MS = 5000;
/** At an election, at most one row in 8 changes hands, so that readers of the rows see few newcomers at a time. */
const ROWS_PER_CHANGE = 8;
/** A candidate takes a row only if it is more than twice as busy. Otherwise two like keys would take turns. */
const MARGIN = 2;
/** A key that came once is no candidate. */
const LEAST_HITS = 2;
const CANDIDATES_PER_ROW = 4;
/** With this many, a key of four hits a second stands out among 50,000 unique keys a second. */
const LEAST_CANDIDATES = 16_384;
/** Places that a candidate can be in, side by side. */
const WAYS = 8;
/** Factor between the score and the place in a number that is sorted by both; places are below it. */
const PLACES = 2 ** 20;

/**
 * Rows 0 to `capacity - 1` for the busiest of any number of keys, each of two 32-bit words. Keys take the free rows as
 * they come. When there are none, further keys are candidates: their hits are counted in a table of fixed size
 * (Space-Saving), and every five seconds the busiest of them take the rows of the least busy keys.
 *
 * So rows of keys that no longer come, such as forged ones, go to active keys. Keys are hashed with a secret seed, so
 * an attacker cannot choose keys that share a slot. Apart from elections, only the constructor allocates memory.
 *
 * Source of the candidates' table: Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k Elements
 * in Data Streams", ICDT 2005, here in sets of eight.
 */
export class BusiestKeys {
  readonly capacity: number;
  /** The words of each row's key; undefined where {@link used} is 0. */
  readonly first: Uint32Array;
  readonly second: Uint32Array;
  /** 1 for rows in use. */
  readonly used: Uint8Array;
  /** Secret, as the odd multiplier is. */
  readonly #seed: number;
  readonly #multiplier: number;
  /** Row + 1, or 0. */
  readonly #slots: Int32Array;
  readonly #slotMask: number;
  /** Hits of each row since the last election, and between the last two. */
  readonly #hits: Uint32Array;
  readonly #hitsBefore: Uint32Array;
  readonly #candidates: Candidates;
  /** Rows in use. */
  size = 0;
  /** How often a row has changed its key. */
  replaced = 0;
  #electedMs = Number.NaN;

  /**
   * @param seed of the hash, 32 bits. Default: random
   * @throws RangeError for a capacity other than an integer from 1 to 65 536
   */
  constructor(capacity: number, seed: number = randomInt(2 ** 32)) {
    this.capacity = integer('the number of rows', capacity, 1, 65_536);
    this.first = new Uint32Array(capacity);
    this.second = new Uint32Array(capacity);
    this.used = new Uint8Array(capacity);
    this.#seed = seed;
    this.#multiplier = mix(seed ^ 0x9e3779b9) | 1;
    const slots = 2 ** Math.ceil(Math.log2(capacity * 2));
    this.#slots = new Int32Array(slots);
    this.#slotMask = slots - 1;
    this.#hits = new Uint32Array(capacity);
    this.#hitsBefore = new Uint32Array(capacity);
    this.#candidates = new Candidates(Math.max(LEAST_CANDIDATES, capacity * CANDIDATES_PER_ROW));
  }

  /** Counts a hit of a key. @returns its row, or {@link NO_ROW} */
  note(first: number, second = 0): number {
    const hash = this.#hash(first, second);
    let slot = hash & this.#slotMask;
    // As slotOf, without its call and second look.
    for (let row = this.#slots[slot]!; row > 0; row = this.#slots[slot]!) {
      if (this.first[row - 1] === first && this.second[row - 1] === second) {
        this.#hits[row - 1]!++;
        return row - 1;
      }
      slot = (slot + 1) & this.#slotMask;
    }
    if (this.size < this.capacity) return this.#insert(slot, first, second);
    this.#candidates.note(hash, first, second);
    return NO_ROW;
  }

  /** The row of a key, or {@link NO_ROW}. Counts nothing. */
  find(first: number, second = 0): number {
    return this.#slots[this.#slotOf(this.#hash(first, second), first, second)]! - 1;
  }

  /**
   * Gives the rows of the least busy keys to the busiest candidates, at most every five seconds.
   * @param timeMs of the input, in milliseconds; may go back
   * @param leave called with each row before its key changes
   */
  elect(timeMs: number, leave: (row: number) => void): void {
    if (Math.abs(timeMs - this.#electedMs) < ELECTION_MS) return;
    const isFirst = Number.isNaN(this.#electedMs);
    this.#electedMs = timeMs;
    if (isFirst) return;
    this.#replace(leave);
    this.#hitsBefore.set(this.#hits);
    this.#hits.fill(0);
    this.#candidates.clear();
  }

  /** Frees every row for which `isIdle` says so. Costs a pass over the table. */
  release(isIdle: (row: number) => boolean): void {
    let freed = 0;
    for (let row = 0; row < this.capacity; row++) {
      if (this.used[row] === 0 || !isIdle(row)) continue;
      this.used[row] = 0;
      this.#hits[row] = 0;
      this.#hitsBefore[row] = 0;
      freed++;
    }
    if (freed === 0) return;
    this.size -= freed;
    this.#layOut();
  }

  #replace(leave: (row: number) => void): void {
    const busiest = this.#candidates.busiest();
    if (busiest.length === 0) return;
    const rows = this.#leastBusy();
    const limit = Math.min(busiest.length, rows.length, Math.ceil(this.capacity / ROWS_PER_CHANGE));
    let changed = 0;
    for (; changed < limit; changed++) {
      const row = rows[changed]! % PLACES;
      const candidate = busiest[busiest.length - 1 - changed]! % PLACES;
      const hits = this.#candidates.sureHits(candidate);
      if (hits <= MARGIN * this.#score(row)) break;
      leave(row);
      this.first[row] = this.#candidates.first[candidate]!;
      this.second[row] = this.#candidates.second[candidate]!;
      this.#hits[row] = hits;
    }
    if (changed === 0) return;
    this.replaced += changed;
    this.#layOut();
  }

  /** Rows, and how busy they are, the least busy first: score x 2^20 + row. */
  #leastBusy(): Float64Array {
    const order = new Float64Array(this.size);
    let at = 0;
    for (let row = 0; row < this.capacity; row++) {
      if (this.used[row] === 1) order[at++] = this.#score(row) * PLACES + row;
    }
    return order.sort();
  }

  /** The busier of the last two election periods counts, so that a short pause does not make a key idle. */
  #score(row: number): number {
    return Math.max(this.#hits[row]!, this.#hitsBefore[row]!);
  }

  #insert(slot: number, first: number, second: number): number {
    const row = this.used.indexOf(0);
    this.#slots[slot] = row + 1;
    this.first[row] = first;
    this.second[row] = second;
    this.used[row] = 1;
    this.#hits[row] = 1;
    this.#hitsBefore[row] = 0;
    this.size++;
    return row;
  }

  /** Fills the table anew: entries after a removed one would no longer be found. */
  #layOut(): void {
    this.#slots.fill(0);
    for (let row = 0; row < this.capacity; row++) {
      if (this.used[row] === 0) continue;
      const [first, second] = [this.first[row]!, this.second[row]!];
      this.#slots[this.#slotOf(this.#hash(first, second), first, second)] = row + 1;
    }
  }

  /** The slot of a key, or the free one where it would be. */
  #slotOf(hash: number, first: number, second: number): number {
    let slot = hash & this.#slotMask;
    for (;;) {
      const row = this.#slots[slot]! - 1;
      if (row < 0 || (this.first[row] === first && this.second[row] === second)) return slot;
      slot = (slot + 1) & this.#slotMask;
    }
  }

  #hash(first: number, second: number): number {
    return mix(first ^ this.#seed ^ Math.imul(second, this.#multiplier));
  }
}

/** The finalizer of MurmurHash3, 32 bits: each bit of the input changes each bit of the result with a probability of a half. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Keys without a row, and how often they came since the last election. */
class Candidates {
  readonly first: Uint32Array;
  readonly second: Uint32Array;
  /** 0: a free place. An upper bound: it includes the hits of earlier keys in this place. */
  readonly #hits: Uint32Array;
  /** Of these, hits of keys that were here before. */
  readonly #inherited: Uint32Array;
  /** Bits of the hash to drop: the set is in the upper ones, slots of the rows in the lower ones. */
  readonly #shift: number;
  #isEmpty = true;

  constructor(least: number) {
    const sets = 2 ** Math.ceil(Math.log2(least / WAYS));
    const places = sets * WAYS;
    this.first = new Uint32Array(places);
    this.second = new Uint32Array(places);
    this.#hits = new Uint32Array(places);
    this.#inherited = new Uint32Array(places);
    this.#shift = 32 - Math.log2(sets);
  }

  /** Counts a hit of a key. A key without a place takes that of the least busy key of its set. */
  note(hash: number, first: number, second: number): void {
    this.#isEmpty = false;
    const from = (hash >>> this.#shift) * WAYS;
    let least = from;
    for (let place = from; place < from + WAYS; place++) {
      const hits = this.#hits[place]!;
      if (hits > 0 && this.first[place] === first && this.second[place] === second) {
        this.#hits[place] = hits + 1;
        return;
      }
      if (hits < this.#hits[least]!) least = place;
    }
    this.first[least] = first;
    this.second[least] = second;
    this.#inherited[least] = this.#hits[least]!;
    this.#hits[least]!++;
  }

  /** Hits that were the key's own. */
  sureHits(place: number): number {
    return this.#hits[place]! - this.#inherited[place]!;
  }

  /** The places of keys that came more than once, the busiest last: sure hits x 2^20 + place. */
  busiest(): Float64Array {
    if (this.#isEmpty) return new Float64Array(0);
    const order = new Float64Array(this.#hits.length);
    let count = 0;
    for (let place = 0; place < order.length; place++) {
      const hits = this.sureHits(place);
      if (hits >= LEAST_HITS) order[count++] = hits * PLACES + place;
    }
    return order.subarray(0, count).sort();
  }

  clear(): void {
    if (this.#isEmpty) return;
    this.#hits.fill(0);
    this.#inherited.fill(0);
    this.#isEmpty = true;
  }
}
