/** Three leaves, two spines and their hosts in a simulated network; each switch is a P4 machine behind a P4Runtime server. */
import { type Behaviour, type Link, Network, type Node } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { programPath } from '@int/p4';
import { P4RuntimeServer, P4vmTarget } from '@int/p4runtime';
import type { IrProgram } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';

/** Links between switches. Hosts are faster, so that these are what fills. */
const LINK_BPS = 10e6;
const HOST_BPS = 100e6;
const LINK_DELAY_NS = 20_000;
const QUEUE_PACKETS = 128;

/** Hosts by name: the leaf that they are attached to, its port, and their addresses. */
export const HOSTS = {
  web: { leaf: 2, port: 11, addresses: ['10.0.2.1'] },
  files: { leaf: 2, port: 12, addresses: ['10.0.2.2'] },
  ann: { leaf: 1, port: 11, addresses: ['10.0.1.1'] },
  bob: { leaf: 1, port: 12, addresses: ['10.0.1.2'] },
  dave: { leaf: 3, port: 11, addresses: ['10.0.3.1'] },
  backup: { leaf: 1, port: 13, addresses: ['10.0.1.3'] },
  outside: { leaf: 1, port: 14, addresses: ['203.0.113.0/24', '198.51.100.0/24'] },
  collector: { leaf: 1, port: 60, addresses: ['10.9.0.1'] },
} as const;
/** By two leaves alone a spine would be silent when a link of it is: with three it is known which link failed. */
export const LEAVES: readonly number[] = [1, 2, 3];
export type HostName = keyof typeof HOSTS;

/** Ids of the switches, in the order of the devices of their servers. */
export const SWITCHES = [
  { id: 1, name: 'leaf1' },
  { id: 2, name: 'leaf2' },
  { id: 3, name: 'leaf3' },
  { id: 101, name: 'spine1' },
  { id: 102, name: 'spine2' },
] as const;

/** Sends frames, and hears of those that come. */
export class Station implements Behaviour {
  received = 0;
  onFrame: (frame: Uint8Array) => void = () => {};
  #node: Node | null = null;

  start(node: Node): void {
    this.#node = node;
  }

  receive(frame: Uint8Array): void {
    this.received++;
    this.onFrame(frame);
  }

  send(frame: Uint8Array): void {
    this.#node!.send(0, frame);
  }
}

export interface Fabric {
  readonly network: Network;
  readonly hosts: Readonly<Record<HostName, Station>>;
  /** By the names of their ends, such as `leaf1:spine1`. */
  readonly links: ReadonlyMap<string, Link>;
  /** A server of all switches: device 1 is leaf1, as in {@link SWITCHES}. */
  readonly server: P4RuntimeServer;
}

/**
 * The network at time 0. For their servers the switches have no program yet: the controller gives it to them.
 * @param program int.p4, where it is compiled already
 * @param targetOf what stands between the server and a switch
 */
export function buildFabric(
  seed = 1,
  program: IrProgram = loadProgram(programPath('int')),
  targetOf: (host: P4Switch) => P4vmTarget = (host) => new P4vmTarget({ host }),
): Fabric {
  const network = new Network({ seed });
  const nodes = new Map<string, Node>();
  const devices = SWITCHES.map(({ name }, index) => {
    const isLeaf = name.startsWith('leaf');
    const rates: Record<number, number> = { 1: LINK_BPS, 2: LINK_BPS, 3: LINK_BPS };
    if (isLeaf) for (const { port } of Object.values(HOSTS)) rates[port] = HOST_BPS;
    const machine = new P4Switch(program, { rateBps: rates, queuePackets: QUEUE_PACKETS });
    nodes.set(name, network.add(name, machine));
    return { deviceId: index + 1, target: targetOf(machine) };
  });
  const links = new Map<string, Link>();
  const at = { delayNs: LINK_DELAY_NS };
  for (const leaf of LEAVES) {
    for (const spine of [1, 2]) {
      const ends = [`leaf${leaf}`, `spine${spine}`] as const;
      const ports = { aPort: spine, bPort: leaf, ...at };
      links.set(ends.join(':'), network.connect(nodes.get(ends[0])!, nodes.get(ends[1])!, ports));
    }
  }
  const hosts = Object.fromEntries(
    Object.entries(HOSTS).map(([name, { leaf, port }]) => {
      const station = new Station();
      const node = network.add(name, station);
      links.set(
        `leaf${leaf}:${name}`,
        network.connect(nodes.get(`leaf${leaf}`)!, node, { aPort: port, bPort: 0, ...at }),
      );
      if (name !== 'collector') return [name, station];
      // To each leaf, so that a failing link does not take the reports with it.
      for (const other of LEAVES.filter((each) => each !== leaf)) {
        const second = network.add(`${name}-${other}`, station);
        network.connect(nodes.get(`leaf${other}`)!, second, { aPort: port, bPort: 0, ...at });
      }
      return [name, station];
    }),
  ) as Record<HostName, Station>;
  return { network, hosts, links, server: new P4RuntimeServer({ devices }) };
}
