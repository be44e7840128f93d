import { FIELDS } from '@int/codec';

/** How the values of a field are written and compared. */
export type FieldKind =
  /** The id or the name of a switch. */
  | 'switch'
  | 'address'
  | 'port'
  | 'protocol'
  /** Of a hop, in the unit of its switch. */
  | 'hop'
  /** Of the row; `seconds`: with a unit of time. */
  | 'number'
  | 'seconds'
  | 'text'
  /** True or false; its name alone is a condition. */
  | 'state';

export interface FieldInfo {
  readonly name: string;
  readonly kind: FieldKind;
  /** Of a hop: the name of the codec's field. Of an address or a port: which end. Else what a subject calls it. */
  readonly key: string;
  readonly text: string;
}

const field = (name: string, kind: FieldKind, key: string, text: string): FieldInfo => ({ name, kind, key, text });

/** What a filter can ask, in the order in which help lists it. */
export const FILTER_FIELDS: readonly FieldInfo[] = /* @__PURE__ */ [
  field('switch', 'switch', 'switch', 'a switch on the path, by name or id; of an event, the switch that it is about'),
  field('src', 'address', 'source', 'source address, or a prefix of it'),
  field('dst', 'address', 'destination', 'destination address, or a prefix of it'),
  field('host', 'address', 'either', 'source or destination address, or a prefix of it'),
  field('sport', 'port', 'sourcePort', 'source port, or a range as 80-443'),
  field('dport', 'port', 'destinationPort', 'destination port, or a range'),
  field('port', 'port', 'either', 'source or destination port, or a range'),
  field('proto', 'protocol', 'protocol', 'protocol, as tcp, udp, or a number'),
  field('dscp', 'number', 'dscp', 'differentiated services code point'),
  field('latency', 'hop', 'hopLatency', 'hop latency at any hop'),
  field('occupancy', 'hop', 'queueOccupancy', 'queue occupancy at any hop'),
  field('utilization', 'hop', 'egressUtilization', 'egress utilisation at any hop'),
  field('queue', 'hop', 'queueId', 'queue at any hop'),
  field('ingress', 'hop', 'l1IngressInterface', 'ingress port at any hop'),
  field('egress', 'hop', 'l1EgressInterface', 'egress port at any hop'),
  field('pathLatency', 'seconds', 'pathLatency', 'sum of the hop latencies'),
  field('hops', 'number', 'hops', 'number of hops'),
  field('reports', 'number', 'reports', 'reports of the flow'),
  field('rate', 'number', 'rate', 'reports a second of the flow'),
  field('events', 'number', 'events', 'events of the flow'),
  field('congested', 'state', 'congested', 'whether a queue was congested'),
  field('dropped', 'state', 'dropped', 'whether the packet was dropped'),
  field('rule', 'text', 'rule', 'rule of the event'),
  field('incident', 'text', 'incident', 'kind of the incident'),
  field('detector', 'text', 'detector', 'detector of the event or the incident'),
  field('metric', 'text', 'metric', 'metric of the event'),
  field('severity', 'text', 'severity', 'severity of the event'),
  field('state', 'text', 'state', 'state of the event: begin, update, end or once; of the incident: open or close'),
  field('value', 'number', 'value', 'value of the event, in the unit of the device'),
  field('threshold', 'number', 'threshold', 'threshold of the event, in the unit of the device'),
];

const ALIASES: Readonly<Record<string, string>> = {
  node: 'switch',
  source: 'src',
  destination: 'dst',
  ip: 'host',
  protocol: 'proto',
  sourceport: 'sport',
  destinationport: 'dport',
};

/** By name in lower case. The fields of the codec are known by their own names, too. */
const BY_NAME: ReadonlyMap<string, FieldInfo> = /* @__PURE__ */ new Map([
  ...FIELDS.filter(({ bits, isReserved }) => bits <= 32 && isReserved !== true).map(
    ({ name, text }): [string, FieldInfo] => [name.toLowerCase(), field(name, 'hop', name, `${text}, at any hop`)],
  ),
  ...FILTER_FIELDS.map((info): [string, FieldInfo] => [info.name.toLowerCase(), info]),
]);

export function fieldOf(name: string): FieldInfo | undefined {
  const lower = name.toLowerCase();
  return BY_NAME.get(ALIASES[lower] ?? lower);
}

export const FIELD_NAMES: readonly string[] = /* @__PURE__ */ [...BY_NAME.values()].map(({ name }) => name);
