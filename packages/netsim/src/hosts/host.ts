/** End hosts. */
import type { Behaviour } from '../behaviour.js';
import {
  destinationWord,
  isIpv4,
  payloadAt,
  sourceWord,
  type UdpFrameOptions,
  udpFrame,
  udpOffset,
  uint16,
} from '../frames.js';
import type { Node } from '../network-node.js';

/** A UDP datagram received by a host. */
export interface Datagram {
  /** 32-bit words, unsigned. */
  readonly source: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** A view of the frame. Do not write to it. */
  readonly payload: Uint8Array;
  readonly timeNs: number;
}

export interface HostOptions {
  /** IPv4 address as a 32-bit word. */
  readonly address: number;
  /** The node's port for sending. Default: 0. */
  readonly port?: number;
  /** Called for each datagram to the host. Default: datagrams are only counted. */
  readonly onDatagram?: (datagram: Datagram) => void;
}

/** Sends and counts UDP datagrams. */
export class Host implements Behaviour {
  /** Unsigned 32-bit word. */
  readonly address: number;
  /** Datagrams sent. `sentBytes`: their bytes with all headers. */
  sent = 0;
  sentBytes = 0;
  /** Datagrams received. `receivedBytes`: their bytes with all headers. */
  received = 0;
  receivedBytes = 0;
  /** Frames that are not for the host, or not IPv4. */
  ignored = 0;
  readonly #word: number;
  readonly #port: number;
  readonly #onDatagram: ((datagram: Datagram) => void) | null;
  #node: Node | null = null;

  constructor(options: HostOptions) {
    this.address = options.address >>> 0;
    this.#word = options.address | 0;
    this.#port = options.port ?? 0;
    this.#onDatagram = options.onDatagram ?? null;
  }

  start(node: Node): void {
    this.#node = node;
  }

  receive(frame: Uint8Array, _port: number, node: Node): void {
    if (!isIpv4(frame) || destinationWord(frame) !== this.#word) {
      this.ignored++;
      return;
    }
    this.received++;
    this.receivedBytes += frame.length;
    if (this.#onDatagram !== null) this.#report(frame, node.nowNs, this.#onDatagram);
  }

  /**
   * Sends a datagram from this host's address.
   *
   * @throws RangeError as {@link udpFrame}; TypeError before the host is added to a network
   */
  send(options: Omit<UdpFrameOptions, 'source'>, payload: Uint8Array): void {
    this.sendFrame(udpFrame({ ...options, source: this.address }, payload));
  }

  /** Sends a frame unchanged. @throws TypeError before the host is added to a network */
  sendFrame(frame: Uint8Array): void {
    if (this.#node === null) throw new TypeError('the host belongs to no network');
    this.sent++;
    this.sentBytes += frame.length;
    this.#node.send(this.#port, frame);
  }

  #report(frame: Uint8Array, timeNs: number, onDatagram: (datagram: Datagram) => void): void {
    const at = udpOffset(frame);
    if (at < 0) return;
    onDatagram({
      source: sourceWord(frame) >>> 0,
      sourcePort: uint16(frame, at),
      destinationPort: uint16(frame, at + 2),
      payload: payloadAt(frame, at),
      timeNs,
    });
  }
}
