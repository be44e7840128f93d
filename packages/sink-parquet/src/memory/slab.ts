/** Rows that the engine takes at a time. */
export const SLAB_ROWS = 2048;
/** Words from a column to the next: an odd number of cache lines, so that one row of all columns is not in one set. */
export const SLAB_STRIDE: number = SLAB_ROWS + 16;

/** What the rows of a table are kept as until they are in a file: columns of 32-bit words, and of texts. */
export interface SlabShape {
  /** Columns of words. */
  readonly words: number;
  /** Columns of texts. */
  readonly texts: number;
}

/** Rows of one table, column by column. A word column that is not `used` holds nothing: all its cells are missing. */
export class Slab {
  /** Column c starts at `c * SLAB_STRIDE`. */
  readonly words: Uint32Array;
  /** Not 0: the column holds values. */
  readonly used: Uint8Array;
  readonly texts: readonly string[][];
  /** Rows of each record: columns of records have one cell for all of them. */
  readonly spans: Uint8Array = new Uint8Array(SLAB_ROWS);
  rows = 0;
  /** Records in these rows: a record may have several. */
  records = 0;

  constructor(readonly shape: SlabShape) {
    this.words = new Uint32Array(shape.words * SLAB_STRIDE);
    this.used = new Uint8Array(shape.words);
    this.texts = Array.from({ length: shape.texts }, () => []);
  }

  static byteLength(shape: SlabShape): number {
    return shape.words * SLAB_STRIDE * 4 + shape.texts * SLAB_ROWS * 512;
  }

  /** Makes an optional column of rows ready for values from row {@link rows} on: rows before have none. */
  use(column: number): void {
    if (this.used[column] !== 0) return;
    this.used[column] = 1;
    this.words.fill(0xffffffff, column * SLAB_STRIDE, column * SLAB_STRIDE + this.rows);
  }

  clear(): void {
    this.rows = 0;
    this.records = 0;
    this.used.fill(0);
    for (const column of this.texts) column.length = 0;
  }
}

/** Hands out slabs up to a number of bytes, and keeps those that came back for the next one. */
export class SlabPool {
  readonly #free = new Map<SlabShape, Slab[]>();
  #held = 0;
  #inUse = 0;

  constructor(readonly limitBytes: number) {}

  get usedBytes(): number {
    return this.#inUse;
  }

  /** A slab without rows, or `null` if the limit is reached. @param beyond give one all the same, beyond the limit */
  take(shape: SlabShape, beyond = false): Slab | null {
    const bytes = Slab.byteLength(shape);
    const kept = this.#free.get(shape)?.pop();
    if (kept !== undefined) {
      this.#inUse += bytes;
      return kept;
    }
    if (this.#held + bytes > this.limitBytes) this.#release(this.#held + bytes - this.limitBytes);
    if (this.#held + bytes > this.limitBytes && !beyond) return null;
    this.#held += bytes;
    this.#inUse += bytes;
    return new Slab(shape);
  }

  give(slab: Slab): void {
    const bytes = Slab.byteLength(slab.shape);
    this.#inUse -= bytes;
    if (this.#held > this.limitBytes) {
      this.#held -= bytes;
      return;
    }
    slab.clear();
    const free = this.#free.get(slab.shape);
    if (free === undefined) this.#free.set(slab.shape, [slab]);
    else free.push(slab);
  }

  /** Lets go of unused slabs of other tables. */
  #release(bytes: number): void {
    for (const [shape, free] of this.#free) {
      while (bytes > 0 && free.length > 0) {
        free.pop();
        this.#held -= Slab.byteLength(shape);
        bytes -= Slab.byteLength(shape);
      }
    }
  }
}
