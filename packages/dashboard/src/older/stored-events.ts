/** Events of the history as batches: with the reports that they belong to, where these were read, too. */
import { METRIC_NAMES, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import {
  DETECTOR_KINDS,
  type Detector,
  EVENT_STATES,
  EVIDENCE,
  EVIDENCE_NAMES,
  EventBatch,
  KIND,
  NO_METRIC,
  NO_RULE,
  SCOPES,
} from '@int/detect';
import { appendPath, appendReport, framelessBatch, type StoredFlow, type StoredRow } from './stored-reports.js';

const COLUMNS = [
  'rule',
  'detector',
  'metric',
  'scope',
  'nodeId',
  'hop',
  'value',
  'previous',
  'threshold',
  'evidence',
  'state',
  'firstSight',
  'source',
  'destination',
  'protocol',
  'sourcePort',
  'destinationPort',
  'path',
] as const;
type Column = (typeof COLUMNS)[number];
/** Detectors that may find that there are no values. */
const FIRST_WATCH = /* @__PURE__ */ DETECTOR_KINDS.indexOf('baseline');
const LAST_WATCH = /* @__PURE__ */ DETECTOR_KINDS.indexOf('burst');

/** The SQL of events that fulfil a condition. */
export const eventsSql = (condition: string, order: 'ASC' | 'DESC' = 'ASC'): string =>
  `SELECT epoch_ns(time) AS ns, ${COLUMNS.map((name) => `"${name}"`).join(', ')} FROM events WHERE ${condition} ORDER BY ns ${order}, id ${order}`;

const cellOf = (row: StoredRow, name: Column): unknown => row[1 + COLUMNS.indexOf(name)];
const timeOf = (row: StoredRow): bigint => BigInt(row[0] as number | string);
const flowOf = (row: StoredRow): StoredFlow => ({
  source: cellOf(row, 'source'),
  destination: cellOf(row, 'destination'),
  protocol: cellOf(row, 'protocol'),
  sourcePort: cellOf(row, 'sourcePort'),
  destinationPort: cellOf(row, 'destinationPort'),
});

function pathOf(row: StoredRow): readonly (number | null)[] {
  try {
    return JSON.parse(String(cellOf(row, 'path') ?? '[]')) as readonly (number | null)[];
  } catch {
    return [];
  }
}

/** Names of the rules of events, by the slots that they get. */
export class RuleSlots {
  readonly names = new Map<number, string | null>();

  slotOf(name: string | null): number {
    if (name === null) return NO_RULE;
    for (const [slot, known] of this.names) if (known === name) return slot;
    const slot = this.names.size;
    this.names.set(slot, name);
    return slot;
  }
}

/** Some events with their batch. */
export interface StoredEvents {
  readonly batch: TelemetryBatch;
  readonly events: EventBatch;
  /** Whether the batch is none of the stream: it only says when and what the events are about. */
  readonly isApart: boolean;
  readonly rules: RuleSlots;
}

const eventsOf = (batch: TelemetryBatch, count: number, rules: RuleSlots, isApart: boolean): EventBatch => {
  const events = new EventBatch(Math.max(256, count));
  events.attach(batch, { ruleName: (slot: number) => rules.names.get(slot) ?? null } as Detector, isApart);
  return events;
};

/**
 * Joins events with the reports of the same time, flow and path.
 * @param rows of {@link eventsSql}, in the order of time
 * @returns events of these reports; those of no report, apart from them
 */
export function storedEvents(
  rows: readonly StoredRow[],
  reports: TelemetryBatch,
): { readonly within: StoredEvents | null; readonly apart: StoredEvents | null } {
  const byTime = new Map<bigint, number[]>();
  const times = new Set(rows.map(timeOf));
  for (let row = 0; row < reports.reports; row++) {
    const timeNs = reports.timeNs(row);
    if (!times.has(timeNs)) continue;
    const known = byTime.get(timeNs);
    if (known === undefined) byTime.set(timeNs, [row]);
    else known.push(row);
  }
  const within: { readonly row: StoredRow; readonly report: number }[] = [];
  const apart: StoredRow[] = [];
  for (const row of rows) {
    const report = belongsToNone(row) ? undefined : reportOf(row, reports, byTime.get(timeOf(row)) ?? []);
    if (report === undefined) apart.push(row);
    else within.push({ row, report });
  }
  return { within: eventsWithin(within, reports), apart: apart.length === 0 ? null : eventsAlone(apart, true) };
}

/** Whether its detector looks at time, and at no report. */
export const belongsToNone = (row: StoredRow): boolean => cellOf(row, 'detector') === 'absent';

function reportOf(row: StoredRow, reports: TelemetryBatch, candidates: readonly number[]): number | undefined {
  const { source, destination, sourcePort } = flowOf(row);
  const path = JSON.stringify(pathOf(row));
  const isSameFlow = (at: number): boolean => {
    const { flow } = reports.record(at);
    if (flow === null) return source === null;
    return flow.source === source && flow.destination === destination && flow.sourcePort === Number(sourcePort ?? 0);
  };
  const ofFlow = candidates.filter(isSameFlow);
  return ofFlow.find((at) => JSON.stringify(switchesOf(reports, at)) === path) ?? ofFlow[0];
}

/** The switches that a report's hops name. */
function switchesOf({ hop, hopStart, hopCount }: TelemetryBatch, report: number): (number | null)[] {
  const first = hopStart[report]!;
  return Array.from(hop.nodeId.subarray(first, first + hopCount[report]!), (id) => (id === NOT_AVAILABLE ? null : id));
}

function eventsWithin(
  found: readonly { readonly row: StoredRow; readonly report: number }[],
  reports: TelemetryBatch,
): StoredEvents | null {
  if (found.length === 0) return null;
  const rules = new RuleSlots();
  const events = eventsOf(reports, found.length, rules, false);
  for (const { row, report } of found.toSorted((a, b) => a.report - b.report)) append(events, row, report, rules);
  return { batch: reports, events, isApart: false, rules };
}

/** Events with a report each that says only when, of which flow and on which path they were. */
export function eventsAlone(rows: readonly StoredRow[], isApart: boolean): StoredEvents {
  const rules = new RuleSlots();
  const paths = rows.map(pathOf);
  const batch = framelessBatch(
    rows.length,
    paths.reduce((sum, { length }) => sum + length, 0),
  );
  const events = eventsOf(batch, rows.length, rules, isApart);
  for (const [index, row] of rows.entries()) {
    const report = appendReport(batch, timeOf(row), flowOf(row), 0);
    appendPath(batch, report, paths[index]!);
    append(events, row, report, rules);
  }
  return { batch, events, isApart, rules };
}

const number = (value: unknown, missing = 0): number =>
  value === null || value === undefined ? missing : Number(value) >>> 0;

function append(events: EventBatch, row: StoredRow, report: number, rules: RuleSlots): void {
  const at = events.count;
  const index = (names: readonly string[], name: Column): number =>
    Math.max(0, names.indexOf(String(cellOf(row, name))));
  const metric = METRIC_NAMES.indexOf(cellOf(row, 'metric') as never);
  const detector = index(DETECTOR_KINDS, 'detector');
  const isSilent = detector >= FIRST_WATCH && detector <= LAST_WATCH && cellOf(row, 'value') === null;
  events.report[at] = report;
  events.rule[at] = rules.slotOf((cellOf(row, 'rule') as string | null) ?? null);
  events.kind[at] =
    detector |
    ((metric < 0 ? NO_METRIC : metric) << KIND.METRIC_SHIFT) |
    (index(SCOPES, 'scope') << KIND.SCOPE_SHIFT) |
    (index(EVENT_STATES, 'state') << KIND.STATE_SHIFT) |
    (cellOf(row, 'firstSight') === true ? KIND.FIRST_SIGHT : 0) |
    (isSilent ? KIND.SILENT : 0);
  events.hop[at] = number(cellOf(row, 'hop'), NOT_AVAILABLE);
  events.nodeId[at] = number(cellOf(row, 'nodeId'), NOT_AVAILABLE);
  events.value[at] = number(cellOf(row, 'value'));
  events.previous[at] = number(cellOf(row, 'previous'));
  events.threshold[at] = number(cellOf(row, 'threshold'));
  appendEvidence(events, at, cellOf(row, 'evidence'));
  events.count = at + 1;
}

interface StoredEvidence {
  readonly aggregate: string;
  readonly metric: string | null;
  readonly value: number;
  readonly nodeId: number | null;
  readonly hop: number | null;
}

function appendEvidence(events: EventBatch, row: number, value: unknown): void {
  const { evidence, stride } = events;
  const found = (Array.isArray(value) ? value : []).slice(0, EVIDENCE.SLOTS) as readonly StoredEvidence[];
  events.evidenceSlots = Math.max(events.evidenceSlots, found.length);
  const cell = (slot: number, column: number): number => (slot * EVIDENCE.COLUMNS + column) * stride + row;
  for (const [slot, each] of found.entries()) {
    const metric = METRIC_NAMES.indexOf(each.metric as never);
    evidence[cell(slot, EVIDENCE.WHAT)] =
      (metric < 0 ? NO_METRIC : metric) |
      (Math.max(0, EVIDENCE_NAMES.indexOf(each.aggregate as never)) << EVIDENCE.AGGREGATE_SHIFT) |
      ((each.hop ?? EVIDENCE.NO_HOP) << EVIDENCE.HOP_SHIFT);
    evidence[cell(slot, EVIDENCE.NODE)] = number(each.nodeId, NOT_AVAILABLE);
    evidence[cell(slot, EVIDENCE.VALUE)] = number(each.value);
  }
  if (found.length < EVIDENCE.SLOTS) evidence[cell(found.length, EVIDENCE.WHAT)] = EVIDENCE.NONE;
}
