/** A monitor's probes over UDP. */
import { createSocket, type Socket } from 'node:dgram';
import { GPINT_PORT } from '@int/codec/internals';
import { GpintError } from '../errors.js';
import type { MonitorClock, ProbeTransport } from '../monitor/types.js';

/** Where a switch gets its probes. */
export interface SwitchAddress {
  /** IPv4 or IPv6 address (no name: nothing is looked up per probe). */
  readonly host: string;
  /** Default: 5017, or 5018 for probes in the extended layout. */
  readonly port?: number;
}

/** Takes the UDP payload of a packet for the monitor. It is not used again. */
export type PayloadHandler = (payload: Uint8Array) => void;

export interface UdpTransportOptions {
  /** Address of a switch by node number; `undefined` if probes cannot be sent to it. */
  readonly addressOf: (node: number) => SwitchAddress | undefined;
  /** See {@link UdpProbeTransport.onPayload}, which may be set later. */
  readonly onPayload?: PayloadHandler;
  /** Address to bind; default all of the family. */
  readonly host?: string;
  /** Port to bind, to which the switches answer; default: one that is free. */
  readonly port?: number;
  readonly family?: 'udp4' | 'udp6';
  /**
   * Whether an answer may come from an address. Default: from anywhere, as switches may send them from any. Where they send
   * from is known as a rule, and then others cannot answer in their name.
   */
  readonly accepts?: (source: { readonly host: string; readonly port: number }) => boolean;
}

/** What did not leave, and why, and what did. */
export interface UdpTransportCounters {
  readonly sent: number;
  /** Packets that were handed over. */
  readonly received: number;
  /** Packets from addresses that are not accepted; they are not looked at. */
  readonly strangers: number;
  /** Probes to switches without an address. */
  readonly noAddress: number;
  /** Probes that the system did not take (a full buffer, no route, a closed socket), and errors that it reported later. */
  readonly errors: number;
}

/**
 * Sends a monitor's probes through a UDP socket, and hands over what comes back to the same port.
 *
 * Node can neither set nor see the DSCP of a UDP packet. Switches that go by it need the host to set it, for instance with
 * nftables, by the ports of the probes:
 *
 *     nft add table ip gpint
 *     nft 'add chain ip gpint mark { type route hook output priority mangle; }'
 *     nft add rule ip gpint mark udp dport '{ 5017, 5018 }' ip dscp set 0x17
 *
 * What comes back is told apart by its content: `Monitor.receive(payload, null)`.
 *
 * Losing packets is left to the recovery of the monitor: nothing is thrown while it runs, everything is counted.
 */
export class UdpProbeTransport implements ProbeTransport {
  /** Where answers are expected. */
  readonly address: { readonly host: string; readonly port: number };
  /** Given every packet that comes: hand it to `Monitor.receive(payload, null)`. `null`: packets are only counted. */
  onPayload: PayloadHandler | null;
  readonly #socket: Socket;
  readonly #addressOf: UdpTransportOptions['addressOf'];
  readonly #tally = { sent: 0, received: 0, strangers: 0, noAddress: 0, errors: 0 };
  #open = true;
  /** Probes of which the system has not said yet what became of them; `null` once the socket is closed. */
  #pending: number | null = 0;

  private constructor(socket: Socket, options: UdpTransportOptions) {
    this.#socket = socket;
    this.#addressOf = options.addressOf;
    this.onPayload = options.onPayload ?? null;
    const { address, port } = socket.address();
    this.address = { host: address, port };
    socket.on('error', () => {
      this.#tally.errors++;
    });
    socket.on('message', (message, { address: host, port }) => {
      if (options.accepts?.({ host, port }) === false) {
        this.#tally.strangers++;
        return;
      }
      this.#tally.received++;
      this.onPayload?.(message);
    });
  }

  /**
   * Opens the socket.
   *
   * @throws `GpintError` `ERR_GPINT_SOCKET` (the promise is rejected) if it cannot be bound
   */
  static open(options: UdpTransportOptions): Promise<UdpProbeTransport> {
    const socket = createSocket(options.family ?? 'udp4');
    return new Promise((resolve, reject) => {
      const fail = (cause: Error): void => {
        const where = `${options.host ?? 'any address'}, port ${options.port ?? 0}`;
        reject(new GpintError('ERR_GPINT_SOCKET', `cannot bind ${where}: ${cause.message}`, { cause }));
      };
      socket.once('error', fail);
      socket.bind({ port: options.port ?? 0, ...(options.host === undefined ? {} : { address: options.host }) }, () => {
        socket.off('error', fail);
        resolve(new UdpProbeTransport(socket, options));
      });
    });
  }

  get counters(): UdpTransportCounters {
    return { ...this.#tally };
  }

  send(entrySwitch: number, payload: Uint8Array, extended: boolean): void {
    const address = this.#addressOf(entrySwitch);
    if (address === undefined || !this.#open) {
      if (this.#open) this.#tally.noAddress++;
      else this.#tally.errors++;
      return;
    }
    const port = address.port ?? (extended ? GPINT_PORT.EXTENDED : GPINT_PORT.PLAIN);
    try {
      this.#socket.send(payload, port, address.host, (error) => {
        if (this.#pending === null) return;
        this.#pending--;
        if (error === null) this.#tally.sent++;
        else this.#tally.errors++;
      });
      if (this.#pending !== null) this.#pending++;
    } catch {
      // An address or port that is none.
      this.#tally.errors++;
    }
  }

  /** Closes the socket; nothing is handed over after that. Probes that have not left by then count as errors. */
  close(): Promise<void> {
    if (!this.#open) return Promise.resolve();
    this.#open = false;
    return new Promise((resolve) => {
      this.#socket.close(() => {
        // A socket that is closed while an address is looked up, which also a number is, says nothing of that packet.
        this.#tally.errors += this.#pending ?? 0;
        this.#pending = null;
        resolve();
      });
    });
  }
}

/** Longest time that a timer of Node takes, ms. */
const LONGEST_MS = 0x7fff_ffff;

/**
 * The time of this process, from 0 on, in ns. Its timers keep the process alive; they come when they are due or up to a
 * few milliseconds late, as the system has it.
 */
export function realClock(): MonitorClock {
  const origin = performance.now();
  const nowNs = (): number => Math.round((performance.now() - origin) * 1e6);
  return {
    nowNs,
    at(timeNs, callback) {
      let timer: NodeJS.Timeout;
      const wait = (): void => {
        const leftMs = (timeNs - nowNs()) / 1e6;
        timer = setTimeout(leftMs > LONGEST_MS ? wait : ring, Math.min(Math.max(0, Math.ceil(leftMs)), LONGEST_MS));
      };
      const ring = (): void => {
        // A timer may be a fraction of a millisecond early.
        if (nowNs() < timeNs) wait();
        else callback();
      };
      wait();
      return () => clearTimeout(timer);
    },
  };
}
