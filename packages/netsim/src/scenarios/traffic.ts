/** Flows of a scenario. */
import { type Flow, formatIpv4 } from '@int/codec';
import type { Random } from '@int/random';
import type { Wakeable } from '../event-queue.js';
import { udpFrame } from '../frames.js';
import type { Fabric } from './fabric.js';

/** UDP destination port of the watched flows. */
export const WATCHED_PORT = 7000;
const BACKGROUND_PORT = 9;
/** Rate limits of flows, packets per second. */
const SLOWEST = 3;
const FASTEST = 40;
/** Low, so that loops end soon. */
const TIME_TO_LIVE = 32;
const WATCHED_PAYLOAD = 64;
/** Bytes of payload that make a frame of 1000 bytes. */
const BACKGROUND_PAYLOAD = 958;
export const BACKGROUND_BITS = 8000;

/** A flow of a scenario, as in labels and reports. */
export interface ScenarioFlow {
  readonly flow: Flow;
  /** Numbers of its hosts. */
  readonly from: number;
  readonly to: number;
  /** Packets per second, on average. */
  readonly rate: number;
  /** It sends from `startNs` to `endNs`. */
  readonly startNs: number;
  readonly endNs: number;
  /** Times of its first and latest packet; null before the first. A live view. */
  readonly sent: { readonly firstNs: number; readonly lastNs: number } | null;
}

interface SenderOptions {
  readonly fabric: Fabric;
  readonly random: Random;
  readonly from: number;
  readonly to: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly payload: number;
  readonly rate: number;
  readonly startNs: number;
  readonly endNs: number;
  /** Distribution of times between packets. `even`: uniform from half to one and a half of the mean. */
  readonly spacing: 'even' | 'poisson';
}

/** Sends one frame repeatedly. */
class Sender implements Wakeable {
  sent: { firstNs: number; lastNs: number } | null = null;
  readonly #options: SenderOptions;
  readonly #frame: Uint8Array;

  constructor(options: SenderOptions) {
    this.#options = options;
    const { fabric, from, to, sourcePort, destinationPort, payload, startNs } = options;
    this.#frame = udpFrame(
      {
        source: fabric.hosts[from]!.address,
        destination: fabric.hosts[to]!.address,
        sourcePort,
        destinationPort,
        ttl: TIME_TO_LIVE,
        checksum: true,
      },
      new Uint8Array(payload),
    );
    fabric.network.schedule(startNs + this.#gapNs(), this);
  }

  wake(): void {
    const { fabric, from, endNs } = this.#options;
    const { network, hosts } = fabric;
    if (network.nowNs >= endNs) return;
    this.sent ??= { firstNs: network.nowNs, lastNs: network.nowNs };
    this.sent.lastNs = network.nowNs;
    hosts[from]!.sendFrame(this.#frame);
    network.schedule(network.nowNs + this.#gapNs(), this);
  }

  #gapNs(): number {
    const { rate, random, spacing } = this.#options;
    const mean = 1e9 / rate;
    return Math.round(spacing === 'even' ? mean * (0.5 + random.uniform()) : random.exponential(mean));
  }
}

/** Sends a burst of unwatched packets with a separate UDP source port. */
export function sendBackground(
  fabric: Fabric,
  random: Random,
  burst: { from: number; to: number; rate: number; startNs: number; endNs: number },
): void {
  new Sender({
    ...burst,
    fabric,
    random,
    sourcePort: 1024 + random.integer(60_000),
    destinationPort: BACKGROUND_PORT,
    payload: BACKGROUND_PAYLOAD,
    // With even spacing the queue would always be full when a packet of another flow arrives.
    spacing: 'poisson',
  });
}

/**
 * Starts watched flows between hosts at different switches, 3 to 40 packets per second each. One in six begins late,
 * and one in six ends early.
 */
export function startFlows(fabric: Fabric, count: number, durationNs: number): ScenarioFlow[] {
  const { network, hosts, attach } = fabric;
  const random = network.random.derive('flows');
  return Array.from({ length: count }, (_, index) => {
    const from = random.integer(hosts.length);
    const others = hosts.flatMap((_, host) => (attach[host] === attach[from] ? [] : [host]));
    const to = others[random.integer(others.length)]!;
    const rate = SLOWEST * (FASTEST / SLOWEST) ** random.uniform();
    const { nowNs } = network;
    const beginsLate = random.integer(6) === 0;
    const endsEarly = random.integer(6) === 0;
    const startNs = nowNs + Math.round((beginsLate ? 0.6 : 0.03) * durationNs * random.uniform());
    const endNs = nowNs + Math.round(durationNs * (endsEarly ? 0.7 + 0.3 * random.uniform() : 1));
    const ports = { sourcePort: 10_000 + index, destinationPort: WATCHED_PORT };
    const spacing = random.integer(2) === 0 ? 'even' : 'poisson';
    const sender = new Sender({
      ...{ fabric, from, to, rate, startNs, endNs, spacing, payload: WATCHED_PAYLOAD },
      ...ports,
      random: random.derive('flow', index),
    });
    const source = formatIpv4(hosts[from]!.address);
    const destination = formatIpv4(hosts[to]!.address);
    const flow: Flow = { source, destination, protocol: 17, ...ports };
    return {
      ...{ flow, from, to, rate, startNs, endNs },
      get sent() {
        return sender.sent;
      },
    };
  });
}
