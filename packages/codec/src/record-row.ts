/** Writes an object to a row of a batch, so that code for batches can work on single records. */
import { parseIpv4, parseIpv6, parseMac } from './address.js';
import { STATE, type TelemetryBatch } from './batch.js';
import { FLAG, INT_VERSIONS, MODES, REPORT_WORD_COLUMNS } from './columns.js';
import { HOP_COLUMNS } from './fields.js';
import { METRICS, type MetricName } from './metric.js';
import type { Flow, TelemetryRecord } from './model.js';

type Fields = Partial<Record<MetricName, number | null | undefined>>;

const NODE = /* @__PURE__ */ HOP_COLUMNS.indexOf('nodeId');

const SOURCE = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('source0');
const DESTINATION = /* @__PURE__ */ REPORT_WORD_COLUMNS.indexOf('destination0');

/** All ones, as a signed word: V8 keeps those in registers. */
const NONE = -1;

function word(value: number | null | undefined): number {
  return value === null || value === undefined ? NONE : value | 0;
}

const COLUMN_OF: ReadonlyMap<string, number> = /* @__PURE__ */ new Map(
  METRICS.map(({ name, columnIndex }) => [name, columnIndex]),
);
const METRIC_COLUMNS: readonly number[] = /* @__PURE__ */ METRICS.map(({ columnIndex }) => columnIndex);

/**
 * Writes the columns of all metrics, because the row may hold those of another record. It loops over the few fields of
 * the hop. To ask the hop for each metric by name would take four times as long.
 */
function writeHop(words: Uint32Array, stride: number, row: number, fields: Fields): void {
  for (let index = 0; index < METRIC_COLUMNS.length; index++) words[METRIC_COLUMNS[index]! * stride + row] = NONE;
  for (const name in fields) {
    const column = COLUMN_OF.get(name);
    if (column !== undefined) words[column * stride + row] = word(fields[name as MetricName]);
  }
}

/** The hops that the packet carried, in path order. */
function embeddedHops({ int, hops }: TelemetryRecord): readonly Fields[] {
  return int?.mode === 'gpint'
    ? int.switches.map(({ switchId, queueDepth }) => ({ nodeId: switchId, queueId: 0, queueOccupancy: queueDepth }))
    : hops;
}

/** Whether the reporting node's own values follow as a hop. */
function hasOwnHop({ report }: TelemetryRecord): boolean {
  return report?.metadata !== undefined && report.nodeId !== null && Object.keys(report.metadata).length > 0;
}

/** Writes an address to its four columns, from `at` on. IPv4 has 0 in three of them. @returns whether it is IPv6 */
function writeAddressColumns(words: Uint32Array, stride: number, at: number, text: string): boolean {
  const isIpv6 = text.includes(':');
  if (isIpv6) {
    const [word0, word1, word2, word3] = parseIpv6(text);
    words[at] = word0;
    words[at + stride] = word1;
    words[at + 2 * stride] = word2;
    words[at + 3 * stride] = word3;
  } else {
    words[at] = parseIpv4(text);
    words[at + stride] = 0;
    words[at + 2 * stride] = 0;
    words[at + 3 * stride] = 0;
  }
  return isIpv6;
}

/** Writes the flow columns of row 0. @returns the bits of `flags` for the flow */
function writeFlow(batch: TelemetryBatch, flow: Flow | null): number {
  // Nobody reads the columns of a flow if its flag is not set.
  if (flow === null) return 0;
  const { reportWords, reportStride } = batch;
  batch.protocol[0] = flow.protocol;
  batch.ports[0] = (flow.sourcePort << 16) | flow.destinationPort;
  writeAddressColumns(reportWords, reportStride, DESTINATION * reportStride, flow.destination);
  const isIpv6 = writeAddressColumns(reportWords, reportStride, SOURCE * reportStride, flow.source);
  return isIpv6 ? FLAG.FLOW | FLAG.IPV6 : FLAG.FLOW;
}

