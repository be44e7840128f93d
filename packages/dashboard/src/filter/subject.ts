import type { MetricName } from '@int/codec';
import type { ReportRecord } from '@int/collector';
import type { MetricUnit } from '@int/network';
import type { IncidentRow } from '../protocol/control.js';
import type { EventRow, FlowRow, HopRow } from '../protocol/http.js';

/** What a filter must know of the network: names of switches, and the units of their numbers. */
export interface FilterNetwork {
  /** `null`: it has none. */
  switchName(id: number): string | null;
  /** `null`: nobody said. */
  unit(metric: MetricName, switchId: number | null): MetricUnit | null;
}

/** What a row is. */
export type SubjectKind = 'flow' | 'event' | 'report' | 'incident';

type FlowKey = Pick<FlowRow, 'source' | 'destination' | 'sourcePort' | 'destinationPort' | 'protocol'>;

/**
 * A row as a filter sees it. A property that the kind of row does not have is `undefined`: a condition on it decides
 * nothing. One that this row lacks is `null`: a condition on it does not hold.
 */
export interface Subject {
  readonly network: FilterNetwork;
  readonly flow: FlowKey | null;
  /** The switches that `switch` looks at. */
  readonly switches: readonly (number | null)[];
  readonly hops: readonly HopRow[] | undefined;
  readonly hopCount: number;
  readonly texts: Readonly<Record<string, string | null | undefined>>;
  readonly numbers: Readonly<Record<string, number | null | undefined>>;
  readonly states: Readonly<Record<string, boolean | undefined>>;
}

export function flowSubject(row: FlowRow, network: FilterNetwork): Subject {
  return {
    network,
    flow: row,
    switches: row.path,
    hops: row.hops,
    hopCount: row.hops.length,
    texts: {},
    numbers: {
      dscp: row.dscp,
      reports: row.reports,
      rate: row.reportsPerSecond,
      events: row.events,
      pathLatency: row.pathLatencyNs === null ? null : row.pathLatencyNs * 1e-9,
    },
    states: { congested: row.congested },
  };
}

export function reportSubject(record: ReportRecord, network: FilterNetwork): Subject {
  const hops = hopsOf(record);
  return {
    network,
    flow: record.flow,
    switches: record.path,
    hops,
    hopCount: hops.length,
    texts: {},
    numbers: { pathLatency: pathSeconds(hops, network) },
    states: { dropped: record.report?.dropped ?? false, congested: record.report?.queueCongested ?? false },
  };
}

/** @param report the report that caused it, if it is known: conditions on hops and states are about it */
export function eventSubject(row: EventRow, network: FilterNetwork, report?: ReportRecord): Subject {
  const { record } = row;
  const hops = report === undefined ? undefined : hopsOf(report);
  return {
    network,
    flow: record.flow,
    switches: row.switchId === null ? record.path : [row.switchId],
    hops,
    hopCount: hops?.length ?? record.path.length,
    texts: {
      rule: row.rule,
      severity: row.severity,
      state: row.state,
      detector: record.detector,
      metric: record.metric,
    },
    numbers: {
      value: record.value,
      previous: record.previous,
      threshold: record.threshold,
      pathLatency: hops === undefined ? undefined : pathSeconds(hops, network),
    },
    states:
      report === undefined
        ? {}
        : { dropped: report.report?.dropped ?? false, congested: report.report?.queueCongested ?? false },
  };
}

const PROTOCOL_NUMBERS: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17 };

/** The flow of an incident is what its suggestion would match, and the host that it is about, which is an end of it. */
export function incidentSubject(row: IncidentRow, network: FilterNetwork): Subject {
  const { entity, along, suggest, kind, detector, state } = row;
  const entities = [entity, ...along];
  const { source, destination, port, protocol } = suggest?.match ?? {};
  const host = entity.startsWith('host:') ? entity.slice('host:'.length) : null;
  const [, serviceProtocol, servicePort] = /^service:(\d+)\/(\d+)$/.exec(entity) ?? [];
  const isKnown = host === null || host === source || host === destination;
  const flow = {
    source: String(source ?? (isKnown ? '' : host)),
    destination: String(destination ?? (isKnown || source === undefined ? '' : host)),
    sourcePort: null,
    destinationPort: Number(port ?? servicePort ?? Number.NaN),
    protocol: PROTOCOL_NUMBERS[String(protocol)] ?? Number(protocol ?? serviceProtocol ?? Number.NaN),
  };
  return {
    network,
    flow,
    switches: entities.flatMap((each) => {
      const id = /^(?:switch|queue|port):(\d+)/.exec(each)?.[1];
      return id === undefined ? [] : [Number(id)];
    }),
    hops: undefined,
    hopCount: 0,
    texts: { incident: kind, detector, state },
    numbers: {},
    states: {},
  };
}

/** The hops, and the reporting switch's own values behind them. */
function hopsOf(record: ReportRecord): readonly HopRow[] {
  const hops = record.hops as readonly HopRow[];
  const { report } = record;
  if (report === null || report.metadata === null) return hops;
  return [...hops, { nodeId: report.nodeId, ...(report.metadata as HopRow) }];
}

/** `null` if a hop has no latency, or no unit. */
function pathSeconds(hops: readonly HopRow[], network: FilterNetwork): number | null {
  let sum = 0;
  for (const hop of hops) {
    const { nodeId, hopLatency } = hop;
    const unit = network.unit('hopLatency', typeof nodeId === 'number' ? nodeId : null);
    if (typeof hopLatency !== 'number' || unit === null || unit.base !== 'seconds') return null;
    sum += hopLatency * unit.factor;
  }
  return hops.length === 0 ? null : sum;
}

/** What a lone word is looked for in. */
export function wordsOf(subject: Subject): readonly (string | null | undefined)[] {
  const { flow, switches, texts, network } = subject;
  return [
    flow?.source,
    flow?.destination,
    texts.rule,
    texts.incident,
    ...switches.map((id) => (id === null ? null : network.switchName(id))),
  ];
}
