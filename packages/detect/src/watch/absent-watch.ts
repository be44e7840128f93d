/** The detector `absent`: what has been seen, and then is not. */
import { REPORT_COLUMN } from '@int/codec/internals';
import type { BatchView } from '../engine/batch-view.js';
import { evidenceIndex } from '../engine/event-columns.js';
import type { WatchConfig } from './config.js';
import { CLOSE, OPEN, SECOND_NS, Watch, type WatchSetting } from './watch.js';

type Config = Extract<WatchConfig, { readonly kind: 'absent' }>;

const SILENCE = /* @__PURE__ */ evidenceIndex('silenceMs');
/** Keys are looked through so many times while one becomes absent. */
const STEPS = 8;
const LEAST_STEP_NS = 1e6;

export class AbsentWatch extends Watch {
  readonly #forNs: number;
  readonly #stepNs: number;
  /** When each key was seen last; NaN: no key. */
  readonly #last: Float64Array;
  readonly #isAbsent: Uint8Array;

  constructor(config: Config, slot: number, setting: WatchSetting) {
    super(config, slot, setting);
    this.#forNs = config.forMs * 1e6;
    this.#stepNs = Math.min(SECOND_NS, Math.max(LEAST_STEP_NS, this.#forNs / STEPS));
    this.#last = new Float64Array(this.keys.capacity).fill(Number.NaN);
    this.#isAbsent = new Uint8Array(this.keys.capacity);
    this.#wait(setting.time.now);
  }

  look(view: BatchView, times: Float64Array, firstRow: number, from: number, to: number): void {
    const { keys } = this;
    const { report, reportStride, hopCount } = view;
    const isFlow = keys.key === 'flow';
    for (let row = from; row < to; row++) {
      const time = times[firstRow + row]!;
      if (isFlow) {
        const key = keys.ofFlow(view, row, time);
        if (key >= 0) this.#see(key, time);
        else if (key === -1) this.withoutFlow++;
        continue;
      }
      const first = report[REPORT_COLUMN.HOP_START * reportStride + row]!;
      const end = first + hopCount[row]!;
      for (let hop = first; hop < end; hop++) {
        const key = keys.ofHop(view, hop, time);
        if (key >= 0) this.#see(key, time);
      }
    }
  }

  advance(now: number): void {
    const last = this.#last;
    for (let row = 0; row < this.keys.rows; row++) {
      if (this.#isAbsent[row] === 0 && now - last[row]! >= this.#forNs) this.#lose(row);
    }
    this.#wait(now);
  }

  protected forget(row: number): void {
    this.#last[row] = Number.NaN;
    this.#isAbsent[row] = 0;
  }

  /** Only what is known to be absent makes room. */
  protected override mayForget(row: number): boolean {
    return this.#isAbsent[row] === 1;
  }

  #wait(now: number): void {
    this.due = (Math.floor(now / this.#stepNs) + 1) * this.#stepNs;
  }

  #see(row: number, time: number): void {
    const silence = time - this.#last[row]!;
    if (silence >= this.#forNs && this.#isAbsent[row] === 0) this.#lose(row);
    if (this.#isAbsent[row] === 1) {
      const silenceMs = silence / 1e6;
      this.#isAbsent[row] = 0;
      this.tell(row, CLOSE, time, { value: silenceMs, threshold: this.#forNs / 1e6 }, [SILENCE, silenceMs]);
    }
    this.#last[row] = time;
  }

  #lose(row: number): void {
    const forMs = this.#forNs / 1e6;
    this.#isAbsent[row] = 1;
    this.tell(row, OPEN, this.#last[row]! + this.#forNs, { value: forMs, threshold: forMs }, [SILENCE, forMs]);
  }
}
