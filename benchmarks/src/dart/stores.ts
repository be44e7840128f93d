/** The contenders that are JavaScript: what keeps values by key, and what a program would take instead. */
import { AnswerRows, DartStore, STATUS } from '@int/dart';
import { LRUCache } from 'lru-cache';
import {
  BATCH,
  isValueOf,
  KEY_BYTES,
  KEYS,
  makeRows,
  type Rows,
  SLOT_BYTES,
  VALUE_BYTES,
  Workload,
} from './workload.js';

/** Answers that were looked at. */
export interface Answers {
  readonly found: number;
  readonly checksum: number;
}

/** Keeps values; modes say where its input lies, or how it works. */
export interface Contender {
  readonly workload: Workload;
  /** How many modes there are. */
  readonly modes: number;
  rows(mode: number): Rows;
  write(mode: number, count: number): void;
  query(mode: number, count: number): void;
  /** Looks at the answers of the last {@link query}; not timed. */
  look(count: number, before: Answers): Answers;
  /** A checksum over all slots as C computes it; null if there are none. */
  checksum(): number | null;
}

/** The words of all slots, four lanes of them. */
export function checksumOf(slots: Uint8Array): number {
  const words = new Int32Array(slots.buffer, slots.byteOffset, slots.byteLength >>> 2);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let at = 0; at + 4 <= words.length; at += 4) {
    a = (Math.imul(a + words[at]!, 0x9e3779b1) + 1) | 0;
    b = (Math.imul(b + words[at + 1]!, 0x9e3779b1) + 1) | 0;
    c = (Math.imul(c + words[at + 2]!, 0x9e3779b1) + 1) | 0;
    d = (Math.imul(d + words[at + 3]!, 0x9e3779b1) + 1) | 0;
  }
  for (const lane of [b, c, d]) a = Math.imul(a ^ lane, 0x85ebca77);
  return a >>> 0;
}

/** DartStore of @int/dart. */
class DartContender implements Contender {
  readonly workload: Workload = new Workload();
  readonly modes: number;
  readonly #store: DartStore;
  readonly #inputs: readonly { readonly rows: Rows; readonly out: AnswerRows }[];
  #last = 0;

  /** @param inputs by mode, where rows and answers lie; ordinary arrays if absent */
  constructor(store: DartStore, inputs: readonly { rows: Rows; out: AnswerRows }[] = [ordinaryInput()]) {
    this.#store = store;
    this.#inputs = inputs;
    this.modes = inputs.length;
  }

  rows(mode: number): Rows {
    return this.#inputs[mode]!.rows;
  }

  write(mode: number, count: number): void {
    const { keys, values } = this.#inputs[mode]!.rows;
    for (let from = 0; from < count; from += BATCH) {
      this.#store.writeRows(keys, values, from, Math.min(count, from + BATCH));
    }
  }

  query(mode: number, count: number): void {
    const { rows, out } = this.#inputs[mode]!;
    this.#last = mode;
    for (let from = 0; from < count; from += BATCH) {
      this.#store.queryRows(rows.keys, out, 'plurality', from, Math.min(count, from + BATCH));
    }
  }

  look(count: number, before: Answers): Answers {
    const { status, matching, agreeing, values } = this.#inputs[this.#last]!.out;
    const words = new Int32Array(values.buffer, values.byteOffset, values.byteLength >>> 2);
    let { found, checksum } = before;
    for (let row = 0; row < count; row++) {
      const about = status[row]! | (matching[row]! << 8) | (agreeing[row]! << 16);
      checksum = (Math.imul(checksum ^ about, 0x9e3779b9) + 1) | 0;
      if (status[row] !== STATUS.VALUE) continue;
      found++;
      for (let word = 0; word < VALUE_BYTES / 4; word++) {
        checksum = (Math.imul(checksum ^ words[row * (VALUE_BYTES / 4) + word]!, 0x9e3779b9) + 1) | 0;
      }
    }
    return { found, checksum: checksum >>> 0 };
  }

  checksum(): number {
    return checksumOf(this.#store.segments[0]!.slots);
  }
}

function ordinaryInput(): { rows: Rows; out: AnswerRows } {
  return { rows: makeRows(), out: new AnswerRows(KEYS, VALUE_BYTES) };
}

type Key = string | bigint;

/** A key as a text of one character a byte. */
function textKey(bytes: Uint8Array, row: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + row * KEY_BYTES, KEY_BYTES).toString('latin1');
}

/** A key as a number of 104 bits. */
function bigintKey(bytes: Uint8Array, row: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + row * KEY_BYTES, KEY_BYTES);
  return (view.getBigUint64(0) << 40n) | (BigInt(view.getUint8(8)) << 32n) | BigInt(view.getUint32(9));
}

interface Values<K> {
  get(key: K): Uint8Array | undefined;
  set(key: K, value: Uint8Array): unknown;
}

