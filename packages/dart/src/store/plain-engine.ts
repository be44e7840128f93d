import type { Geometry } from '../layout.js';
import { Candidates } from './answer.js';
import type { StoreEngine } from './engine.js';
import { cutChecksum, type KeyHashes } from './hashes.js';
import { type AnswerRows, type KeyRows, STATUS } from './rows.js';
import type { Segment } from './segment.js';

/** The loops of a store in TypeScript, for any number of segments: what the others are held against. */
export class PlainEngine implements StoreEngine {
  readonly isKernel = false;
  readonly #geometry: Geometry;
  readonly #hashes: KeyHashes;
  readonly #segments: readonly Segment[];
  readonly #perSegment: number;
  /** The slots of a row's key. */
  readonly #slots: Uint32Array;
  readonly #candidates: Candidates;

  constructor(geometry: Geometry, hashes: KeyHashes, segments: readonly Segment[]) {
    this.#geometry = geometry;
    this.#hashes = hashes;
    this.#segments = segments;
    this.#perSegment = geometry.segments[0]!.slots;
    this.#slots = new Uint32Array(geometry.copies);
    this.#candidates = new Candidates(geometry.copies, geometry.valueBytes);
  }

  write(keys: KeyRows, values: Uint8Array, from: number, to: number, copies: number): void {
    const { valueBytes } = this.#geometry;
    const slots = this.#slots;
    for (let row = from; row < to; row++) {
      const checksum = this.#locate(keys, row, copies);
      for (let copy = 0; copy < copies; copy++) this.#store(slots[copy]!, checksum, values, row * valueBytes);
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
    const { valueBytes, copies, slotBytes, checksumBytes } = this.#geometry;
    const candidates = this.#candidates;
    for (let row = from; row < to; row++) {
      const checksum = this.#locate(keys, row, copies);
      candidates.clear();
      for (let copy = 0; copy < copies; copy++) {
        const slot = this.#slots[copy]!;
        if (this.#isRepeated(copy)) continue;
        const segment = this.#segments[(slot / this.#perSegment) | 0]!;
        const at = (slot - segment.geometry.firstSlot) * slotBytes;
        if (readChecksum(segment.slots, at, checksumBytes) === checksum)
          candidates.add(segment.slots, at + checksumBytes);
      }
      answer(out, row, candidates, policy, valueBytes);
    }
  }

  /** Computes the first `copies` slots of a row's key, and returns its checksum. */
  #locate({ bytes, offsets, lengths }: KeyRows, row: number, copies: number): number {
    const slots = this.#slots;
    const hash = this.#hashes.all(bytes, offsets[row]!, lengths[row]!, copies, slots);
    const count = this.#geometry.slots;
    for (let copy = 0; copy < copies; copy++) slots[copy] = slots[copy]! % count;
    return cutChecksum(hash, this.#geometry.checksumBits);
  }

  /** Whether an earlier copy has the same slot: it counts once. */
  #isRepeated(copy: number): boolean {
    for (let other = 0; other < copy; other++) if (this.#slots[other] === this.#slots[copy]) return true;
    return false;
  }

  #store(slot: number, checksum: number, values: Uint8Array, from: number): void {
    const { valueBytes, slotBytes, checksumBytes, pageShift } = this.#geometry;
    const segment = this.#segments[(slot / this.#perSegment) | 0]!;
    const { slots } = segment;
    const local = slot - segment.geometry.firstSlot;
    const page = local >>> pageShift;
    segment.begin(page);
    let at = local * slotBytes;
    for (let shift = (checksumBytes - 1) * 8; shift >= 0; shift -= 8) slots[at++] = checksum >>> shift;
    for (let index = 0; index < valueBytes; index++) slots[at++] = values[from + index]!;
    segment.end(page);
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
