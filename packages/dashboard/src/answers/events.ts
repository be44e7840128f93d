import { NOT_AVAILABLE } from '@int/codec';
import { KIND, SCOPES } from '@int/detect';
import type { Filter } from '../filter/index.js';
import {
  findStoredEvent,
  findStoredReport,
  isOlder,
  type Older,
  type OlderTimes,
  oldestOf,
} from '../older/older-times.js';
import type { EventRow, EventsAnswer, ReportsAnswer } from '../protocol/http.js';
import { parseId } from '../retention/ids.js';
import {
  type Kept,
  type KeptEvent,
  keptEventId,
  keptEventRecord,
  keptReportId,
  keptReportRecord,
} from '../retention/report-store.js';
import { WHY } from '../retention/slabs.js';
import { ApiError } from '../server/api-error.js';
import { type Asked, limitOf, rangeOf, type Services, type View, viewOf } from '../server/routes.js';
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
export const eventsHandler =
  (older: OlderTimes) =>
  async (asked: Asked, services: Services): Promise<EventsAnswer> => {
    const view = viewOf(asked, services);
    const { query } = asked;
    const filter = filterOf(query.get('filter') ?? '');
    const limit = limitOf(query, MOST_ROWS, USUAL_ROWS);
    const { from, to } = rangeOf(query);
    const before = query.get('before');
    const past = await olderEvents(older, { view, from, to, before }, asked, services);
    if (before !== null && !isThere(before, view, past)) {
      throw new ApiError(404, 'ERR_NOT_FOUND', `the event ${before.slice(0, 80)} is not retained`);
    }
    const list = new EventList({ filter, limit, before }, services);
    list.add(view, view.retention.store.events(from, to));
    if (past !== null) list.add(past.view, past.view.retention.store.events(from, to));
    return list.answer(past?.empty ?? whyEmpty(view, filter.isEmpty, services), past);
  };

/** Events before those that are retained, if the range reaches there. */
async function olderEvents(
  older: OlderTimes,
  asked: {
    readonly view: View;
    readonly from?: number | undefined;
    readonly to?: number | undefined;
    readonly before: string | null;
  },
  { signal }: Asked,
  services: Services,
): Promise<Older | null> {
  const { view, from, before } = asked;
  if (view !== services.live) return null;
  const known = before === null ? null : parseId(before);
  // Those before an event may have come in its millisecond.
  const beforeMs = known === null ? undefined : Number(known.timeNs / 1_000_000n) + 1;
  const to = Math.min(asked.to ?? Number.POSITIVE_INFINITY, beforeMs ?? Number.POSITIVE_INFINITY);
  const oldest = oldestOf(view.retention);
  const reaches = (timeMs: number | undefined): boolean =>
    timeMs !== undefined && Number.isFinite(timeMs) && isOlder(timeMs, view.retention);
  if (!reaches(from) && !reaches(to - 1)) return null;
  const end = Math.min(to, oldest ?? to);
  if (!Number.isFinite(end) || (from !== undefined && from >= end)) return null;
  return older.events(from ?? null, end, MOST_LOOKED, services, signal);
}

const isThere = (id: string, view: View, past: Older | null): boolean =>
  view.retention.store.findEvent(id) !== null || (past !== null && findStoredEvent(past.view, id) !== null);

interface Listed {
  readonly filter: Filter;
  readonly limit: number;
  readonly before: string | null;
}

/** Gathers the events of an answer, newest first. */
class EventList {
  readonly #asked: Listed;
  readonly #services: Services;
  readonly #groups = new Map<string, { -readonly [K in keyof Group]: Group[K] }>();
  readonly #rows: EventRow[] = [];
  #matched = 0;
  #looked = 0;
  #isAfter: boolean;
  #isCut = false;

  constructor(asked: Listed, services: Services) {
    this.#asked = asked;
    this.#services = services;
    this.#isAfter = asked.before === null;
  }

