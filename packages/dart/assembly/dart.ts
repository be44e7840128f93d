/**
 * The loops of a store as a WebAssembly SIMD accelerator. Written in AssemblyScript; compiled by build.mjs.
 *
 * It does what ../src/store/plain-engine.ts does, to the last bit of slots, marks and answers. Most of the time goes by
 * with waiting for memory; hashes are computed meanwhile. Slots to be written are written at once: to ask for them
 * before would only take room in the queue of loads. For a query, memory is asked for the slots of a block of keys
 * before the first of them is looked at.
 *
 * All addresses are bytes in the one memory, up to its 4 GiB.
 */

import { address, BLOCK, context, copies, FRAME_CRC, IS_SHARED, open, TABLES } from './context';
import { makeTables } from './crc';
import { makeAllTables } from './crc-rows';
import { locate } from './places';
import { decide, touch } from './query';
import { writeAlone, writeShared } from './write';

export { receive } from './rnic';

/** Slots at a time that are written, of four rows at least: while they wait for memory, the next hashes are computed. */
const GROUP: u32 = 16;
/** The polynomial of Ethernet's CRC-32. */
const ETHERNET: u32 = 0x04c11db7;
/** Rows at a time where readers wait for the writer. */
const SHARED_BLOCK: u32 = 64;

/** Takes the address of the context block and, for CRCs, makes their tables. */
export function attach(at: usize): void {
  open(at);
  if (address(TABLES) != 0) makeAllTables();
}

/** Makes the tables with which the RNIC checks frames. */
export function attachRnic(): void {
  makeTables(address(FRAME_CRC), ETHERNET);
}

/** Writes rows `from` to `to - 1` into the first `count` slots of their keys, or into that of copy WHICH if that is 0. */
export function write(from: u32, to: u32, count: u32): void {
  const isShared = load<u32>(context, IS_SHARED) != 0;
  const block = isShared ? SHARED_BLOCK : max<u32>(GROUP / copies, 4) & ~3;
  let row = from;
  while (row < to) {
    const end = row + min<u32>(block, to - row);
    locate(row, end);
    if (isShared) writeShared(row, end, count);
    else writeAlone(row, end, count);
    row = end;
  }
}

/** Answers rows `from` to `to - 1`; see `decide`. */
export function query(from: u32, to: u32, policy: u32): void {
  let row = from;
  while (row < to) {
    const end = row + min<u32>(BLOCK, to - row);
    locate(row, end);
    touch(end - row);
    decide(row, end, policy);
    row = end;
  }
}
