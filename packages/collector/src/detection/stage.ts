import type { TelemetryBatch } from '@int/codec';
import {
  Adaptation,
  type AdaptationState,
  Detector,
  type DetectorOptions,
  type DetectorTotals,
  EventBatch,
  EventTracking,
  NO_RULE,
  type RuleSet,
  type RuleTotals,
  type TrackedEvent,
  type TrackedFinding,
} from '@int/detect';
import { frameTimeMs, frameTimeNs } from '../frames.js';
import { RecordIds } from '../records/ids.js';
import type { Outlets, Stage } from '../stage.js';

/**
 * Takes events as they are found. They refer to their batch and their detector. All of it is reused when the listener
 * returns.
 *
 * @param events rows 0 to `events.count - 1`; `events.event(row)` returns one as an object
 */
export type EventListener = (events: EventBatch) => void;

export interface DetectionStageOptions extends DetectorOptions {
  /** Events to collect before they are handed on, 256 to 2^24. Default 8192. */
  readonly eventRows?: number;
  /**
   * Called when there are events: once per batch of reports; more often if there are more than `eventRows`, or if
   * thresholds adapt.
   */
  readonly onEvents?: EventListener;
  /**
   * Called with events of rules with a lifecycle that begin, go on or end, before `onEvents`. Sinks get them as rows with their
   * {@link EventBatch.life}, and no other findings of these rules. `onEvents` gets of these rules the findings that tell of a
   * beginning or of an event that goes on; of rules that look at time all, with their `state`.
   */
  readonly onTracked?: (told: readonly TrackedEvent<TrackedFinding>[]) => void;
  /** The instance in the ids of events with a lifecycle: 16 hexadecimal digits, unique to this detector. Default: random. */
  readonly instance?: string;
}

/** What one rule decided. */
export interface RuleFigures extends RuleTotals {
  /** Reports with at least one event: what a pre-filter lets through. */
  readonly survivors: number;
}

/** The counters of a detector, with the survivors of each rule. */
export interface DetectionTotals extends Omit<DetectorTotals, 'byRule' | 'byDefault'> {
  /** The rules in force. */
  readonly byRule: ReadonlyMap<string, RuleFigures>;
  /** Reports that no rule matched, under `default: report`. */
  readonly byDefault: RuleFigures;
  /** Sums over the rules that {@link DetectionStage.setRules} has removed. */
  readonly removed: RuleFigures;
}

/** Default of `eventRows`. */
export const EVENT_ROWS = 8192;

const NS_PER_MS = 1_000_000n;

/** Interval at which thresholds may adapt, in milliseconds of frame time. */
const TICK_MS = 10;

/** Sets of flows checked for idle flows after each batch: 128 batches cover 65 536 flows. */
const SWEEP_SETS = 64;

/**
 * Runs a detector over every batch and hands on its events. When the event batch is full, it hands on the events and
 * continues, so it checks every report. Nothing is allocated per report or event.
 */
export class DetectionStage implements Stage {
  readonly name = 'detection';
  readonly detector: Detector;
  readonly #events: EventBatch;
  readonly #onEvents: EventListener;
  readonly #onTracked: (told: readonly TrackedEvent<TrackedFinding>[]) => void;
  readonly #tracking: EventTracking;
  readonly #isExact: boolean;
  #outlets: Outlets | null = null;
  #adaptation: Adaptation | null = null;
  /** Target of all rules together that {@link #adaptation} was made for. */
  #total: number | null = null;
  /** By rule; `null`: the default. */
  readonly #survivors = new Map<string | null, number>();
  readonly #removed = { reports: 0, events: 0, survivors: 0 };

  /** @throws RulesError or RangeError as the Detector does; RangeError for `eventRows` */
  constructor(rules: RuleSet, options: DetectionStageOptions = {}) {
    const { eventRows = EVENT_ROWS, memory } = options;
    this.detector = new Detector(rules, options);
    this.#events = new EventBatch(eventRows, memory?.arena);
    this.#onEvents = options.onEvents ?? ((): void => {});
    this.#onTracked = options.onTracked ?? ((): void => {});
    this.#tracking = new EventTracking(rules, { instance: new RecordIds(options.instance).instance });
    this.#adapt(rules);
    this.#isExact = options.state === 'exact';
  }

  /** @throws what a listener has thrown, when all reports have been looked at */
  process(batch: TelemetryBatch): void {
    if (batch.frames === 0) return;
    const events = this.#events;
    const last = batch.frames - 1;
    let failure: { readonly error: unknown } | null = null;
    let row = 0;
    do {
      const end = this.#adaptation === null ? batch.reports : tickEnd(batch, row);
      events.clear();
      const first = row;
      row = this.detector.detect(batch, events, row, end);
      const now = row === batch.reports ? last : batch.frame[row - 1]!;
      if (events.count > 0) this.#countSurvivors();
      this.#adaptation?.after(events, frameTimeMs(batch, now));
      failure = this.#tellFindings() ?? failure;
      const told = this.#tracking.after(events, first, row);
      const error = this.#tell(events, told);
      failure ??= error;
    } while (row < batch.reports);
    if (this.#isExact) {
      this.detector.sweep(frameTimeNs(batch, last), SWEEP_SETS);
    }
    if (failure !== null) throw failure.error;
  }

  /** Lets time pass: for the rules that look at time, and for events of rules with a lifecycle whose findings have stopped. */
  advance(timeMs: number): void {
    this.detector.advance(BigInt(Math.floor(timeMs)) * NS_PER_MS);
    const failure = this.#tellFindings();
    this.#tellTracked(this.#tracking.advance(timeMs));
    if (failure !== null) throw failure.error;
  }