  add(view: View, events: Iterable<KeptEvent>): void {
    const { filter, limit, before } = this.#asked;
    for (const kept of events) {
      let row: EventRow | null = null;
      if (!filter.isEmpty) {
        if (++this.#looked > MOST_LOOKED) {
          this.#isCut = true;
          return;
        }
        row = eventRow(kept, this.#services);
        const report = kept.events.report[kept.row]!;
        if (!filter.passesEvent(row, view.network, keptReportRecord({ segment: kept.segment, row: report }))) continue;
      }
      this.#matched++;
      group(this.#groups, kept);
      if (!this.#isAfter) this.#isAfter = keptEventId(kept) === before;
      else if (this.#rows.length < limit) this.#rows.push(row ?? eventRow(kept, this.#services));
    }
  }

  answer(empty: string, past: Older | null): EventsAnswer {
    const rows = this.#rows.sort((a, b) => b.timeMs - a.timeMs);
    return {
      rows,
      matched: this.#matched,
      groups: [...this.#groups.values()].sort((a, b) => b.count - a.count).slice(0, MOST_GROUPS),
      empty: rows.length > 0 ? null : empty,
      ...((this.#isCut || past?.isCut) && { cut: MOST_LOOKED }),
      ...(past !== null && { source: 'history' }),
    };
  }
}

type Group = EventsAnswer['groups'][number];

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

/** The range of reports of the history without `from`. */
const OLDER_MS = 30_000;
const LONGEST_MS = 60_000;

/** Answers `GET /api/v1/reports`. */
export const reportsHandler =
  (older: OlderTimes) =>
  async (asked: Asked, services: Services): Promise<ReportsAnswer> => {
    const view = viewOf(asked, services);
    const { query, signal } = asked;
    const filter = filterOf(query.get('filter') ?? '');
    const limit = limitOf(query, MOST_ROWS, USUAL_ROWS);
    const { from, to } = rangeOf(query);
    const isPast = view === services.live && to !== undefined && isOlder(to - 1, view.retention);
    const first = isPast ? Math.max(from ?? to - OLDER_MS, to - LONGEST_MS) : from;
    const past = isPast ? await older.reports({ from: first!, to }, services, signal) : null;
    const { retention, network } = past?.view ?? view;
    const rows: ReportsAnswer['rows'][number][] = [];
    let matched = 0;
    let looked = 0;
    let isCut = false;
    for (const kept of retention.store.reports(first, to)) {
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
      if (!filter.passesReport(record, network)) continue;
      matched++;
      if (rows.length < limit) rows.push(record);
    }
    const none =
      retention.nowMs === null
        ? 'No report has arrived yet.'
        : 'No report of the sample is in this range, or passes the filter.';
    return {
      rows,
      matched,
      empty: rows.length > 0 ? null : (past?.empty ?? none),
      ...(isCut && { cut: MOST_LOOKED }),
      ...(past !== null && { source: 'history', share: past.share }),
    };
  };

/** Answers `GET /api/v1/reports/:id`. */
export const reportHandler =
  (older: OlderTimes) =>
  async (asked: Asked, services: Services): Promise<ReportsAnswer['rows'][number]> =>
    keptReportRecord((await reportOf(asked, older, services)).kept);

/** The report that a request names, and the view that it is in. @throws ApiError if it is not there */
export async function reportOf(
  asked: Asked,
  older: OlderTimes,
  services: Services,
): Promise<{ readonly view: View; readonly kept: Kept; readonly past: Older | null }> {
  const view = viewOf(asked, services);
  const id = asked.params.id!;
  const kept = view.retention.store.findReport(id);
  if (kept !== null) return { view, kept, past: null };
  const past = view === services.live ? await older.near(id, services, asked.signal) : null;
  const stored = past === null ? null : findStoredReport(past.view, id);
  if (past !== null && stored !== null) return { view: past.view, kept: stored, past };
  throw new ApiError(
    404,
    'ERR_NOT_FOUND',
    `this report is not retained${past === null ? '' : ', and not in the history'}`,
  );
}
