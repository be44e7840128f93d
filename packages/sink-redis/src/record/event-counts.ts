import type { MetricName } from '@int/codec';
import { EVENT_KIND, EVENT_WORD } from '@int/flowcache';

const encoder = /* @__PURE__ */ new TextEncoder();

/** Scopes that always have a row, in this order; the rows of switches follow. */
const SCOPES = ['other', 'unnamed', 'endToEnd'] as const;
const OTHER = 0;
const UNNAMED = 1;
const END_TO_END = 2;

/**
 * Counts the events of a batch by switch, metric and kind, and names the switches. The first `maxSwitches` node ids
 * seen have rows of their own; the others share `other`. This bounds the keys and fields that hostile telemetry can
 * make.
 */
export class EventCounts {
  readonly #metrics: readonly MetricName[];
  readonly #maxSwitches: number;
  readonly #rows = new Map<number, number>();
  readonly #names: Uint8Array[];
  /**
   * Number of columns: two kinds per metric, then path changes. In the end-to-end row, the first metric is the latency.
   */
  readonly #columns: number;
  readonly #counts: Uint32Array;
  readonly #touched: Uint32Array;
  #used = 0;

  /** @param batch most events in a batch */
  constructor(metrics: readonly MetricName[], maxSwitches: number, batch: number) {
    this.#metrics = metrics;
    this.#maxSwitches = maxSwitches;
    this.#names = SCOPES.map((name) => encoder.encode(name));
    this.#columns = 2 * Math.max(1, metrics.length) + 1;
    this.#counts = new Uint32Array((SCOPES.length + maxSwitches) * this.#columns);
    this.#touched = new Uint32Array(3 * batch);
  }

  /** Row of the event's switch or scope. */
  rowOf(words: Int32Array, at: number): number {
    if ((words[at + EVENT_WORD.KIND]! & EVENT_KIND.END_TO_END) !== 0) return END_TO_END;
    const node = words[at + EVENT_WORD.NODE]!;
    if (node === -1) return UNNAMED;
    const known = this.#rows.get(node);
    if (known !== undefined) return known;
    if (this.#rows.size >= this.#maxSwitches) return OTHER;
    const row = this.#names.push(encoder.encode(String(node >>> 0))) - 1;
    this.#rows.set(node, row);
    return row;
  }

  /** The name of a row, in ASCII. */
  name(row: number): Uint8Array {
    return this.#names[row]!;
  }

  add(words: Int32Array, at: number, row: number): void {
    const kind = words[at + EVENT_WORD.KIND]!;
    const first = row * this.#columns;
    if ((kind & EVENT_KIND.PATH) !== 0) this.#count(first + this.#columns - 1);
    const metric = (kind >>> EVENT_KIND.METRIC_SHIFT) & EVENT_KIND.METRIC_MASK;
    // A record of a different cache is not counted, so that it changes no other count.
    if (metric >= this.#metrics.length) return;
    if ((kind & EVENT_KIND.THRESHOLD) !== 0) this.#count(first + 2 * metric);
    if ((kind & EVENT_KIND.CHANGE) !== 0) this.#count(first + 2 * metric + 1);
  }

  #count(cell: number): void {
    if (this.#counts[cell] === 0) this.#touched[this.#used++] = cell;
    this.#counts[cell]! += 1;
  }

  /** The counts since the last call: fields, and the amounts to add to them. */
  take(): (readonly [field: string, count: number])[] {
    const counts: [string, number][] = [];
    for (let k = 0; k < this.#used; k++) {
      const cell = this.#touched[k]!;
      counts.push([this.#field(cell), this.#counts[cell]!]);
      this.#counts[cell] = 0;
    }
    this.#used = 0;
    return counts;
  }

  #field(cell: number): string {
    const row = Math.floor(cell / this.#columns);
    const column = cell % this.#columns;
    const isPath = column === this.#columns - 1;
    if (row === END_TO_END && isPath) return 'pathChange';
    const kind = isPath ? 'pathChange' : column % 2 === 0 ? 'threshold' : 'change';
    const scope = new TextDecoder().decode(this.#names[row]);
    const isWhole = row === END_TO_END || isPath;
    return isWhole ? `${scope}.${kind}` : `${scope}.${this.#metrics[column >>> 1]}.${kind}`;
  }
}
