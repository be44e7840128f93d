/** What all watches have in common. */
import { metricOf } from '@int/codec';
import type { BatchView } from '../engine/batch-view.js';
import { KIND, NO_METRIC, SCOPES } from '../engine/event-columns.js';
import { DETECTOR_KINDS } from '../rules/model.js';
import type { WatchConfig } from './config.js';
import { cellOf, type Findings } from './findings.js';
import { KeyTable } from './key-table.js';
import type { StreamTime } from './stream-time.js';

export const SECOND_NS = 1e9;
/** Of a longer silence, only the first window and so many last ones are judged. */
export const MOST_WINDOWS = 3600;

/** States of a finding: indices in EVENT_STATES. */
export const [ONCE, OPEN, ON, CLOSE] = [0, 1, 2, 3] as const;
type State = typeof ONCE | typeof OPEN | typeof ON | typeof CLOSE;

/** What watches share. */
export interface WatchSetting {
  readonly time: StreamTime;
  readonly findings: Findings;
  /** Keys that a watch has room for. */
  readonly keys: number;
  /** Nanoseconds after which a key that is not seen makes room; 0: never. */
  readonly idleNs: number;
}

/** A detector that looks at time. It is given the reports of its rule, and is told when the time that it waits for has come. */
export abstract class Watch {
  readonly config: WatchConfig;
  /** Slot of its rule. */
  slot: number;
  /** It wants to be told when the stream's time reaches this offset. */
  due = Number.POSITIVE_INFINITY;
  /** Findings so far. */
  found = 0;
  /** Reports whose flow is not known, where it keeps flows apart. */
  withoutFlow = 0;
  protected readonly keys: KeyTable;
  protected readonly time: StreamTime;
  readonly #findings: Findings;
  readonly #kind: number;
  readonly #metric: number;

  constructor(config: WatchConfig, slot: number, { time, findings, keys, idleNs }: WatchSetting) {
    this.config = config;
    this.slot = slot;
    this.time = time;
    this.#findings = findings;
    this.keys = new KeyTable(
      config.key,
      keys,
      idleNs,
      (row) => this.forget(row),
      (row) => this.mayForget(row),
    );
    const metric = 'metric' in config ? metricOf(config.metric) : null;
    const scope = config.key === 'flow' || config.key === 'all' ? 'flow' : 'hop';
    this.#metric = metric?.columnIndex ?? -1;
    this.#kind =
      DETECTOR_KINDS.indexOf(config.kind) |
      ((metric?.id ?? NO_METRIC) << KIND.METRIC_SHIFT) |
      (SCOPES.indexOf(scope) << KIND.SCOPE_SHIFT);
  }

  /** Reports of keys for which there was no room. */
  get untracked(): number {
    return this.keys.untracked;
  }

  /**
   * Looks at report rows `from` to `to - 1`, all of its rule.
   * @param times as offsets of the stream's time; those of the rows are from `firstRow + from` on, and before {@link due}
   */
  abstract look(view: BatchView, times: Float64Array, firstRow: number, from: number, to: number): void;

  /** The stream's time has come to {@link due}, or beyond it. */
  abstract advance(now: number): void;

  /** A row is given to another key. */
  protected abstract forget(row: number): void;

  protected mayForget(_row: number): boolean {
    return true;
  }

  /**
   * Tells of a finding.
   * @param evidence indices in EVIDENCE_NAMES and values, by turns
   */
  protected tell(
    row: number,
    state: State,
    offset: number,
    numbers: { readonly value: number; readonly previous?: number; readonly threshold: number },
    evidence: readonly number[],
  ): void {
    this.found++;
    const { value, previous = 0, threshold } = numbers;
    const isSilent = Number.isNaN(value);
    this.#findings.add(this.slot, this.keys, row, offset, {
      kind: this.#kind | (state << KIND.STATE_SHIFT) | (isSilent ? KIND.SILENT : 0),
      value: isSilent ? 0 : cellOf(value),
      previous: cellOf(previous),
      threshold: cellOf(threshold),
      metric: this.#metric,
      evidence: evidence.map((number, k) => (k % 2 === 0 ? number : cellOf(number))),
    });
  }

  /** The end of the first window of a second that ends after a time. */
  protected endOfWindow(now: number): number {
    return (Math.floor(now / SECOND_NS) + 1) * SECOND_NS;
  }
}
