/** How indexes are cut. */
export const ROTATIONS = ['day', 'month', 'none'] as const;
export type Rotation = (typeof ROTATIONS)[number];

const MS_PER_DAY = 86_400_000;

/** Names of the indexes of one kind of record, by the time of the record, in UTC. */
export class IndexNames {
  readonly #stem: string;
  readonly #rotation: Rotation;
  #day = Number.NaN;
  #name: string;

  /** @param stem such as `int-events` */
  constructor(stem: string, rotation: Rotation) {
    this.#stem = stem;
    this.#rotation = rotation;
    this.#name = stem;
  }

  /**
   * The index of a record. Records of one day in a row are answered without a computation.
   * @param timeMs milliseconds since the epoch, 0 to 2^64 ns
   */
  at(timeMs: number): string {
    if (this.#rotation === 'none') return this.#stem;
    const day = Math.floor(timeMs / MS_PER_DAY);
    if (day !== this.#day) {
      this.#day = day;
      const date = new Date(day * MS_PER_DAY).toISOString().slice(0, this.#rotation === 'day' ? 10 : 7);
      this.#name = `${this.#stem}-${date.replaceAll('-', '.')}`;
    }
    return this.#name;
  }
}
