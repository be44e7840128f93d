/**
 * RoCEv2 frames that write into the store: the plain good case that ../src/rdma/rnic-state.ts defines, and only that. A
 * frame of which one thing is otherwise is left to TypeScript, and nothing has been changed by it.
 */

import { copy } from './bytes';
import {
  address,
  begunAt,
  cell,
  COUNTER,
  context,
  doneAt,
  FRAME_CRC,
  HEADERS,
  INPUT_BYTES,
  IS_SHARED,
  KEYS,
  LENGTHS,
  OFFSETS,
  PAIR_OF,
  pageShift,
  REGION_FLAGS,
  RNIC_STATE,
  SLOTS_AT,
  slotBytes,
  WRITES,
} from './context';
import { advance, advance8 } from './crc';
import { fence } from './fence';

// Words of the state.
const QUEUE_PAIRS: usize = 0;
const REGIONS: usize = 4;
const PARTITION_KEY: usize = 8;
const PORT: usize = 12;
const CHECKS_ICRC: usize = 16;
const QUEUE_PAIRS_AT: usize = 64;
const ENTRY_BYTES: usize = 32;
const REGIONS_AT: usize = QUEUE_PAIRS_AT + 1024 * ENTRY_BYTES;
// Words of a queue pair.
const NUMBER: usize = 0;
const SERVICE: usize = 4;
const EXPECTED: usize = 8;
const IS_SYNCHRONISED: usize = 12;
const STALE_RUN: usize = 16;
// Words of a region.
const REMOTE_KEY: usize = 0;
const CAN_WRITE: usize = 4;
const BASE: usize = 12;
const SIZE: usize = 20;

/** Frames that are looked at before the first of them is executed; readers wait for the writes of so many. */
const BLOCK: u32 = 64;
/** A write on its way: offset in the slots, address of its bytes, how many. */
const WRITE_BYTES: usize = 12;

// Parts of a frame.
const IPV4: usize = 14;
const BTH: usize = 42;
const RETH: usize = 54;
const PAYLOAD: usize = 70;
/** IPv4, UDP, BTH, RETH and iCRC. */
const OVERHEAD: u32 = 60;

/** CRC-32 of eight bytes of ones, which stand for a header of InfiniBand, before it is inverted. */
const ICRC_START: u32 = 0xdebb20e3;
/** Bytes that HEADERS has of a queue pair. */
const HEADER_BYTES: usize = 40;

@inline
function big16(at: usize, offset: usize): u32 {
  const both = <u32>load<u16>(at + offset);
  return ((both & 0xff) << 8) | (both >> 8);
}

/** The lower 24 bits of a big-endian word. */
@inline
function big24(at: usize, offset: usize): u32 {
  return bswap<u32>(load<u32>(at + offset)) & 0xffffff;
}

/**
 * The iCRC of a packet from its IPv4 header to the end of its pad bytes. What routers may change counts as ones.
 *
 * Most of what a switch sends is alike in IPv4, UDP and the beginning of the BTH. HEADERS has, by the lower byte of the
 * queue pair, these 32 bytes as they were last, and what the CRC was behind them.
 */
@inline
function icrc(packet: usize, count: u32, queuePair: u32): u32 {
  const table = address(FRAME_CRC);
  const known = address(HEADERS) + <usize>(queuePair & 0xff) * HEADER_BYTES;
  // Type of service; time to live and header checksum; checksum of UDP; later, congestion bits of the BTH.
  const first = load<u64>(packet) | 0xff00;
  const second = load<u64>(packet, 8) | 0xffff00ff;
  const third = load<u64>(packet, 16);
  const fourth = load<u64>(packet, 24) | 0xffff0000;
  let register = load<u32>(known, 32);
  const isKnown =
    ((first ^ load<u64>(known)) |
      (second ^ load<u64>(known, 8)) |
      (third ^ load<u64>(known, 16)) |
      (fourth ^ load<u64>(known, 24))) ==
    0;
  if (!isKnown) {
    register = advance8(table, ICRC_START, first);
    register = advance8(table, register, second);
    register = advance8(table, register, third);
    register = advance8(table, register, fourth);
    store<u64>(known, first);
    store<u64>(known, second, 8);
    store<u64>(known, third, 16);
    store<u64>(known, fourth, 24);
    store<u32>(known, register, 32);
  }
  register = advance8(table, register, load<u64>(packet, 32) | 0xff);
  return ~advance(table, register, packet + 40, count - 40);
}

/** Address of a queue pair in the state; 0 if there is none. PAIR_OF has, by the lower bits of its number, a guess. */
@inline
function findPair(state: usize, number: u32): usize {
  const guess = address(PAIR_OF) + (<usize>(number & 0xff) << 1);
  const count = load<u32>(state, QUEUE_PAIRS);
  const pair = state + QUEUE_PAIRS_AT + <usize>load<u16>(guess) * ENTRY_BYTES;
  if (count != 0 && load<u32>(pair, NUMBER) == number) return pair;
  return searchPair(state, number, count, guess);
}

function searchPair(state: usize, number: u32, count: u32, guess: usize): usize {
  let pair = state + QUEUE_PAIRS_AT;
  for (let index: u32 = 0; index < count; index++) {
    if (load<u32>(pair, NUMBER) == number) {
      store<u16>(guess, <u16>index);
      return pair;
    }
    pair += ENTRY_BYTES;
  }
  return 0;
}

