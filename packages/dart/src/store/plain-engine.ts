import type { StoreGeometry } from '../layout.js';
import { Candidates } from './answer.js';
import type { StoreEngine } from './engine.js';
import { cutChecksum, type KeyHashes } from './hashes.js';
import { type AnswerRows, type KeyRows, STATUS } from './rows.js';
import type { Segment } from './segment.js';

/** Rows per block. All rows of a block are hashed and their slots touched before the first is written or read. */
const BLOCK = 32;

/**
 * The loops of a store in TypeScript, for any number of segments. They are the reference for other engines.
 *
 * Offsets in a segment are unsigned 32-bit numbers: with others, V8 is several times slower.
 */
export class PlainEngine implements StoreEngine {
  readonly #geometry: StoreGeometry;
  readonly #hashes: KeyHashes;
  readonly #segments: readonly Segment[];
  readonly #perSegment: number;
  /** 1 / M. */
  readonly #inverse: number;
  /** The slots of a row's key. */
  readonly #slots: Uint32Array;
  /** The slots of a block, N per row, and the checksums. */
  readonly #blockSlots: Uint32Array;
  readonly #checksums: Uint32Array = new Uint32Array(BLOCK);
  readonly #candidates: Candidates;
  /** The result of touching, kept so that the compiler does not remove it. @internal */
  touched = 0;

  constructor(geometry: StoreGeometry, hashes: KeyHashes, segments: readonly Segment[]) {
    this.#geometry = geometry;
    this.#hashes = hashes;
    this.#segments = segments;
    this.#perSegment = geometry.segments[0]!.slots;
    this.#inverse = 1 / geometry.slots;
    this.#slots = new Uint32Array(geometry.copies);
    this.#blockSlots = new Uint32Array(geometry.copies * BLOCK);
    this.#candidates = new Candidates(geometry.copies, geometry.valueBytes);
  }

  write(keys: KeyRows, values: Uint8Array, from: number, to: number, copies: number): void {
    const { valueBytes } = this.#geometry;
    const blockSlots = this.#blockSlots;
    for (let first = from; first < to; first += BLOCK) {
      const end = Math.min(first + BLOCK, to);
      this.#locateBlock(keys, first, end, copies);
      this.touched = this.#touch((end - first) * copies);
      let at = 0;
      for (let row = first; row < end; row++) {
        const checksum = this.#checksums[row - first]!;
        for (const next = at + copies; at < next; at++)
          this.#store(blockSlots[at]!, checksum, values, row * valueBytes);
      }
    }
  }

  writeCopy(keys: KeyRows, values: Uint8Array, which: Uint8Array, from: number, to: number): void {
    const { valueBytes } = this.#geometry;
    for (let row = from; row < to; row++) {
      const copy = which[row]!;
      const checksum = this.#locate(keys, row, copy + 1);
      this.#store(this.#slots[copy]!, checksum, values, row * valueBytes);
    }
  }

  query(keys: KeyRows, policy: number, out: AnswerRows, from: number, to: number): void {
    for (let first = from; first < to; first += BLOCK) {
      const end = Math.min(first + BLOCK, to);
      this.#locateBlock(keys, first, end, this.#geometry.copies);
      this.touched = this.#touch((end - first) * this.#geometry.copies);
      this.#decideBlock(policy, out, first, end);
    }
  }

  /** Computes the first `copies` slots of a row's key, and returns its checksum. */
  #locate({ bytes, offsets, lengths }: KeyRows, row: number, copies: number): number {
    const slots = this.#slots;
    const hash = this.#hashes.all(bytes, offsets[row]!, lengths[row]!, copies, slots);
    const count = this.#geometry.slots;
    const inverse = this.#inverse;
    for (let copy = 0; copy < copies; copy++) slots[copy] = remainder(slots[copy]!, count, inverse);
    return cutChecksum(hash, this.#geometry.checksumBits);
  }

