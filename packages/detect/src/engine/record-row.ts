import {
  FLAG,
  type Hop,
  INT_VERSIONS,
  MODES,
  NOT_AVAILABLE,
  parseAddress,
  parseMac,
  STATE,
  type TelemetryBatch,
  type TelemetryRecord,
} from '@int/codec';
import type { MetricName } from '../metric.js';

type Fields = Partial<Record<MetricName, number | null | undefined>>;

function word(value: number | null | undefined): number {
  return value === null || value === undefined ? NOT_AVAILABLE : value;
}

/** Id and value as one word; missing only if both are. Decoding gives both or none. */
function packed(id: number | null | undefined, value: number | null | undefined): number {
  if (typeof id !== 'number' && typeof value !== 'number') return NOT_AVAILABLE;
  return ((id ?? 0) << 24) | ((value ?? 0xffffff) & 0xffffff);
}

function interfaces(ingress: number | null | undefined, egress: number | null | undefined): number {
  if (typeof ingress !== 'number' && typeof egress !== 'number') return NOT_AVAILABLE;
  return ((ingress ?? 0) << 16) | ((egress ?? 0xffff) & 0xffff);
}

function writeHop(batch: TelemetryBatch, row: number, fields: Fields, isWide: boolean): void {
  const { hop } = batch;
  hop.nodeId[row] = word(fields.nodeId);
  hop.l1Interfaces[row] = interfaces(fields.l1IngressInterface, fields.l1EgressInterface);
  hop.hopLatency[row] = word(fields.hopLatency);
  hop.queue[row] = isWide ? word(fields.queueOccupancy) : packed(fields.queueId, fields.queueOccupancy);
  hop.l2IngressInterface[row] = word(fields.l2IngressInterface);
  hop.l2EgressInterface[row] = word(fields.l2EgressInterface);
  hop.egressUtilization[row] = word(fields.egressUtilization);
  hop.buffer[row] = packed(fields.bufferId, fields.bufferOccupancy);
  hop.congestion[row] = isWide
    ? word(fields.queueCongestion)
    : packed(fields.congestionQueueId, fields.queueCongestion);
  hop.reserved8[row] = word(fields.reserved8);
  hop.reserved9[row] = word(fields.reserved9);
  hop.reserved10[row] = word(fields.reserved10);
  hop.reserved11[row] = word(fields.reserved11);
  hop.reserved12[row] = word(fields.reserved12);
  hop.reserved13[row] = word(fields.reserved13);
  hop.reserved14[row] = word(fields.reserved14);
}

/** The hops in path order, the reporting node's own values last. */
function hopsOf(record: TelemetryRecord): { hops: Fields[]; hasOwn: boolean } {
  const { int, report } = record;
  const hops: Fields[] =
    int?.mode === 'gpint'
      ? int.switches.map(({ switchId, queueDepth }) => ({ nodeId: switchId, queueId: 0, queueOccupancy: queueDepth }))
      : [...record.hops];
  const own: Hop | undefined = report?.metadata;
  const hasOwn = own !== undefined && report?.nodeId !== null && Object.keys(own).length > 0;
  if (hasOwn) hops.push({ ...own, nodeId: report?.nodeId });
  return { hops, hasOwn };
}

/** Bytes of the two MAC addresses that {@link writeRecord} provides. */
export const ETHERNET_BYTES = 12;

/**
 * Writes what detection reads of a record as row 0 of a batch that holds nothing else.
 * @param ethernet takes the MAC addresses of the monitored packet, if they are known
 */
export function writeRecord(batch: TelemetryBatch, record: TelemetryRecord, ethernet: Uint8Array): void {
  const { flow, int, report } = record;
  const { hops, hasOwn } = hopsOf(record);
  if (hops.length > batch.capacity.hops) throw new RangeError(`a record has at most ${batch.capacity.hops} hops`);
  const version = int === null || int.mode === 'gpint' ? null : int.version;
  const isWide = version === 'intmon';
  const source = flow === null ? null : parseAddress(flow.source);
  const destination = flow === null ? null : parseAddress(flow.destination);
  const isIpv6 = source !== null && source.version === 6;

  batch.clear();
  batch.code[0] = record.status === 'ok' ? 0 : 1;
  batch.frame[0] = 0;
  batch.hopStart[0] = 0;
  batch.hopCount[0] = hops.length;
  batch.nodeId[0] = word(report?.nodeId);
  batch.flags[0] =
    (flow === null ? 0 : FLAG.FLOW) |
    (isIpv6 ? FLAG.IPV6 : 0) |
    (hasOwn ? FLAG.OWN : 0) |
    (Math.max(0, MODES.indexOf(int?.mode ?? null)) << FLAG.MODE_SHIFT) |
    (Math.max(0, INT_VERSIONS.indexOf(version)) << FLAG.INT_VERSION_SHIFT);
  batch.protocol[0] = flow?.protocol ?? 0;
  batch.ports[0] = flow === null ? 0 : (flow.sourcePort << 16) | flow.destinationPort;
  const { source0, source1, source2, source3, destination0, destination1, destination2, destination3 } = batch;
  [source0, source1, source2, source3].forEach((column, k) => {
    column[0] = source?.words[k] ?? 0;
  });
  [destination0, destination1, destination2, destination3].forEach((column, k) => {
    column[0] = destination?.words[k] ?? 0;
  });
  batch.ethernet[0] = NOT_AVAILABLE;
  if (record.ethernet !== undefined) {
    ethernet.set(parseMac(record.ethernet.destination), 0);
    ethernet.set(parseMac(record.ethernet.source), 6);
    batch.ethernet[0] = 0;
  }
  hops.forEach((hop, row) => {
    writeHop(batch, row, hop, isWide);
  });
  batch.state[STATE.FRAMES] = 1;
  batch.state[STATE.REPORTS] = 1;
  batch.state[STATE.HOPS] = hops.length;
}
