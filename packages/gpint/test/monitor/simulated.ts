/** A monitor on a network of @int/netsim. */
import { type Graph, Monitor, type MonitorOptions } from '@int/gpint';
import { type BuildOptions, type BuiltNetwork, buildNetwork } from '@int/netsim';

export interface Simulated {
  readonly built: BuiltNetwork;
  readonly monitor: Monitor;
}

export function simulate(
  graph: Graph,
  network: Omit<BuildOptions, 'switches' | 'links' | 'names'>,
  options: Omit<MonitorOptions, 'graph' | 'transport' | 'clock'>,
): Simulated {
  const built = buildNetwork({ ...network, switches: graph.nodeCount, links: graph.pairs(), names: graph.names });
  const monitor = new Monitor({
    ...options,
    graph,
    transport: { send: (entry, payload) => built.monitor.send(entry, payload) },
    clock: {
      nowNs: () => built.network.nowNs,
      at: (timeNs, callback) => {
        const timer = built.network.at(Math.max(timeNs, built.network.nowNs), callback);
        return () => timer.cancel();
      },
    },
    ...(network.monitor?.entries === undefined ? {} : { entries: network.monitor.entries }),
  });
  built.monitor.onPayload = (payload, dscp) => monitor.receive(payload, dscp);
  return { built, monitor };
}
