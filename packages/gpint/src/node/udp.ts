/** Transport of a monitor's probes over UDP. */
import { createSocket, type Socket } from 'node:dgram';
import { GPINT_PORT } from '@int/codec/internals';
import { GpintError } from '../errors.js';
import type { MonitorClock, ProbeTransport } from '../monitor/types.js';

/** Address of a switch for probes. */
export interface SwitchAddress {
  /** IPv4 or IPv6 address, not a name, because nothing is looked up per probe. */
  readonly host: string;
  /** UDP port. Default: 5017, or 5018 for probes in the extended layout. */
  readonly port?: number;
}

/** Handles the UDP payload of a packet for the monitor. The transport does not reuse the payload. */
export type PayloadHandler = (payload: Uint8Array) => void;

export interface UdpTransportOptions {
  /** Address of a switch by node number; `undefined` if probes cannot be sent to it. */
  readonly addressOf: (node: number) => SwitchAddress | undefined;
  /** See {@link UdpProbeTransport.onPayload}, which may be set later. */
  readonly onPayload?: PayloadHandler;
  /** Address to bind; default: all addresses of the family. */
  readonly host?: string;
  /** Port to bind, to which the switches answer; default: any free port. */
  readonly port?: number;
  readonly family?: 'udp4' | 'udp6';
  /**
   * Whether to accept answers from an address. Default: from any, as switches may send from any. If the switches'
   * addresses are known, use this to refuse forged answers.
   */
  readonly accepts?: (source: { readonly host: string; readonly port: number }) => boolean;
}

/** Counters of a transport. */
export interface UdpTransportCounters {
  readonly sent: number;
  /** Packets passed to `onPayload`. */
  readonly received: number;
  /** Packets from addresses that are not accepted; they are discarded unread. */
  readonly strangers: number;
  /** Probes to switches without an address. */
  readonly noAddress: number;
  /** Probes that the system refused (a full buffer, no route, a closed socket), and errors that it reported later. */
  readonly errors: number;
}

/**
 * Sends a monitor's probes through a UDP socket, and passes on the answers to its port.
 *
 * Node can neither set nor read the DSCP of a UDP packet. For switches that need it, let the host set it by the probes'
 * ports, for example with nftables:
 *
 *     nft add table ip gpint
 *     nft 'add chain ip gpint mark { type route hook output priority mangle; }'
 *     nft add rule ip gpint mark udp dport '{ 5017, 5018 }' ip dscp set 0x17
 *
 * The content determines the kind of an answer: `Monitor.receive(payload, null)`.
 *
 * The monitor's recovery handles lost packets: the transport counts errors and does not throw while it runs.
 */
export class UdpProbeTransport implements ProbeTransport {
  /** Local address and port, to which answers come. */
  readonly address: { readonly host: string; readonly port: number };
  /** Called with every packet; pass it to `Monitor.receive(payload, null)`. `null`: packets are only counted. */
  onPayload: PayloadHandler | null;
  readonly #socket: Socket;
  readonly #addressOf: UdpTransportOptions['addressOf'];
  readonly #tally = { sent: 0, received: 0, strangers: 0, noAddress: 0, errors: 0 };
  #open = true;
  /** Probes whose result the system has not reported yet; `null` after the socket is closed. */
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
      // The address or port is invalid.
      this.#tally.errors++;
    }
  }

  /** Closes the socket and passes on no further packets. Probes that have not left count as errors. */
  close(): Promise<void> {
    if (!this.#open) return Promise.resolve();
    this.#open = false;
    return new Promise((resolve) => {
      this.#socket.close(() => {
        // Node looks up even numeric addresses, and reports nothing for a packet if the socket is closed meanwhile.
        this.#tally.errors += this.#pending ?? 0;
        this.#pending = null;
        resolve();
      });
    });
  }
}

/** Longest delay of Node's timers, ms. */
const LONGEST_MS = 0x7fff_ffff;

/** The clock of this process, from 0, in ns. Its timers keep the process alive. They may be a few milliseconds late. */
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
