/** Slots that hold numbers of keys: four bytes per slot, in one or more arrays. */

/** Slots per array, as a power of two: 1 GiB. */
const CHUNK_SHIFT = 28;

export class SlotTable {
  readonly #chunks: readonly Uint32Array[];
  readonly #mask: number;
  readonly #shift: number;

  /**
   * @param slots number of slots; initially all 0
   * @param chunkShift slots per array, as a power of two; for tests
   * @throws RangeError if there is not enough memory
   */
  constructor(slots: number, chunkShift: number = CHUNK_SHIFT) {
    const size = 2 ** chunkShift;
    const chunks: Uint32Array[] = [];
    for (let first = 0; first < slots; first += size) chunks.push(new Uint32Array(Math.min(size, slots - first)));
    this.#chunks = chunks;
    this.#shift = chunkShift;
    this.#mask = size - 1;
  }

  get(place: number): number {
    return this.#chunks[place >>> this.#shift]![place & this.#mask]!;
  }

  put(place: number, holder: number): void {
    this.#chunks[place >>> this.#shift]![place & this.#mask] = holder;
  }

  /** Sets `out[i]` to the content of slot `places[i]`, for i below `count`. */
  gather(places: Uint32Array, count: number, out: Uint32Array): void {
    if (this.#chunks.length === 1) {
      const slots = this.#chunks[0]!;
      // The loop has only independent loads, so the processor has many under way.
      for (let at = 0; at < count; at++) out[at] = slots[places[at]!]!;
      return;
    }
    for (let at = 0; at < count; at++) out[at] = this.get(places[at]!);
  }

  /** Writes `first + i` into all `copies` places of row i, row by row. @returns number of places */
  scatter(places: Uint32Array, rows: number, copies: number, first: number): number {
    let at = 0;
    if (this.#chunks.length === 1) {
      const slots = this.#chunks[0]!;
      for (let row = 0; row < rows; row++) {
        for (let copy = 0; copy < copies; copy++) slots[places[at++]!] = first + row;
      }
      return at;
    }
    for (let row = 0; row < rows; row++) {
      for (let copy = 0; copy < copies; copy++) this.put(places[at++]!, first + row);
    }
    return at;
  }
}
