import { mix32 } from '@int/random';

/** Buckets that values are hashed to. Two values in one bucket count as one: a little too low for very many values. */
const BUCKETS = 4096;
const TABLE = 4096;
/** n log2 n. */
const N_LOG_N: Float64Array = /* @__PURE__ */ Float64Array.from({ length: TABLE }, (_, n) =>
  n < 2 ? 0 : n * Math.log2(n),
);

function nLogN(n: number): number {
  return n < TABLE ? N_LOG_N[n]! : n * Math.log2(n);
}

/**
 * Entropy of the values of a window, as Lakhina, Crovella and Diot use it (SIGCOMM 2005):
 * `H = log2 N - (1/N) sum n_i log2 n_i`, kept while values come.
 */
export class Entropy {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;
  #distinct = 0;
  #sum = 0;

  add(value: number): void {
    const bucket = mix32(value) & (BUCKETS - 1);
    const n = this.#counts[bucket]!;
    if (n === 0) this.#distinct++;
    this.#counts[bucket] = n + 1;
    this.#total++;
    this.#sum += nLogN(n + 1) - nLogN(n);
  }

  get total(): number {
    return this.#total;
  }

  /** H divided by its largest value for so many distinct values: 0 (one value) to 1 (all alike); NaN without values. */
  get normalised(): number {
    if (this.#total === 0) return Number.NaN;
    if (this.#distinct < 2) return 0;
    const bits = Math.log2(this.#total) - this.#sum / this.#total;
    return Math.min(1, Math.max(0, bits / Math.log2(this.#distinct)));
  }

  /** H in bits; NaN without values. */
  get bits(): number {
    return this.#total === 0 ? Number.NaN : Math.max(0, Math.log2(this.#total) - this.#sum / this.#total);
  }

  clear(): void {
    if (this.#total === 0) return;
    this.#counts.fill(0);
    this.#total = this.#distinct = this.#sum = 0;
  }
}
