/** Nodes: ports, an input queue with a finite service rate, and a clock. */
import type { Random } from '@int/random';
import type { Behaviour } from './behaviour.js';
import { checkInteger, checkLimit, checkRate } from './checks.js';
import { EVENT_KIND } from './event-queue.js';
import type { Direction, OutputState } from './link.js';
import type { Network, Timer } from './network.js';

/** Options of a node. */
export interface NodeOptions {
  /**
   * Service rate in packets per second. The node serves packets one after the other, each for the same time (rounded to
   * nanoseconds); Infinity: at once. Default: Infinity.
   */
  readonly rate?: number;
  /**
   * Capacity of the input queue in packets, the one being served included. Further packets are dropped. Default:
   * Infinity.
   */
  readonly queuePackets?: number;
  /** Offset of the node's clock at the start, integer nanoseconds; positive: ahead. Default: 0. */
  readonly clockOffsetNs?: number;
  /** Drift of the node's clock in parts per million; positive: it runs fast. Default: 0. */
  readonly clockDriftPpm?: number;
}

/**
 * A node of a network. Made by `Network.add`. Its counters are of frames. At any time `arrived = processed + droppedQueue +
 * droppedDown + queued`.
 */
export class Node {
  /** Frames that links delivered. */
  arrived = 0;
  /** Frames given to the behaviour. */
  processed = 0;
  /** The input queue was full. */
  droppedQueue = 0;
  /** Dropped because the node was down, or failed with the frame in its queue. */
  droppedDown = 0;
  /** Frames put on links. */
  sent = 0;
  /** Frames sent to a port without a link. */
  sentNowhere = 0;
  /** Frames sent while the node was down. */
  sentDown = 0;
  /** Service time so far, nanoseconds. Its share of a time span is the node's utilisation. */
  busyNs = 0;
  isUp = true;
  readonly #clockOffsetNs: number;
  readonly #clockDriftPpm: number;
  readonly #outputs: (Direction | undefined)[] = [];
  #serviceNs = 0;
  #queuePackets: number;
  #reserved = 0;
  #epoch = 0;
  #frames: (Uint8Array | null)[] = new Array<null>(16).fill(null);
  #ports = new Uint16Array(16);
  #first = 0;
  #count = 0;
  #stream: Random | null = null;

  /** Use `Network.add`. @param id number in the order of `Network.add`, from 0 */
  constructor(
    readonly network: Network,
    readonly id: number,
    readonly name: string,
    readonly behaviour: Behaviour,
    options: NodeOptions,
  ) {
    this.#queuePackets = checkLimit('queuePackets', options.queuePackets ?? Number.POSITIVE_INFINITY, 1);
    this.setRate(options.rate ?? Number.POSITIVE_INFINITY);
    const { clockOffsetNs = 0, clockDriftPpm = 0 } = options;
    this.#clockOffsetNs = checkInteger('clockOffsetNs', clockOffsetNs, Number.MIN_SAFE_INTEGER);
    if (!Number.isFinite(clockDriftPpm)) throw new RangeError(`clockDriftPpm must be a number, not ${clockDriftPpm}`);
    this.#clockDriftPpm = clockDriftPpm;
  }

  /** The network's virtual time, nanoseconds. */
  get nowNs(): number {
    return this.network.nowNs;
  }

  /** The time of the node's clock, with offset and drift, integer nanoseconds. */
  get clockNs(): number {
    const { nowNs, startNs } = this.network;
    return nowNs + this.#clockOffsetNs + Math.floor(((nowNs - startNs) * this.#clockDriftPpm) / 1e6);
  }

  /** The node's stream of random numbers. It depends only on the network's seed and the node's name. */
  get random(): Random {
    this.#stream ??= this.network.random.derive(`node ${this.name}`);
    return this.#stream;
  }

  /** Packets in the input queue, including the one being served, without places held by {@link reserve}. */
  get queueDepth(): number {
    return this.#count;
  }

  /** As {@link queueDepth}. */
  get queued(): number {
    return this.#count;
  }

  /** Ports with a link, ascending. */
  get connectedPorts(): number[] {
    return this.#outputs.flatMap((output, port) => (output === undefined ? [] : [port]));
  }

  /** Node at the other end of a port's link; undefined if it has none. */
  neighbour(port: number): Node | undefined {
    return this.#outputs[port]?.to;
  }

