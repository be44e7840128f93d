/**
 * The layout of a DART store in memory, to the byte. Other threads, files, the WebAssembly accelerator, the C twin and
 * switches that write by RDMA rely on it. Each change needs a new {@link LAYOUT_VERSION}.
 *
 * A store is M slots, numbered 0..M-1, in one or more segments. A segment is one run of bytes:
 *
 * | Part | Bytes |
 * |---|---|
 * | header | {@link HEADER}: 32-bit words, little-endian; {@link HEADER_BYTES} in all |
 * | marks | two 32-bit words, little-endian, per page: `begun` of every page, then `done` of every page |
 * | slots | `slots` x `slotBytes`, from a multiple of 64 bytes on |
 *
 * A slot is the checksum of the key, `ceil(checksumBits / 8)` bytes, big-endian, then the value. Its bytes are those of
 * the payload of an RDMA WRITE. A checksum of 0 is stored as 1. A slot of zeros is therefore empty and never answers.
 *
 * A page is 2^pageShift slots. `begun` counts the writes into the page that have begun, `done` those that have ended,
 * both modulo 2^32. A read of a slot is valid if its page has `begun` = `done` before the read and the same `begun`
 * after it. A page whose `begun` has changed since a checkpoint must be saved again.
 */

/** Number of this layout. */
export const LAYOUT_VERSION = 1;
/** "DART" in memory. */
export const MAGIC = 0x54524144;
export const HEADER_BYTES = 512;

/** Words of a segment's header. All words not named are 0. */
export const HEADER = {
  MAGIC: 0,
  VERSION: 1,
  VALUE_BYTES: 2,
  /** Bits of the checksum, 8..32. */
  CHECKSUM_BITS: 3,
  /** N: slots of a key, 1..`MAX_COPIES`. */
  COPIES: 4,
  /** M: slots of the whole store. */
  SLOTS: 5,
  /** Number of segments of the store, and index of this one. */
  SEGMENTS: 6,
  SEGMENT: 7,
  /** Number of the segment's first slot, and number of its slots. */
  FIRST_SLOT: 8,
  SEGMENT_SLOTS: 9,
  PAGE_SHIFT: 10,
  /** Pages of the segment. */
  PAGES: 11,
  /** Offsets in bytes from the start of the header. */
  BEGUN_AT: 12,
  DONE_AT: 13,
  SLOTS_AT: 14,
  /** Index in {@link FAMILIES}. */
  FAMILY: 15,
  /** Parameters of the hashes: seeds, or polynomials of CRC-32. One for each of `MAX_COPIES` slots ... */
  SLOT_PARAMETERS: 16,
  /** ... one for the checksum, one for the choice of the collector. */
  CHECKSUM_PARAMETER: 24,
  COLLECTOR_PARAMETER: 25,
  /** Number of collectors among which keys are spread, and the number of this store's; 1 and 0 for a single store. */
  COLLECTORS: 26,
  COLLECTOR: 27,
  /** Number of the epoch whose writes are in the slots; 64 bits, the lower word first. */
  EPOCH: 28,
  /** Slots written in this epoch, by keys and by RDMA; 64 bits. Only in segment 0. */
  SLOT_WRITES: 30,
  /** Keys written in this epoch, by calls for all copies or for one; 64 bits. Only in segment 0. */
  KEY_WRITES: 32,
  /** The seed of xxh64, 32 bits; 0 in the family `crc`. */
  KEY_PARAMETER: 34,
} as const;

export const MAX_COPIES = 8;
export const MAX_VALUE_BYTES = 1024;

/**
 * Families of hashes. `xxhash`: xxh64 of the key, of which 32 bits are mixed with a seed per hash. `crc`: CRC-32 with a
 * polynomial per hash; all other parameters (reflected, initial register and final exclusive-or of ones) are those of
 * Ethernet's CRC-32. store/hashes.ts defines them to the bit.
 */
export const FAMILIES = ['xxhash', 'crc'] as const;
export type FamilyName = (typeof FAMILIES)[number];

/** Most pages of a segment, so that their marks stay in the cache of a core. */
const MOST_PAGES = 1 << 14;
const LEAST_PAGE_SHIFT = 6;
const LINE = 64;
/** Most bytes of a segment: offsets in it are unsigned 32-bit numbers. */
const MOST_SEGMENT_BYTES = 2 ** 32;

