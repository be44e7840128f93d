/** Checks of arguments, before anything is read or written. */
import { type AnswerRows, type KeyRows, MAX_KEY_BYTES } from './rows.js';

/** @throws RangeError unless the rows exist, and each key is inside the bytes and not too long */
export function checkKeys({ bytes, offsets, lengths }: KeyRows, from: number, to: number): void {
  const rows = Math.min(offsets.length, lengths.length);
  if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to <= rows)) {
    throw new RangeError(`rows ${from} to ${to}: not inside ${rows} rows of keys`);
  }
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
