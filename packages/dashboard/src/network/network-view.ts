import type { MetricName, TelemetryBatch } from '@int/codec';
import {
  DeviceProfile,
  type DeviceSpec,
  type HostSpec,
  type LearntTopology,
  type MetricUnit,
  type PortSpec,
  type SwitchSpec,
  Topology,
  TopologyLearner,
  type TopologySpec,
} from '@int/network';
import type { FilterNetwork } from '../filter/index.js';

/** So many reports are all learnt from. Most of the later ones tell nothing new: every eighth batch is. */
const LEARNT_WHOLE = 50_000;
const LEARNT_EACH = 8;
/** Then what was learnt is put together so often at most, in milliseconds. */
const LEARNT_MS = 2000;

/** What is known of the network, as it goes from thread to thread. */
export interface NetworkData {
  readonly device: DeviceSpec;
  readonly topology: TopologySpec;
}

/** The description that a topology could be made of. */
export function topologySpecOf(topology: Topology): TopologySpec {
  const endOf = (id: number, port: number): string | undefined => {
    const to = topology.peer(id, port);
    if (to === null) return undefined;
    if (to.kind === 'host') return `host ${to.host}`;
    return to.port === null ? String(to.switchId) : `${to.switchId}:${to.port}`;
  };
  const switches = [...topology.switches.values()].map(({ id, name, ports }): [string, SwitchSpec] => {
    const described = [...ports.values()].map(({ number, name: own, speedBps }): [string, PortSpec] => {
      const to = endOf(id, number);
      const port = { ...(own !== null && { name: own }), ...(to !== undefined && { to }) };
      return [String(number), { ...port, ...(speedBps !== null && { speed: speedBps }) }];
    });
    const links = topology.neighbours(id).filter((other) => topology.switches.has(other));
    return [
      String(id),
      { ...(name !== null && { name }), ports: Object.fromEntries(described), links: links.map(String) },
    ];
  });
  const hosts = [...topology.hosts.values()].map(({ name, prefixes, level }): [string, HostSpec] => [
    name,
    { addresses: prefixes.map(({ text }) => text), level },
  ]);
  return { switches: Object.fromEntries(switches), hosts: Object.fromEntries(hosts) };
}

/** Units and names that were given, and what the telemetry itself tells of switches and links. */
export class NetworkView implements FilterNetwork {
  device: DeviceProfile = DeviceProfile.NONE;
  topology: Topology = Topology.NONE;
  readonly #learner = new TopologyLearner();
  #learnt: { readonly reports: number; readonly atMs: number; readonly topology: LearntTopology } | null = null;
  #batches = 0;

  /** Replaces what is given. */
  use({ device, topology }: NetworkData): void {
    this.device = new DeviceProfile(device);
    this.topology = new Topology(topology);
  }

  /** Learns from reports that are retained. */
  learn(batch: TelemetryBatch): void {
    if (this.#learner.reports > LEARNT_WHOLE && this.#batches++ % LEARNT_EACH !== 0) return;
    this.#learner.learn(batch);
  }

  /** What was learnt so far; at most as old as the last batch, or two seconds. */
  learnt(): LearntTopology {
    const { reports } = this.#learner;
    const now = performance.now();
    const known = this.#learnt;
    if (known !== null && (known.reports === reports || (reports > LEARNT_WHOLE && now - known.atMs < LEARNT_MS))) {
      return known.topology;
    }
    const topology = this.#learner.topology();
    this.#learnt = { reports, atMs: now, topology };
    return topology;
  }

  switchName(id: number): string | null {
    return this.topology.switchName(id);
  }

  unit(metric: MetricName, switchId: number | null): MetricUnit | null {
    return this.device.unit(metric, switchId ?? undefined);
  }
}
