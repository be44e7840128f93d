/** From the switches' collector port to a real one. */
import { createSocket, type Socket } from 'node:dgram';
import { setImmediate as breathe } from 'node:timers/promises';
import { UDP_HEADERS_BYTES } from '@int/netsim';

/** Datagrams the system has not taken yet: more wait for it. */
const MOST_UNDER_WAY = 256;

/** Sends what the sinks report: the UDP payload of their frames, each a datagram. */
export class ReportSender {
  /** Datagrams given to the system, and how many of them it refused. */
  sent = 0;
  refused = 0;
  /** Why the last of those was refused. */
  lastError: Error | null = null;
  #underWay = 0;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(host: string, port: number): Promise<ReportSender> {
    const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', sendBufferSize: 4 << 20 });
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.connect(port, host, () => {
        socket.off('error', reject);
        resolve();
      });
    });
    const sender = new ReportSender(socket);
    // Nobody listens: a collector may be started later.
    socket.on('error', (error) => {
      sender.lastError = error;
    });
    return sender;
  }

  /** A frame as it left the sink: Ethernet, IPv4 without options, UDP. */
  send(frame: Uint8Array): void {
    this.sent++;
    this.#underWay++;
    this.#socket.send(frame, UDP_HEADERS_BYTES, frame.length - UDP_HEADERS_BYTES, this.#onSent);
  }

  /** Waits until the system keeps up, or, with 0, has taken everything. */
  async settle(most = MOST_UNDER_WAY): Promise<void> {
    while (this.#underWay > most) await breathe();
  }

  async close(): Promise<void> {
    await this.settle(0);
    this.#socket.close();
  }

  readonly #onSent = (error: Error | null): void => {
    this.#underWay--;
    if (error === null) return;
    this.refused++;
    this.lastError = error;
  };
}
