/** Number of slices of time that are kept, and the length of one. */
const SLICES = 10;
const SLICE_MS = 1000;
/** Most keys of a slice. Further ones are left out: strangers may make up ids. */
const MAX_KEYS = 4096;

/** Counts by number, such as the id of a switch, over the last 10 seconds. */
export class RecentCounts {
  readonly #slices: Map<number, number>[] = Array.from({ length: SLICES }, () => new Map());
  #slice = 0;

  add(key: number, nowMs: number): void {
    this.#advance(nowMs);
    const counts = this.#slices[this.#slice % SLICES]!;
    const before = counts.get(key);
    if (before !== undefined || counts.size < MAX_KEYS) counts.set(key, (before ?? 0) + 1);
  }

  /** The counts of the last 10 seconds. */
  counts(nowMs: number): Map<number, number> {
    this.#advance(nowMs);
    const all = new Map<number, number>();
    for (const slice of this.#slices) for (const [key, count] of slice) all.set(key, (all.get(key) ?? 0) + count);
    return all;
  }

  #advance(nowMs: number): void {
    const slice = Math.floor(nowMs / SLICE_MS);
    const steps = Math.min(SLICES, slice - this.#slice);
    if (steps <= 0) return;
    for (let step = 0; step < steps; step++) this.#slices[(slice - step) % SLICES]!.clear();
    this.#slice = slice;
  }
}
