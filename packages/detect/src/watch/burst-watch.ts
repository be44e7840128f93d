/** The detector `burst`: a metric goes above a threshold and soon falls below it again. */
import { metricOf } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import type { BatchView } from '../engine/batch-view.js';
import { evidenceIndex } from '../engine/event-columns.js';
import type { WatchConfig } from './config.js';
import { ONCE, Watch, type WatchSetting } from './watch.js';

type Config = Extract<WatchConfig, { readonly kind: 'burst' }>;

const PEAK = /* @__PURE__ */ evidenceIndex('peak');
const LENGTH = /* @__PURE__ */ evidenceIndex('lengthUs');

export class BurstWatch extends Watch {
  readonly #above: number;
  readonly #withinNs: number;
  readonly #column: number;
  readonly #pair: number;
  /** When the value went above the threshold; NaN: it is not above. */
  readonly #rise: Float64Array;
  readonly #peak: Float64Array;

  constructor(config: Config, slot: number, setting: WatchSetting) {
    super(config, slot, setting);
    const { columnIndex, pairIndex } = metricOf(config.metric);
    this.#above = config.above;
    this.#withinNs = config.withinNs;
    this.#column = columnIndex;
    this.#pair = pairIndex < 0 ? columnIndex : pairIndex;
    this.#rise = new Float64Array(this.keys.capacity).fill(Number.NaN);
    this.#peak = new Float64Array(this.keys.capacity);
  }

  look(view: BatchView, times: Float64Array, firstRow: number, from: number, to: number): void {
    const { keys } = this;
    const { hops, hopStride, report, reportStride, hopCount } = view;
    for (let row = from; row < to; row++) {
      const time = times[firstRow + row]!;
      const first = report[REPORT_COLUMN.HOP_START * reportStride + row]!;
      const end = first + hopCount[row]!;
      for (let hop = first; hop < end; hop++) {
        const x = hops[this.#column * hopStride + hop]!;
        if (x === -1 && hops[this.#pair * hopStride + hop] === -1) continue;
        const key = keys.ofHop(view, hop, time);
        if (key >= 0) this.#see(key, x >>> 0, time);
      }
    }
  }

  advance(): void {}

  protected forget(row: number): void {
    this.#rise[row] = Number.NaN;
  }

  #see(row: number, value: number, time: number): void {
    const rise = this.#rise[row]!;
    if (value > this.#above) {
      if (Number.isNaN(rise)) {
        this.#rise[row] = time;
        this.#peak[row] = value;
      } else if (value > this.#peak[row]!) this.#peak[row] = value;
    } else if (!Number.isNaN(rise)) {
      this.#rise[row] = Number.NaN;
      const length = time - rise;
      if (length > this.#withinNs) return;
      const peak = this.#peak[row]!;
      const evidence = [PEAK, peak, LENGTH, length / 1000];
      this.tell(row, ONCE, time, { value: peak, threshold: this.#above }, evidence);
    }
  }
}
