import { createSocket, type Socket } from 'node:dgram';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReportStream } from '@int/traffic';

const UDP_SOCKETS = '/proc/net/udp';

/** Bytes that the kernel holds for the socket of a port; 0 where it does not tell. */
function held(port: number): number {
  if (!existsSync(UDP_SOCKETS)) return 0;
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of readFileSync(UDP_SOCKETS, 'utf8').split('\n')) {
    const [, address, , , queues] = line.trim().split(/ +/);
    if (address?.endsWith(local)) return Number.parseInt(queues!.split(':')[1]!, 16);
  }
  return 0;
}

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
        return new Promise<void>((resolve, reject) => {
          this.#socket.send(datagram, this.#port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error)));
        });
      });
      await Promise.all(sending);
      do await sleep(1);
      while (held(this.#port) > 0);
      left -= count;
      this.sent += count;
    }
  }

  close(): void {
    this.#socket.close();
  }
}
