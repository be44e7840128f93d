/** A monitor in a simulated network: virtual time, packets as on a wire. */
import { type Graph, Monitor, type MonitorClock, type MonitorOptions } from '@int/gpint';
import { type BuildOptions, type BuiltNetwork, buildNetwork, type Network } from '@int/netsim';

export interface ScenarioOptions {
  readonly graph: Graph;
  readonly plan: MonitorOptions['plan'];
  readonly seed: number | string;
  /** Links, switches, hosts, attachment of the monitor. */
  readonly network?: Omit<BuildOptions, 'seed' | 'switches' | 'links' | 'names'>;
  readonly monitor?: Omit<MonitorOptions, 'graph' | 'plan' | 'transport' | 'clock' | 'seed'>;
}

export interface Scenario {
  readonly built: BuiltNetwork;
  readonly network: Network;
  readonly monitor: Monitor;
}

/** Ends of each link, by its number in the graph, the lower one first. */
export function linksOf(graph: Graph): (readonly [number, number])[] {
  const links = new Array<readonly [number, number]>(graph.linkCount);
  for (let node = 0; node < graph.nodeCount; node++) {
    for (let i = graph.first[node]!; i < graph.first[node + 1]!; i++) {
      const neighbour = graph.neighbours[i]!;
      if (node < neighbour) links[graph.links[i]!] = [node, neighbour];
    }
  }
  return links;
}

/** The virtual time of a network as a monitor's clock. */
function virtualClock(network: Network): MonitorClock {
  return {
    nowNs: () => network.nowNs,
    at: (timeNs, callback) => {
      const timer = network.at(Math.max(timeNs, network.nowNs), callback);
      return () => {
        timer.cancel();
      };
    },
  };
}

/** Builds the network of a graph and a monitor that is attached to it. Link numbers are those of the graph. */
export function buildScenario({ graph, plan, seed, network: wiring = {}, monitor = {} }: ScenarioOptions): Scenario {
  const built = buildNetwork({
    ...wiring,
    seed,
    switches: graph.nodeCount,
    names: graph.names,
    links: linksOf(graph),
  });
  const attached = built.monitor;
  const collector = new Monitor({
    ...monitor,
    graph,
    plan,
    seed,
    clock: virtualClock(built.network),
    transport: { send: (entrySwitch, payload) => attached.send(entrySwitch, payload) },
  });
  attached.onPayload = (payload, dscp) => collector.receive(payload, dscp);
  return { built, network: built.network, monitor: collector };
}
