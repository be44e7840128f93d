import { eventRow, reportOf } from '../answers/events.js';
import { findStoredEvent, type Older, type OlderTimes } from '../older/older-times.js';
import type { Biography, RulesAnswer } from '../protocol/http.js';
import type { KeptEvent } from '../retention/report-store.js';
import { WHY } from '../retention/slabs.js';
import { ApiError } from '../server/api-error.js';
import { type Asked, type Route, type Services, type View, viewOf } from '../server/routes.js';
import { biographyOf } from './biography.js';
import { KeptReport, keptReports } from './kept-report.js';

/** How far before an event of a rule that looks at time its last report may lie, in milliseconds. */
const EXAMPLE_MS = 10_000;

/** What can be asked of one event or report. */
export function biographyRoutes(older: OlderTimes): readonly Route[] {
  return [
    { method: 'GET', path: '/api/v1/events/:id', handle: (...asked) => ofEvent(older, ...asked) },
    { method: 'GET', path: '/api/v1/reports/:id/biography', handle: (...asked) => ofReport(older, ...asked) },
  ];
}

async function ofReport(older: OlderTimes, asked: Asked, services: Services): Promise<Biography> {
  const { view, kept, past } = await reportOf(asked, older, services);
  return written(asked, services, view, new KeptReport(kept.segment, kept.row), null, past);
}

async function ofEvent(older: OlderTimes, asked: Asked, services: Services): Promise<Biography> {
  const { view, kept, past } = await eventOf(older, asked, services);
  const report = new KeptReport(kept.segment, kept.events.report[kept.row]!);
  if ((report.segment.why(report.row) & WHY.APART) === 0) return written(asked, services, view, report, kept, past);
  const example = exampleOf(view, kept);
  if (example === null) {
    throw new ApiError(
      404,
      'ERR_NOT_FOUND',
      'this event belongs to no report: its rule looks at time, and none is retained before it',
    );
  }
  return { ...(await written(asked, services, view, example, kept, past)), isExample: true };
}

/** The event that a request names, and the view that it is in. @throws ApiError if it is not there */
async function eventOf(
  older: OlderTimes,
  asked: Asked,
  services: Services,
): Promise<{ readonly view: View; readonly kept: KeptEvent; readonly past: Older | null }> {
  const view = viewOf(asked, services);
  const id = asked.params.id!;
  const kept = view.retention.store.findEvent(id);
  if (kept !== null) return { view, kept, past: null };
  const past = view === services.live ? await older.near(id, services, asked.signal) : null;
  const stored = past === null ? null : findStoredEvent(past.view, id);
  if (past !== null && stored !== null) return { view: past.view, kept: stored, past };
  throw new ApiError(
    404,
    'ERR_NOT_FOUND',
    `this event is not retained${past === null ? '' : ', and not in the history'}`,
  );
}

/** The last retained report before an event that may have counted for it: through its switch, or of its flow. */
function exampleOf(view: View, { segment, events, row }: KeptEvent): KeptReport | null {
  const { nodeId, flow } = events.event(row);
  const timeMs = segment.timeMs(events.report[row]!);
  const text = JSON.stringify(flow);
  let last: KeptReport | null = null;
  let lastNs = 0n;
  for (const report of keptReports(view.retention.store, timeMs - EXAMPLE_MS, timeMs + 1)) {
    const timeNs = report.batch.timeNs(report.row);
    if (timeNs <= lastNs) continue;
    const record = report.batch.record(report.row);
    const isItsFlow = flow === null || JSON.stringify(record.flow) === text;
    if (!isItsFlow || (nodeId !== null && !passes(report, nodeId))) continue;
    last = report;
    lastNs = timeNs;
  }
  return last;
}

function passes({ batch, row }: KeptReport, nodeId: number): boolean {
  const first = batch.hopStart[row]!;
  for (let hop = first; hop < first + batch.hopCount[row]!; hop++) if (batch.hop.nodeId[hop] === nodeId) return true;
  return batch.nodeId[row] === nodeId;
}

async function written(
  asked: Asked,
  services: Services,
  view: View,
  report: KeptReport,
  event: KeptEvent | null,
  past: Older | null,
): Promise<Biography> {
  const { retention, network } = view;
  const rules = event === null ? '' : await rulesText(services);
  return biographyOf(
    {
      report,
      // The id by which it was asked for stays its own.
      event: event === null ? null : { ...eventRow(event, services), ...(past !== null && { id: asked.params.id! }) },
      past: past === null ? null : { share: past.share },
      retained: keptReports(retention.store),
      hasEvents: (each) => (each as KeptReport).hasEvents,
      flowIdOf: (each) => flowIdOf(view, each as KeptReport),
      device: network.device,
      topology: network.topology,
      decode: network.device.decode,
      rules,
    },
    asked.signal,
  );
}

/** The text of the rules in force; empty if the program does not tell. */
async function rulesText(services: Services): Promise<string> {
  try {
    return ((await services.ask('rules', null)) as Pick<RulesAnswer, 'yaml'>).yaml;
  } catch (error) {
    if (!ApiError.is(error)) throw error;
    return '';
  }
}

/** The id of a report's flow in the table of flows; empty if it has gone from there. */
function flowIdOf({ retention }: View, { segment, row, batch }: KeptReport): string {
  const place = segment.flow(row);
  const tracked = place < 0 ? null : retention.flows.read(place);
  const { flow } = batch.record(row);
  const isSame =
    tracked !== null &&
    flow !== null &&
    tracked.source === flow.source &&
    tracked.destination === flow.destination &&
    (tracked.sourcePort ?? 0) === flow.sourcePort &&
    (tracked.destinationPort ?? 0) === flow.destinationPort;
  return isSame ? tracked.id : '';
}
