import type { Table } from '../table/table.js';
import { Segment } from './segment.js';
import { SLAB_ROWS, Slab, type SlabPool } from './slab.js';

/** When a segment is closed. */
export interface SegmentLimits {
  readonly rows: number;
  readonly bytes: number;
  readonly ageMs: number;
}

/** Who takes closed segments. */
export interface SegmentTaker {
  /** Segments that it has not dealt with yet. */
  readonly waiting: number;
  add(segment: Segment): void;
}

/** Hours of one table that may be open at the same time. */
const OPEN_HOURS = 4;

/** The segments that rows go to: one for each table and hour, closed when they are full, old or too many. */
export class OpenSegments {
  readonly #pool: SlabPool;
  readonly #limits: SegmentLimits;
  readonly #taker: SegmentTaker;
  #open: Segment[] = [];
  /** What {@link room} has found last. */
  segment!: Segment;

  constructor(pool: SlabPool, limits: SegmentLimits, taker: SegmentTaker) {
    this.#pool = pool;
    this.#limits = limits;
    this.#taker = taker;
  }

  /**
   * Finds room for rows of an hour; `segment` is then the segment that they go to.
   * @param mayExceed the room may be beyond the limit of memory
   * @returns the slab to fill, or `null` if there is no memory left
   */
  room(table: Table, hour: number, rows: number, mayExceed: boolean): Slab | null {
    this.segment = this.#at(table, hour);
    const slab = this.segment.room(rows, SLAB_ROWS) ?? this.#grow(this.segment, false);
    if (slab !== null) return slab;
    // All memory is in rows that wait to become full files: they need not.
    if (this.#taker.waiting === 0) this.closeAll();
    if (!mayExceed) return null;
    // A closed segment takes no more rows.
    this.segment = this.#at(table, hour);
    return this.#grow(this.segment, true);
  }

  /** Rows were added to `segment`: closes it if it is full. */
  closeFull(): void {
    const { segment } = this;
    const { rows, bytes } = this.#limits;
    // The next report may have as many rows as a slab is from full: a file has at most one slab more.
    if (segment.rows >= rows || segment.slabs.length * Slab.byteLength(segment.table.shape) >= bytes) {
      this.#close(segment);
    }
  }

  closeOld(): void {
    const limit = performance.now() - this.#limits.ageMs;
    for (const segment of [...this.#open]) if (segment.openedAt <= limit) this.#close(segment);
  }

  /** Closes those that have rows. */
  closeAll(): void {
    for (const segment of [...this.#open]) if (segment.rows > 0) this.#close(segment);
  }

  #at(table: Table, hour: number): Segment {
    let ofTable = 0;
    let oldest: Segment | null = null;
    for (const segment of this.#open) {
      if (segment.table !== table) continue;
      if (segment.hour === hour) return segment;
      ofTable++;
      if (oldest === null || segment.openedAt < oldest.openedAt) oldest = segment;
    }
    if (ofTable >= OPEN_HOURS && oldest !== null) this.#close(oldest);
    const segment = new Segment(table, hour, performance.now());
    this.#open.push(segment);
    return segment;
  }

  #grow(segment: Segment, mayExceed: boolean): Slab | null {
    const slab = this.#pool.take(segment.table.shape, mayExceed);
    if (slab !== null) segment.slabs.push(slab);
    return slab;
  }

  #close(segment: Segment): void {
    this.#open = this.#open.filter((each) => each !== segment);
    if (segment.rows > 0) this.#taker.add(segment);
  }
}
