/**
 * Asks for memory by loads whose results nobody needs. The next load does not wait, as long as the processor's queue has a
 * place for it. These loops have as few other instructions as possible, so that many loads are under way.
 */

import { address } from './context';
import * as block from './context';

/** Touches the rows of places. */
export function touchRows(to: u32): void {
  let at = address(block.PLACES);
  const end = at + <usize>to * block.PLACE_BYTES;
  for (; at < end; at += block.PLACE_BYTES) load<u32>(<usize>load<u32>(at, block.PLACE_TAGS));
}

@inline
function touch(at: usize, end: usize, offset: usize, lines: u32): void {
  for (; at < end; at += block.PLACE_BYTES) {
    const flow = <usize>load<u32>(at, block.PLACE_FLOW) + offset;
    load<u32>(flow);
    if (lines > 1) load<u32>(flow, 64);
    if (lines > 2) load<u32>(flow, 128);
    if (lines > 3) load<u32>(flow, 192);
    if (lines > 4) load<u32>(flow, 256);
    if (lines > 5) load<u32>(flow, 320);
    if (lines > 6) load<u32>(flow, 384);
    if (lines > 7) load<u32>(flow, 448);
  }
}

/** Touches the first lines of the buckets of places: up to 63 bytes more than asked for. */
export function touchBuckets(from: u32, to: u32, lines: u32): void {
  const places = address(block.PLACES);
  const at = places + <usize>from * block.PLACE_BYTES;
  const end = places + <usize>to * block.PLACE_BYTES;
  let left = lines;
  let offset: usize = 0;
  for (; left > 8; left -= 8) {
    touch(at, end, offset, 8);
    offset += 512;
  }
  switch (left) {
    case 1:
      touch(at, end, offset, 1);
      break;
    case 2:
      touch(at, end, offset, 2);
      break;
    case 3:
      touch(at, end, offset, 3);
      break;
    case 4:
      touch(at, end, offset, 4);
      break;
    case 5:
      touch(at, end, offset, 5);
      break;
    case 6:
      touch(at, end, offset, 6);
      break;
    case 7:
      touch(at, end, offset, 7);
      break;
    default:
      touch(at, end, offset, 8);
  }
}
