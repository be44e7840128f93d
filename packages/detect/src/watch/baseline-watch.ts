/** The detector `baseline`: multiples of what is usual. */
import { BaselineTable, USUALNESS } from '@int/baseline';
import { metricOf } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import type { BatchView } from '../engine/batch-view.js';
import { evidenceIndex } from '../engine/event-columns.js';
import { doubtOf, sumOf } from '../engine/loops/sum.js';
import type { WatchConfig } from './config.js';
import { CLOSE, MOST_WINDOWS, ON, OPEN, SECOND_NS, Watch, type WatchSetting } from './watch.js';

type Config = Extract<WatchConfig, { readonly kind: 'baseline' }>;

const MEDIAN = /* @__PURE__ */ evidenceIndex('median');
const USUAL = /* @__PURE__ */ evidenceIndex('usual');
const DEVIATION = /* @__PURE__ */ evidenceIndex('deviation');

export class BaselineWatch extends Watch {
  readonly #table: BaselineTable;
  /** 1: the last window with values was unusual, or there is a silence. */
  readonly #isUnusual: Uint8Array;
  readonly #above: number;
  readonly #below: number;
  readonly #column: number;
  readonly #pair: number;

  constructor(config: Config, slot: number, setting: WatchSetting) {
    super(config, slot, setting);
    const { metric, above, below, learnMs, season } = config;
    this.#table = new BaselineTable(this.keys.capacity, {
      ...(above !== null && { above }),
      ...(below !== null && { below }),
      learnMs,
      season,
    });
    this.#isUnusual = new Uint8Array(this.keys.capacity);
    this.#above = above ?? 0;
    this.#below = below ?? 0;
    const { columnIndex, pairIndex } = metricOf(metric);
    this.#column = columnIndex;
    this.#pair = pairIndex < 0 ? columnIndex : pairIndex;
    this.due = this.endOfWindow(setting.time.now);
  }

  look(view: BatchView, times: Float64Array, firstRow: number, from: number, to: number): void {
    if (this.keys.key === 'flow') this.#lookAtFlows(view, times, firstRow, from, to);
    else this.#lookAtHops(view, times, firstRow, from, to);
  }

  advance(now: number): void {
    const late = Math.floor((now - this.due) / SECOND_NS) - MOST_WINDOWS;
    for (let isFirst = true; now >= this.due; isFirst = false) {
      this.#close(this.due);
      this.due += SECOND_NS * (isFirst && late > 0 ? 1 + late : 1);
    }
  }

  protected forget(row: number): void {
    if (this.#isUnusual[row] === 1) {
      this.tell(row, CLOSE, this.time.now, { value: Number.NaN, threshold: 0 }, []);
    }
    this.#isUnusual[row] = 0;
    this.#table.clear(row);
  }

  #lookAtHops(view: BatchView, times: Float64Array, firstRow: number, from: number, to: number): void {
    const { keys } = this;
    const table = this.#table;
    const { hops, hopStride, report, reportStride, hopCount } = view;
    const values = this.#column * hopStride;
    const pairs = this.#pair * hopStride;
    const starts = REPORT_COLUMN.HOP_START * reportStride;
    for (let row = from; row < to; row++) {
      const time = times[firstRow + row]!;
      const first = report[starts + row]!;
      const end = first + hopCount[row]!;
      for (let hop = first; hop < end; hop++) {
        const x = hops[values + hop]!;
        if (x === -1 && hops[pairs + hop] === -1) continue;
        const key = keys.ofHop(view, hop, time);
        if (key >= 0) table.add(key, x >>> 0);
      }
    }
  }

  /** The value of a flow is the sum over the hops, as for perFlow. */
  #lookAtFlows(view: BatchView, times: Float64Array, firstRow: number, from: number, to: number): void {
    const { keys } = this;
    const { hops, hopStride, report, reportStride, hopCount } = view;
    const starts = REPORT_COLUMN.HOP_START * reportStride;
    const doubt = doubtOf({ id: 0, column: this.#column, pair: this.#pair });
    for (let row = from; row < to; row++) {
      const first = report[starts + row]!;
      const sum = sumOf(hops, this.#column * hopStride + first, this.#pair * hopStride + first, hopCount[row]!, doubt);
      if (sum < 0) continue;
      const key = keys.ofFlow(view, row, times[firstRow + row]!);
      if (key >= 0) this.#table.add(key, sum);
      else if (key === -1) this.withoutFlow++;
    }
  }

  /** Ends the window that ends at an offset, and tells of all keys for which it was unusual. */
  #close(at: number): void {
    const { rows } = this.keys;
    if (rows === 0) return;
    const table = this.#table;
    const { usualness, value } = table;
    table.close(this.time.baseMs + at / 1e6, rows);
    for (let row = 0; row < rows; row++) {
      const isUnusual = usualness[row]! > USUALNESS.USUAL;
      const was = this.#isUnusual[row] === 1;
      // A window without values is no end of anything.
      if (!isUnusual && (!was || Number.isNaN(value[row]!))) continue;
      this.#isUnusual[row] = isUnusual ? 1 : 0;
      this.#tellOf(row, isUnusual ? (was ? ON : OPEN) : CLOSE, at);
    }
  }

  #tellOf(row: number, state: typeof OPEN | typeof ON | typeof CLOSE, at: number): void {
    const value = this.#table.value[row]!;
    const usual = this.#table.usual[row]!;
    const deviation = this.#table.deviation[row]!;
    const previous = Number.isNaN(usual) ? 0 : usual;
    // Which of the two limits it is beyond, or was.
    const isAbove = this.#above !== 0 && (this.#below === 0 || value >= usual);
    const threshold = previous * (isAbove ? this.#above : this.#below);
    const evidence = Number.isNaN(value)
      ? [USUAL, previous]
      : [MEDIAN, value, USUAL, previous, DEVIATION, Number.isNaN(deviation) ? 0 : Math.abs(deviation)];
    this.tell(row, state, at, { value, previous, threshold }, evidence);
  }
}
