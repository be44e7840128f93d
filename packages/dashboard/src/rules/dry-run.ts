import { setImmediate as breathe } from 'node:timers/promises';
import { DetectionStage, eventRecord } from '@int/collector';
import { reportIndex } from '@int/collector/internals';
import { type DetectorOptions, type EventBatch, type RulesContext, RulesError } from '@int/detect';
import type { ReportAt } from '../biography/report-at.js';
import type { DryRunAnswer, EventRow } from '../protocol/http.js';
import { inBatches, inTimeOrder, type Portion } from '../replay/in-batches.js';
import { eventId, reportId } from '../retention/ids.js';
import { checkRules } from './check.js';

const MOST_IDS = 10_000;
const FIRST = 10;
/** A dry run gives other work its turn after so long, and ends after so long. */
const TURN_MS = 8;
const LIMIT_MS = 10_000;

export interface DryRunSource {
  readonly yaml: string;
  /** The retained reports of the range. */
  readonly reports: Iterable<ReportAt>;
  /** Reports of the range, also those that are not retained. */
  readonly total: number;
  /** Events that the rules in force have raised in the range, by rule. */
  readonly running: ReadonlyMap<string, number>;
  /** As those of the running detector. */
  readonly detector: DetectorOptions;
  readonly context: RulesContext;
  readonly signal: AbortSignal;
}

/**
 * Runs rules over retained reports, from an empty state, with a detector of its own. It raises the events, with the ids, that a
 * replay of the same reports would raise with these rules in force.
 * @throws the signal's reason (rejects) when it is aborted
 */
export async function dryRun(source: DryRunSource): Promise<DryRunAnswer> {
  const { ruleSet, problems } = checkRules(source.yaml, source.context);
  const nothing = { from: null, to: null, reports: 0, share: 0, nsPerReport: 0, byRule: [], first: [], eventIds: [] };
  if (ruleSet === null) return { problems, ...nothing };
  const tally = new Tally();
  let stage: DetectionStage;
  try {
    stage = new DetectionStage(ruleSet, { ...source.detector, onEvents: (events) => tally.add(events) });
  } catch (error) {
    // Rules that this detector has no room for.
    if (!RulesError.is(error) && !(error instanceof RangeError)) throw error;
    const { message } = error;
    return { problems: [...problems, { severity: 'error', message, line: 1, column: 1 }], ...nothing };
  }
  const reports = inTimeOrder(source.reports);
  const begun = performance.now();
  let turn = begun;
  let done = 0;
  let spentMs = 0;
  let to: number | null = null;
  let isCut = false;
  for (const portion of inBatches(reports)) {
    source.signal.throwIfAborted();
    tally.open(portion);
    const start = performance.now();
    stage.process(portion.batch);
    to = Number(portion.batch.timeNs(portion.batch.reports - 1)) / 1e6;
    stage.advance(to);
    const end = performance.now();
    spentMs += end - start - tally.takeSpentMs();
    done += portion.batch.reports;
    if (end - begun > LIMIT_MS) {
      isCut = done < reports.length;
      break;
    }
    if (end - turn > TURN_MS) {
      await breathe();
      turn = performance.now();
    }
  }
  const late = `only the first ${done} reports were looked at: the rest would have taken more than ${LIMIT_MS / 1000} s`;
  return {
    problems: isCut ? [...problems, { severity: 'warning', message: late, line: 1, column: 1 }] : problems,
    from: reports.length === 0 ? null : Number(reports[0]!.batch.timeNs(reports[0]!.row)) / 1e6,
    to,
    reports: done,
    share: source.total === 0 ? 0 : Math.min(1, reports.length / source.total),
    nsPerReport: done === 0 ? 0 : Math.round((spentMs * 1e6) / done),
    byRule: tally.byRule(
      ruleSet.rules.map(({ name }) => name),
      source.running,
    ),
    first: tally.first,
    eventIds: tally.ids,
  };
}

/** Counts events, and keeps the first. */
class Tally {
  readonly first: EventRow[] = [];
  readonly ids: string[] = [];
  readonly #counts = new Map<string, number>();
  #portion: Portion | null = null;
  #spentMs = 0;

  open(portion: Portion): void {
    this.#portion = portion;
  }

  /** Time spent here since the last call: it is not that of the rules. */
  takeSpentMs(): number {
    const spent = this.#spentMs;
    this.#spentMs = 0;
    return spent;
  }

  add(events: EventBatch): void {
    const start = performance.now();
    for (let row = 0; row < events.count; row++) {
      const rule = events.ruleName(row) ?? 'default';
      this.#counts.set(rule, (this.#counts.get(rule) ?? 0) + 1);
      if (this.ids.length < MOST_IDS) this.#keep(events, row, rule);
    }
    this.#spentMs += performance.now() - start;
  }

  byRule(names: readonly string[], running: ReadonlyMap<string, number>): DryRunAnswer['byRule'] {
    const all = new Set([...names, ...this.#counts.keys(), ...running.keys()]);
    return [...all].map((rule) => ({
      rule,
      events: this.#counts.get(rule) ?? 0,
      running: running.get(rule) ?? null,
    }));
  }

  #keep(events: EventBatch, row: number, rule: string): void {
    const { batch } = events;
    const at = events.report[row]!;
    const report = events.isApart ? reportId(batch, at, reportIndex(batch, at)) : this.#portion!.ids[at]!;
    const id = eventId(events, row, report);
    this.ids.push(id);
    if (this.first.length >= FIRST) return;
    const record = eventRecord(events, row, id);
    this.first.push({
      id,
      timeMs: Number(events.timeNs(row)) / 1e6,
      record,
      rule,
      severity: null,
      state: record.state,
      switchId: record.nodeId,
      reportId: events.isApart ? null : report,
    });
  }
}
