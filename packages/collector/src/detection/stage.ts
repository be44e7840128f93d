import type { TelemetryBatch } from '@int/codec';
import {
  Adaptation,
  type AdaptationState,
  Detector,
  type DetectorOptions,
  type DetectorTotals,
  EventBatch,
  NO_RULE,
  type RuleSet,
  type RuleTotals,
} from '@int/detect';
import { frameTimeMs, frameTimeNs } from '../frames.js';
import type { Outlets, Stage } from '../stage.js';

/**
 * Takes events as they are found. They know their batch and their detector; all that is used again when it returns.
 *
 * @param events rows 0 to `events.count - 1`; `events.event(row)` makes an object of one
 */
export type EventListener = (events: EventBatch) => void;

export interface DetectionStageOptions extends DetectorOptions {
  /** Events to collect before they are handed on, 256 to 2^24. Default 8192. */
  readonly eventRows?: number;
  /**
   * Called when there are events: once per batch of reports, more often if they are more than `eventRows` or thresholds
   * adapt.
   */
  readonly onEvents?: EventListener;
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
  /** Rules that {@link DetectionStage.setRules} has taken away, together. */
  readonly removed: RuleFigures;
}

/** Default of `eventRows`. */
export const EVENT_ROWS = 8192;

/** How often thresholds that adapt may move, in milliseconds of the frames' time. */
const TICK_MS = 10;

/** Sets of flows looked through for idle ones after each batch: all of 65 536 flows in 128 batches. */
const SWEEP_SETS = 64;

/**
 * Runs a detector over every batch and hands its events on, as many times as it takes to look at all reports: none is
 * passed over because events have no room. Nothing is allocated per report or event.
 */
export class DetectionStage implements Stage {
  readonly name = 'detection';
  readonly detector: Detector;
  readonly #events: EventBatch;
  readonly #onEvents: EventListener;
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
      row = this.detector.detect(batch, events, row, end);
      if (events.count > 0) {
        this.#countSurvivors();
        try {
          this.#onEvents(events);
        } catch (error) {
          failure ??= { error };
        }
        this.#outlets?.events(events);
      }
      const now = row === batch.reports ? last : batch.frame[row - 1]!;
      this.#adaptation?.after(events, frameTimeMs(batch, now));
    } while (row < batch.reports);
    if (this.#isExact) {
      this.detector.sweep(frameTimeNs(batch, last), SWEEP_SETS);
    }
    if (failure !== null) throw failure.error;
  }

  /** Events go to the outlets as well, after the listener. */
  connect(outlets: Outlets): void {
    this.#outlets = outlets;
  }

  /** Sums over all rules, see {@link totals}. */
  counters(): Readonly<Record<string, number>> {
    const { byRule: _, byDefault: __, removed: ___, ...sums } = this.totals();
    return sums;
  }

  /**
   * Puts other rules in the place of all, between two batches: no report is lost, and what is known of flows and
   * switches stays. Rules of the same name keep their counters; those of the others go to {@link DetectionTotals.removed}.
   * @throws RulesError, with nothing changed
   */
  setRules(rules: RuleSet): void {
    const before = this.totals().byRule;
    this.detector.setRules(rules);
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

  /** Thresholds that adapt, and how well; empty if none do. */
  adaptation(): AdaptationState[] {
    return this.#adaptation?.states() ?? [];
  }

  /** The counters now. Allocates: for a view a few times a second. */
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

  #adapt({ rules, adapt }: RuleSet): void {
    const total = adapt?.target ?? null;
    if (total === null && rules.every((rule) => rule.adapt === null)) this.#adaptation = null;
    else if (this.#adaptation === null || total !== this.#total) {
      this.#adaptation = new Adaptation(this.detector, { total, intervalMs: TICK_MS });
    } else this.#adaptation.refresh();
    this.#total = total;
  }

  /** Adds the reports that have events to their rules. The events of one report follow one another, and have one rule. */
  #countSurvivors(): void {
    const { report, rule, count } = this.#events;
    let last = -1;
    let slot = NO_RULE;
    let reports = 0;
    for (let row = 0; row < count; row++) {
      if (report[row] === last) continue;
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

/** The end of the rows from `row` on that came within {@link TICK_MS}: at least one. */
function tickEnd(batch: TelemetryBatch, row: number): number {
  const { frame, reports } = batch;
  if (row >= reports) return reports;
  const until = frameTimeMs(batch, frame[row]!) + TICK_MS;
  let end = row + 1;
  while (end < reports && frameTimeMs(batch, frame[end]!) < until) end++;
  return end;
}

/** Which individual report of its frame a row is, from 0. Rows of one frame follow one another. */
export function reportIndex(batch: TelemetryBatch, row: number): number {
  const frame = batch.frame[row]!;
  let first = row;
  while (first > 0 && batch.frame[first - 1] === frame) first--;
  return row - first;
}
