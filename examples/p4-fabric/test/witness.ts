/**
 * What switches must have put into packets, from what went over their links: no metadata is read. It holds while no packet
 * is dropped and queues are served in order.
 */
import type { Link } from '@int/netsim';
import { NODE_IDS } from '../src/fabric/commands.js';
import type { Fabric } from '../src/fabric/network.js';

/** One switch's part, as it is in a report. */
export interface Seen {
  readonly nodeId: number;
  readonly l1IngressInterface: number;
  readonly l1EgressInterface: number;
  /** Microseconds. */
  readonly hopLatency: number;
  readonly queueId: number;
  /** Packets that waited behind this one when it left. */
  readonly queueOccupancy: number;
}

/** When a packet came to a switch and left it, in whole microseconds, as the program's clock counts. */
export interface Visit {
  readonly nodeId: number;
  readonly l1EgressInterface: number;
  readonly cameUs: number;
  readonly leftUs: number;
}

interface Passage {
  readonly nodeId: number;
  readonly port: number;
  readonly timeNs: number;
  /** In the order of everything that happened. */
  readonly order: number;
}

const PAYLOAD_AT = 42;
const INT_DSCP = 0x17;

/** The packet's number, the first word of its payload: behind UDP, or behind shim and stack. */
export function numberOf(frame: Uint8Array): number {
  const hasInt = frame[15]! >>> 2 === INT_DSCP;
  const at = hasInt ? PAYLOAD_AT + 4 + 4 * frame[PAYLOAD_AT + 1]! : PAYLOAD_AT;
  return new DataView(frame.buffer, frame.byteOffset).getUint32(at);
}

function nodeIdOf(name: string): number | undefined {
  const found = /^(leaf|spine)(\d+)$/.exec(name);
  return found === null ? undefined : NODE_IDS[found[1] as 'leaf' | 'spine'](Number(found[2]) - 1);
}

/** Watches all links of a fabric that has not run yet. */
export class Witness {
  readonly #arrivals = new Map<number, Passage[]>();
  readonly #departures = new Map<number, Passage[]>();
  #order = 0;

  constructor({ network }: Fabric) {
    for (const link of network.links) {
      this.#watch(network.tap.bind(network), link, 'ab');
      this.#watch(network.tap.bind(network), link, 'ba');
    }
  }

  /** Hops of each packet by its number, in path order. */
  hops(): Map<number, Seen[]> {
    const queues = new Map<string, { readonly in: number[]; readonly out: number[] }>();
    const passages = [...this.#departures].map(([number, departures]) => ({
      number,
      hops: departures.map((out, hop) => ({ in: this.#arrivals.get(number)![hop]!, out })),
    }));
    const queueOf = ({ nodeId, port }: Passage) => {
      const key = `${nodeId} ${port}`;
      const queue = queues.get(key) ?? { in: [], out: [] };
      queues.set(key, queue);
      return queue;
    };
    for (const { hops } of passages) {
      for (const hop of hops) {
        queueOf(hop.out).in.push(hop.in.order);
        queueOf(hop.out).out.push(hop.out.order);
      }
    }
    const before = (orders: readonly number[], order: number): number => orders.filter((each) => each < order).length;
    return new Map(
      passages.map(({ number, hops }) => [
        number,
        hops.map(({ in: came, out }) => ({
          nodeId: out.nodeId,
          l1IngressInterface: came.port,
          l1EgressInterface: out.port,
          // The program's clock counts microseconds.
          hopLatency: Math.floor(out.timeNs / 1000) - Math.floor(came.timeNs / 1000),
          queueId: 0,
          queueOccupancy: before(queueOf(out).in, out.order) - before(queueOf(out).out, out.order) - 1,
        })),
      ]),
    );
  }

  /** Visits of each packet by its number, in path order. */
  visits(): Map<number, Visit[]> {
    return new Map(
      [...this.#departures].map(([number, departures]) => [
        number,
        departures.map((out, hop) => ({
          nodeId: out.nodeId,
          l1EgressInterface: out.port,
          cameUs: Math.floor(this.#arrivals.get(number)![hop]!.timeNs / 1000),
          leftUs: Math.floor(out.timeNs / 1000),
        })),
      ]),
    );
  }

  #watch(tap: (...args: Parameters<Fabric['network']['tap']>) => void, link: Link, direction: 'ab' | 'ba'): void {
    const isForward = direction === 'ab';
    const from = nodeIdOf((isForward ? link.a : link.b).name);
    const to = nodeIdOf((isForward ? link.b : link.a).name);
    const [fromPort, toPort] = isForward ? [link.aPort, link.bPort] : [link.bPort, link.aPort];
    const note =
      (passages: Map<number, Passage[]>, nodeId: number, port: number) => (frame: Uint8Array, timeNs: number) => {
        const number = numberOf(frame);
        const known = passages.get(number) ?? [];
        passages.set(number, known);
        known.push({ nodeId, port, timeNs, order: this.#order++ });
      };
    if (from !== undefined) tap(link, direction, note(this.#departures, from, fromPort), { where: 'in' });
    if (to !== undefined) tap(link, direction, note(this.#arrivals, to, toPort), { where: 'out' });
  }
}
