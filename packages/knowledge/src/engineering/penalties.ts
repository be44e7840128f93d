/** Route flap damping (RFC 2439) for moves: a move that is undone soon costs this much. */
const PENALTY = 1000;
const HALF_LIFE_MS = 900_000;
const SUPPRESS = 2000;
const REUSE = 750;
/** A move is undone if it is taken back within this time. */
const UNDONE_MS = 300_000;
const MOST = 65_536;

interface Record {
  penalty: number;
  timeMs: number;
  isSuppressed: boolean;
  /** The path that it left last, and when. */
  left: number;
  movedMs: number;
}

/** What is remembered of demands that were moved: pins, and penalties of those that go to and fro. */
export class Penalties {
  /** Demands that had to be forgotten. */
  forgotten = 0;
  readonly #records = new Map<string, Record>();
  readonly #pinMs: number;

  /** @param pinMs a demand that was moved stays where it is for so long */
  constructor(pinMs: number) {
    this.#pinMs = pinMs;
  }

  mayMove(demand: string, timeMs: number): boolean {
    const record = this.#records.get(demand);
    if (record === undefined) return true;
    this.#decay(record, timeMs);
    return timeMs - record.movedMs >= this.#pinMs && !record.isSuppressed;
  }

  moved(demand: string, from: number, to: number, timeMs: number): void {
    let record = this.#records.get(demand);
    if (record === undefined) {
      if (this.#records.size >= MOST) this.#forgetOldest();
      record = { penalty: 0, timeMs, isSuppressed: false, left: -1, movedMs: Number.NEGATIVE_INFINITY };
    }
    this.#decay(record, timeMs);
    if (record.left === to && timeMs - record.movedMs <= UNDONE_MS) record.penalty += PENALTY;
    if (record.penalty > SUPPRESS) record.isSuppressed = true;
    record.left = from;
    record.movedMs = timeMs;
    // The last one moved comes last: the first is the oldest.
    this.#records.delete(demand);
    this.#records.set(demand, record);
  }

  #decay(record: Record, timeMs: number): void {
    record.penalty *= 0.5 ** (Math.max(0, timeMs - record.timeMs) / HALF_LIFE_MS);
    record.timeMs = timeMs;
    if (record.penalty < REUSE) record.isSuppressed = false;
  }

  #forgetOldest(): void {
    const [oldest] = this.#records.keys();
    if (oldest === undefined) return;
    this.#records.delete(oldest);
    this.forgotten++;
  }
}
