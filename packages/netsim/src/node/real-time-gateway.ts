/** Runs a network in real time, with UDP sockets. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { MonitorHost, Network, PayloadHandler } from '../index.js';
import { GatewayError } from './gateway-error.js';

/** The network of a gateway, such as the result of `buildNetwork`. */
export interface GatewayNetwork {
  readonly network: Network;
  readonly monitor: MonitorHost;
  /** Switches that the monitor is attached to: entry i is at port i of the monitor. */
  readonly entries: readonly number[];
}

export interface GatewayOptions {
  /** Address that sockets are bound to. Default: `127.0.0.1`. */
  readonly host?: string;
  /** UDP port of an entry switch; 0: any free one. Default: 0. */
  readonly portOf?: (entry: number) => number;
  /** Virtual seconds per second of real time. Default: 1. */
  readonly speed?: number;
  /**
   * Called with an exception of an event; the gateway then stops running the network. Default: the exception is thrown
   * and nobody catches it.
   */
  readonly onError?: (error: unknown) => void;
}

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

/** Longest run of events before sockets get their turn. */
const SLICE_MS = 10;
/** Events between two reads of the clock. */
const SLICE_EVENTS = 64;
/** UDP payload of an IPv4 packet. */
const MAX_PAYLOAD = 0xffff - 28;
/** Longest delay of a timer. */
const MAX_DELAY_MS = 0x7fff_ffff;

/**
 * Lets a monitor that speaks UDP probe simulated switches. Each switch that the simulated monitor is attached to has a
 * socket: a datagram that arrives there enters the network as the payload of a probe for that switch. Payloads from the
 * switch to the monitor leave by the same socket. They go to the last sender to this socket, or to the last sender to
 * any socket if there is none. Sockets do not show the DSCP, so the content determines the kind (`probeKind` of
 * `@int/codec`).
 *
 * An open gateway runs the network. Do not run it elsewhere, and change it only within {@link change}. Timers are exact
 * to about a millisecond, so the network may be late by that. A network that needs more than the processor's time falls
 * behind the clock: see `lagNs`.
 */
export class RealTimeGateway {
  /** Datagrams received from outside. `sent`: those sent there. */
  received = 0;
  sent = 0;
  /**
   * Dropped: payloads for the monitor before its address was known, payloads refused by a socket, and datagrams that
   * are too long.
   */
  dropped = 0;
  readonly #built: GatewayNetwork;
  readonly #sockets: readonly Socket[];
  readonly #addresses: readonly SocketAddress[];
  readonly #entryPorts: ReadonlyMap<number, number>;
  readonly #peers: (SocketAddress | undefined)[] = [];
  readonly #former: PayloadHandler | null;
  readonly #speed: number;
  readonly #onError: ((error: unknown) => void) | null;
  readonly #realOrigin = performance.now();
  readonly #virtualOrigin: number;
  #lastPeer: SocketAddress | undefined;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #closing: Promise<void> | undefined;

