/** Writing: what every slot gets is put together once. */

import { copy } from './bytes';
import {
  address,
  at,
  begunAt,
  checksumBytes,
  copies,
  doneAt,
  IMAGE,
  marks,
  places,
  slotBytes,
  VALUES,
  valueBytes,
  WHICH,
} from './context';
import { fence } from './fence';

/** The most frequent slot: a checksum of 4 bytes, a value of 20. */
const FREQUENT: u32 = 24;

/** Counts one write into a page, begun and done: without other threads nobody sees what is between. */
@inline
function markBoth(mark: usize): void {
  const count = load<u32>(begunAt + mark) + 1;
  store<u32>(begunAt + mark, count);
  store<u32>(doneAt + mark, count);
}

/** Writes into the first `count` slots of each row, or into that of copy WHICH if `count` is 0. */
@inline
function fill(from: u32, to: u32, count: u32, hasMarks: bool, isFrequent: bool): void {
  const which = address(WHICH);
  const image = address(IMAGE);
  let value = address(VALUES) + <usize>from * valueBytes;
  for (let row = from; row < to; row++) {
    const index = row - from;
    const first = count == 0 ? <u32>load<u8>(which + row) : 0;
    const end = count == 0 ? first + 1 : count;
    const checksum = load<u32>(at(places, copies, index));
    if (isFrequent) {
      // The four bytes in front of the value are replaced; there always are some.
      const head = i32x4.replace_lane(v128.load(value - 4), 0, checksum);
      const tail = load<u64>(value, 12);
      for (let use = first; use < end; use++) {
        const slot = <usize>load<u32>(at(places, use, index));
        v128.store(slot, head);
        store<u64>(slot, tail, 16);
        if (hasMarks) markBoth(<usize>load<u32>(at(marks, use, index)));
      }
    } else {
      store<u32>(image, checksum);
      copy(image + checksumBytes, value, valueBytes);
      for (let use = first; use < end; use++) {
        copy(<usize>load<u32>(at(places, use, index)), image, slotBytes);
        if (hasMarks) markBoth(<usize>load<u32>(at(marks, use, index)));
      }
    }
    value += valueBytes;
  }
}

/** Counts a write into the pages of a block's slots, in one of the two columns of marks. */
@inline
function markRows(column: usize, from: u32, to: u32, count: u32): void {
  const which = address(WHICH);
  for (let row = from; row < to; row++) {
    const first = count == 0 ? <u32>load<u8>(which + row) : 0;
    const end = count == 0 ? first + 1 : count;
    for (let use = first; use < end; use++) {
      const mark = column + <usize>load<u32>(at(marks, use, row - from));
      store<u32>(mark, load<u32>(mark) + 1);
    }
  }
}

/** Writes the rows whose places have been found, for this thread alone. */
export function writeAlone(from: u32, to: u32, count: u32): void {
  if (slotBytes == FREQUENT && checksumBytes == 4) fill(from, to, count, true, true);
  else fill(from, to, count, true, false);
}

/** The same where others look on: they see that writes have begun before any slot changes, and done after all have. */
export function writeShared(from: u32, to: u32, count: u32): void {
  markRows(begunAt, from, to, count);
  fence();
  if (slotBytes == FREQUENT && checksumBytes == 4) fill(from, to, count, false, true);
  else fill(from, to, count, false, false);
  fence();
  markRows(doneAt, from, to, count);
}
