import type { RemoteInfo, Socket } from 'node:dgram';
import { ROCE_PORT } from '@int/codec/internals';
import type { SoftRnic } from '../rdma/soft-rnic.js';
import { boundSocket, closeSocket } from './bound-socket.js';

/** Options for a listener. */
export interface UdpRnicOptions {
  /** The RNIC that receives the packets. The listener sets its `onAnswer`. */
  readonly rnic: SoftRnic;
  /** IP address to listen on. For `0.0.0.0` and `::` give `destination`: the iCRC covers the destination address. */
  readonly address: string;
  /** UDP port; default 4791. 0 lets the system choose one. */
  readonly port?: number;
  /** Destination address of the packets; default `address`. */
  readonly destination?: string;
  /** Bytes of the socket's receive buffer; the system may grant less. */
  readonly receiveBuffer?: number;
  /**
   * Most answers per second, 1 to 10,000,000; default 20,000. Further requests get no answer, as if it had been lost.
   * The limit matters because a request may have a forged source address, to which the answer goes.
   */
  readonly answersPerSecond?: number;
  /** Whether a sender may write, by its IP address as the socket shows it. Default: anybody may. */
  readonly accepts?: (address: string) => boolean;
}

/** Burst: answers of this many seconds may leave at once. */
const BURST_S = 0.1;
/** Most answers that wait in the system. */
const MOST_UNDER_WAY = 1024;

/** Counters of the listener itself; `SoftRnic` has the others. */
export interface UdpRnicCounters {
  datagrams: number;
  bytes: number;
  /** Datagrams of the other IP version than `destination`, which a dual-stack socket receives; they are ignored. */
  otherVersion: number;
  /** Datagrams of senders that may not write; they are ignored. */
  refused: number;
  answers: number;
  /** Answers not sent: beyond the rate, or too many waiting. */
  answersHeld: number;
  /** Answers that the system refused to send. */
  answerErrors: number;
}

/** Whether an address is IPv4, also if mapped into IPv6. */
function isIpv4(address: string): boolean {
  return !address.includes(':') || /^::ffff:\d+\./i.test(address);
}

/**
 * A software RNIC behind a UDP socket. It needs no privileges, and any RoCEv2 sender can write to it. A socket hides
 * the IPv4 identification and flags, which the iCRC covers. The RNIC assumes 0 and "do not fragment", as `RdmaWriter`
 * sends. For other senders set its option `icrc` to `any-identification`.
 *
 * Answers go to the source address and port of the request. No answer is larger than its request, and their rate is
 * bounded, so requests with a forged source address amplify nothing.
 */
export class UdpRnic {
  readonly rnic: SoftRnic;
  readonly #socket: Socket;
  readonly #ends: { source: string; destination: string; sourcePort: number; destinationPort: number };
  readonly #answersPerMs: number;
  readonly #accepts: (address: string) => boolean;
  readonly #counters: UdpRnicCounters = {
    datagrams: 0,
    bytes: 0,
    otherVersion: 0,
    refused: 0,
    answers: 0,
    answersHeld: 0,
    answerErrors: 0,
  };
  /** Answers that may leave, as of the time of the last update. */
  #allowance: number;
  #allowanceAt = performance.now();
  #underWay = 0;

  private constructor(
    rnic: SoftRnic,
    socket: Socket,
    destination: string,
    answersPerSecond: number,
    accepts: (address: string) => boolean,
  ) {
    this.rnic = rnic;
    this.#accepts = accepts;
    this.#answersPerMs = answersPerSecond / 1000;
    this.#allowance = this.#mostAtOnce;
    this.#socket = socket;
    this.#ends = { source: '', destination, sourcePort: 0, destinationPort: socket.address().port };
    rnic.onAnswer = (packet) => this.#answer(packet);
    socket.on('message', (payload, from) => this.#receive(payload, from));
    // Once bound, a UDP socket reports only errors of single datagrams.
    socket.on('error', () => {
      this.#counters.answerErrors++;
    });
  }

  /**
   * Starts to listen.
   *
   * @throws RangeError for a wildcard address without `destination`, or a rate out of range; the system's error if it
   *   cannot listen
   */
  static async listen(options: UdpRnicOptions): Promise<UdpRnic> {
    const {
      rnic,
      address,
      port = ROCE_PORT,
      destination = address,
      receiveBuffer,
      answersPerSecond = 20_000,
      accepts = () => true,
    } = options;
    if (destination === '0.0.0.0' || destination === '::') {
      throw new RangeError(`${destination} is no address that packets are sent to: give a destination`);
    }
    if (!(answersPerSecond >= 1 && answersPerSecond <= 1e7)) {
      throw new RangeError(`answersPerSecond must be 1 to 10,000,000, not ${answersPerSecond}`);
    }
    const size = receiveBuffer === undefined ? {} : { recvBufferSize: receiveBuffer };
    return new UdpRnic(rnic, await boundSocket(address, port, size), destination, answersPerSecond, accepts);
  }

  /** The port it listens on. */
  get port(): number {
    return this.#ends.destinationPort;
  }

  /** A copy of the counters. */
  get counters(): UdpRnicCounters {
    return { ...this.#counters };
  }

  /** Stops listening. */
  async close(): Promise<void> {
    this.rnic.onAnswer = null;
    await closeSocket(this.#socket);
  }

  #receive(payload: Uint8Array, from: RemoteInfo): void {
    this.#counters.datagrams++;
    this.#counters.bytes += payload.length;
    if (!this.#accepts(from.address)) {
      this.#counters.refused++;
      return;
    }
    if (isIpv4(from.address) !== isIpv4(this.#ends.destination)) {
      this.#counters.otherVersion++;
      return;
    }
    this.#ends.source = from.address;
    this.#ends.sourcePort = from.port;
    this.rnic.receiveDatagram(payload, this.#ends);
  }

  /** Called only within #receive; answers its sender. */
  #answer(packet: Uint8Array): void {
    if (!this.#mayAnswer()) {
      this.#counters.answersHeld++;
      return;
    }
    const { source, sourcePort } = this.#ends;
    this.#counters.answers++;
    this.#underWay++;
    // Copied: the socket sends later, and the bytes are valid only during this call.
    this.#socket.send(packet.slice(), sourcePort, source, (error) => {
      this.#underWay--;
      if (error !== null) this.#counters.answerErrors++;
    });
  }

  get #mostAtOnce(): number {
    return Math.max(1, this.#answersPerMs * 1000 * BURST_S);
  }

  #mayAnswer(): boolean {
    const now = performance.now();
    const earned = (now - this.#allowanceAt) * this.#answersPerMs;
    this.#allowance = Math.min(this.#mostAtOnce, this.#allowance + earned);
    this.#allowanceAt = now;
    if (this.#allowance < 1 || this.#underWay >= MOST_UNDER_WAY) return false;
    this.#allowance -= 1;
    return true;
  }
}