/** Address of a region that lies in this store and can be written; 0 if there is none of the key. */
@inline
function findRegion(state: usize, key: u32): usize {
  const count = load<u32>(state, REGIONS);
  const flags = address(REGION_FLAGS);
  let region = state + REGIONS_AT;
  for (let index: u32 = 0; index < count; index++) {
    if (load<u32>(region, REMOTE_KEY) == key) {
      return load<u8>(flags + index) != 0 && load<u32>(region, CAN_WRITE) == 1 ? region : 0;
    }
    region += ENTRY_BYTES;
  }
  return 0;
}

/** Looks at a frame. If it is a good one, its queue pair moves on, and what it writes is put down; else nothing happens. */
@inline
function accept(state: usize, frame: usize, length: u32, write: usize): bool {
  if (length < OVERHEAD + <u32>IPV4 + 1) return false;
  const packet = frame + IPV4;
  // Ethernet's type and the first byte of IPv4.
  if ((load<u32>(frame, 12) & 0xffffff) != 0x450008) return false;
  const total = big16(packet, 2);
  const bth = load<u32>(frame, BTH);
  // No fragment; UDP; its port and length; opcode and version.
  if (
    total > length - <u32>IPV4 ||
    (load<u16>(packet, 6) & 0xff3f) != 0 ||
    load<u8>(packet, 9) != 17 ||
    big16(packet, 22) != load<u32>(state, PORT) ||
    big16(packet, 24) != total - 20 ||
    (bth & 0x0fff) != 0x002a
  ) {
    return false;
  }
  const key = big16(frame, BTH + 2);
  if (((key ^ load<u32>(state, PARTITION_KEY)) & 0x7fff) != 0) return false;
  const padding = (bth >> 12) & 3;
  const bytes = bswap<u32>(load<u32>(frame, RETH + 12));
  // As signed numbers: the packet may be shorter than its headers.
  if (bytes == 0 || bytes > 0xffff || <i32>(total - OVERHEAD - padding) != <i32>bytes) return false;
  const number = big24(frame, BTH + 4);
  const pair = findPair(state, number);
  const expected = big24(frame, BTH + 8);
  if (
    pair == 0 ||
    load<u32>(pair, SERVICE) != 0 ||
    load<u32>(pair, IS_SYNCHRONISED) != 1 ||
    load<u32>(pair, STALE_RUN) != 0 ||
    load<u32>(pair, EXPECTED) != expected
  ) {
    return false;
  }
  const region = findRegion(state, bswap<u32>(load<u32>(frame, RETH + 8)));
  if (region == 0) return false;
  const offset = bswap<u64>(load<u64>(frame, RETH)) - load<u64>(region, BASE);
  const size = load<u64>(region, SIZE);
  if (<u64>bytes > size || offset > size - <u64>bytes) return false;
  if (load<u32>(state, CHECKS_ICRC) == 1) {
    if (icrc(packet, total - 4, number) != load<u32>(packet + <usize>total - 4)) return false;
  }
  store<u32>(pair, (expected + 1) & 0xffffff, EXPECTED);
  store<u32>(write, <u32>offset);
  store<u32>(write, <u32>(frame + PAYLOAD), 4);
  store<u32>(write, bytes, 8);
  return true;
}

/** Counts a write into each page of a range of slots, in one of the two columns of marks. */
@inline
function markPages(column: usize, first: u32, last: u32): void {
  for (let page = first; page <= last; page++) {
    const mark = column + (<usize>page << 2);
    store<u32>(mark, load<u32>(mark) + 1);
  }
}

/** The last slot of a range that starts in slot `first`: a range of one slot needs no second division. */
@inline
function lastSlot(offset: u32, bytes: u32, first: u32): u32 {
  return offset - first * slotBytes + bytes <= slotBytes ? first : (offset + bytes - 1) / slotBytes;
}

/** Marks the pages of all writes. @returns slots that they touch */
function markWrites(column: usize, end: usize): u32 {
  let slots: u32 = 0;
  for (let write = address(WRITES); write < end; write += WRITE_BYTES) {
    const offset = load<u32>(write);
    const first = offset / slotBytes;
    const last = lastSlot(offset, load<u32>(write, 8), first);
    markPages(column, first >> pageShift, last >> pageShift);
    slots += last - first + 1;
  }
  return slots;
}

function execute(end: usize): void {
  const target = address(SLOTS_AT);
  for (let write = address(WRITES); write < end; write += WRITE_BYTES) {
    copy(target + <usize>load<u32>(write), <usize>load<u32>(write, 4), load<u32>(write, 8));
  }
}

/**
 * Takes frames from row `from` on.
 *
 * @returns the first row that it did not take; `to` if it took all
 */
export function receive(from: u32, to: u32): u32 {
  const state = address(RNIC_STATE);
  const input = address(KEYS);
  const inputBytes = load<u32>(context, INPUT_BYTES);
  const isShared = load<u32>(context, IS_SHARED) != 0;
  let row = from;
  while (row < to) {
    const stop = row + min<u32>(BLOCK, to - row);
    const first = row;
    let write = address(WRITES);
    for (; row < stop; row++) {
      const offset = load<u32>(cell(address(OFFSETS), row));
      const length = load<u32>(cell(address(LENGTHS), row));
      if (<u64>offset + <u64>length > <u64>inputBytes) break;
      if (!accept(state, input + <usize>offset, length, write)) break;
      write += WRITE_BYTES;
    }
    if (row > first) {
      const slots = markWrites(begunAt, write);
      if (isShared) fence();
      execute(write);
      if (isShared) fence();
      markWrites(doneAt, write);
      store<u64>(address(COUNTER), load<u64>(address(COUNTER)) + <u64>slots);
    }
    if (row < stop) return row;
  }
  return to;
}
