import { type Flow, type Hop, isMetricName, type TelemetryRecord } from '@int/codec';
import { Topology } from '@int/network';
import type { KnownNetwork } from '../network/known-network.js';
import { inUnits, timestampText } from '../network/measured-text.js';
import { portText, switchText } from '../network/names.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';
import type { Colours } from './colour.js';

/** Names of common IP protocols (IANA protocol numbers). */
const PROTOCOLS: Readonly<Record<number, string>> = {
  1: 'icmp',
  6: 'tcp',
  17: 'udp',
  47: 'gre',
  58: 'icmpv6',
  132: 'sctp',
};

/** Short names of the hop fields, in display order. */
const HOP_LABELS: readonly (readonly [keyof Hop, string])[] = [
  ['hopLatency', 'latency'],
  ['queueId', 'queue'],
  ['queueOccupancy', 'depth'],
  ['egressUtilization', 'utilization'],
  ['l1IngressInterface', 'in'],
  ['l1EgressInterface', 'out'],
  ['l2IngressInterface', 'l2 in'],
  ['l2EgressInterface', 'l2 out'],
  ['ingressTimestamp', 'arrived'],
  ['egressTimestamp', 'left'],
  ['bufferId', 'buffer'],
  ['bufferOccupancy', 'buffer depth'],
  ['congestionQueueId', 'congested queue'],
  ['queueCongestion', 'congestion'],
  ['checksumComplement', 'checksum complement'],
  ['reserved8', 'reserved 8'],
  ['reserved9', 'reserved 9'],
  ['reserved10', 'reserved 10'],
  ['reserved11', 'reserved 11'],
  ['reserved12', 'reserved 12'],
  ['reserved13', 'reserved 13'],
  ['reserved14', 'reserved 14'],
  ['reserved15', 'reserved 15'],
  ['domain', 'domain'],
];

export function protocolNumber(name: string): number | undefined {
  const found = Object.entries(PROTOCOLS).find(([, known]) => known === name);
  return found === undefined ? undefined : Number(found[0]);
}

function endpoint(address: string, port: number): string {
  if (port === 0) return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** `10.0.1.1:5000 > 10.0.2.2:80 udp`. */
export function flowText(flow: Flow): string {
  const protocol = PROTOCOLS[flow.protocol] ?? `protocol ${flow.protocol}`;
  const source = endpoint(flow.source, flow.sourcePort);
  return `${source} > ${endpoint(flow.destination, flow.destinationPort)} ${protocol}`;
}

/** `1 > 2 > 153`, or `leaf-1 > spine-1 > 153`; a hop without a node id is `?`. */
export function pathText(path: readonly (number | null)[], topology: Topology = Topology.NONE): string {
  return path.map((node) => switchText(node, topology)).join(' > ');
}

/** UTC date and time with nanoseconds. */
export function timeText(timeNs: bigint): string {
  const date = new Date(Number(timeNs / 1_000_000n));
  const fraction = (timeNs % 1_000_000_000n).toString().padStart(9, '0');
  return `${date.toISOString().slice(0, 19).replace('T', ' ')}.${fraction}`;
}

const PORTS: ReadonlySet<keyof Hop> = /* @__PURE__ */ new Set<keyof Hop>(['l1IngressInterface', 'l1EgressInterface']);

/** @param nodeId the switch that the values are of */
function hopText(hop: Hop, nodeId: number | null | undefined, network: KnownNetwork): string {
  const parts: string[] = [];
  for (const [field, label] of HOP_LABELS) {
    const value = hop[field];
    if (value === undefined) continue;
    if (typeof value === 'number' && PORTS.has(field))
      parts.push(`${label} ${portText(nodeId, value, network.topology)}`);
    else if (value instanceof Uint8Array) parts.push(`${label} ${Buffer.from(value).toString('hex')}`);
    else if (field === 'ingressTimestamp' || field === 'egressTimestamp') {
      parts.push(
        `${label} ${value === null ? 'n/a' : timestampText(network.device, value as number | bigint, nodeId ?? null)}`,
      );
    } else if (
      typeof value === 'number' &&
      isMetricName(field) &&
      network.device.unit(field, nodeId ?? undefined) !== null
    ) {
      parts.push(`${label} ${inUnits(network.device, field, value, nodeId ?? null)}`);
    } else parts.push(`${label} ${String(value ?? 'n/a')}`);
  }
  return parts.join('  ');
}

function headline(record: TelemetryRecord, { topology }: KnownNetwork): string[] {
  const parts: string[] = [];
  const { report, int } = record;
  if (report !== null) {
    parts.push(`report ${report.version} ${report.type}`);
    const marks = [
      report.dropped && 'dropped',
      report.queueCongested && 'congested',
      report.trackedFlow && 'tracked',
      report.intermediate && 'intermediate',
    ].filter((mark) => mark !== false);
    if (marks.length > 0) parts.push(marks.join(','));
    parts.push(`node ${switchText(report.nodeId, topology)}`, `hw ${report.hwId}`, `seq ${report.sequence}`);
    if (report.dropReason !== null) parts.push(`drop reason ${report.dropReason}`);
  }
  if (int !== null && int.mode !== 'gpint' && int.mode !== 'xd') {
    parts.push(`INT-${int.mode.toUpperCase()} ${int.version} over ${int.encapsulation}`);
    if (int.hopExceeded) parts.push('hops exceeded');
    if (int.mtuExceeded) parts.push('MTU exceeded');
  }
  if (int !== null && int.mode === 'gpint') parts.push(`GPINT ${int.kind} ${int.requestId} ${int.type}`);
  return parts;
}

/** A record as text: a headline, then a line per hop. */
export function recordText(
  frame: number,
  timeNs: bigint,
  record: TelemetryRecord,
  colour: Colours,
  network: KnownNetwork = UNKNOWN_NETWORK,
): string {
  const { topology } = network;
  const { status, error, flow, path } = record;
  const mark = status === 'ok' ? colour.green : status === 'not-int' ? colour.dim : colour.red;
  const number = record.index === 0 ? `#${frame}` : `#${frame}.${record.index}`;
  const parts = [colour.bold(number), colour.dim(timeText(timeNs)), mark(status), ...headline(record, network)];
  if (flow !== null) parts.push(colour.cyan(flowText(flow)));
  if (path.length > 0) parts.push(`path ${colour.bold(pathText(path, topology))}`);
  const lines = [parts.join('  ')];
  if (error !== null)
    lines.push(`    ${colour.red(`${error.code}: ${error.message}, ${error.layer} at byte ${error.offset}`)}`);
  for (const hop of record.hops) {
    const { nodeId, ...rest } = hop;
    lines.push(`    ${`node ${switchText(nodeId, topology)}`.padEnd(14)}${hopText(rest, nodeId, network)}`);
  }
  const own = record.report === null ? '' : hopText(record.report.metadata, record.report.nodeId, network);
  if (own !== '')
    lines.push(
      `    ${`node ${switchText(record.report?.nodeId, topology)}`.padEnd(14)}${own}${colour.dim('  (reports)')}`,
    );
  if (record.int?.mode === 'gpint') {
    for (const { switchId, queueDepth, measurementCount } of record.int.switches) {
      lines.push(
        `    ${`switch ${switchText(switchId, topology)}`.padEnd(14)}depth ${queueDepth}  measurements ${measurementCount}`,
      );
    }
  }
  return lines.join('\n');
}
