import type { DesiredState, ObservedFlow } from '@int/control';
import { Host, type LinkCounters, Network, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { P4vmTarget } from '@int/p4runtime';
import { LocalProgram, LocalSwitch } from '@int/p4runtime/internals';
import { type Fabric, p4info, program } from './fabric.js';

const word = (address: string): number => address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
const isFixed = new Set(['direct-meter', 'meter']);

interface Simulation {
  readonly seconds: number;
  readonly seed: number;
  /** Of all ports; without it nothing waits. */
  readonly rateBps?: number;
}

/** What a simulation has measured. */
interface Simulated {
  /** Bits a second by link `<switch>:<port>`. */
  readonly loads: ReadonlyMap<string, number>;
  /** Packets that came to their hosts, by the index of the flow. */
  readonly delivered: readonly number[];
  /** Of all queues together: packets that had no room; of the longest one: packets that waited at once. */
  readonly queueDrops: number;
  readonly longestQueue: number;
}

/** Sends flows at constant rates through the fabric in netsim. @returns bits a second by link `<switch>:<port>` */
export function measure(
  fabric: Fabric,
  state: DesiredState,
  flows: readonly ObservedFlow[],
  simulation: Simulation,
): ReadonlyMap<string, number> {
  const { loads, queueDrops } = simulate(fabric, state, flows, simulation);
  if (queueDrops > 0) throw new Error('a queue has lost packets');
  return loads;
}

/** Sends flows at constant rates, packets of one source port each, through the fabric in netsim. */
export function simulate(
  fabric: Fabric,
  state: DesiredState,
  flows: readonly ObservedFlow[],
  { seconds, seed, rateBps = Number.POSITIVE_INFINITY }: Simulation,
): Simulated {
  const network = new Network({ seed });
  const nodes = new Map(
    [...fabric.leaves, ...fabric.spines].map((id) => {
      const behaviour = new P4Switch(program, { rateBps, queuePackets: 64 });
      const node = network.add(`s${id}`, behaviour);
      return [id, { node, behaviour }] as const;
    }),
  );
  const bytes = new Map<string, number>();
  const delivered = flows.map(() => 0);
  const byPort = new Map(flows.map(({ sourcePort }, index) => [sourcePort, index]));
  const arrived = (frame: Uint8Array): void => {
    const flow = byPort.get((frame[34]! << 8) | frame[35]!);
    if (flow !== undefined) delivered[flow]!++;
  };
  const count = (link: string) => (frame: Uint8Array) => void bytes.set(link, (bytes.get(link) ?? 0) + frame.length);
  for (const leaf of fabric.leaves) {
    fabric.spines.forEach((spine, i) => {
      const link = network.connect(nodes.get(leaf)!.node, nodes.get(spine)!.node, {
        aPort: 51 + i,
        bPort: leaf,
        delayNs: 1000,
      });
      network.tap(link, 'ab', count(`${leaf}:${51 + i}`), { where: 'in' });
      network.tap(link, 'ba', count(`${spine}:${leaf}`), { where: 'in' });
    });
  }
  const hosts = new Map(
    [
      ...fabric.hosts,
      ...fabric.leaves.map((leaf) => ({ name: `c${leaf}`, address: `10.0.${leaf}.200`, leaf, port: 40 })),
    ].map(({ name, address, leaf, port }) => {
      const host = new Host({ address: word(address) });
      const link = network.connect(nodes.get(leaf)!.node, network.add(name, host), {
        aPort: port,
        bPort: 0,
        delayNs: 1000,
      });
      network.tap(link, 'ab', count(`${leaf}:${port}`), { where: 'in' });
      network.tap(link, 'ab', arrived);
      return [address, host] as const;
    }),
  );
  const local = new LocalProgram(program, p4info);
  for (const [id, { behaviour }] of nodes) {
    const machine = new LocalSwitch(local, new P4vmTarget({ host: behaviour }));
    for (const { entity } of state.get(id) ?? []) {
      const isThere = isFixed.has(entity.kind) || (entity.kind === 'table-entry' && entity.isDefault === true);
      const refused = machine.write({ type: isThere ? 'modify' : 'insert', entity });
      if (refused !== undefined) throw new Error(refused.message);
    }
  }
  flows.forEach((flow, at) => {
    const length = Math.round(flow.bytes / flow.packets);
    const { sourcePort, destinationPort } = flow;
    const addresses = { source: word(flow.source), destination: word(flow.destination) };
    const frame = udpFrame({ ...addresses, sourcePort, destinationPort }, new Uint8Array(length - 42));
    const host = hosts.get(flow.source)!;
    const gap = (seconds * 1e9) / flow.packets;
    const phase = gap * ((at * 0.381) % 1);
    for (let i = 0; i < flow.packets; i++) {
      network.at(Math.floor(phase + i * gap), () => host.sendFrame(frame));
    }
  });
  network.run(seconds * 1e9 + 1e9);
  const fates: LinkCounters[] = network.links.flatMap((link) => [link.counters('ab'), link.counters('ba')]);
  if (fates.some(({ lost, droppedQueue }) => lost + droppedQueue > 0)) throw new Error('a link has lost packets');
  const ports = [...nodes.values()].flatMap(({ behaviour }) =>
    [...Array(64).keys()].map((port) => behaviour.queue(port)),
  );
  return {
    loads: new Map([...bytes].map(([link, sum]) => [link, (8 * sum) / seconds])),
    delivered,
    queueDrops: ports.reduce((sum, queue) => sum + (queue?.dropped ?? 0), 0),
    longestQueue: Math.max(...ports.map((queue) => queue?.maxDepth ?? 0)),
  };
}
