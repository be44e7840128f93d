import type { FlowRow } from '../../client/index.js';
import { clockText, countText, latencyText, measureText, protocolText } from '../format/text.js';
import { portName, switchName, unitOfMetric } from '../state/network.js';

type Hop = FlowRow['hops'][number];

/** A row of the table: a flow, and in the table of hops one of its hops. */
export interface Row {
  readonly id: string;
  readonly flow: FlowRow;
  readonly hop: Hop | null;
  /** Position on the path. */
  readonly position: number | null;
}

export interface Column {
  readonly name: string;
  readonly title: string;
  readonly isNumber: boolean;
  /** As it came, for sorting and exports. */
  readonly value: (row: Row) => string | number | boolean | null;
  readonly text: (row: Row) => string;
  /** How the server calls it, if it sorts by it. */
  readonly sort?: string;
}

type Value = ReturnType<Column['value']>;

const plain = (
  name: string,
  title: string,
  value: (flow: FlowRow) => Value,
  sort?: string,
  text?: (flow: FlowRow) => string,
): Column => ({
  name,
  title,
  isNumber: !['source', 'destination', 'protocol', 'path', 'congested'].includes(name),
  value: ({ flow }) => value(flow),
  text: ({ flow }) => (text === undefined ? String(value(flow) ?? '–') : text(flow)),
  ...(sort === undefined ? {} : { sort }),
});

export const FLOW_COLUMNS: readonly Column[] = [
  plain('source', 'source', (flow) => flow.source, 'source'),
  plain('sourcePort', 'port', (flow) => flow.sourcePort, 'sourcePort'),
  plain('destination', 'destination', (flow) => flow.destination, 'destination'),
  plain('destinationPort', 'port', (flow) => flow.destinationPort, 'destinationPort'),
  plain(
    'protocol',
    'protocol',
    (flow) => flow.protocol,
    'protocol',
    (flow) => protocolText(flow.protocol),
  ),
  plain('dscp', 'DSCP', (flow) => flow.dscp),
  plain(
    'path',
    'path',
    (flow) => flow.path.map((id) => id ?? '?').join('-'),
    'path',
    (flow) => flow.path.map(switchName).join(' › '),
  ),
  plain(
    'reports',
    'reports',
    (flow) => flow.reports,
    'reports',
    (flow) => countText(flow.reports),
  ),
  plain(
    'rate',
    'per second',
    (flow) => flow.reportsPerSecond,
    'reportsPerSecond',
    (flow) => countText(flow.reportsPerSecond),
  ),
  plain(
    'events',
    'events',
    (flow) => flow.events,
    'events',
    (flow) => countText(flow.events),
  ),
  plain(
    'pathLatency',
    'path latency',
    (flow) => flow.pathLatencyNs,
    'pathLatencyNs',
    (flow) => latencyText(flow.pathLatencyNs),
  ),
  plain(
    'congested',
    'congested',
    (flow) => flow.congested,
    'congested',
    (flow) => (flow.congested ? 'yes' : ''),
  ),
  plain(
    'last',
    'last seen',
    (flow) => flow.lastMs,
    'lastMs',
    (flow) => clockText(flow.lastMs),
  ),
];

/** Fields of a hop in the order of the codec, with a title; others follow by their own names. */
const HOP_TITLES: Readonly<Record<string, string>> = {
  l1IngressInterface: 'ingress port',
  l1EgressInterface: 'egress port',
  hopLatency: 'hop latency',
  queueId: 'queue',
  queueOccupancy: 'queue occupancy',
  ingressTimestamp: 'ingress timestamp',
  egressTimestamp: 'egress timestamp',
  egressUtilization: 'utilisation',
  queueCongestion: 'congestion',
  congestionQueueId: 'congestion queue',
  bufferId: 'buffer',
  bufferOccupancy: 'buffer occupancy',
  l2IngressInterface: 'ingress port, level 2',
  l2EgressInterface: 'egress port, level 2',
};
const PORTS = ['l1IngressInterface', 'l1EgressInterface'];

const idOf = (hop: Hop | null): number | null => (typeof hop?.nodeId === 'number' ? hop.nodeId : null);

function hopColumn(name: string): Column {
  return {
    name,
    title: HOP_TITLES[name] ?? name,
    isNumber: true,
    value: ({ hop }) => hop?.[name] ?? null,
    text: ({ hop }) => {
      const value = hop?.[name] ?? null;
      if (value === null) return '–';
      if (typeof value === 'string') return value;
      const id = idOf(hop);
      if (PORTS.includes(name) && id !== null) return portName(id, value);
      const unit = unitOfMetric(name, id);
      return unit === null ? String(value) : measureText(value, unit);
    },
  };
}

/** The columns of the hops that came: every field that some hop has. */
export function hopColumns(rows: readonly FlowRow[]): readonly Column[] {
  const names = new Set<string>();
  for (const { hops } of rows) for (const hop of hops) for (const name of Object.keys(hop)) names.add(name);
  names.delete('nodeId');
  const known = Object.keys(HOP_TITLES).filter((name) => names.delete(name));
  return [
    {
      name: 'flow',
      title: 'flow',
      isNumber: false,
      value: ({ flow }) => flow.id,
      text: ({ flow }) =>
        `${flow.source}:${flow.sourcePort ?? '*'} › ${flow.destination}:${flow.destinationPort ?? '*'} ${protocolText(flow.protocol)}`,
    },
    {
      name: 'hop',
      title: 'hop',
      isNumber: true,
      value: ({ position }) => position,
      text: ({ position }) => String(position ?? ''),
    },
    {
      name: 'switch',
      title: 'switch',
      isNumber: false,
      value: ({ hop }) => idOf(hop),
      text: ({ hop }) => switchName(idOf(hop)),
    },
    ...[...known, ...[...names].sort()].map(hopColumn),
  ];
}

/** Numbers by their size, also those of 64 bits, which come as text; all else by its text; what is missing last. */
export function compare(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const [x, y] = [Number(a), Number(b)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  const [s, t] = [String(a), String(b)];
  return s < t ? -1 : s > t ? 1 : 0;
}
