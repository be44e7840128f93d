/** A store of key numbers. It gives the answers of a `DartStore` with distinct values, in a sixth of the memory. */
import { type FamilyName, MAX_COPIES, whole } from '../layout.js';
import { hashParameters, KeyHashes } from '../store/hashes.js';
import { type Policy, policyNumber } from '../store/policy.js';
import { SIMULATED_KEY_BYTES, saltOf, writeKey } from './keys.js';
import { SlotTable } from './slot-table.js';

/** Keys of a block, few enough that their bytes and slots stay in the cache. */
const BLOCK = 4096;

/** The outcome of a query, compared with the true value. */
export const OUTCOME = { SUCCESS: 0, ABSENT: 1, CONFLICT: 2, WRONG: 3 } as const;

interface SimulatedStoreOptions {
  /** K, 1..2^32 - 2: keys 0 to K - 1 are written in this order. */
  readonly keys: number;
  /** M. */
  readonly slots: number;
  /** N. */
  readonly copies: number;
  /** `xxhash` if absent. */
  readonly hash?: FamilyName | undefined;
  /** Seed of the hashes and the keys; 0 if absent. */
  readonly seed?: number | undefined;
}

/**
 * Writes a block of keys: key `first + row` has its slots at `places[row * copies ..]`, and a slot that it writes holds
 * `first + row + 1`.
 *
 * @returns number of slots written
 */
export type BlockWriter = (table: SlotTable, places: Uint32Array, first: number, count: number) => number;

interface QueryOptions {
  /** 32 if absent. */
  readonly checksumBits?: number;
  /** `plurality` if absent. */
  readonly policy?: Policy;
}

/**
 * A slot holds the number of the key that wrote it last, in four bytes. A query computes the checksum of that key again
 * and compares it with its own. The answers equal those of a `DartStore` with the same hashes and keys (see
 * `simulatedKey`) and distinct values.
 */
export class SimulatedStore {
  readonly keys: number;
  readonly copies: number;
  readonly #slots: number;
  readonly #hashes: KeyHashes;
  readonly #salt: number;
  readonly #key = new Uint8Array(SIMULATED_KEY_BYTES);
  readonly #hashed: Uint32Array;
  /** Slots of a block's keys: row i's copy n at `i * copies + n`. */
  readonly #places: Uint32Array;
  /** Checksum hashes of a block's keys, not truncated. */
  readonly #checksums = new Uint32Array(BLOCK);
  readonly #table: SlotTable;
  readonly #holders: Uint32Array;
  readonly #false = new Uint32Array(MAX_COPIES);

  /** @throws RangeError for a number out of its range, or if there is not enough memory */
  constructor({ keys, slots, copies, hash = 'xxhash', seed = 0 }: SimulatedStoreOptions) {
    whole('keys', keys, 1, 2 ** 32 - 2);
    whole('slots', slots, 1, 2 ** 32 - 1);
    whole('copies', copies, 1, MAX_COPIES);
    whole('seed', seed, 0, 2 ** 32 - 1);
    this.keys = keys;
    this.copies = copies;
    this.#slots = slots;
    this.#hashes = new KeyHashes(hashParameters(hash, seed));
    this.#salt = saltOf(seed);
    this.#hashed = new Uint32Array(copies);
    this.#places = new Uint32Array(BLOCK * copies);
    this.#table = new SlotTable(slots);
    this.#holders = new Uint32Array(BLOCK * copies);
  }

