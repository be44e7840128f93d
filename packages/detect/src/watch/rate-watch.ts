/** The detector `rate`: so many reports, events or drop reports a second. */
import { FLAG } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import type { BatchView } from '../engine/batch-view.js';
import { EVENT_COLUMN, evidenceIndex, KIND, SCOPES } from '../engine/event-columns.js';
import type { WatchConfig } from './config.js';
import { CLOSE, MOST_WINDOWS, ON, OPEN, SECOND_NS, Watch, type WatchSetting } from './watch.js';

type Config = Extract<WatchConfig, { readonly kind: 'rate' }>;

const RATE = /* @__PURE__ */ evidenceIndex('rate');
const HOP_SCOPE = /* @__PURE__ */ SCOPES.indexOf('hop');

export class RateWatch extends Watch {
  readonly of: Config['of'];
  readonly #above: number;
  readonly #counts: Float64Array;
  readonly #isAbove: Uint8Array;
  /** Rate of events: rows of the batch that the rule has looked at have the present mark. */
  #marks = new Uint32Array(0);
  #mark = 1;

  constructor(config: Config, slot: number, setting: WatchSetting) {
    super(config, slot, setting);
    this.of = config.of;
    this.#above = config.above;
    this.#counts = new Float64Array(this.keys.capacity);
    this.#isAbove = new Uint8Array(this.keys.capacity);
    this.due = this.endOfWindow(setting.time.now);
  }

  look(view: BatchView, times: Float64Array, firstRow: number, from: number, to: number): void {
    if (this.of === 'events') this.#markRows(firstRow + from, firstRow + to);
    else if (this.of === 'drops') this.#countDrops(view, times, firstRow, from, to);
    else for (let row = from; row < to; row++) this.#countReport(view, row, times[firstRow + row]!);
  }

  /**
   * Rate of events: counts the events `from` to `to - 1` of other rules on reports that this rule has looked at. Afterwards no
   * report counts as looked at.
   */
  countEvents(
    view: BatchView,
    times: Float64Array,
    events: Int32Array,
    stride: number,
    from: number,
    to: number,
  ): void {
    for (let event = from; event < to; event++) {
      const row = events[EVENT_COLUMN.REPORT * stride + event]!;
      if (this.#marks[row] !== this.#mark) continue;
      const scope = (events[EVENT_COLUMN.KIND * stride + event]! >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK;
      const hop = scope === HOP_SCOPE ? events[EVENT_COLUMN.HOP * stride + event]! : -1;
      this.#countAt(view, row, hop, times[row]!);
    }
    this.#mark++;
  }

  advance(now: number): void {
    const late = Math.floor((now - this.due) / SECOND_NS) - MOST_WINDOWS;
    for (let isFirst = true; now >= this.due; isFirst = false) {
      this.#close(this.due);
      this.due += SECOND_NS * (isFirst && late > 0 ? 1 + late : 1);
    }
  }

  protected forget(row: number): void {
    if (this.#isAbove[row] === 1) this.#tellOf(row, CLOSE, this.time.now);
    this.#isAbove[row] = 0;
    this.#counts[row] = 0;
  }

  #count(key: number): void {
    if (key >= 0) this.#counts[key]!++;
    else if (key === -1 && this.keys.key === 'flow') this.withoutFlow++;
  }

  /** Counts a report for all, for its flow, or for each of its hops. */
  #countReport(view: BatchView, row: number, time: number): void {
    const { keys } = this;
    if (keys.key === 'all') this.#counts[keys.ofWords(0, 0, time)]!++;
    else if (keys.key === 'flow') this.#count(keys.ofFlow(view, row, time));
    else {
      const first = view.report[REPORT_COLUMN.HOP_START * view.reportStride + row]!;
      const end = first + view.hopCount[row]!;
      for (let hop = first; hop < end; hop++) this.#count(keys.ofHop(view, hop, time));
    }
  }

  /** The switch that drops is the last hop, with its own values. */
  #countDrops(view: BatchView, times: Float64Array, firstRow: number, from: number, to: number): void {
    const { report, reportStride, hopCount } = view;
    for (let row = from; row < to; row++) {
      if ((report[REPORT_COLUMN.FLAGS * reportStride + row]! & FLAG.DROPPED) === 0) continue;
      this.#countAt(view, row, hopCount[row]! - 1, times[firstRow + row]!);
    }
  }

  /** @param hop position on the path; -1: none, and so no switch, queue or link */
  #countAt(view: BatchView, row: number, hop: number, time: number): void {
    const { keys } = this;
    if (keys.key === 'all' || keys.key === 'flow') this.#countReport(view, row, time);
    else if (hop >= 0) {
      this.#count(keys.ofHop(view, view.report[REPORT_COLUMN.HOP_START * view.reportStride + row]! + hop, time));
    }
  }

  #markRows(from: number, to: number): void {
    if (this.#marks.length < to) {
      const marks = new Uint32Array(2 * to);
      marks.set(this.#marks);
      this.#marks = marks;
    }
    this.#marks.fill(this.#mark, from, to);
  }

  #close(at: number): void {
    const { rows } = this.keys;
    const counts = this.#counts;
    for (let row = 0; row < rows; row++) {
      const isAbove = counts[row]! > this.#above;
      const was = this.#isAbove[row] === 1;
      if (isAbove || was) this.#tellOf(row, isAbove ? (was ? ON : OPEN) : CLOSE, at);
      this.#isAbove[row] = isAbove ? 1 : 0;
      counts[row] = 0;
    }
  }

  #tellOf(row: number, state: typeof OPEN | typeof ON | typeof CLOSE, at: number): void {
    const value = this.#counts[row]!;
    this.tell(row, state, at, { value, threshold: Math.floor(this.#above) }, [RATE, value]);
  }
}
