import type { RemoteInfo, Socket } from 'node:dgram';
import { CodecError, decodeRoce, type RocePacket } from '@int/codec';
import type { DartCollector } from '../cluster/table.js';
import { DatagramRebuilder } from '../rdma/datagram.js';
import type { FrameRows } from '../rdma/frame-rows.js';
import { boundSocket, closeSocket } from './bound-socket.js';

/** Options for a sender. */
export interface UdpRdmaSenderOptions {
  /** IP address of this machine to send from. It must not be a wildcard, because the iCRC covers it. */
  readonly address: string;
  /** UDP port to send from; default 0: the system chooses. */
  readonly port?: number;
  /** Receives the answers of RC queue pairs. Other and damaged datagrams are only counted. */
  readonly onAnswer?: (answer: RdmaAnswer) => void;
}

/** An answer: an acknowledgement, or, with `original`, the value that an atomic operation found. */
export type RdmaAnswer = Pick<RocePacket, 'psn' | 'aeth' | 'original' | 'destinationQp' | 'opcode'> & {
  /** The sender's address. */
  readonly address: string;
};

/** Most datagrams that wait in the system; then the sender waits. */
const WINDOW = 64;

/**
 * Sends packets of an `RdmaWriter` of format `udp` through a UDP socket. Give the writer this sender's `address` and
 * `port` as its source: the iCRC covers them.
 *
 * @example
 * const sender = await UdpRdmaSender.open({ address: '127.0.0.1' });
 * const writer = new RdmaWriter({ ...options, format: 'udp', source: sender.address, sourcePort: sender.port });
 * await sender.send(writer.write(key, value), writer.table.collectors[0]);
 */
export class UdpRdmaSender {
  readonly address: string;
  readonly port: number;
  /** Datagrams that arrived and were not answers. */
  strangers = 0;
  readonly #socket: Socket;
  readonly #rebuilder = new DatagramRebuilder();
  readonly #onAnswer: ((answer: RdmaAnswer) => void) | undefined;

  private constructor(socket: Socket, options: UdpRdmaSenderOptions) {
    const { address, port } = socket.address();
    this.address = address;
    this.port = port;
    this.#socket = socket;
    this.#onAnswer = options.onAnswer;
    socket.on('message', (payload, from) => this.#receive(payload, from));
    // `send` rejects with the error of its datagram.
    socket.on('error', () => {});
  }

  /** @throws RangeError for a wildcard address; the system's error if the socket cannot be bound */
  static async open(options: UdpRdmaSenderOptions): Promise<UdpRdmaSender> {
    const { address, port = 0 } = options;
    if (address === '0.0.0.0' || address === '::')
      throw new RangeError(`${address}: an address of this machine is needed`);
    return new UdpRdmaSender(await boundSocket(address, port), options);
  }

  /** Sends packets to one collector, in order; resolves when the system has taken all of them. */
  async send(packets: readonly Uint8Array[], collector: Pick<DartCollector, 'address' | 'port'>): Promise<void> {
    for (let from = 0; from < packets.length; from += WINDOW) {
      await Promise.all(packets.slice(from, from + WINDOW).map((packet) => this.#sendOne(packet, collector)));
    }
  }

  /** Sends rows of an arena to their collectors. The arena may be cleared when this has resolved. */
  async sendRows(
    frames: FrameRows,
    collectors: readonly Pick<DartCollector, 'address' | 'port'>[],
    from = 0,
    to: number = frames.count,
  ): Promise<void> {
    for (let start = from; start < to; start += WINDOW) {
      const sent: Promise<void>[] = [];
      for (let row = start; row < Math.min(start + WINDOW, to); row++) {
        const collector = collectors[frames.collectors[row]!];
        if (collector === undefined) throw new RangeError(`packet ${row} is for collector ${frames.collectors[row]}`);
        sent.push(this.#sendOne(frames.packet(row), collector));
      }
      await Promise.all(sent);
    }
  }

  close(): Promise<void> {
    return closeSocket(this.#socket);
  }

  #sendOne(packet: Uint8Array, { address, port }: Pick<DartCollector, 'address' | 'port'>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(packet, port, address, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  #receive(payload: Uint8Array, from: RemoteInfo): void {
    const answer = this.#read(payload, from);
    if (answer === null) this.strangers++;
    else this.#onAnswer?.(answer);
  }

  #read(payload: Uint8Array, from: RemoteInfo): RdmaAnswer | null {
    const rebuilder = this.#rebuilder;
    const ends = { source: from.address, destination: this.address, sourcePort: from.port, destinationPort: this.port };
    const length = rebuilder.rebuild(payload, ends);
    if (length < 0) return null;
    try {
      const packet = decodeRoce(rebuilder.bytes, 0, { linkType: 'ip', length, port: this.port });
      const { psn, aeth, original, destinationQp, opcode } = packet;
      return aeth === null ? null : { psn, aeth, original, destinationQp, opcode, address: from.address };
    } catch (error) {
      if (CodecError.is(error)) return null;
      throw error;
    }
  }
}
