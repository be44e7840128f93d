import { NOT_AVAILABLE } from '@int/codec';
import { dscpAt } from '@int/codec/internals';
import type { ReportRecord } from '@int/collector';
import { FilterError } from '../filter/errors.js';
import { Filter } from '../filter/index.js';
import type { NetworkView } from '../network/network-view.js';
import type { FlowRow, FlowsAnswer, HopRow } from '../protocol/http.js';
import type { TrackedFlow } from '../retention/flow-reader.js';
import { type Kept, keptReportRecord } from '../retention/report-store.js';
import { ApiError } from '../server/api-error.js';
import type { View } from '../server/routes.js';

/** How long ago the report that tells of a flow may be, in milliseconds. */
const NEWEST_MS = 10_000;
/** Reports looked at for those of flows, and flows that are filtered. */
const MOST_REPORTS = 40_000;
const MOST_FILTERED = 4096;
const MOST_ROWS = 1000;

/** What a table of flows asks. */
export interface FlowsRequest {
  readonly filter: string;
  /** A field of the rows; `-` before it: the largest first. Default `-reportsPerSecond`. */
  readonly sort: string;
  readonly limit: number;
  /** Milliseconds since the epoch; `null`: now. */
  readonly at: number | null;
}

/** Fields that rows can be sorted by without their hops. */
const PLAIN = [
  'source',
  'destination',
  'sourcePort',
  'destinationPort',
  'protocol',
  'reports',
  'reportsPerSecond',
  'events',
  'lastMs',
] as const;
const WITH_HOPS = ['pathLatencyNs', 'congested', 'path'] as const;
export const FLOW_SORTS: readonly string[] = [...PLAIN, ...WITH_HOPS];

/** @throws ApiError for a filter that cannot be read */
export function filterOf(text: string): Filter {
  try {
    return new Filter(text);
  } catch (error) {
    if (!FilterError.is(error)) throw error;
    throw new ApiError(400, 'ERR_FILTER', error.message, { line: 1, column: error.span.start + 1 });
  }
}

/** @throws ApiError for a filter or an order that there is not */
export function flowsAnswer(view: View, { filter: text, sort, limit, at }: FlowsRequest): FlowsAnswer {
  const { retention, network } = view;
  const filter = filterOf(text);
  const key = sort.replace(/^-/, '') || 'reportsPerSecond';
  if (!FLOW_SORTS.includes(key))
    throw new ApiError(400, 'ERR_PARAMETER', `sort must be one of ${FLOW_SORTS.join(', ')}`);
  const isDown = sort === '' || sort.startsWith('-');
  const { nowMs } = retention;
  const untracked = retention.counts().notKept.flows ?? 0;
  if (nowMs === null) return { at: null, rows: [], matched: 0, untracked, empty: 'No report has arrived yet.' };
  const toMs = at ?? nowMs + 1;
  let flows = [...retention.flows.all()];
  if (at !== null) flows = flows.filter(({ firstMs }) => firstMs <= at);
  const total = flows.length;
  const needsHops = !filter.isEmpty || (WITH_HOPS as readonly string[]).includes(key);
  if (needsHops) {
    // The busiest, if there are very many.
    if (flows.length > MOST_FILTERED)
      flows = flows.sort((a, b) => b.reportsPerSecond - a.reportsPerSecond).slice(0, MOST_FILTERED);
  } else flows = sorted(flows, key, isDown).slice(0, Math.min(limit, MOST_ROWS));
  const newest = newestReports(view, flows, toMs);
  let rows = flows.map((flow) => flowRow(flow, newest.get(flow.row) ?? null, network, at));
  let matched = total;
  if (needsHops) {
    rows = rows.filter((row) => filter.passesFlow(row, network));
    matched = rows.length;
    rows = sorted(rows, key, isDown).slice(0, Math.min(limit, MOST_ROWS));
  }
  const empty = rows.length > 0 ? null : total === 0 ? 'No report tells of a flow.' : 'No flow passes the filter.';
  return { at: at ?? nowMs, rows, matched, untracked, empty };
}

function sorted<T extends object>(rows: readonly T[], key: string, isDown: boolean): T[] {
  const value = (row: T): number | string => {
    const given = (row as Record<string, unknown>)[key];
    if (typeof given === 'number' || typeof given === 'string') return given;
    if (typeof given === 'boolean') return given ? 1 : 0;
    return Array.isArray(given) ? given.join('-') : Number.NEGATIVE_INFINITY;
  };
  const order = (a: number | string, b: number | string): number => (a < b ? -1 : a > b ? 1 : 0);
  const sign = isDown ? -1 : 1;
  return [...rows].sort((a, b) => sign * order(value(a), value(b)));
}

/** The newest report of each flow before a time. */
function newestReports({ retention }: View, flows: readonly TrackedFlow[], toMs: number): Map<number, Kept> {
  const wanted = new Set(flows.map(({ row }) => row));
  const found = new Map<number, Kept>();
  let looked = 0;
  for (const kept of retention.store.passingReports(toMs - NEWEST_MS, toMs)) {
    if (++looked > MOST_REPORTS || found.size === wanted.size) break;
    const flow = kept.segment.flow(kept.row);
    if (!wanted.has(flow)) continue;
    const known = found.get(flow);
    if (known === undefined || known.segment.timeMs(known.row) < kept.segment.timeMs(kept.row)) found.set(flow, kept);
  }
  return found;
}

function flowRow(flow: TrackedFlow, kept: Kept | null, network: NetworkView, at: number | null): FlowRow {
  const { row: _, firstMs: __, reportsPerSecond, ...known } = flow;
  const record = kept === null ? null : keptReportRecord(kept);
  const hops = record === null ? [] : hopRows(record);
  return {
    ...known,
    reportsPerSecond: at === null ? reportsPerSecond : null,
    dscp: kept === null ? null : dscpOf(kept),
    path: record?.path ?? [],
    pathLatencyNs: pathLatencyNs(hops, network),
    congested: record?.report?.queueCongested ?? false,
    hops,
  };
}

/** The code point of the packet in a report; `null` if its bytes are not there, or hold no Ethernet header. */
function dscpOf({ segment: { batch }, row }: Kept): number | null {
  const ethernet = batch.ethernet[row]!;
  const frame = batch.frame[row]!;
  if (ethernet === NOT_AVAILABLE || batch.frameLength[frame] === 0) return null;
  const dscp = dscpAt(batch.bytes, ethernet);
  return dscp < 0 ? null : dscp;
}

/** The hops of a report, the reporting switch's own values last. */
function hopRows({ hops, report }: ReportRecord): HopRow[] {
  const own = report === null || report.metadata === null ? [] : [{ nodeId: report.nodeId, ...report.metadata }];
  return [...hops, ...own] as HopRow[];
}

/** Sum of the hop latencies; `null` if no hop carries one, or a unit is not known. */
function pathLatencyNs(hops: readonly HopRow[], { device }: NetworkView): number | null {
  let sum: number | null = null;
  for (const { nodeId, hopLatency } of hops) {
    if (typeof hopLatency !== 'number') continue;
    const unit = device.unit('hopLatency', typeof nodeId === 'number' ? nodeId : undefined);
    if (unit?.base !== 'seconds') return null;
    sum = (sum ?? 0) + hopLatency * unit.factor * 1e9;
  }
  return sum === null ? null : Math.round(sum * 1000) / 1000;
}
