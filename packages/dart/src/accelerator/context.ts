/** The context block of the accelerator: words, in the order of `assembly/context.ts`. */
import type { StoreGeometry } from '../layout.js';
import type { HashParameters } from '../store/hashes.js';

export const CONTEXT = {
  SLOTS_AT: 0,
  BEGUN_AT: 1,
  DONE_AT: 2,
  SLOTS: 3,
  /** Two words, the lower one first. */
  RECIPROCAL: 4,
  SLOT_BYTES: 6,
  VALUE_BYTES: 7,
  CHECKSUM_BYTES: 8,
  CHECKSUM_MASK: 9,
  COPIES: 10,
  PAGE_SHIFT: 11,
  IS_SHARED: 12,
  TABLES: 13,
  KEYS: 14,
  OFFSETS: 15,
  LENGTHS: 16,
  VALUES: 17,
  WHICH: 18,
  STATUS: 19,
  MATCHING: 20,
  AGREEING: 21,
  ANSWERS: 22,
  PLACES: 23,
  MARKS: 24,
  IMAGE: 25,
  FENCE: 26,
  CANDIDATES: 27,
  /** 12 words. */
  PARAMETERS: 28,
  KEY_SEED: 40,
  RNIC_STATE: 56,
  REGION_FLAGS: 57,
  PAIR_OF: 58,
  FRAME_CRC: 59,
  WRITES: 60,
  COUNTER: 61,
  INPUT_BYTES: 62,
  HEADERS: 63,
} as const;
export const CONTEXT_WORDS = 64;

/** Most rows that the accelerator processes together: `BLOCK` of `assembly/context.ts`. */
export const ACCELERATOR_BLOCK = 128;
/** Bytes of the tables of one CRC. */
export const CRC_TABLE_BYTES = 8192;
/** Bytes of the tables of four CRCs of 13-byte keys: `FLOW_TABLE_BYTES` of `assembly/flow-crc.ts`. */
const FLOW_TABLE_BYTES = 2 * 11 * 512;

/** Bytes of the tables of a store's CRCs. */
export function crcTablesBytes(copies: number): number {
  return (copies + 1) * CRC_TABLE_BYTES + Math.ceil(copies / 4) * FLOW_TABLE_BYTES;
}

/** Writes a store's parameters for the accelerator. The segment is at `at` in its memory. */
export function writeStore(
  context: Uint32Array,
  geometry: StoreGeometry,
  parameters: HashParameters,
  at: number,
): void {
  const segment = geometry.segments[0]!;
  const { slots, copies, checksumBits } = geometry;
  context[CONTEXT.SLOTS_AT] = at + segment.slotsAt;
  context[CONTEXT.BEGUN_AT] = at + segment.begunAt;
  context[CONTEXT.DONE_AT] = at + segment.doneAt;
  context[CONTEXT.SLOTS] = slots;
  const reciprocal = (2n ** 64n - 1n) / BigInt(slots) + 1n;
  context[CONTEXT.RECIPROCAL] = Number(reciprocal & 0xffffffffn);
  context[CONTEXT.RECIPROCAL + 1] = Number((reciprocal >> 32n) & 0xffffffffn);
  context[CONTEXT.SLOT_BYTES] = geometry.slotBytes;
  context[CONTEXT.VALUE_BYTES] = geometry.valueBytes;
  context[CONTEXT.CHECKSUM_BYTES] = geometry.checksumBytes;
  context[CONTEXT.CHECKSUM_MASK] = 2 ** checksumBits - 1;
  context[CONTEXT.COPIES] = copies;
  context[CONTEXT.PAGE_SHIFT] = geometry.pageShift;
  context[CONTEXT.KEY_SEED] = parameters.key;
  context.set([...parameters.slots.slice(0, copies), parameters.checksum], CONTEXT.PARAMETERS);
}
