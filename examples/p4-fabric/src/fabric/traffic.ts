/** What hosts send: bursts of UDP packets, now and then from everywhere to one host. */
import { type Host, type Network, udpFrame, type Wakeable } from '@int/netsim';
import type { Random } from '@int/random';

const PAYLOAD_BYTES = [64, 192, 512, 1024] as const;
/** Between two packets of a burst: 10 Gbit/s with room to spare. */
const SPACING_NS = 1000;
const BURST = 31;
/** One burst of so many is an incast: hosts of all other leaves send to one. */
const INCAST = 12;
const PORT = 9000;
/** Flows between two hosts. */
const SOURCE_PORTS = 8;
/** Traffic that fills no queue by itself: short bursts of few flows, none from everywhere. */
const CALM = { burst: 7, sourcePorts: 1, incast: false } as const;
const LIVELY = { burst: BURST, sourcePorts: SOURCE_PORTS, incast: true } as const;

export interface TrafficSettings {
  /** By leaf. */
  readonly hosts: readonly (readonly Host[])[];
  /** Of all hosts together, on the average; virtual time. */
  readonly packetsPerSecond: number;
  /** The last burst ends with this packet. */
  readonly packets: number;
  /** Whether no queue fills up but by what somebody adds. Default false. */
  readonly isCalm?: boolean;
}

/** A burst that somebody adds. */
interface OwnBurst {
  readonly from: Host;
  readonly to: Host;
  readonly sourcePort: number;
  readonly packets: number;
}

/** One burst of one host. */
interface Burst {
  readonly from: Host;
  readonly to: Host;
  readonly sourcePort: number;
  readonly payload: number;
  left: number;
}

/** Bursts begin at random times, an exponential time apart that makes up the rate. */
export class Traffic implements Wakeable {
  sent = 0;
  /** Packets of bursts that have begun. */
  #planned = 0;
  readonly #network: Network;
  readonly #settings: TrafficSettings;
  readonly #random: Random;
  readonly #bursts: (Burst | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #payloads = new Map(PAYLOAD_BYTES.map((bytes) => [bytes as number, new Uint8Array(bytes).fill(0x55)]));
  #nextNs: number;
  #isStopped = false;

  constructor(network: Network, settings: TrafficSettings) {
    this.#network = network;
    this.#settings = settings;
    this.#random = network.random.derive('traffic');
    this.#nextNs = network.nowNs;
    this.#plan(1);
  }

  /** No more bursts begin, and those under way end. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Whether nothing more will be sent. */
  get isOver(): boolean {
    const { packets } = this.#settings;
    return this.sent >= packets || (this.#isStopped && this.sent >= this.#planned);
  }

  /** Adds a burst of large packets to the traffic. */
  add({ from, to, sourcePort, packets }: OwnBurst): void {
    this.#planned += packets;
    this.#start({ from, to, sourcePort, payload: PAYLOAD_BYTES.at(-1)!, left: packets });
  }

  /** The network calls this: -1 begins bursts, other numbers are those of bursts under way. */
  wake(argument: number): void {
    if (argument >= 0) this.#send(argument);
    else if (!this.#isStopped && this.#planned < this.#settings.packets) this.#begin();
  }

  #begin(): void {
    const { hosts, isCalm = false } = this.#settings;
    const { burst, sourcePorts, incast } = isCalm ? CALM : LIVELY;
    const random = this.#random;
    const toLeaf = random.integer(hosts.length);
    const to = pick(random, hosts[toLeaf]!);
    const others = hosts.filter((_, leaf) => leaf !== toLeaf);
    const senders =
      incast && random.integer(INCAST) === 0
        ? others.map((leaf) => pick(random, leaf))
        : [pick(random, others[random.integer(others.length)]!)];
    let packets = 0;
    for (const from of senders) {
      const left = Math.min(1 + random.integer(burst), this.#settings.packets - this.#planned - packets);
      if (left <= 0) break;
      packets += left;
      this.#start({
        from,
        to,
        sourcePort: 10_000 + random.integer(sourcePorts),
        payload: PAYLOAD_BYTES[random.integer(PAYLOAD_BYTES.length)]!,
        left,
      });
    }
    this.#planned += packets;
    this.#plan(packets);
  }

  #plan(packets: number): void {
    this.#nextNs += this.#random.exponential((1e9 * packets) / this.#settings.packetsPerSecond);
    this.#network.schedule(Math.max(this.#network.nowNs, Math.round(this.#nextNs)), this, -1);
  }

  #start(burst: Burst): void {
    const slot = this.#free.pop() ?? this.#bursts.length;
    this.#bursts[slot] = burst;
    this.#network.schedule(this.#network.nowNs, this, slot);
  }

  #send(slot: number): void {
    const burst = this.#bursts[slot]!;
    const { from, to, sourcePort } = burst;
    const payload = this.#payloads.get(burst.payload)!;
    const number = this.sent++;
    payload[0] = number >>> 24;
    payload[1] = number >>> 16;
    payload[2] = number >>> 8;
    payload[3] = number;
    from.sendFrame(
      udpFrame({ source: from.address, destination: to.address, sourcePort, destinationPort: PORT }, payload),
    );
    burst.left--;
    if (burst.left > 0) this.#network.schedule(this.#network.nowNs + SPACING_NS, this, slot);
    else {
      this.#bursts[slot] = undefined;
      this.#free.push(slot);
    }
  }
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.integer(from.length)]!;
}
