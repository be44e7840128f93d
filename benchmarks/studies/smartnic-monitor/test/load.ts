import { createSocket, type Socket } from 'node:dgram';
import { ReportStream } from '@int/traffic';
import { drained, sendOne } from '../../../../.ci/test/datagrams.js';

/**
 * Telemetry reports to a monitor, a few at a time: the next ones when those have been read, so that the kernel loses none
 * however slow the monitor is.
 */
export class Load {
  readonly #socket: Socket = createSocket('udp4');
  readonly #stream: ReportStream;
  readonly #port: number;
  sent = 0;

  constructor(port: number, flows: number, seed: number) {
    this.#port = port;
    this.#stream = new ReportStream({ topology: 'leaf-spine:4x2', flows, seed });
  }

  async send(reports: number): Promise<void> {
    const bytes = new Uint8Array(1 << 16);
    const offsets = new Uint32Array(64);
    const lengths = new Uint32Array(64);
    for (let left = reports; left > 0; ) {
      const count = Math.min(left, this.#stream.fill(bytes, offsets.subarray(0, Math.min(64, left)), lengths));
      const sending = Array.from({ length: count }, (_, index) => {
        const datagram = bytes.slice(offsets[index]!, offsets[index]! + lengths[index]!);
        return sendOne(this.#socket, datagram, this.#port);
      });
      await Promise.all(sending);
      await drained(this.#port);
      left -= count;
      this.sent += count;
    }
  }

  close(): void {
    this.#socket.close();
  }
}