/** What the headers say of the packet and its report. */
function statesOf({ int, report }: TelemetryRecord): number {
  let flags = 0;
  if (report !== null) {
    if (report.dropped) flags |= FLAG.DROPPED;
    if (report.queueCongested) flags |= FLAG.QUEUE_CONGESTED;
    if (report.trackedFlow) flags |= FLAG.TRACKED_FLOW;
    if (report.intermediate) flags |= FLAG.INTERMEDIATE;
  }
  if (int !== null && int.mode !== 'gpint') {
    if (int.hopExceeded) flags |= FLAG.HOP_EXCEEDED;
    if (int.mtuExceeded) flags |= FLAG.MTU_EXCEEDED;
  }
  return flags;
}

/** Bytes of its own that a batch needs for the two MAC addresses that {@link writeRecord} writes. */
export const ETHERNET_BYTES = 12;

const time = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(8));

function writeTime(batch: TelemetryBatch, timeNs: bigint | undefined): void {
  time.setBigUint64(0, timeNs ?? 0n);
  batch.frameTimeHigh[0] = time.getUint32(0);
  batch.frameTimeLow[0] = time.getUint32(4);
  batch.isTimed = timeNs !== undefined;
}

/**
 * Writes a record as row 0 of a batch that holds nothing else. It writes status, flow, reporting node, what the headers
 * say of the packet, INT mode and version, and the {@link METRICS} of all hops, as decoding would. It does not write
 * sequence number, timestamps, instruction bitmaps, drop reasons and domain-specific metadata: their columns are
 * undefined.
 *
 * The MAC addresses of the monitored packet, if known, become the bytes of the frame, and the `ethernet` column says
 * where they are.
 *
 * @param batch has room for the hops of the record; what it holds is forgotten. The MAC addresses are written only if
 *   it has {@link ETHERNET_BYTES} bytes of its own
 * @param timeNs the frame's time, nanoseconds since 1970-01-01 00:00:00 UTC. Default: not known
 * @throws RangeError if the record has more than 255 hops, or more than the batch can hold, or if the addresses of its
 *   flow are of two IP versions; AddressError if an address is invalid
 */
export function writeRecord(batch: TelemetryBatch, record: TelemetryRecord, timeNs?: bigint): void {
  const { flow, int, report } = record;
  const hops = embeddedHops(record);
  const embedded = hops.length;
  const hasOwn = hasOwnHop(record);
  const count = hasOwn ? embedded + 1 : embedded;
  // A row counts its hops in 8 bits.
  const most = Math.min(batch.capacity.hops, 255);
  if (count > most) throw new RangeError(`a record has at most ${most} hops`);
  if (flow !== null && flow.source.includes(':') !== flow.destination.includes(':')) {
    throw new RangeError(`${flow.source} and ${flow.destination} are addresses of different versions`);
  }
  const version = int === null || int.mode === 'gpint' ? null : int.version;
  batch.clear();
  batch.code[0] = record.status === 'ok' ? 0 : 1;
  batch.frame[0] = 0;
  batch.hopStart[0] = 0;
  batch.hopCount[0] = count;
  batch.nodeId[0] = word(report?.nodeId);
  batch.flags[0] =
    writeFlow(batch, flow) |
    (hasOwn ? FLAG.OWN : 0) |
    statesOf(record) |
    (Math.max(0, MODES.indexOf(int?.mode ?? null)) << FLAG.MODE_SHIFT) |
    (Math.max(0, INT_VERSIONS.indexOf(version)) << FLAG.INT_VERSION_SHIFT);
  batch.ethernet[0] = NONE;
  if (record.ethernet !== undefined && batch.capacity.bytes >= ETHERNET_BYTES) {
    batch.bytes.set(parseMac(record.ethernet.destination), 0);
    batch.bytes.set(parseMac(record.ethernet.source), 6);
    batch.ethernet[0] = 0;
  }
  writeTime(batch, timeNs);
  const { hopWords, hopStride } = batch;
  for (let row = 0; row < embedded; row++) writeHop(hopWords, hopStride, row, hops[row]!);
  if (hasOwn) {
    writeHop(hopWords, hopStride, embedded, report!.metadata);
    hopWords[NODE * hopStride + embedded] = word(report!.nodeId);
  }
  batch.state[STATE.FRAMES] = 1;
  batch.state[STATE.REPORTS] = 1;
  batch.state[STATE.HOPS] = count;
}
