/** A segment of a store: views of its bytes, and its marks. */
import { HEADER, HEADER_BYTES, type SegmentGeometry } from '../layout.js';

/** The location of a segment, for use in another thread. */
export interface SegmentPlace {
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
}

const IS_LITTLE_ENDIAN = /* @__PURE__ */ new Uint8Array(/* @__PURE__ */ Uint32Array.of(1).buffer)[0] === 1;

/** A segment: a header, then marks, then slots. See layout.ts. */
export class Segment implements SegmentPlace {
  readonly geometry: SegmentGeometry;
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  readonly header: Uint32Array;
  /** Counts of writes begun, and done, per page. */
  readonly begun: Int32Array;
  readonly done: Int32Array;
  /** The bytes of the slots. */
  readonly slots: Uint8Array;
  /**
   * The slots as words, if slots are whole words, the checksum is one word and this machine is little-endian; else
   * null.
   */
  readonly words: Uint32Array | null;
  /** Whether other threads may read it. */
  readonly isShared: boolean;

  constructor(geometry: SegmentGeometry, slotBytes: number, place: SegmentPlace, checksumBytes = 0) {
    const { buffer, byteOffset } = place;
    this.geometry = geometry;
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.header = new Uint32Array(buffer, byteOffset, HEADER_BYTES / 4);
    this.begun = new Int32Array(buffer, byteOffset + geometry.begunAt, geometry.pages);
    this.done = new Int32Array(buffer, byteOffset + geometry.doneAt, geometry.pages);
    const at = byteOffset + geometry.slotsAt;
    const bytes = geometry.slots * slotBytes;
    this.slots = new Uint8Array(buffer, at, bytes);
    const isWords = checksumBytes === 4 && slotBytes % 4 === 0 && at % 4 === 0 && IS_LITTLE_ENDIAN;
    this.words = isWords ? new Uint32Array(buffer, at, bytes / 4) : null;
    this.isShared = typeof SharedArrayBuffer !== 'undefined' && buffer instanceof SharedArrayBuffer;
  }

  /** Marks a page as being written. */
  begin(page: number): void {
    if (this.isShared) Atomics.add(this.begun, page, 1);
    else this.begun[page] = this.begun[page]! + 1;
  }

  /** Marks the write of {@link begin} as done. */
  end(page: number): void {
    if (this.isShared) Atomics.add(this.done, page, 1);
    else this.done[page] = this.done[page]! + 1;
  }

  /** Completes the marks of a writer that was terminated during a write. */
  repair(): void {
    for (let page = 0; page < this.geometry.pages; page++) Atomics.store(this.done, page, this.begun[page]!);
  }
}

/** Adds to a 64-bit counter of the header. `count` is below 2^32. */
export function addToCounter(header: Uint32Array, at: number, count: number): void {
  const low = header[at]! + count;
  header[at] = low;
  if (low >= 2 ** 32) header[at + 1] = header[at + 1]! + 1;
}

/** A 64-bit counter of the header as a number, exact up to 2^53. */
export function readCounter(header: Uint32Array, at: number): number {
  return header[at + 1]! * 2 ** 32 + header[at]!;
}

/** The number of the epoch that the header names. */
export function readEpoch(header: Uint32Array): bigint {
  return (BigInt(header[HEADER.EPOCH + 1]!) << 32n) | BigInt(header[HEADER.EPOCH]!);
}

/** Sets a 64-bit number of the header, modulo 2^64. */
function setWords(header: Uint32Array, at: number, value: bigint): void {
  header[at] = Number(value & 0xffffffffn);
  header[at + 1] = Number((value >> 32n) & 0xffffffffn);
}

/** Begins an epoch in the header: its number, and counts of writes. */
export function setEpoch(header: Uint32Array, epoch: bigint, keyWrites = 0, slotWrites = 0): void {
  setWords(header, HEADER.EPOCH, epoch);
  setWords(header, HEADER.KEY_WRITES, BigInt(keyWrites));
  setWords(header, HEADER.SLOT_WRITES, BigInt(slotWrites));
}
