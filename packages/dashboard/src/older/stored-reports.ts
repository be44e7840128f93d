/** Reports of the history as a batch: values as they were stored, without frames. */
import {
  ENCAPSULATIONS,
  FIELDS,
  type Field,
  FLAG,
  HOP_COLUMNS,
  INT_VERSIONS,
  MODES,
  NOT_AVAILABLE,
  REPORT_VERSIONS,
  STATE,
  TelemetryBatch,
} from '@int/codec';
import { parseIpv4, parseIpv6 } from '@int/codec/internals';

const LEAST_HOPS = 256;
/** Items of reserved instructions are stored as one text, which is not read. */
const KEPT: readonly Field[] = /* @__PURE__ */ FIELDS.filter(({ isReserved }) => isReserved !== true);
const OF_REPORT = [
  'source',
  'destination',
  'protocol',
  'sourcePort',
  'destinationPort',
  'reportVersion',
  'hwId',
  'sequence',
  'reportNodeId',
  'reportTimestamp',
  'dropped',
  'queueCongested',
  'trackedFlow',
  'intermediate',
  'dropReason',
  'dropQueueId',
  'mode',
  'intVersion',
  'encapsulation',
  'instructionBitmap',
  'discard',
  'hopExceeded',
  'mtuExceeded',
] as const;
type OfReport = (typeof OF_REPORT)[number];

const quoted = (name: string): string => `"${name}"`;
/** Columns before those of the report: its time in nanoseconds, its id, the position of the hop, whether it is its own. */
const FIRST = 4;

const reportColumns = `epoch_ns(time) AS ns, id, ${OF_REPORT.map(quoted).join(', ')}`;
const hopColumns = KEPT.map(({ name }) => quoted(name)).join(', ');

/**
 * The SQL of all reports that fulfil a condition, a row per hop; reports without hops have one row. In the order of their times.
 * @param condition on columns that reports have
 */
export function reportsSql(condition: string): string {
  const columns = ['ns', 'id', 'hop', 'own', ...OF_REPORT, ...KEPT.map(({ name }) => name)].map(quoted).join(', ');
  return `SELECT ${columns} FROM (
    SELECT ${reportColumns}, hop, own, ${hopColumns} FROM hops WHERE ${condition}
    UNION ALL BY NAME
    SELECT ${reportColumns}, NULL AS hop, false AS own FROM reports WHERE "hopCount" = 0 AND ${condition}
  ) ORDER BY ns, id, hop`;
}

/** A row of {@link reportsSql}. */
export type StoredRow = readonly unknown[];

export const timeOf = (row: StoredRow): bigint => BigInt(row[0] as number | string);
export const idOf = (row: StoredRow): string => String(row[1]);

const word = (value: unknown): number => (value === null || value === undefined ? NOT_AVAILABLE : Number(value) >>> 0);
const indexIn = (names: readonly (string | null)[], name: unknown): number =>
  Math.max(0, names.indexOf(name as string));

/** A batch without frames for so many reports and hops. */
export function framelessBatch(reports: number, hops: number): TelemetryBatch {
  const batch = new TelemetryBatch({
    frames: Math.max(1, reports),
    reports: Math.max(1, reports),
    hops: Math.max(LEAST_HOPS, hops),
  });
  batch.isTimed = true;
  // Cells are all ones where nothing is written.
  batch.state[STATE.WRITTEN] = 2 ** Math.min(31, HOP_COLUMNS.length) - 1;
  batch.state[STATE.DROPS] = 1;
  return batch;
}

/** What a report is about. */
export interface StoredFlow {
  readonly source: unknown;
  readonly destination: unknown;
  readonly protocol: unknown;
  readonly sourcePort: unknown;
  readonly destinationPort: unknown;
}

/** Appends a report without hops. @returns its row */
export function appendReport(batch: TelemetryBatch, timeNs: bigint, flow: StoredFlow, flags: number): number {
  const row = batch.reports;
  batch.state[STATE.REPORTS] = row + 1;
  batch.state[STATE.FRAMES] = row + 1;
  batch.frame[row] = row;
  batch.frameTimeHigh[row] = Number(timeNs >> 32n);
  batch.frameTimeLow[row] = Number(timeNs & 0xffffffffn);
  batch.frameCode[row] = 0;
  batch.code[row] = 0;
  batch.hopStart[row] = batch.hops;
  batch.hopCount[row] = 0;
  batch.ethernet[row] = NOT_AVAILABLE;
  batch.nodeId[row] = NOT_AVAILABLE;
  batch.flags[row] = flags | writeFlow(batch, row, flow);
  return row;
}

function writeFlow(batch: TelemetryBatch, row: number, flow: StoredFlow): number {
  const { source, destination, protocol, sourcePort, destinationPort } = flow;
  if (typeof source !== 'string' || typeof destination !== 'string' || protocol === null) return 0;
  batch.protocol[row] = Number(protocol);
  batch.ports[row] = ((Number(sourcePort ?? 0) << 16) | Number(destinationPort ?? 0)) >>> 0;
  if (!source.includes(':')) {
    batch.source0[row] = parseIpv4(source);
    batch.destination0[row] = parseIpv4(destination);
    return FLAG.FLOW;
  }
  [batch.source0[row], batch.source1[row], batch.source2[row], batch.source3[row]] = parseIpv6(source);
  [batch.destination0[row], batch.destination1[row], batch.destination2[row], batch.destination3[row]] =
    parseIpv6(destination);
  return FLAG.FLOW | FLAG.IPV6;
}

