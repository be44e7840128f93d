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
  #learnt: { readonly reports: number; readonly topology: LearntTopology } | null = null;

  /** Replaces what is given. */
  use({ device, topology }: NetworkData): void {
    this.device = new DeviceProfile(device);
    this.topology = new Topology(topology);
  }

  /** Learns from reports that are retained. */
  learn(batch: TelemetryBatch): void {
    this.#learner.learn(batch);
  }

  /** What was learnt so far; at most as old as the last batch. */
  learnt(): LearntTopology {
    const { reports } = this.#learner;
    if (this.#learnt === null || this.#learnt.reports !== reports) {
      this.#learnt = { reports, topology: this.#learner.topology() };
    }
    return this.#learnt.topology;
  }

  switchName(id: number): string | null {
    return this.topology.switchName(id);
  }

  unit(metric: MetricName, switchId: number | null): MetricUnit | null {
    return this.device.unit(metric, switchId ?? undefined);
  }
}
