import { NOT_AVAILABLE } from '@int/codec';
import { KIND, SCOPES } from '@int/detect';
import type { EventRow, EventsAnswer, ReportsAnswer } from '../protocol/http.js';
import {
  type KeptEvent,
  keptEventId,
  keptEventRecord,
  keptReportId,
  keptReportRecord,
} from '../retention/report-store.js';
import { WHY } from '../retention/slabs.js';
import { ApiError } from '../server/api-error.js';
import { type Asked, numberOf, type Services, type View, viewOf } from '../server/routes.js';
import { filterOf } from './flows.js';

const USUAL_ROWS = 100;
const MOST_ROWS = 1000;
/** Events and reports that a filter looks at. */
const MOST_LOOKED = 20_000;
const MOST_GROUPS = 500;
const HOP = /* @__PURE__ */ SCOPES.indexOf('hop');

/** Severities of rules, by name: facts of the program. */
function severityOf(rule: string | null, { facts }: Pick<Services, 'facts'>): string | null {
  const all = facts.severities as Readonly<Record<string, string>> | undefined;
  return rule === null || all === undefined || !Object.hasOwn(all, rule) ? null : all[rule]!;
}

/** What an event's row is called whose rule is the default. */
const DEFAULT_RULE = 'default';

export function eventRow(kept: KeptEvent, services: Pick<Services, 'facts'>): EventRow {
  const record = keptEventRecord(kept);
  const { segment, events, row } = kept;
  const report = events.report[row]!;
  return {
    id: record.id,
    timeMs: segment.timeMs(report),
    record,
    rule: record.rule ?? DEFAULT_RULE,
    severity: severityOf(record.rule, services),
    state: record.state,
    switchId: record.nodeId,
    reportId: (segment.why(report) & WHY.APART) !== 0 ? null : keptReportId({ segment, row: report }),
  };
}

/** Answers `GET /api/v1/events`. */
export function eventsAnswer(asked: Asked, services: Services): EventsAnswer {
  const view = viewOf(asked, services);
  const { query } = asked;
  const filter = filterOf(query.get('filter') ?? '');
  const limit = numberOf(query, 'limit', { least: 1, most: MOST_ROWS }) ?? USUAL_ROWS;
  const from = numberOf(query, 'from');
  const to = numberOf(query, 'to');
  const before = query.get('before');
  if (before !== null && view.retention.store.findEvent(before) === null) {
    throw new ApiError(404, 'ERR_NOT_FOUND', `the event ${before.slice(0, 80)} is not retained`);
  }
  const groups = new Map<
    string,
    { -readonly [K in keyof EventsAnswer['groups'][number]]: EventsAnswer['groups'][number][K] }
  >();
  const rows: EventRow[] = [];
  let matched = 0;
  let looked = 0;
  let isAfter = before === null;
  let isCut = false;
  for (const kept of view.retention.store.events(from, to)) {
    let row: EventRow | null = null;
    if (!filter.isEmpty) {
      if (++looked > MOST_LOOKED) {
        isCut = true;
        break;
      }
      row = eventRow(kept, services);
      const report = kept.events.report[kept.row]!;
      if (!filter.passesEvent(row, view.network, keptReportRecord({ segment: kept.segment, row: report }))) continue;
    }
    matched++;
    group(groups, kept);
    if (!isAfter) isAfter = keptEventId(kept) === before;
    else if (rows.length < limit) rows.push(row ?? eventRow(kept, services));
  }
  rows.sort((a, b) => b.timeMs - a.timeMs);
  return {
    rows,
    matched,
    groups: [...groups.values()].sort((a, b) => b.count - a.count).slice(0, MOST_GROUPS),
    empty: rows.length > 0 ? null : whyEmpty(view, filter.isEmpty, services),
    ...(isCut && { cut: MOST_LOOKED }),
  };
}

function group(
  groups: Map<string, { rule: string; switchId: number | null; count: number; firstMs: number; lastMs: number }>,
  { segment, events, row }: KeptEvent,
): void {
  const rule = events.ruleName(row) ?? DEFAULT_RULE;
  const isHop = ((events.kind[row]! >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK) === HOP;
  const node = events.nodeId[row]!;
  const switchId = isHop && node !== NOT_AVAILABLE ? node : null;
  const timeMs = segment.timeMs(events.report[row]!);
  const key = `${switchId} ${rule}`;
  const known = groups.get(key);
  if (known === undefined) {
    groups.set(key, { rule, switchId, count: 1, firstMs: timeMs, lastMs: timeMs });
    return;
  }
  known.count++;
  known.firstMs = Math.min(known.firstMs, timeMs);
  known.lastMs = Math.max(known.lastMs, timeMs);
}

function whyEmpty({ retention }: View, isUnfiltered: boolean, { facts }: Services): string {
  if (retention.nowMs === null) return 'No report has arrived yet.';
  if (facts.detects === false) return 'No rules are in force: start with --rules FILE.';
  const all = retention.store.counts().events;
  if (all === 0) return 'No rule has found anything in the retained time.';
  return isUnfiltered ? 'No event in this range.' : 'No event passes the filter.';
}

/** Answers `GET /api/v1/reports`. */
export function reportsAnswer(asked: Asked, services: Services): ReportsAnswer {
  const view = viewOf(asked, services);
  const { query } = asked;
  const filter = filterOf(query.get('filter') ?? '');
  const limit = numberOf(query, 'limit', { least: 1, most: MOST_ROWS }) ?? USUAL_ROWS;
  const rows: ReportsAnswer['rows'][number][] = [];
  let matched = 0;
  let looked = 0;
  let isCut = false;
  for (const kept of view.retention.store.reports(numberOf(query, 'from'), numberOf(query, 'to'))) {
    if (filter.isEmpty) {
      matched++;
      if (rows.length < limit) rows.push(keptReportRecord(kept));
      continue;
    }
    if (++looked > MOST_LOOKED) {
      isCut = true;
      break;
    }
    const record = keptReportRecord(kept);
    if (!filter.passesReport(record, view.network)) continue;
    matched++;
    if (rows.length < limit) rows.push(record);
  }
  const none =
    view.retention.nowMs === null
      ? 'No report has arrived yet.'
      : 'No report of the sample is in this range, or passes the filter.';
  return { rows, matched, empty: rows.length > 0 ? null : none, ...(isCut && { cut: MOST_LOOKED }) };
}

/** Answers `GET /api/v1/reports/:id`. */
export function reportAnswer(asked: Asked, services: Services): ReportsAnswer['rows'][number] {
  const found = viewOf(asked, services).retention.store.findReport(asked.params.id!);
  if (found === null) throw new ApiError(404, 'ERR_NOT_FOUND', 'this report is not retained');
  return keptReportRecord(found);
}