/** Makes a batch of rows of {@link reportsSql}. */
export function storedReports(rows: readonly StoredRow[]): TelemetryBatch {
  const ids = new Set(rows.map(idOf));
  const batch = framelessBatch(ids.size, rows.length);
  let last: string | null = null;
  let report = -1;
  for (const row of rows) {
    const id = idOf(row);
    if (id !== last) report = beginReport(batch, row);
    last = id;
    if (row[2] === null) continue;
    const hop = batch.hops;
    batch.state[STATE.HOPS] = hop + 1;
    batch.hopCount[report]!++;
    const items = writeHop(batch, hop, row);
    if (row[3] !== true) continue;
    batch.flags[report]! |= FLAG.OWN;
    const version = REPORT_VERSIONS[(batch.flags[report]! >>> FLAG.REPORT_SHIFT) & FLAG.REPORT_MASK];
    batch.instructions[report]! |= bitsOf(items, version === '2.0' ? '2' : 'report-1.0');
  }
  return batch;
}

function beginReport(batch: TelemetryBatch, row: StoredRow): number {
  const of = (name: OfReport): unknown => row[FIRST + OF_REPORT.indexOf(name)];
  const bit = (name: OfReport, mask: number): number => (of(name) === true ? mask : 0);
  const version = indexIn(REPORT_VERSIONS, of('reportVersion'));
  const mode = indexIn(MODES, of('mode'));
  const isXd = of('mode') === 'xd';
  const flags =
    (version << FLAG.REPORT_SHIFT) |
    (mode << FLAG.MODE_SHIFT) |
    (isXd ? 0 : indexIn(INT_VERSIONS, of('intVersion')) << FLAG.INT_VERSION_SHIFT) |
    (indexIn(ENCAPSULATIONS, of('encapsulation')) << FLAG.ENCAPSULATION_SHIFT) |
    ((Number(of('hwId') ?? 0) & FLAG.HW_ID_MASK) << FLAG.HW_ID_SHIFT) |
    bit('intermediate', FLAG.INTERMEDIATE) |
    bit('trackedFlow', FLAG.TRACKED_FLOW) |
    bit('queueCongested', FLAG.QUEUE_CONGESTED) |
    bit('dropped', FLAG.DROPPED) |
    bit('mtuExceeded', FLAG.MTU_EXCEEDED) |
    bit('hopExceeded', FLAG.HOP_EXCEEDED) |
    bit('discard', FLAG.DISCARD);
  const flow = Object.fromEntries(
    (['source', 'destination', 'protocol', 'sourcePort', 'destinationPort'] as const).map((name) => [name, of(name)]),
  ) as unknown as StoredFlow;
  const at = appendReport(batch, timeOf(row), flow, flags);
  batch.nodeId[at] = word(of('reportNodeId'));
  batch.sequence[at] = word(of('sequence'));
  batch.reportTimestamp[at] = word(of('reportTimestamp'));
  const bitmap = Number(of('instructionBitmap') ?? 0);
  batch.instructions[at] = (isXd ? bitmap : bitmap << 16) >>> 0;
  const [reason, queue] = [of('dropReason'), of('dropQueueId')];
  batch.drop[at] =
    reason === null && queue === null
      ? NOT_AVAILABLE
      : ((Number(queue ?? 0xff) << 24) | (Number(reason ?? 0xff) << 16)) >>> 0;
  return at;
}

/** The bits of a report's own metadata, which are not stored: those of the items that it has. */
function bitsOf(items: readonly Field[], version: '2' | 'report-1.0'): number {
  let bits = 0;
  for (const { at, name } of items) {
    const bit = at[version];
    if (bit !== undefined && name !== 'nodeId') bits |= 1 << (15 - bit);
  }
  return bits;
}

/** @returns the items that the hop has */
function writeHop(batch: TelemetryBatch, hop: number, row: StoredRow): readonly Field[] {
  const { hopWords, hopStride } = batch;
  const first = FIRST + OF_REPORT.length;
  const items: Field[] = [];
  for (const [index, field] of KEPT.entries()) {
    const value = row[first + index];
    if (value === null || value === undefined) continue;
    const { column, bits } = field;
    items.push(field);
    const at = column * hopStride + hop;
    if (bits !== 64) {
      hopWords[at] = Number(value) >>> 0;
      continue;
    }
    // The upper word comes first.
    const long = BigInt(value as string);
    hopWords[at] = Number(long >> 32n);
    hopWords[at + hopStride] = Number(long & 0xffffffffn);
  }
  return items;
}

/** Appends the hops of a path that is known by its switches only. */
export function appendPath(batch: TelemetryBatch, report: number, path: readonly (number | null)[]): void {
  for (const id of path) {
    const hop = batch.hops;
    batch.state[STATE.HOPS] = hop + 1;
    batch.hopCount[report]!++;
    batch.hop.nodeId[hop] = word(id);
  }
}