  /** Whether the events of a rule have a beginning and an end, and `onTracked` tells of them. */
  isTracked(rule: string | null): boolean {
    return this.#tracking.isTracked(rule);
  }

  /** Events of rules with a lifecycle that go on, and findings of theirs for which there was no room; `null`: no such rules. */
  tracked(): { readonly open: number; readonly untracked: number } | null {
    return this.#tracking.isActive ? this.#tracking.totals : null;
  }

  /** Events go to the outlets as well, after the listener. */
  connect(outlets: Outlets): void {
    this.#outlets = outlets;
  }

  /** Sums over all rules, see {@link totals}. */
  counters(): Readonly<Record<string, number>> {
    const { byRule: _, byDefault: __, removed: ___, ...sums } = this.totals();
    return { ...sums, ...this.tracked() };
  }

  /**
   * Replaces all rules, between two batches. No report is lost, and the state of flows and switches stays. Rules of the
   * same name keep their counters. The counters of removed rules are added to {@link DetectionTotals.removed}.
   * @throws RulesError, with nothing changed
   */
  setRules(rules: RuleSet): void {
    const before = this.totals().byRule;
    this.detector.setRules(rules);
    this.#tellTracked(this.#tracking.setRules(rules));
    this.#adapt(rules);
    const names = new Set(rules.rules.map(({ name }) => name));
    for (const [name, { reports, events, survivors }] of before) {
      if (names.has(name)) continue;
      this.#removed.reports += reports;
      this.#removed.events += events;
      this.#removed.survivors += survivors;
      this.#survivors.delete(name);
    }
  }

  /** The state of each adaptive threshold; empty if there are none. */
  adaptation(): AdaptationState[] {
    return this.#adaptation?.states() ?? [];
  }

  /** The current counters. Allocates; call it a few times a second at most. */
  totals(): DetectionTotals {
    const totals = this.detector.totals();
    const survivors = (name: string | null): number => this.#survivors.get(name) ?? 0;
    return {
      ...totals,
      byRule: new Map(
        [...totals.byRule].map(([name, figures]) => [name, { ...figures, survivors: survivors(name) }] as const),
      ),
      byDefault: { ...totals.byDefault, survivors: survivors(null) },
      removed: { ...this.#removed },
    };
  }

  /** Hands on the findings of rules that look at time. @returns what the listener has thrown */
  #tellFindings(): { readonly error: unknown } | null {
    const found = this.detector.findings();
    if (found === null || found.count === 0) return null;
    const failure = this.#tell(found, this.#tracking.watched(found));
    found.clear();
    return failure;
  }

  /** Hands on events, and what is told of those with a lifecycle. @returns what the listener has thrown */
  #tell(events: EventBatch, told: readonly TrackedEvent<TrackedFinding>[]): { readonly error: unknown } | null {
    if (told.length > 0) this.#onTracked(told);
    let failure: { readonly error: unknown } | null = null;
    if (events.count > 0) {
      try {
        this.#onEvents(events);
      } catch (error) {
        failure = { error };
      }
    }
    const outlets = this.#outlets;
    if (outlets === null) return failure;
    this.#tracking.leaveOut(events);
    if (events.count > 0) outlets.events(events);
    this.#tracking.giveRows(told, this.detector, (rows) => outlets.events(rows));
    return failure;
  }

  #tellTracked(told: readonly TrackedEvent<TrackedFinding>[]): void {
    if (told.length > 0) this.#onTracked(told);
    this.#tracking.giveRows(told, this.detector, (rows) => this.#outlets?.events(rows));
  }

  #adapt({ rules, adapt }: RuleSet): void {
    const total = adapt?.target ?? null;
    if (total === null && rules.every((rule) => rule.adapt === null)) this.#adaptation = null;
    else if (this.#adaptation === null || total !== this.#total) {
      this.#adaptation = new Adaptation(this.detector, { total, intervalMs: TICK_MS });
    } else this.#adaptation.refresh();
    this.#total = total;
  }

  /** Counts the reports with events, by rule. The events of one report are adjacent, and in it those of each rule. */
  #countSurvivors(): void {
    const { report, rule, count } = this.#events;
    let last = -1;
    let slot = NO_RULE;
    let reports = 0;
    for (let row = 0; row < count; row++) {
      if (report[row] === last && rule[row] === slot) continue;
      last = report[row]!;
      if (rule[row] !== slot) {
        this.#addSurvivors(slot, reports);
        slot = rule[row]!;
        reports = 0;
      }
      reports++;
    }
    this.#addSurvivors(slot, reports);
  }

  #addSurvivors(slot: number, reports: number): void {
    if (reports === 0) return;
    const name = this.detector.ruleName(slot);
    this.#survivors.set(name, (this.#survivors.get(name) ?? 0) + reports);
  }
}

/** The end of the rows from `row` on whose frames arrived within {@link TICK_MS}; at least `row + 1`. */
function tickEnd(batch: TelemetryBatch, row: number): number {
  const { frame, reports } = batch;
  if (row >= reports) return reports;
  const until = frameTimeMs(batch, frame[row]!) + TICK_MS;
  let end = row + 1;
  while (end < reports && frameTimeMs(batch, frame[end]!) < until) end++;
  return end;
}

/** The index of a row among the individual reports of its frame, from 0. Rows of one frame are adjacent. */
export function reportIndex(batch: TelemetryBatch, row: number): number {
  const frame = batch.frame[row]!;
  let first = row;
  while (first > 0 && batch.frame[first - 1] === frame) first--;
  return row - first;
}
