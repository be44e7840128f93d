import type { DartStore } from '../store/dart-store.js';
import type { Segment } from '../store/segment.js';

/** The pages of a store, numbered through all its segments, for saving and restoring. */
export class Pages {
  readonly count: number;
  /** Bytes of a page; the last page of a segment may have fewer. */
  readonly pageBytes: number;
  /** Slots of the store, and bytes of a slot. */
  readonly slots: number;
  readonly slotBytes: number;
  /** The `begun` mark of the page that {@link copy} copied last. */
  mark = 0;
  readonly #segments: readonly Segment[];
  readonly #perSegment: number;
  readonly #shift: number;
  readonly #fence = new Int32Array(1);

  constructor(store: DartStore) {
    const { slotBytes, pageShift, slots } = store.geometry;
    this.#segments = store.segments;
    this.#perSegment = store.segments[0]!.geometry.pages;
    this.#shift = pageShift;
    this.slots = slots;
    this.slotBytes = slotBytes;
    this.count = store.segments.reduce((pages, { geometry }) => pages + geometry.pages, 0);
    this.pageBytes = Math.min(2 ** pageShift, slots) * slotBytes;
  }

  /** The `begun` mark of a page. */
  begun(page: number): number {
    const segment = this.#segmentOf(page);
    return Atomics.load(segment.begun, page % this.#perSegment);
  }

  /** Number of a page's first slot in the store. */
  firstSlot(page: number): number {
    return this.#segmentOf(page).geometry.firstSlot + (page % this.#perSegment) * 2 ** this.#shift;
  }

  slotsOf(page: number): number {
    const { slots } = this.#segmentOf(page).geometry;
    return Math.min(2 ** this.#shift, slots - (page % this.#perSegment) * 2 ** this.#shift);
  }

  /**
   * Copies a page between two writes, so that all slots are whole.
   *
   * @param out needs at least {@link pageBytes} from `at` on
   * @returns the bytes; -1 if another thread was writing the page
   */
  copy(page: number, out: Uint8Array, at: number): number {
    const segment = this.#segmentOf(page);
    const local = page % this.#perSegment;
    const begun = Atomics.load(segment.begun, local);
    if (Atomics.load(segment.done, local) !== begun) return -1;
    const from = local * 2 ** this.#shift * this.slotBytes;
    const length = this.slotsOf(page) * this.slotBytes;
    out.set(segment.slots.subarray(from, from + length), at);
    if (segment.isShared) {
      Atomics.add(this.#fence, 0, 1);
      if (Atomics.load(segment.begun, local) !== begun) return -1;
    }
    this.mark = begun;
    return length;
  }

  /** Empties a page. Readers see the whole page empty or unchanged. */
  clear(page: number): void {
    const segment = this.#segmentOf(page);
    const local = page % this.#perSegment;
    const from = local * 2 ** this.#shift * this.slotBytes;
    segment.begin(local);
    segment.slots.fill(0, from, from + this.slotsOf(page) * this.slotBytes);
    segment.end(local);
  }

  /** Restores slots of a store that nobody else reads or writes yet. */
  restore(firstSlot: number, bytes: Uint8Array): void {
    const slots = this.#segments[0]!.geometry.slots;
    for (let done = 0; done < bytes.length; ) {
      const slot = firstSlot + done / this.slotBytes;
      const segment = this.#segments[Math.floor(slot / slots)]!;
      const at = (slot - segment.geometry.firstSlot) * this.slotBytes;
      const count = Math.min(bytes.length - done, segment.slots.length - at);
      segment.slots.set(bytes.subarray(done, done + count), at);
      done += count;
    }
  }

  /** The range of pages that contains the slots. */
  pagesOf(firstSlot: number, slots: number): { from: number; to: number } {
    return { from: this.#pageOf(firstSlot), to: this.#pageOf(firstSlot + slots - 1) };
  }

  #pageOf(slot: number): number {
    const perSegment = this.#segments[0]!.geometry.slots;
    const segment = Math.floor(slot / perSegment);
    return segment * this.#perSegment + Math.floor((slot - segment * perSegment) / 2 ** this.#shift);
  }

  #segmentOf(page: number): Segment {
    return this.#segments[Math.floor(page / this.#perSegment)]!;
  }
}

/** Yields to the event loop. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