  /**
   * Writes all keys, in order.
   *
   * @param writeBlock writes all copies of each key if absent
   * @param onBlock receives the number of keys written so far
   * @returns number of slots written
   */
  write(writeBlock?: BlockWriter, onBlock?: (done: number) => void): number {
    const write: BlockWriter =
      writeBlock ?? ((table, places, first, count) => table.scatter(places, count, this.copies, first + 1));
    let written = 0;
    for (let first = 0; first < this.keys; first += BLOCK) {
      const count = Math.min(BLOCK, this.keys - first);
      this.#load(first, count);
      written += write(this.#table, this.#places, first, count);
      onBlock?.(first + count);
    }
    return written;
  }

  /**
   * Queries all keys, in order.
   *
   * @param out receives the {@link OUTCOME}s of a block of keys: `outcomes[0..count)` for keys from `first` on
   */
  query(options: QueryOptions, out: (outcomes: Uint8Array, first: number, count: number) => void): void {
    const { checksumBits = 32, policy = 'plurality' } = options;
    whole('checksumBits', checksumBits, 1, 32);
    const rule = policyNumber(policy);
    // The bits of the checksum that are kept.
    const mask = checksumBits === 32 ? -1 : 2 ** checksumBits - 1;
    const outcomes = new Uint8Array(BLOCK);
    for (let first = 0; first < this.keys; first += BLOCK) {
      const count = Math.min(BLOCK, this.keys - first);
      this.#load(first, count);
      this.#table.gather(this.#places, count * this.copies, this.#holders);
      this.#decide(first, count, rule, mask, outcomes);
      out(outcomes, first, count);
    }
  }

  /** Loads a block: the places and checksums of keys `first` to `first + count - 1`. */
  #load(first: number, count: number): void {
    const { copies } = this;
    const places = this.#places;
    const slots = this.#slots >>> 0;
    const key = this.#key;
    const hashed = this.#hashed;
    let at = 0;
    for (let row = 0; row < count; row++) {
      writeKey(first + row, this.#salt, key);
      this.#checksums[row] = this.#hashes.all(key, 0, SIMULATED_KEY_BYTES, copies, hashed);
      for (let copy = 0; copy < copies; copy++) places[at++] = hashed[copy]! % slots;
    }
  }

  /** The checksum hash of any key, not truncated. */
  #checksumOf(id: number): number {
    writeKey(id, this.#salt, this.#key);
    return this.#hashes.checksum(this.#key, 0, SIMULATED_KEY_BYTES);
  }

  #decide(first: number, count: number, rule: number, mask: number, outcomes: Uint8Array): void {
    const { copies } = this;
    const places = this.#places;
    const checksums = this.#checksums;
    const holders = this.#holders;
    const found = this.#false;
    for (let row = 0; row < count; row++) {
      const holder = first + row + 1;
      const from = row * copies;
      const checksum = (checksums[row]! & mask) | 0 || 1;
      let own = 0;
      let others = 0;
      for (let at = from; at < from + copies; at++) {
        const other = holders[at]!;
        if (other === 0) continue;
        if (other === holder) {
          if (isFirst(places, from, at)) own++;
        } else if (((this.#checksumOf(other - 1) & mask) | 0 || 1) === checksum && isFirst(places, from, at)) {
          found[others++] = other;
        }
      }
      if (others === 0) outcomes[row] = own === 0 ? 1 : own >= rule ? 0 : 2;
      else outcomes[row] = judge(own, found, others, rule);
    }
  }
}

/** Whether no earlier copy of the row has the same slot, because a slot counts once. */
function isFirst(places: Uint32Array, from: number, at: number): boolean {
  for (let earlier = from; earlier < at; earlier++) if (places[earlier] === places[at]) return false;
  return true;
}

/** The outcome if false slots match; `found[0..others)` are their keys. */
function judge(own: number, found: Uint32Array, others: number, rule: number): number {
  let most = own;
  let isTied = false;
  let isOwn = own > 0;
  for (let at = 0; at < others; at++) {
    let agreeing = 0;
    let isRepeated = false;
    for (let other = 0; other < others; other++) {
      if (found[other] !== found[at]) continue;
      if (other < at) isRepeated = true;
      agreeing++;
    }
    if (isRepeated) continue;
    if (agreeing === most) isTied = true;
    else if (agreeing > most) {
      most = agreeing;
      isTied = false;
      isOwn = false;
    }
  }
  const decides = rule === 0 ? most === own + others : !isTied && most >= rule;
  if (!decides) return OUTCOME.CONFLICT;
  return isOwn ? OUTCOME.SUCCESS : OUTCOME.WRONG;
}
