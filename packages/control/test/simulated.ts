import type { DesiredState, ObservedFlow } from '@int/control';
import { Host, type LinkCounters, Network, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { P4vmTarget } from '@int/p4runtime';
import { LocalProgram, LocalSwitch } from '@int/p4runtime/internals';
import { type Fabric, p4info, program } from './fabric.js';

const word = (address: string): number => address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
const isFixed = new Set(['direct-meter', 'meter']);

/** Sends flows at constant rates through the fabric in netsim. @returns bits a second by link `<switch>:<port>` */
export function measure(
  fabric: Fabric,
  state: DesiredState,
  flows: readonly ObservedFlow[],
  { seconds, seed }: { readonly seconds: number; readonly seed: number },
): ReadonlyMap<string, number> {
  const network = new Network({ seed });
  const nodes = new Map(
    [...fabric.leaves, ...fabric.spines].map((id) => {
      const behaviour = new P4Switch(program, { queuePackets: 10_000 });
      const node = network.add(`s${id}`, behaviour);
      return [id, { node, behaviour }] as const;
    }),
  );
  const bytes = new Map<string, number>();
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
  return new Map([...bytes].map(([link, sum]) => [link, (8 * sum) / seconds]));
}