  /** Whether a port has a link that is up. */
  isPortUp(port: number): boolean {
    return this.#outputs[port]?.isUp ?? false;
  }

  /** The queue in front of a port's link; undefined if it has none. A live view. */
  output(port: number): OutputState | undefined {
    return this.#outputs[port];
  }

  /**
   * Sends a frame on a port's link. Do not write to the frame afterwards. Without a link, the frame is only counted.
   */
  send(port: number, frame: Uint8Array): void {
    if (!this.isUp) {
      this.sentDown++;
      return;
    }
    const output = this.#outputs[port];
    if (output === undefined) {
      this.sentNowhere++;
      return;
    }
    this.sent++;
    output.offer(frame);
  }

  /**
   * Calls back after a delay, unless the node fails before.
   *
   * @param delayNs integer nanoseconds, 0 or more, else a RangeError
   */
  after(delayNs: number, callback: () => void): Timer {
    checkInteger('delayNs', delayNs, 0);
    const epoch = this.#epoch;
    return this.network.at(this.network.nowNs + delayNs, () => {
      if (epoch === this.#epoch) callback();
    });
  }

  /** Changes the service rate in packets per second, for packets whose service begins from now on. */
  setRate(rate: number): void {
    this.#serviceNs = Math.round(1e9 / checkRate('rate', rate));
  }

  /** Takes a place of the input queue, without a packet. @returns false if none is free */
  reserve(): boolean {
    if (this.#count + this.#reserved >= this.#queuePackets) return false;
    this.#reserved++;
    return true;
  }

  /** Releases a place. */
  unreserve(): void {
    if (this.#reserved > 0) this.#reserved--;
  }

  /** Takes the node down. It loses its queue, its reserved places and its timers, and neither receives nor sends. */
  fail(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#epoch = (this.#epoch + 1) | 0;
    this.droppedDown += this.#count;
    for (let i = 0; i < this.#count; i++) this.#frames[(this.#first + i) & (this.#frames.length - 1)] = null;
    this.#count = 0;
    this.#reserved = 0;
    this.behaviour.fail?.(this);
  }

  repair(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.behaviour.repair?.(this);
  }

  /** Receives a frame on a port. Links call this, and gateways to other networks may. */
  accept(frame: Uint8Array, port: number): void {
    this.arrived++;
    if (!this.isUp) {
      this.droppedDown++;
      return;
    }
    if (this.#serviceNs === 0 && this.#count === 0) {
      this.processed++;
      this.behaviour.receive(frame, port, this);
      return;
    }
    if (this.#count + this.#reserved >= this.#queuePackets) {
      this.droppedQueue++;
      return;
    }
    if (this.#count === this.#frames.length) this.#growQueue();
    const at = (this.#first + this.#count) & (this.#frames.length - 1);
    this.#frames[at] = frame;
    this.#ports[at] = port;
    if (this.#count++ === 0) this.#beginService();
  }

  /** Called at the end of a packet's service. */
  serve(epoch: number): void {
    if (epoch !== this.#epoch) return;
    const at = this.#first;
    const frame = this.#frames[at]!;
    this.#frames[at] = null;
    this.#first = (at + 1) & (this.#frames.length - 1);
    if (--this.#count > 0) this.#beginService();
    this.processed++;
    this.behaviour.receive(frame, this.#ports[at]!, this);
  }

  /** Use `Network.connect`. */
  attach(port: number, output: Direction): void {
    this.#outputs[port] = output;
    this.behaviour.portChanged?.(port, this);
  }

  /** Lowest port without a link. */
  get freePort(): number {
    let port = 0;
    while (this.#outputs[port] !== undefined) port++;
    return port;
  }

  #beginService(): void {
    this.busyNs += this.#serviceNs;
    const { events } = this.network;
    events.due = events.nowNs + this.#serviceNs;
    events.push(EVENT_KIND.SERVE, this, this.#epoch, null);
  }

  #growQueue(): void {
    const frames = this.#frames;
    const ports = this.#ports;
    const first = this.#first;
    const count = this.#count;
    this.#frames = new Array<null>(frames.length * 2).fill(null);
    this.#ports = new Uint16Array(frames.length * 2);
    for (let i = 0; i < count; i++) {
      const at = (first + i) & (frames.length - 1);
      this.#frames[i] = frames[at]!;
      this.#ports[i] = ports[at]!;
    }
    this.#first = 0;
  }
}
