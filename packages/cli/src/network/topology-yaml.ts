/** What was learnt of a network, as topology.yaml for people to edit. */
import type { LearntPeer, LearntPort, LearntSwitch, LearntTopology } from '@int/network';
import { counted, grouped } from '../output/numbers.js';

const endText = ({ switchId, port }: LearntPeer): string => (port === null ? `${switchId}` : `${switchId}:${port}`);

/** `8 of 12 packets to 7:3`, for each further peer. */
function contradiction(peers: readonly LearntPeer[]): string {
  const all = peers.reduce((sum, { packets }) => sum + packets, 0);
  const others = peers.slice(1).map((peer) => `${endText(peer)} in ${grouped(peer.packets)}`);
  return `contradicts: also ${others.join(', ')} of ${counted(all, 'packet')}`;
}

function portLine({ number, ingress, egress, peers, hosts }: LearntPort): string {
  const [peer] = peers;
  const value = peer === undefined ? '{}' : `{ to: '${endText(peer)}' }`;
  const notes = [
    ...(peers.length > 1 ? [contradiction(peers)] : []),
    ...(hosts === null ? [] : [`hosts in ${hosts}`]),
    `in ${grouped(ingress)}, out ${grouped(egress)}`,
  ];
  return `      ${number}: ${value} # ${notes.join('; ')}`;
}

function switchLines({ id, hops, ports, links }: LearntSwitch): string[] {
  // Each link stands once, at the switch of the lower id.
  const own = links.filter(({ switchId }) => switchId > id).map(({ switchId }) => `'${switchId}'`);
  return [
    `  ${id}: # ${counted(hops, 'hop')}`,
    ...(ports.length === 0 ? [] : ['    ports:', ...ports.map(portLine)]),
    ...(own.length === 0 ? [] : [`    links: [${own.join(', ')}]`]),
  ];
}

/** Number of links, each once, and of ports with several peers. */
export function learntCounts({ switches }: LearntTopology): {
  readonly switches: number;
  readonly ports: number;
  readonly links: number;
  readonly contradicting: number;
} {
  const links = new Set<string>();
  let ports = 0;
  let contradicting = 0;
  for (const each of switches) {
    ports += each.ports.length;
    const add = (own: string, peer: LearntPeer): void => void links.add([own, endText(peer)].sort().join(' '));
    for (const { number, peers } of each.ports) {
      if (peers.length > 1) contradicting++;
      for (const peer of peers.slice(0, 1)) add(`${each.id}:${number}`, peer);
    }
    for (const peer of each.links) add(`${each.id}`, peer);
  }
  return { switches: switches.length, ports, links: links.size, contradicting };
}

/** `6 switches, 40 ports, 8 links`. */
export function learntText(learnt: LearntTopology): string {
  const { switches, ports, links } = learntCounts(learnt);
  return `${counted(switches, 'switch', 'switches')}, ${counted(ports, 'port')}, ${counted(links, 'link')}`;
}

/** What is missing because there was no room; `null`: nothing. */
export function untrackedText({ untracked }: LearntTopology): string | null {
  const names = [
    ['switch', 'switches', untracked.switches],
    ['port', 'ports', untracked.ports],
    ['link', 'links', untracked.links],
  ] as const;
  const some = names.filter(([, , count]) => count > 0);
  if (some.length === 0) return null;
  const sightings = some.map(([name, , count]) => `${grouped(count)} of a ${name}`).join(', ');
  const options = some.map(([, plural]) => `--${plural}`).join(', ');
  return `no room for further sightings: ${sightings}; raise ${options}`;
}

/** The lines of the file. */
export function topologyYaml(learnt: LearntTopology): string[] {
  const untracked = untrackedText(learnt);
  return [
    `# Learnt by int topology learn from ${counted(learnt.reports, 'report')}: ${learntText(learnt)}.`,
    ...(untracked === null ? [] : [`# Not complete: ${untracked}.`]),
    '# Add by hand: name of a switch or a port, speed of a port (10G), to: host h1, and hosts: with addresses.',
    'switches:',
    ...learnt.switches.flatMap(switchLines),
  ];
}
