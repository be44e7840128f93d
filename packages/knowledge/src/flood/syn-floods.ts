/** Weight of the past in the mean; of Siris and Papagalou. */
const LAMBDA = 0.98;
const ALPHA = 0.5;
/** The sum at which it is an attack, and where it is capped, so that it falls again when the attack ends. */
const THRESHOLD = 5;
const CAP = 3 * THRESHOLD;
/** Handshakes are counted over the last windows together, with this weight of the past: about three windows. */
const SHARE_LAMBDA = 0.7;
/** Above this share of completed handshakes it is a crowd and no flood. */
const MOST_COMPLETED = 0.5;

/** What a window of a destination says. */
export interface SynJudgement {
  readonly isFlood: boolean;
  readonly sum: number;
  readonly mean: number;
  readonly completed: number;
  readonly syns: number;
}

/**
 * SYN packets a second to each destination against what is usual: the CUSUM of Siris and Papagalou (Application of
 * Anomaly Detection Algorithms for Detecting SYN Flooding Attacks, Globecom 2004),
 * `g = max(0, g + (alpha mu / sigma^2) (x - mu - alpha mu / 2))`, flood at `g >= 5`. Beside it, most handshakes must not be
 * completed: that tells a flood from a crowd. Nothing is learned from windows of a flood.
 */
export class SynFloods {
  readonly #least: number;
  readonly #sum: Float64Array;
  readonly #mean: Float64Array;
  readonly #variance: Float64Array;
  readonly #begun: Float64Array;
  readonly #completed: Float64Array;

  /** @param least SYN packets a second below which nothing is a flood */
  constructor(rows: number, least: number) {
    this.#least = least;
    this.#sum = new Float64Array(rows);
    this.#mean = new Float64Array(rows);
    this.#variance = new Float64Array(rows);
    this.#begun = new Float64Array(rows);
    this.#completed = new Float64Array(rows);
  }

  static byteLength(rows: number): number {
    return rows * 40;
  }

  clear(row: number): void {
    this.#sum[row] = this.#mean[row] = this.#variance[row] = this.#begun[row] = this.#completed[row] = 0;
  }

  /** Judges a window of a second. @param completed handshakes completed in it */
  close(row: number, syns: number, completed: number): SynJudgement {
    const begun = SHARE_LAMBDA * this.#begun[row]! + syns;
    const done = SHARE_LAMBDA * this.#completed[row]! + completed;
    this.#begun[row] = begun;
    this.#completed[row] = done;
    const share = begun === 0 ? 1 : Math.min(1, done / begun);

    // A destination that gets hardly any has no mean to multiply: a tenth of the least stands for it.
    const mean = Math.max(this.#mean[row]!, this.#least / 10);
    const variance = Math.max(this.#variance[row]!, mean);
    const sum = Math.min(
      CAP,
      Math.max(0, this.#sum[row]! + ((ALPHA * mean) / variance) * (syns - mean - (ALPHA * mean) / 2)),
    );
    const isFlood = sum >= THRESHOLD && syns >= this.#least && share < MOST_COMPLETED;
    // A crowd is learned like everything else; a flood must not become usual.
    this.#sum[row] = sum >= THRESHOLD && share >= MOST_COMPLETED ? 0 : sum;
    if (!isFlood) {
      const off = syns - this.#mean[row]!;
      this.#mean[row] = this.#mean[row]! + (1 - LAMBDA) * off;
      this.#variance[row] = LAMBDA * (this.#variance[row]! + (1 - LAMBDA) * off * off);
    }
    return { isFlood, sum, mean, completed: share, syns };
  }

  static readonly FORMULA =
    'g = max(0, g + (alpha * mu / sigma^2) * (syns - mu - alpha * mu / 2)) >= h and completed < c';
  static readonly CONSTANTS = { alpha: ALPHA, h: THRESHOLD, c: MOST_COMPLETED } as const;
}