  #locateBlock(keys: KeyRows, from: number, to: number, copies: number): void {
    const slots = this.#slots;
    const blockSlots = this.#blockSlots;
    let at = 0;
    for (let row = from; row < to; row++) {
      this.#checksums[row - from] = this.#locate(keys, row, copies);
      for (let copy = 0; copy < copies; copy++) blockSlots[at++] = slots[copy]!;
    }
  }

  /**
   * Touches the slots of a block. The loop is so short that the processor has many loads under way, which is not so in
   * the main loop.
   */
  #touch(count: number): number {
    const { slotBytes } = this.#geometry;
    const blockSlots = this.#blockSlots;
    const segments = this.#segments;
    let sum = 0;
    if (segments.length === 1) {
      const { slots } = segments[0]!;
      for (let at = 0; at < count; at++) sum += slots[(blockSlots[at]! * slotBytes) >>> 0]!;
      return sum;
    }
    for (let at = 0; at < count; at++) {
      const slot = blockSlots[at]!;
      const segment = this.#segmentOf(slot);
      sum += segment.slots[((slot - segment.geometry.firstSlot) * slotBytes) >>> 0]!;
    }
    return sum;
  }

  #decideBlock(policy: number, out: AnswerRows, from: number, to: number): void {
    const { valueBytes, copies, slotBytes, checksumBytes } = this.#geometry;
    const candidates = this.#candidates;
    const blockSlots = this.#blockSlots;
    for (let row = from; row < to; row++) {
      const first = (row - from) * copies;
      const checksum = this.#checksums[row - from]!;
      candidates.clear();
      for (let at = first; at < first + copies; at++) {
        const slot = blockSlots[at]!;
        // A slot chosen by two hashes counts once.
        if (isRepeated(blockSlots, first, at)) continue;
        const segment = this.#segmentOf(slot);
        const start = ((slot - segment.geometry.firstSlot) * slotBytes) >>> 0;
        if (readChecksum(segment.slots, start, checksumBytes) === checksum) {
          candidates.add(segment.slots, start + checksumBytes);
        }
      }
      answer(out, row, candidates, policy, valueBytes);
    }
  }

  #segmentOf(slot: number): Segment {
    const segments = this.#segments;
    return segments.length === 1 ? segments[0]! : segments[Math.floor(slot / this.#perSegment)]!;
  }

  #store(slot: number, checksum: number, values: Uint8Array, from: number): void {
    const { slotBytes, checksumBytes, pageShift } = this.#geometry;
    const segment = this.#segmentOf(slot);
    const local = slot - segment.geometry.firstSlot;
    const page = local >>> pageShift;
    segment.begin(page);
    if (segment.words !== null)
      storeWords(segment.words, Math.imul(local, slotBytes >>> 2), slotBytes >>> 2, checksum, values, from);
    else storeBytes(segment.slots, (local * slotBytes) >>> 0, slotBytes, checksumBytes, checksum, values, from);
    segment.end(page);
  }
}

/**
 * `hash % count` for 32-bit numbers, without a slow floating-point division. The estimated quotient may be off by one
 * in either direction.
 */
function remainder(hash: number, count: number, inverse: number): number {
  const rest = hash - Math.floor(hash * inverse) * count;
  if (rest < 0) return rest + count;
  return rest >= count ? rest - count : rest;
}

/** Whether an element from `first` on, before `at`, equals that at `at`. */
function isRepeated(slots: Uint32Array, first: number, at: number): boolean {
  for (let other = first; other < at; other++) if (slots[other] === slots[at]) return true;
  return false;
}

function storeBytes(
  slots: Uint8Array,
  at: number,
  slotBytes: number,
  checksumBytes: number,
  checksum: number,
  values: Uint8Array,
  from: number,
): void {
  let to = at;
  let next = from;
  for (let shift = (checksumBytes - 1) * 8; shift >= 0; shift -= 8) slots[to++] = checksum >>> shift;
  for (const end = at + slotBytes; to < end; ) slots[to++] = values[next++]!;
}

/**
 * Writes slots of whole little-endian words. It needs few store instructions, so many slots can wait for memory at a
 * time.
 */
function storeWords(
  words: Uint32Array,
  at: number,
  slotWords: number,
  checksum: number,
  values: Uint8Array,
  from: number,
): void {
  words[at] =
    (checksum >>> 24) | ((checksum >>> 8) & 0xff00) | ((checksum << 8) & 0xff0000) | ((checksum << 24) & 0xff000000);
  let next = from;
  for (let to = at + 1; to < at + slotWords; to++) {
    words[to] = values[next]! | (values[next + 1]! << 8) | (values[next + 2]! << 16) | (values[next + 3]! << 24);
    next += 4;
  }
}

/** A slot's checksum, big-endian in one to four bytes, unsigned. */
export function readChecksum(slots: Uint8Array, at: number, bytes: number): number {
  let checksum = 0;
  for (let index = 0; index < bytes; index++) checksum = (checksum << 8) | slots[at + index]!;
  return checksum >>> 0;
}

/** Writes the verdict on a row. */
export function answer(out: AnswerRows, row: number, candidates: Candidates, policy: number, valueBytes: number): void {
  const { status, chosen, matching, agreeing } = candidates.decide(policy);
  out.status[row] = status;
  out.matching[row] = matching;
  out.agreeing[row] = agreeing;
  if (status !== STATUS.VALUE) return;
  const { values } = candidates;
  const to = row * valueBytes;
  const from = chosen * valueBytes;
  for (let at = 0; at < valueBytes; at++) out.values[to + at] = values[from + at]!;
}
