/** Checks of arguments, before anything is read or written. */
import { type AnswerRows, type KeyRows, MAX_KEY_BYTES } from './rows.js';

/** @throws RangeError unless the `length` bytes from `offset` on are inside `size` bytes */
export function checkRange(offset: number, length: number, size: number): void {
  const isRange = Number.isInteger(offset) && Number.isInteger(length) && offset >= 0 && length >= 0;
  if (!(isRange && offset + length <= size)) {
    throw new RangeError(`${length} bytes at ${offset} are not inside ${size} bytes`);
  }
}

/** @throws RangeError unless an atomic operation can be on the 8 bytes from `offset` on, inside `size` bytes */
export function checkAtomic(offset: number, size: number): void {
  checkRange(offset, 8, size);
  if (offset % 8 !== 0) throw new RangeError(`an atomic needs an offset that is a multiple of 8, not ${offset}`);
}

/** @throws RangeError unless the rows exist */
export function checkRows({ offsets, lengths }: Omit<KeyRows, 'bytes'>, from: number, to: number): void {
  const rows = Math.min(offsets.length, lengths.length);
  if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to <= rows)) {
    throw new RangeError(`rows ${from} to ${to}: not inside ${rows} rows`);
  }
}

/** @throws RangeError unless the rows exist, and each key is inside the bytes and not too long */
export function checkKeys(keys: KeyRows, from: number, to: number): void {
  checkRows(keys, from, to);
  const { bytes, offsets, lengths } = keys;
  const end = bytes.length;
  for (let row = from; row < to; row++) {
    const length = lengths[row]!;
    if (offsets[row]! + length > end || length > MAX_KEY_BYTES) {
      throw new RangeError(`key ${row}: ${length} bytes at ${offsets[row]}, of ${end}; at most ${MAX_KEY_BYTES}`);
    }
  }
}

/** @throws RangeError if `values` is too short for the rows up to `to` */
export function checkValues(values: Uint8Array, to: number, valueBytes: number): void {
  if (values.length < to * valueBytes) {
    throw new RangeError(`${values.length} bytes of values; ${to} rows of ${valueBytes} bytes are needed`);
  }
}

/** @throws RangeError if the answers have no room for the rows up to `to`, or for values of another size */
export function checkAnswers(out: AnswerRows, to: number, valueBytes: number): void {
  if (out.capacity < to || out.valueBytes !== valueBytes) {
    throw new RangeError(
      `answers for ${out.capacity} rows of ${out.valueBytes} bytes; ${to} rows of ${valueBytes} bytes are needed`,
    );
  }
}
