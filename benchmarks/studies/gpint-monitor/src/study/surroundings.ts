/**
 * The network of the study (reliable GPINT, section V-A), and what the paper leaves open.
 *
 * Given: Watts-Strogatz graphs, identical switches and links, 60 hosts, switch queues of 1000 packets, probes of 2200 bytes
 * at most, 12 of them in flight, a monitor with a sound link to every switch, UDP between random hosts.
 *
 * Open, and set here: degree and rewiring of the graphs (4 and 0.1), rates and delays of links, sizes of background
 * packets, how fast a switch is. The paper's switches are processes on one computer: their speed is whatever the computer
 * leaves them, and 10,000 and 14,000 packets/s are what brought that computer near and over its limit. Here all switches of
 * a network are equally fast, as fast as the busiest one needs to be 87.5 % used by 10,000 packets/s (the paper: 85 to
 * 92 %). With 14,000 the busiest would need 122 % and is saturated, and so are the two or three others that
 * carry nearly as much; the rest keep up. Were every switch only as fast as its own load needs, all of them
 * would be saturated at once: each visit would cost up to two seconds in a full queue, and in the long run nearly every
 * session without recovery would fail, while most of the paper's do not.
 */
import { ADDRESSES, type BuiltNetwork } from '@int/netsim';
import type { Random } from '@int/random';

export const SURROUNDINGS = {
  /** Neighbours of a switch before rewiring, and the share of links rewired. */
  degree: 4,
  rewired: 0.1,
  hosts: 60,
  /** Packets that wait in a switch. */
  queuePackets: 1000,
  /** Probes in flight at the monitor. */
  inFlight: 12,
  /** Links between switches, and those of the monitor. */
  linkRateBps: 1e9,
  linkDelayNs: 5_000_000,
  /** Links of hosts. */
  hostRateBps: 1e9,
  hostDelayNs: 100_000,
  /** Background packets, headers included. */
  packetBytes: 512,
  /** How much of the busiest switch `referenceLoad` packets/s take. */
  utilisation: 0.875,
  referenceLoad: 10_000,
} as const;

/** Switch of each host: in random order, as evenly as possible. */
export function placeHosts(switches: number, random: Random): number[] {
  const order = random.shuffle(Array.from({ length: switches }, (_, node) => node));
  return Array.from({ length: SURROUNDINGS.hosts }, (_, host) => order[host % switches]!);
}

/**
 * How many of the packets between random hosts pass each switch by the routes of a network: visits per packet.
 *
 * @param hosts switch of each host
 */
export function visitsPerPacket(built: BuiltNetwork, hosts: readonly number[]): Float64Array {
  const visits = new Float64Array(built.switches.length);
  const share = 1 / (hosts.length * (hosts.length - 1));
  for (const [receiver, to] of hosts.entries()) {
    const next = built.switches.map(({ routes }, node) => {
      const port = routes.portOf(routes.entryOf(ADDRESSES.host(receiver)));
      return built.neighbours[node]![port - 1];
    });
    for (const [sender, from] of hosts.entries()) {
      if (sender === receiver) continue;
      visits[from] = visits[from]! + share;
      for (let node = from; node !== to; ) {
        node = next[node]!;
        visits[node] = visits[node]! + share;
      }
    }
  }
  return visits;
}

/** Packets per second that every switch serves. */
export function serviceRate(visits: Float64Array): number {
  const most = visits.reduce((largest, value) => Math.max(largest, value), 0);
  return (most * SURROUNDINGS.referenceLoad) / SURROUNDINGS.utilisation;
}
