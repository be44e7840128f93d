/** Leaves, spines and hosts in virtual time; every switch is a P4 machine with int.p4. */
import { Host, type Link, Network } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { programPath } from '@int/p4';
import { loadProgram } from '@int/p4vm/node';
import { type FabricShape, hostAddress, leafCommands, PORTS, spineCommands, USUAL_RATE_BPS } from './commands.js';

/** Packets in an output queue: what comes when it is full is dropped. */
const QUEUE_PACKETS = 64;
const LINK_DELAY_NS = 1000;

export interface FabricSettings extends FabricShape {
  readonly seed: number;
  /** Frames of telemetry reports, as the sinks send them. */
  readonly onReport: (frame: Uint8Array) => void;
  /** More commands for the leaves: rules. */
  readonly leafCommands?: readonly string[];
}

export interface Fabric {
  readonly shape: FabricShape;
  readonly network: Network;
  readonly leaves: readonly P4Switch[];
  readonly spines: readonly P4Switch[];
  /** By leaf. */
  readonly hosts: readonly (readonly Host[])[];
}

function wordOf(address: string): number {
  return address.split('.').reduce((word, part) => ((word << 8) | Number(part)) >>> 0, 0);
}

/** The network, at time 0. */
export function buildFabric(settings: FabricSettings): Fabric {
  // Hosts send faster than the ports of switches, so that bursts fill queues.
  const { leaves: leafCount, spines: spineCount, seed, onReport, rateBps = USUAL_RATE_BPS } = settings;
  const program = loadProgram(programPath('int'));
  const network = new Network({ seed });
  const every = (count: number, port: (index: number) => number): Record<number, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [port(index), rateBps]));

  const leaves = Array.from(
    { length: leafCount },
    (_, leaf) =>
      new P4Switch(program, {
        commands: [...leafCommands(settings, leaf), ...(settings.leafCommands ?? [])].join('\n'),
        rateBps: { ...every(settings.hosts, PORTS.down), ...every(spineCount, PORTS.up) },
        queuePackets: QUEUE_PACKETS,
        controlPort: PORTS.collector,
        onControl: onReport,
      }),
  );
  const spines = Array.from(
    { length: spineCount },
    (_, spine) =>
      new P4Switch(program, {
        commands: spineCommands(settings, spine).join('\n'),
        rateBps,
        queuePackets: QUEUE_PACKETS,
      }),
  );
  const leafNodes = leaves.map((each, leaf) => network.add(`leaf${1 + leaf}`, each));
  const spineNodes = spines.map((each, spine) => network.add(`spine${1 + spine}`, each));
  for (const [leaf, node] of leafNodes.entries()) {
    for (const [spine, other] of spineNodes.entries()) {
      network.connect(node, other, { aPort: PORTS.up(spine), bPort: PORTS.down(leaf), delayNs: LINK_DELAY_NS });
    }
  }
  const hosts = leafNodes.map((node, leaf) =>
    Array.from({ length: settings.hosts }, (_, index) => {
      const host = new Host({ address: wordOf(hostAddress(leaf, index)) });
      const hostNode = network.add(`host${1 + leaf}-${1 + index}`, host);
      network.connect(node, hostNode, { aPort: PORTS.down(index), bPort: 0, delayNs: LINK_DELAY_NS });
      return host;
    }),
  );
  return { shape: settings, network, leaves, spines, hosts };
}

/** The link between two nodes by their names, such as `leaf1:spine2`. */
export function linkOf({ network }: Fabric, name: string): Link | undefined {
  const [a, b] = name.split(':');
  const is = (one: string | undefined, other: string | undefined) => (link: Link) =>
    link.a.name === one && link.b.name === other;
  return network.links.find(is(a, b)) ?? network.links.find(is(b, a));
}

/** Packets that found a full queue. */
export function droppedIn({ leaves, spines }: Fabric): number {
  return [...leaves, ...spines].reduce((sum, { machine }) => sum + machine.statistics.dropped.queueFull, 0);
}
