/** A store of key numbers. It gives the answers of a `DartStore` with distinct values, in a sixth of the memory. */
import { type FamilyName, MAX_COPIES } from '../layout.js';
import { type Policy, policyNumber } from '../store/policy.js';
import type { AdaptiveCopies } from '../theory/adaptive-copies.js';
import { BLOCK, SimulatedHashes } from './key-hashes.js';
import { Draws, type KeyKind } from './keys.js';
import { SlotTable } from './slot-table.js';

/** The outcome of a query, compared with the true value. */
export const OUTCOME = { SUCCESS: 0, ABSENT: 1, CONFLICT: 2, WRONG: 3 } as const;

export interface SimulatedStoreOptions {
  /** K, 1..2^32 - 2: keys 0 to K - 1 are written in this order. */
  readonly keys: number;
  /** M. */
  readonly slots: number;
  /** N. */
  readonly copies: number;
  /** `xxhash` if absent. */
  readonly hash?: FamilyName;
  /** Seed of the hashes, the keys and the draws; 0 if absent. */
  readonly seed?: number;
  /** `random` if absent. */
  readonly keyKind?: KeyKind;
}

/** Options for writing keys. */
export interface WriteOptions {
  /**
   * `all`, the default: all copies. `random`: each of `reports` reports goes into a random copy. `insert`: the first
   * slot, and the second if it is empty. `adaptive`: the number of copies that `adaptive` gives for the load so far.
   */
  readonly writing?: 'all' | 'random' | 'insert' | 'adaptive';
  /** Successive reports of a key; 1 if absent. Only for `random`. */
  readonly reports?: number;
  /** The rule for `adaptive`. */
  readonly adaptive?: AdaptiveCopies;
  /** Probability that a packet is lost, independently of the others; 0 if absent. Not for `insert`. */
  readonly loss?: number;
  /** The content of a packet: one `copy`, the default, or all copies of a `key`. `random` always sends one copy. */
  readonly packets?: 'copy' | 'key';
}

export interface QueryOptions {
  /** 32 if absent. */
  readonly checksumBits?: number;
  /** `plurality` if absent. */
  readonly policy?: Policy;
}

