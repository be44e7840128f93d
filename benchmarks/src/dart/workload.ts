/** Keys, values and random places, the same as in `benchmarks/native/twins/dart_bench.c`. */
import type { KeyRows } from '@int/dart';

export const KEY_BYTES = 13;
export const VALUE_BYTES = 20;
export const SLOT_BYTES = 24;
/** Keys that are made at a time, and rows of a call. */
export const KEYS = 8192;
export const BATCH = 2048;
const GOLDEN = 0x9e3779b9;

/** Rows of keys with their values; the arrays may lie in an accelerator's memory. */
export interface Rows {
  readonly keys: KeyRows;
  readonly values: Uint8Array;
}

export function makeRows(): Rows {
  const offsets = new Uint32Array(KEYS);
  for (let row = 0; row < KEYS; row++) offsets[row] = row * KEY_BYTES;
  const keys = { bytes: new Uint8Array(KEYS * KEY_BYTES), offsets, lengths: new Uint32Array(KEYS).fill(KEY_BYTES) };
  return { keys, values: new Uint8Array(KEYS * VALUE_BYTES) };
}

export function mix32(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function putWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24;
  bytes[at + 1] = word >>> 16;
  bytes[at + 2] = word >>> 8;
  bytes[at + 3] = word;
}

/** A 5-tuple of IPv4 of its own for each number. */
export function putKey(bytes: Uint8Array, at: number, number: number): void {
  const mixed = mix32(number);
  putWord(bytes, at, 0x0a000000 + number);
  putWord(bytes, at + 4, mixed);
  bytes[at + 8] = ((mixed >>> 28) & 1) === 1 ? 17 : 6;
  putWord(bytes, at + 9, mix32(mixed + GOLDEN));
}

/** Five words; the first says which key it belongs to. */
export function putValue(bytes: Uint8Array, at: number, number: number): void {
  const first = Math.imul(number, GOLDEN);
  for (let word = 0; word < VALUE_BYTES / 4; word++) putWord(bytes, at + word * 4, first + word);
}

/** Whether a value is that of a key. */
export function isValueOf(value: Uint8Array, number: number): boolean {
  const first = Math.imul(number, GOLDEN) >>> 0;
  const view = new DataView(value.buffer, value.byteOffset, VALUE_BYTES);
  return view.getUint32(0) === first && view.getUint32(16) === (first + 4) >>> 0;
}

/** Which keys are written, and which are asked for. */
export class Workload {
  /** Keys written so far: the next one's number. */
  written = 0;
  #drawn = 0;
  /** Numbers of the keys in the rows of the last {@link makeQueries}. */
  readonly numbers: Uint32Array = new Uint32Array(KEYS);

  makeWrites({ keys, values }: Rows, count: number): void {
    for (let row = 0; row < count; row++) {
      putKey(keys.bytes, row * KEY_BYTES, this.written);
      putValue(values, row * VALUE_BYTES, this.written++);
    }
  }

  /** Draws from the keys that were written. */
  makeQueries({ keys }: Rows, count: number): void {
    for (let row = 0; row < count; row++) {
      const number = mix32(this.#drawn++ ^ 0x2545f491) % this.written;
      this.numbers[row] = number;
      putKey(keys.bytes, row * KEY_BYTES, number);
    }
  }
}