/** What has `get` and `set`: a value is copied when it is set, and handed out as it is. */
class ObjectContender<K extends Key> implements Contender {
  readonly workload: Workload = new Workload();
  readonly modes = 1;
  readonly #rows = makeRows();
  readonly #values: Values<K>;
  readonly #keyOf: (bytes: Uint8Array, row: number) => K;
  readonly #answers: (Uint8Array | undefined)[] = new Array<undefined>(KEYS).fill(undefined);

  constructor(values: Values<K>, keyOf: (bytes: Uint8Array, row: number) => K) {
    this.#values = values;
    this.#keyOf = keyOf;
  }

  rows(): Rows {
    return this.#rows;
  }

  write(_mode: number, count: number): void {
    const { keys, values } = this.#rows;
    for (let row = 0; row < count; row++) {
      this.#values.set(this.#keyOf(keys.bytes, row), values.slice(row * VALUE_BYTES, (row + 1) * VALUE_BYTES));
    }
  }

  query(_mode: number, count: number): void {
    const { bytes } = this.#rows.keys;
    for (let row = 0; row < count; row++) this.#answers[row] = this.#values.get(this.#keyOf(bytes, row));
  }

  /** Nothing but the right value is found. */
  look(count: number, { found }: Answers): Answers {
    let seen = found;
    for (let row = 0; row < count; row++) {
      const value = this.#answers[row];
      if (value === undefined) continue;
      if (!isValueOf(value, this.workload.numbers[row]!)) throw new Error('a wrong value');
      seen++;
    }
    return { found: seen, checksum: 0 };
  }

  checksum(): null {
    return null;
  }
}

/** Writes 24 bytes to random places, as words: what the memory can do, from TypeScript. */
class RawContender implements Contender {
  readonly workload: Workload = new Workload();
  readonly modes = 1;
  readonly #rows = makeRows();
  readonly #words: Uint32Array;
  readonly #places: number;
  #random = 0x9e3779b9;

  constructor(bytes: number) {
    this.#places = Math.floor(bytes / SLOT_BYTES);
    this.#words = new Uint32Array(this.#places * 6).fill(1);
  }

  rows(): Rows {
    return this.#rows;
  }

  write(_mode: number, count: number): void {
    const words = this.#words;
    const share = this.#places / 2 ** 32;
    let random = this.#random;
    for (let k = 0; k < count; k++) {
      random ^= random << 13;
      random ^= random >>> 17;
      random ^= random << 5;
      const at = Math.floor((random >>> 0) * share) * 6;
      words[at] = k;
      words[at + 1] = 0;
      words[at + 2] = k;
      words[at + 3] = 1;
      words[at + 4] = k;
      words[at + 5] = 2;
    }
    this.#random = random;
  }

  query(): void {
    throw new Error('there is nothing to ask for');
  }

  look(_count: number, before: Answers): Answers {
    return before;
  }

  checksum(): null {
    return null;
  }
}

export interface StoreShape {
  /** Bytes of slots. */
  readonly memory: number;
  readonly hash: 'xxhash' | 'crc';
  readonly copies: number;
  /** Values that lru-cache keeps. */
  readonly capacity: number;
}

/** Rows in the store's memory. */
function inputInPlace(accelerator: NonNullable<DartStore['accelerator']>): { rows: Rows; out: AnswerRows } {
  const { keys, values, answers } = accelerator.rows(KEYS, KEYS * KEY_BYTES);
  const { offsets, lengths } = makeRows().keys;
  keys.offsets.set(offsets);
  keys.lengths.set(lengths);
  return { rows: { keys, values }, out: answers };
}

/** Rows elsewhere, and rows in place; no modes where there is no accelerator. */
function acceleratorContender({ memory, hash, copies }: StoreShape): Contender {
  const store = new DartStore({ memoryBytes: memory, hash, copies });
  return new DartContender(store, store.accelerator === null ? [] : [ordinaryInput(), inputInPlace(store.accelerator)]);
}

export const CONTENDERS: Readonly<Record<string, (shape: StoreShape) => Contender>> = {
  plain: ({ memory, hash, copies }) =>
    new DartContender(new DartStore({ memoryBytes: memory, hash, copies, engine: 'plain' })),
  accelerator: acceleratorContender,
  raw: ({ memory }) => new RawContender(memory),
  'map-string': () => new ObjectContender(new Map<string, Uint8Array>(), textKey),
  'map-bigint': () => new ObjectContender(new Map<bigint, Uint8Array>(), bigintKey),
  'lru-string': ({ capacity }) => new ObjectContender(new LRUCache<string, Uint8Array>({ max: capacity }), textKey),
  'lru-bigint': ({ capacity }) => new ObjectContender(new LRUCache<bigint, Uint8Array>({ max: capacity }), bigintKey),
};