function whole(name: string, value: number, least: number, most: number): void {
  if (!(Number.isInteger(value) && value >= least && value <= most)) {
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not ${value}`);
  }
}

/**
 * A slot holds the number of the key that wrote it last, in four bytes. A query computes the checksum of that key again
 * and compares it with its own. The answers equal those of a `DartStore` with the same hashes and keys (see
 * `simulatedKey`) and distinct values.
 */
export class SimulatedStore {
  readonly keys: number;
  readonly slots: number;
  readonly copies: number;
  readonly #hashes: SimulatedHashes;
  readonly #table: SlotTable;
  readonly #draws: Draws;
  readonly #holders: Uint32Array;
  readonly #false = new Uint32Array(MAX_COPIES);
  #slotWrites = 0;

  /** @throws RangeError for a number out of its range, or if there is not enough memory */
  constructor({ keys, slots, copies, hash = 'xxhash', seed = 0, keyKind = 'random' }: SimulatedStoreOptions) {
    whole('keys', keys, 1, 2 ** 32 - 2);
    whole('slots', slots, 1, 2 ** 32 - 1);
    whole('copies', copies, 1, MAX_COPIES);
    whole('seed', seed, 0, 2 ** 32 - 1);
    this.keys = keys;
    this.slots = slots;
    this.copies = copies;
    this.#hashes = new SimulatedHashes(slots, copies, hash, seed, keyKind);
    this.#table = new SlotTable(slots);
    this.#draws = new Draws(seed ^ 0x2545f491);
    this.#holders = new Uint32Array(BLOCK * copies);
  }

  /** The slot of a key's copy. */
  slotOf(id: number, copy: number): number {
    this.#hashes.load(id, 1);
    return this.#hashes.places[copy]!;
  }

  /** The checksum hash of a key, not truncated. */
  checksumHashOf(id: number): number {
    return this.#hashes.checksumOf(id) >>> 0;
  }

  /** Writes that reached a slot. */
  get slotWrites(): number {
    return this.#slotWrites;
  }

  clear(): void {
    this.#table.clear();
    this.#slotWrites = 0;
  }

  /**
   * Writes all keys, in order.
   *
   * @param onBlock receives the number of keys written so far
   */
  write(options: WriteOptions = {}, onBlock?: (done: number) => void): void {
    const { writing = 'all', reports = 1, adaptive, loss = 0, packets = 'copy' } = options;
    if (!(loss >= 0 && loss <= 1)) throw new RangeError(`loss must be from 0 to 1, not ${loss}`);
    whole('reports', reports, 0, 2 ** 20);
    if (writing === 'insert' && (this.copies < 2 || loss > 0))
      throw new RangeError('insert needs 2 copies, and no loss');
    if (writing === 'adaptive' && (adaptive === undefined || adaptive.mostCopies > this.copies)) {
      throw new RangeError(`adaptive needs AdaptiveCopies of at most ${this.copies} copies`);
    }
    const lost = Math.round(loss * 2 ** 32);
    for (let first = 0; first < this.keys; first += BLOCK) {
      const count = Math.min(BLOCK, this.keys - first);
      this.#hashes.load(first, count);
      if (writing === 'insert') this.#insert(first, count);
      else if (writing === 'random') this.#writeRandom(first, count, reports, lost);
      else if (adaptive !== undefined && writing === 'adaptive') this.#writeSome(first, count, lost, packets, adaptive);
      else if (lost > 0) this.#writeSome(first, count, lost, packets, null);
      else {
        this.#table.scatter(this.#hashes.places, count, this.copies, first + 1);
        this.#slotWrites += count * this.copies;
      }
      onBlock?.(first + count);
    }
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
      this.#hashes.load(first, count);
      this.#table.gather(this.#hashes.places, count * this.copies, this.#holders);
      this.#decide(first, count, rule, mask, outcomes);
      out(outcomes, first, count);
    }
  }

  #decide(first: number, count: number, rule: number, mask: number, outcomes: Uint8Array): void {
    const { copies } = this;
    const { places, checksums } = this.#hashes;
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
        } else if (((this.#hashes.checksumOf(other - 1) & mask) | 0 || 1) === checksum && isFirst(places, from, at)) {
          found[others++] = other;
        }
      }
      if (others === 0) outcomes[row] = own === 0 ? 1 : own >= rule ? 0 : 2;
      else outcomes[row] = judge(own, found, others, rule);
    }
  }

  #put(place: number, holder: number): void {
    this.#table.put(place, holder);
    this.#slotWrites++;
  }

  #writeRandom(first: number, count: number, reports: number, lost: number): void {
    const { copies } = this;
    const { places } = this.#hashes;
    for (let row = 0; row < count; row++) {
      for (let report = 0; report < reports; report++) {
        const copy = this.#draws.below(copies);
        if (lost > 0 && this.#draws.next() < lost) continue;
        this.#put(places[row * copies + copy]!, first + row + 1);
      }
    }
  }

  #writeSome(first: number, count: number, lost: number, packets: string, adaptive: AdaptiveCopies | null): void {
    const { copies } = this;
    const { places } = this.#hashes;
    for (let row = 0; row < count; row++) {
      const many = adaptive === null ? copies : adaptive.copiesAt((first + row) / this.slots);
      if (packets === 'key' && lost > 0 && this.#draws.next() < lost) continue;
      for (let copy = 0; copy < many; copy++) {
        if (packets === 'copy' && lost > 0 && this.#draws.next() < lost) continue;
        this.#put(places[row * copies + copy]!, first + row + 1);
      }
    }
  }

  #insert(first: number, count: number): void {
    const { copies } = this;
    const { places } = this.#hashes;
    for (let row = 0; row < count; row++) {
      this.#put(places[row * copies]!, first + row + 1);
      const second = places[row * copies + 1]!;
      if (this.#table.get(second) === 0) this.#put(second, first + row + 1);
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