/** The sizes and layout of a store, fixed when it is made. */
export interface StoreGeometry {
  /** M, 1..2^32 - 1. */
  readonly slots: number;
  readonly valueBytes: number;
  readonly checksumBits: number;
  readonly checksumBytes: number;
  readonly slotBytes: number;
  /** N. */
  readonly copies: number;
  readonly pageShift: number;
  readonly segments: readonly SegmentGeometry[];
}

/** One segment; offsets in bytes from the start of its header. */
export interface SegmentGeometry {
  readonly index: number;
  readonly firstSlot: number;
  readonly slots: number;
  readonly pages: number;
  readonly begunAt: number;
  readonly doneAt: number;
  readonly slotsAt: number;
  readonly byteLength: number;
}

/** @throws RangeError unless the value is a whole number in the range */
export function whole(name: string, value: number, least: number, most: number): void {
  if (!(Number.isInteger(value) && value >= least && value <= most)) {
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not ${value}`);
  }
}

/** Bytes of a slot: checksum, then value. */
export function slotBytesOf(valueBytes: number, checksumBits: number): number {
  return Math.ceil(checksumBits / 8) + valueBytes;
}

function segmentOf(index: number, firstSlot: number, slots: number, slotBytes: number, shift: number): SegmentGeometry {
  const pages = Math.ceil(slots / 2 ** shift);
  const begunAt = HEADER_BYTES;
  const doneAt = begunAt + pages * 4;
  const slotsAt = Math.ceil((doneAt + pages * 4) / LINE) * LINE;
  // The margin keeps wide loads of the last slot inside the segment.
  const byteLength = slotsAt + Math.ceil((slots * slotBytes + 16) / LINE) * LINE;
  return { index, firstSlot, slots, pages, begunAt, doneAt, slotsAt, byteLength };
}

/**
 * Computes the layout of a store.
 *
 * @param slots M
 * @param valueBytes bytes of a value, 1..{@link MAX_VALUE_BYTES}
 * @param checksumBits 8..32
 * @param copies N, 1..`MAX_COPIES`
 * @param segmentBytes most bytes of a segment, with header, marks and slots; at most 2^32
 * @throws RangeError for a number out of its range, or if a segment has no room for a page
 */
export function geometryOf(
  slots: number,
  valueBytes: number,
  checksumBits: number,
  copies: number,
  segmentBytes: number,
): StoreGeometry {
  whole('slots', slots, 1, 2 ** 32 - 1);
  whole('valueBytes', valueBytes, 1, MAX_VALUE_BYTES);
  whole('checksumBits', checksumBits, 8, 32);
  whole('copies', copies, 1, MAX_COPIES);
  whole('segmentBytes', segmentBytes, 4096, MOST_SEGMENT_BYTES);
  const slotBytes = slotBytesOf(valueBytes, checksumBits);
  const fit = (shift: number): number => {
    // Subtract two words of marks per page, and the margins of segmentOf.
    const room = segmentBytes - HEADER_BYTES - 4 * LINE;
    return Math.floor(room / (slotBytes * 2 ** shift + 8)) * 2 ** shift;
  };
  let shift = LEAST_PAGE_SHIFT;
  while (Math.min(slots, fit(shift)) / 2 ** shift > MOST_PAGES) shift++;
  const perSegment = fit(shift);
  if (perSegment === 0) throw new RangeError(`${segmentBytes} bytes have no room for a page of slots`);
  const segments: SegmentGeometry[] = [];
  for (let first = 0; first < slots; first += perSegment) {
    segments.push(segmentOf(segments.length, first, Math.min(perSegment, slots - first), slotBytes, shift));
  }
  const checksumBytes = Math.ceil(checksumBits / 8);
  return { slots, valueBytes, checksumBits, checksumBytes, slotBytes, copies, pageShift: shift, segments };
}

/** M for an amount of memory: the number of slots that fit. */
export function slotsFor(bytes: number, valueBytes: number, checksumBits: number): number {
  return Math.floor(bytes / slotBytesOf(valueBytes, checksumBits));
}
