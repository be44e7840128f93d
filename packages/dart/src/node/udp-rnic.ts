import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { ROCE_PORT } from '@int/codec/internals';
import type { SoftRnic } from '../rdma/soft-rnic.js';

/** Where to listen. */
export interface UdpRnicOptions {
  /** What takes the packets. Its `onAnswer` is set by the listener. */
  readonly rnic: SoftRnic;
  /** IP address to listen on. The iCRC covers it: of `0.0.0.0` and `::` say by `destination` what packets are sent to. */
  readonly address: string;
  /** UDP port; default 4791. 0 lets the system choose one. */
  readonly port?: number;
  /** Address that packets are sent to; default `address`. */
  readonly destination?: string;
  /** Bytes of the socket's receive buffer; the system may grant less. */
  readonly receiveBuffer?: number;
  /**
   * Answers per second at most, 1 to 10,000,000; what is beyond that gets none, as if it had been lost. Default 20,000: a
   * request may come in somebody else's name, and the answer goes to them.
   */
  readonly answersPerSecond?: number;
}

/** Seconds' worth of answers that may leave at once. */
const BURST_S = 0.1;
/** Answers that the system has not taken yet, at most. */
const MOST_UNDER_WAY = 1024;

/** What the listener itself counts; the rest is in the counters of the `SoftRnic`. */
export interface UdpRnicCounters {
  datagrams: number;
  bytes: number;
  /** Datagrams of the other IP version than `destination`, as a socket of both gets them; they are not looked at. */
  otherVersion: number;
  answers: number;
  /** Answers that were not sent: beyond the rate, or too many under way. */
  answersHeld: number;
  /** Answers that the system did not take. */
  answerErrors: number;
}

/** Whether an address is IPv4, perhaps mapped into IPv6. */
function isIpv4(address: string): boolean {
  return !address.includes(':') || /^::ffff:\d+\./i.test(address);
}

/**
 * A software RNIC behind a UDP socket: no privileges are needed, and any RoCEv2 sender can write to it. Two things are lost
 * between wire and socket: the IPv4 identification and the flags next to it, which the iCRC covers. The RNIC takes 0 and
 * "do not fragment" for them, as `RdmaWriter` does; for other senders its option `icrc` is to be `any-identification`.
 *
 * Answers go to the address and port that a request came from. None is larger than its request, and their rate is bounded:
 * who sends requests in somebody else's name has less sent to them than they send themselves.
 */
export class UdpRnic {
  readonly rnic: SoftRnic;
  readonly #socket: Socket;
  readonly #ends: { source: string; destination: string; sourcePort: number; destinationPort: number };
  readonly #answersPerMs: number;
  readonly #counters: UdpRnicCounters = {
    datagrams: 0,
    bytes: 0,
    otherVersion: 0,
    answers: 0,
    answersHeld: 0,
    answerErrors: 0,
  };
  /** Answers that may leave now, as of a time. */
  #allowance: number;
  #allowanceAt = performance.now();
  #underWay = 0;

  private constructor(rnic: SoftRnic, socket: Socket, destination: string, answersPerSecond: number) {
    this.rnic = rnic;
    this.#answersPerMs = answersPerSecond / 1000;
    this.#allowance = this.#mostAtOnce;
    this.#socket = socket;
    this.#ends = { source: '', destination, sourcePort: 0, destinationPort: socket.address().port };
    rnic.onAnswer = (packet) => this.#answer(packet);
    socket.on('message', (payload, from) => this.#receive(payload, from));
    // After it is bound, a UDP socket only reports what concerns a single datagram.
    socket.on('error', () => {
      this.#counters.answerErrors++;
    });
  }

  /**
   * Starts to listen.
   *
   * @throws RangeError for a wildcard address without `destination`, or a rate out of range; the system's error if it cannot be listened on
   */
  static async listen(options: UdpRnicOptions): Promise<UdpRnic> {
    const {
      rnic,
      address,
      port = ROCE_PORT,
      destination = address,
      receiveBuffer,
      answersPerSecond = 20_000,
    } = options;
    if (destination === '0.0.0.0' || destination === '::') {
      throw new RangeError(`${destination} is no address that packets are sent to: give a destination`);
    }
    if (!(answersPerSecond >= 1 && answersPerSecond <= 1e7)) {
      throw new RangeError(`answersPerSecond must be 1 to 10,000,000, not ${answersPerSecond}`);
    }
    const size = receiveBuffer === undefined ? {} : { recvBufferSize: receiveBuffer };
    const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', ...size });
    socket.bind(port, address);
    try {
      await once(socket, 'listening');
    } catch (error) {
      socket.close();
      throw error;
    }
    return new UdpRnic(rnic, socket, destination, answersPerSecond);
  }

  /** The port that is listened on. */
  get port(): number {
    return this.#ends.destinationPort;
  }

  /** A copy of what has been counted. */
  get counters(): UdpRnicCounters {
    return { ...this.#counters };
  }

  /** Stops to listen. */
  async close(): Promise<void> {
    this.rnic.onAnswer = null;
    const closed = once(this.#socket, 'close');
    this.#socket.close();
    await closed;
  }

  #receive(payload: Uint8Array, from: RemoteInfo): void {
    this.#counters.datagrams++;
    this.#counters.bytes += payload.length;
    if (isIpv4(from.address) !== isIpv4(this.#ends.destination)) {
      this.#counters.otherVersion++;
      return;
    }
    this.#ends.source = from.address;
    this.#ends.sourcePort = from.port;
    this.rnic.receiveDatagram(payload, this.#ends);
  }

  /** Only called within #receive, whose sender it answers. */
  #answer(packet: Uint8Array): void {
    if (!this.#mayAnswer()) {
      this.#counters.answersHeld++;
      return;
    }
    const { source, sourcePort } = this.#ends;
    this.#counters.answers++;
    this.#underWay++;
    // The socket sends later, and the bytes are valid only now.
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
