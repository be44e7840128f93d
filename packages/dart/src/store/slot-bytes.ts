import type { StoreGeometry } from '../layout.js';
import { checkAtomic, checkRange } from './checks.js';
import type { Segment } from './segment.js';

/** The slots of a store as one run of bytes across its segments, for RDMA. Every write leaves marks. */
export class SlotBytes {
  readonly byteLength: number;
  readonly #geometry: StoreGeometry;
  readonly #segments: readonly Segment[];
  readonly #perSegment: number;
  readonly #word = new Uint8Array(8);
  readonly #view = new DataView(this.#word.buffer);

  constructor(geometry: StoreGeometry, segments: readonly Segment[]) {
    this.#geometry = geometry;
    this.#segments = segments;
    this.#perSegment = geometry.segments[0]!.slots * geometry.slotBytes;
    this.byteLength = geometry.slots * geometry.slotBytes;
  }

  /**
   * @returns number of slots that were written, wholly or in part
   * @throws RangeError if the range is not inside the slots, or the source is too short
   */
  write(offset: number, source: Uint8Array, from: number, length: number): number {
    checkRange(offset, length, this.byteLength);
    checkRange(from, length, source.length);
    if (length === 0) return 0;
    const { slotBytes } = this.#geometry;
    for (let done = 0; done < length; ) {
      const segment = this.#segments[Math.floor((offset + done) / this.#perSegment)]!;
      const at = offset + done - segment.geometry.firstSlot * slotBytes;
      const count = Math.min(length - done, segment.slots.length - at);
      this.#writePiece(segment, at, source, from + done, count);
      done += count;
    }
    return Math.floor((offset + length - 1) / slotBytes) - Math.floor(offset / slotBytes) + 1;
  }

  /** The 8 bytes at an offset, little-endian. */
  read64(offset: number): bigint {
    checkAtomic(offset, this.byteLength);
    const { slotBytes } = this.#geometry;
    for (let index = 0; index < 8; index++) {
      const segment = this.#segments[Math.floor((offset + index) / this.#perSegment)]!;
      this.#word[index] = segment.slots[offset + index - segment.geometry.firstSlot * slotBytes]!;
    }
    return this.#view.getBigUint64(0, true);
  }

  /** Writes 8 bytes at an offset, little-endian. */
  write64(offset: number, value: bigint): void {
    checkAtomic(offset, this.byteLength);
    this.#view.setBigUint64(0, value, true);
    this.write(offset, this.#word, 0, 8);
  }

  /** Sets every byte to 0. Readers see each whole page empty or unchanged. */
  clear(): void {
    const { slotBytes, pageShift } = this.#geometry;
    for (const segment of this.#segments) {
      const pageBytes = slotBytes * 2 ** pageShift;
      for (let page = 0; page < segment.geometry.pages; page++) {
        segment.begin(page);
        segment.slots.fill(0, page * pageBytes, (page + 1) * pageBytes);
        segment.end(page);
      }
    }
  }

  #writePiece(segment: Segment, at: number, source: Uint8Array, from: number, count: number): void {
    const { slotBytes, pageShift } = this.#geometry;
    const first = Math.floor(at / slotBytes) >>> pageShift;
    const last = Math.floor((at + count - 1) / slotBytes) >>> pageShift;
    for (let page = first; page <= last; page++) segment.begin(page);
    const { slots } = segment;
    for (let index = 0; index < count; index++) slots[at + index] = source[from + index]!;
    for (let page = first; page <= last; page++) segment.end(page);
  }
}
