/** Background traffic. */
import type { Random } from '@int/random';
import { checkInteger, checkRate } from '../checks.js';
import type { Wakeable } from '../event-queue.js';
import { UDP_HEADERS_BYTES, udpFrame } from '../frames.js';
import type { Network } from '../network.js';
import type { Host } from './host.js';

export interface UdpTrafficOptions {
  /** At least two hosts. */
  readonly hosts: readonly Host[];
  /** Rate of all hosts together. */
  readonly packetsPerSecond: number;
  /** Times between packets: constant, or exponentially distributed. Default: `constant`. */
  readonly spacing?: 'constant' | 'poisson';
  /** Bytes of a frame, headers included, 42 to 65,549. Default: 512. */
  readonly bytes?: number;
  /**
   * Number of flows: ordered pairs of hosts drawn at the start. Each packet takes a random one. Default: each packet
   * draws a new pair.
   */
  readonly pairs?: number;
  /** UDP destination port. Default: 9 (discard). */
  readonly port?: number;
  /** Name of the stream of random numbers. Each source of a network needs its own. Default: `traffic`. */
  readonly name?: string;
}

/**
 * Sends UDP packets between random pairs of hosts. All packets of a pair share one frame, so sending costs one draw and
 * one event.
 */
export class UdpTraffic implements Wakeable {
  /** Packets sent. */
  sent = 0;
  readonly #network: Network;
  readonly #hosts: readonly Host[];
  readonly #random: Random;
  readonly #poisson: boolean;
  readonly #payload: Uint8Array;
  readonly #port: number;
  /** Sender * hosts + receiver; null: any pair. */
  readonly #pairs: Uint32Array | null;
  readonly #frames: (Uint8Array | undefined)[];
  #meanNs: number;
  /** Not rounded, so that the rate is exact in the long run. */
  #nextNs = 0;
  #handle = -1;

  /** @throws RangeError for an option out of range */
  constructor(network: Network, options: UdpTrafficOptions) {
    const { hosts, packetsPerSecond, bytes = 512, pairs } = options;
    if (hosts.length < 2) throw new RangeError(`traffic needs at least 2 hosts, not ${hosts.length}`);
    checkInteger('bytes', bytes, UDP_HEADERS_BYTES, UDP_HEADERS_BYTES + 65_507);
    this.#network = network;
    this.#hosts = hosts;
    this.#random = network.random.derive(options.name ?? 'traffic');
    this.#poisson = options.spacing === 'poisson';
    this.#payload = new Uint8Array(bytes - UDP_HEADERS_BYTES);
    this.#port = options.port ?? 9;
    this.#frames = new Array<undefined>(hosts.length * hosts.length).fill(undefined);
    this.#meanNs = 1e9 / finiteRate(packetsPerSecond);
    this.#pairs =
      pairs === undefined
        ? null
        : Uint32Array.from({ length: checkInteger('pairs', pairs, 1) }, () => this.#drawPair());
  }

  get isRunning(): boolean {
    return this.#handle !== -1;
  }

  /** Starts sending. The first packet follows after one interval. */
  start(): void {
    if (this.isRunning) return;
    this.#nextNs = this.#network.nowNs;
    this.#plan();
  }

  stop(): void {
    this.#network.cancel(this.#handle);
    this.#handle = -1;
  }

  /** Changes the rate in packets per second, from the second packet from now on. */
  setRate(packetsPerSecond: number): void {
    this.#meanNs = 1e9 / finiteRate(packetsPerSecond);
  }

  /** The network calls this. */
  wake(): void {
    const hosts = this.#hosts;
    const random = this.#random;
    const pairs = this.#pairs;
    const pair = pairs === null ? this.#drawPair() : pairs[pairs.length === 1 ? 0 : random.integer(pairs.length)]!;
    const sender = hosts[Math.floor(pair / hosts.length)]!;
    const frame = this.#frames[pair] ?? this.#frameOf(pair, sender, hosts[pair % hosts.length]!);
    this.sent++;
    this.#plan();
    sender.sendFrame(frame);
  }

  #plan(): void {
    this.#nextNs += this.#poisson ? this.#random.exponential(this.#meanNs) : this.#meanNs;
    this.#handle = this.#network.schedule(Math.max(this.#network.nowNs, Math.round(this.#nextNs)), this);
  }

  #drawPair(): number {
    const count = this.#hosts.length;
    const sender = this.#random.integer(count);
    // Draw one of the other hosts, so that every ordered pair is equally likely.
    const other = this.#random.integer(count - 1);
    return sender * count + (other < sender ? other : other + 1);
  }

  #frameOf(pair: number, sender: Host, receiver: Host): Uint8Array {
    const frame = udpFrame(
      {
        source: sender.address,
        destination: receiver.address,
        sourcePort: 1024 + (pair % 60_000),
        destinationPort: this.#port,
      },
      this.#payload,
    );
    this.#frames[pair] = frame;
    return frame;
  }
}

function finiteRate(packetsPerSecond: number): number {
  if (packetsPerSecond === Number.POSITIVE_INFINITY) throw new RangeError('packetsPerSecond must be finite');
  return checkRate('packetsPerSecond', packetsPerSecond);
}
