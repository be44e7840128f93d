/**
 * The context block: where everything lies. Filled by ../src/accelerator/context.ts in this order; addresses are bytes in
 * the one memory.
 */

// The store.
/** Address of slot 0. */
export const SLOTS_AT: usize = 0;
/** Addresses of the marks of page 0. */
export const BEGUN_AT: usize = 4;
export const DONE_AT: usize = 8;
/** M. */
export const SLOTS: usize = 12;
/** ceil(2^64 / M) modulo 2^64. */
export const RECIPROCAL: usize = 16;
export const SLOT_BYTES: usize = 24;
export const VALUE_BYTES: usize = 28;
export const CHECKSUM_BYTES: usize = 32;
/** Ones in the lower checksumBits bits. */
export const CHECKSUM_MASK: usize = 36;
/** N. */
export const COPIES: usize = 40;
export const PAGE_SHIFT: usize = 44;
/** Not 0 if other threads look on. */
export const IS_SHARED: usize = 48;
/** Tables of the CRCs, slots first, then the checksum's; 0 for xxhash. */
export const TABLES: usize = 52;

// The rows of a block: that of row i is i cells behind the address, or `offset i` bytes for keys.
export const KEYS: usize = 56;
export const OFFSETS: usize = 60;
export const LENGTHS: usize = 64;
export const VALUES: usize = 68;
export const WHICH: usize = 72;
export const STATUS: usize = 76;
export const MATCHING: usize = 80;
export const AGREEING: usize = 84;
export const ANSWERS: usize = 88;

// Room to work in.
/** Columns for a block: addresses of the slots of each copy, then the checksum as the slots have it. */
export const PLACES: usize = 92;
/** Columns for a block: offset of the mark of the page of each copy's slot. */
export const MARKS: usize = 96;
/** A slot to be written. */
export const IMAGE: usize = 100;
/** A word for fences. */
export const FENCE: usize = 104;
/** Addresses of the values that match a key. */
export const CANDIDATES: usize = 108;

/** Seeds, or polynomials: of the slots, then of the checksum; 12 words. */
export const PARAMETERS: usize = 112;

/** Rows at a time at most. */
export const BLOCK: u32 = 128;
/** Bytes of a column of PLACES and MARKS. */
export const COLUMN: usize = 512;

/** Seed of xxh64. */
export const KEY_SEED: usize = 160;

// The RNIC; its frames are the keys.
/** The state: see ../src/rdma/rnic-state.ts. */
export const RNIC_STATE: usize = 224;
/** A byte for each region: not 0 if it lies in this store. */
export const REGION_FLAGS: usize = 228;
/** 256 half-words: where a queue pair was found last, by the lower byte of its number. */
export const PAIR_OF: usize = 232;
/** Tables of Ethernet's CRC. */
export const FRAME_CRC: usize = 236;
/** What the frames of a block write. */
export const WRITES: usize = 240;
/** The store's counter of slots written, 64 bits. */
export const COUNTER: usize = 244;
/** Bytes that frames may lie in, from KEYS on. */
export const INPUT_BYTES: usize = 248;
/** 256 entries of 40 bytes, zeros at first: see `icrc`. */
export const HEADERS: usize = 252;

export let context: usize = 0;
export let begunAt: usize = 0;
export let doneAt: usize = 0;
export let slotBytes: u32 = 0;
export let valueBytes: u32 = 0;
export let checksumBytes: u32 = 0;
export let copies: u32 = 0;
export let pageShift: u32 = 0;
export let places: usize = 0;
export let marks: usize = 0;
/** Ones in the bytes of the first word of a slot that are its checksum's. */
export let wordMask: u32 = 0;

/** Takes the address of the context block, whose part about the store must not change from then on. */
export function open(at: usize): void {
  context = at;
  begunAt = address(BEGUN_AT);
  doneAt = address(DONE_AT);
  slotBytes = field(SLOT_BYTES);
  valueBytes = field(VALUE_BYTES);
  checksumBytes = field(CHECKSUM_BYTES);
  copies = field(COPIES);
  pageShift = field(PAGE_SHIFT);
  places = address(PLACES);
  marks = address(MARKS);
  wordMask = u32.MAX_VALUE >> (32 - 8 * checksumBytes);
}

@inline
export function field(offset: usize): u32 {
  return load<u32>(context + offset);
}

@inline
export function address(offset: usize): usize {
  return <usize>load<u32>(context + offset);
}

/** Address of a row's cell in a column of words. */
@inline
export function cell(column: usize, row: u32): usize {
  return column + (<usize>row << 2);
}

/** Cell of row `index` of the block in a column of places or marks. */
@inline
export function at(columns: usize, use: u32, index: u32): usize {
  return columns + <usize>use * COLUMN + (<usize>index << 2);
}
