import { randomInt } from 'node:crypto';
import { type KeyColumns, KIND, ROW, SIGNAL } from './geometry.js';

/** Shares of the rows that queues and links may have; switches may take any. */
const QUEUE_SHARE = 0.58;
const LINK_SHARE = 0.28;
/** An entity that was silent for as many buckets gives its row to another one, if there are too few. */
const SILENT_BUCKETS = 100;
/** Rows that change hands after a bucket at most: each costs a pass over its history. */
const CHANGES = 16;

/** No row. */
export const NO_ROW = -1;

/**
 * The rows of switches, queues and links. Entities take free rows as they come. When there are none, a new one takes the row of
 * one that was silent for ten seconds, so that forged ids do not keep theirs.
 */
export class EntityRows {
  readonly #keys: KeyColumns;
  readonly #signals: Int32Array;
  readonly #capacity: number;
  readonly #seed = randomInt(2 ** 32);
  readonly #odd = randomInt(2 ** 32) | 1;
  /** By kind: row, or 0. */
  readonly #slots: Int32Array[];
  readonly #mask: number;
  /** By kind. */
  readonly #limits: readonly number[];
  readonly #used = [0, 0, 0, 0];
  readonly #missed = [0, 0, 0, 0];
  readonly #free: number[] = [];
  #next: number = ROW.FIRST;
  /** Bucket in which each row was seen last. */
  readonly lastSeen: Float64Array;
  /** The bucket that is open. */
  now = 0;

  constructor(keys: KeyColumns, signals: Int32Array) {
    this.#keys = keys;
    this.#signals = signals;
    this.#capacity = keys.kind.length;
    this.lastSeen = new Float64Array(this.#capacity);
    const size = 2 ** Math.ceil(Math.log2(this.#capacity * 2));
    this.#mask = size - 1;
    this.#slots = [0, 1, 2, 3].map((kind) => new Int32Array(kind === 0 ? 0 : size));
    const rows = this.#capacity - ROW.FIRST;
    this.#limits = [0, rows, Math.floor(rows * QUEUE_SHARE), Math.floor(rows * LINK_SHARE)];
    keys.kind.fill(KIND.FIXED, 0, ROW.FIRST);
  }

  /** The row of a switch; {@link NO_ROW}: there is none free. */
  switchRow(id: number): number {
    const slots = this.#slots[KIND.SWITCH]!;
    const { a } = this.#keys;
    let slot = this.#mix(id) & this.#mask;
    for (let row = slots[slot]!; row > 0; row = slots[slot]!) {
      if (a[row] === id) return row;
      slot = (slot + 1) & this.#mask;
    }
    return this.#insert(KIND.SWITCH, slot, id, 0, 0, 0);
  }

  queueRow(id: number, queue: number): number {
    const slots = this.#slots[KIND.QUEUE]!;
    const { a, b } = this.#keys;
    let slot = this.#mix(id ^ Math.imul(queue, this.#odd)) & this.#mask;
    for (let row = slots[slot]!; row > 0; row = slots[slot]!) {
      if (a[row] === id && b[row] === queue) return row;
      slot = (slot + 1) & this.#mask;
    }
    return this.#insert(KIND.QUEUE, slot, id, queue, 0, 0);
  }

  linkRow(from: number, fromPort: number, to: number, toPort: number): number {
    const slots = this.#slots[KIND.LINK]!;
    const { a, b, c, d } = this.#keys;
    let slot = this.#linkHash(from, fromPort, to, toPort) & this.#mask;
    for (let row = slots[slot]!; row > 0; row = slots[slot]!) {
      if (a[row] === from && b[row] === fromPort && c[row] === to && d[row] === toPort) return row;
      slot = (slot + 1) & this.#mask;
    }
    return this.#insert(KIND.LINK, slot, from, fromPort, to, toPort);
  }

  /**
   * Frees rows for entities that found none.
   * @param leave is called with each row before it is free
   */
  makeRoom(leave: (row: number, kind: number) => void): void {
    for (const kind of [KIND.SWITCH, KIND.QUEUE, KIND.LINK]) {
      const missed = this.#missed[kind]!;
      if (missed === 0) continue;
      this.#missed[kind] = 0;
      // A row of the kind if it has reached its share; else of any.
      const isOwn = this.#used[kind]! >= this.#limits[kind]!;
      let changes = Math.min(CHANGES, missed);
      Atomics.add(this.#signals, SIGNAL.ROWS, 1);
      for (let row: number = ROW.FIRST; row < this.#next && changes > 0; row++) {
        const its = this.#keys.kind[row]!;
        if (its === KIND.FREE || (isOwn && its !== kind) || Math.abs(this.now - this.lastSeen[row]!) < SILENT_BUCKETS)
          continue;
        leave(row, its);
        this.#keys.kind[row] = KIND.FREE;
        this.#used[its]!--;
        this.#free.push(row);
        changes--;
        this.#layOut(its);
      }
      Atomics.add(this.#signals, SIGNAL.ROWS, 1);
    }
  }

  #linkHash(from: number, fromPort: number, to: number, toPort: number): number {
    const first = from ^ Math.imul(fromPort, this.#odd);
    return this.#mix(first ^ Math.imul(this.#mix(to ^ Math.imul(toPort, this.#odd)), this.#odd));
  }

  /** The finalizer of MurmurHash3 over a secret seed: nobody outside can choose keys that share slots. */
  #mix(value: number): number {
    let mixed = value ^ this.#seed;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return mixed ^ (mixed >>> 16);
  }

  #insert(kind: number, slot: number, a: number, b: number, c: number, d: number): number {
    if (this.#used[kind]! >= this.#limits[kind]! || (this.#free.length === 0 && this.#next >= this.#capacity)) {
      this.#missed[kind]!++;
      return NO_ROW;
    }
    const used = this.#free.pop();
    const row = used ?? this.#next++;
    const keys = this.#keys;
    Atomics.add(this.#signals, SIGNAL.ROWS, 1);
    keys.a[row] = a;
    keys.b[row] = b;
    keys.c[row] = c;
    keys.d[row] = d;
    // Up to now, the cells of a row that was used before are of another entity.
    keys.since[row] = used === undefined ? 0 : this.now;
    this.lastSeen[row] = this.now;
    keys.kind[row] = kind;
    Atomics.add(this.#signals, SIGNAL.ROWS, 1);
    this.#slots[kind]![slot] = row;
    this.#used[kind]!++;
    return row;
  }

  /** Fills a table anew: entries behind a removed one would no longer be found. */
  #layOut(kind: number): void {
    const slots = this.#slots[kind]!.fill(0);
    const { kind: kinds, a, b, c, d } = this.#keys;
    for (let row: number = ROW.FIRST; row < this.#next; row++) {
      if (kinds[row] !== kind) continue;
      let hash: number;
      if (kind === KIND.SWITCH) hash = this.#mix(a[row]!);
      else if (kind === KIND.QUEUE) hash = this.#mix(a[row]! ^ Math.imul(b[row]!, this.#odd));
      else hash = this.#linkHash(a[row]!, b[row]!, c[row]!, d[row]!);
      let slot = hash & this.#mask;
      while (slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      slots[slot] = row;
    }
  }
}