  private constructor(built: GatewayNetwork, sockets: readonly Socket[], options: GatewayOptions) {
    this.#built = built;
    this.#sockets = sockets;
    this.#addresses = sockets.map((socket) => {
      const { address, port } = socket.address();
      return { host: address, port };
    });
    this.#entryPorts = new Map(built.entries.map((entry, port) => [entry, port]));
    this.#speed = options.speed ?? 1;
    this.#onError = options.onError ?? null;
    this.#virtualOrigin = built.network.nowNs;
    this.#former = built.monitor.onPayload;
    built.monitor.onPayload = (payload, _dscp, port) => this.#leave(payload, port);
    for (const [port, socket] of sockets.entries()) {
      socket.on('message', (payload, from) => this.#enter(port, payload, { host: from.address, port: from.port }));
      // Sockets without a peer report errors of sending to the callback of send. No other error is expected.
      socket.on('error', () => this.dropped++);
    }
    this.#arm();
  }

  /**
   * Opens the sockets and starts the clock. Virtual time continues from its present value.
   *
   * @throws GatewayError if a socket cannot be bound; RangeError for a speed that is not positive
   */
  static async open(built: GatewayNetwork, options: GatewayOptions = {}): Promise<RealTimeGateway> {
    const { host = '127.0.0.1', portOf = () => 0, speed = 1 } = options;
    if (!(speed > 0 && speed < Number.POSITIVE_INFINITY)) throw new RangeError(`speed must be positive, not ${speed}`);
    const opened = await Promise.allSettled(built.entries.map((entry) => bound(entry, host, portOf(entry))));
    const sockets = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const failed = opened.find((each) => each.status === 'rejected');
    if (failed !== undefined) {
      await Promise.all(sockets.map(closed));
      throw failed.reason;
    }
    return new RealTimeGateway(built, sockets, options);
  }

  /** Address of a switch's socket for probes. @throws RangeError for a switch without a socket */
  addressOf(entry: number): SocketAddress {
    const address = this.#addresses[this.#entryPorts.get(entry) ?? -1];
    if (address === undefined) throw new RangeError(`switch ${entry} has no socket`);
    return address;
  }

  /**
   * Changes the network now, for example to fail a link or to send a frame. Due events run before `action`. Exceptions
   * of `action` are thrown, or passed to `onError`.
   */
  change(action: () => void): void {
    if (this.#closing !== undefined) return;
    this.#disarm();
    try {
      this.#catchUp();
      action();
    } catch (error) {
      if (this.#onError === null) throw error;
      this.#onError(error);
      return;
    }
    // An event may have closed the gateway.
    if (this.#closing === undefined) this.#arm();
  }

  /**
   * Lag of the network behind the clock, nanoseconds of virtual time. It is small unless the simulation needs too much
   * time.
   */
  get lagNs(): number {
    return Math.max(0, this.#clockNs() - Math.min(this.#built.network.nextEventNs, this.#clockNs()));
  }

  /** Stops the clock and closes the sockets. The network keeps its state and can run again. */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#disarm();
      this.#built.monitor.onPayload = this.#former;
      this.#closing = Promise.all(this.#sockets.map(closed)).then(() => {});
    }
    return this.#closing;
  }

  #clockNs(): number {
    const elapsed = Math.floor((performance.now() - this.#realOrigin) * 1e6 * this.#speed);
    return this.#virtualOrigin + elapsed;
  }

  #enter(port: number, payload: Uint8Array, from: SocketAddress): void {
    this.received++;
    this.#peers[port] = from;
    this.#lastPeer = from;
    // IPv6 takes a few bytes more than the simulated IPv4.
    if (payload.length > MAX_PAYLOAD) {
      this.dropped++;
      return;
    }
    this.change(() => this.#built.monitor.send(this.#built.entries[port]!, payload));
  }

  #leave(payload: Uint8Array, port: number): void {
    const peer = this.#peers[port] ?? this.#lastPeer;
    const socket = this.#sockets[port];
    if (peer === undefined || socket === undefined) {
      this.dropped++;
      return;
    }
    socket.send(payload, peer.port, peer.host, (error) => {
      if (error === null) this.sent++;
      else this.dropped++;
    });
  }

  /** Runs due events for a limited time. */
  #catchUp(): void {
    const { network } = this.#built;
    const clock = Math.max(this.#clockNs(), network.nowNs);
    const stopAt = performance.now() + SLICE_MS;
    let count = 0;
    const isCut = network.runWhile(() => ++count % SLICE_EVENTS !== 0 || performance.now() < stopAt, clock);
    if (!isCut) network.run(clock);
  }

  #arm(): void {
    const next = this.#built.network.nextEventNs;
    if (next === Number.POSITIVE_INFINITY) return;
    const delayMs = (next - this.#clockNs()) / 1e6 / this.#speed;
    if (delayMs <= 0) this.#immediate = setImmediate(() => this.change(() => {}));
    else this.#timer = setTimeout(() => this.change(() => {}), Math.min(Math.ceil(delayMs), MAX_DELAY_MS));
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }
}

function bound(entry: number, host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    const fail = (cause: Error): void => {
      socket.close();
      reject(
        new GatewayError(entry, `no UDP socket for switch ${entry} at ${host} port ${port}: ${cause.message}`, cause),
      );
    };
    socket.once('error', fail);
    socket.bind(port, host, () => {
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.close(() => resolve()));
}
