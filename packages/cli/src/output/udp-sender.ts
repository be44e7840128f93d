import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReportStream } from '@int/traffic';

const BATCH_REPORTS = 128;
const BATCH_BYTES = 1 << 16;
/** Time between bursts, near the resolution of timers. */
const TICK_MS = 1;
/** Beyond this lag a sender drops the lost time instead of sending a large burst. */
const MAX_LAG_MS = 100;

/** A UDP socket with a fixed peer. */
export class UdpSender {
  /** Datagrams that the system accepted. */
  sent = 0;
  bytes = 0;
  /** Datagrams that the system refused, by error code. */
  readonly failures = new Map<string, number>();
  /** The error that ended sending, or null. */
  error: NodeJS.ErrnoException | null = null;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', (error) => {
      this.error ??= error;
    });
  }

  /**
   * Resolves the host and connects the socket, which is bound to `local` before, if that is given. Rejects with Node's error for an
   * unknown or unreachable host, or an address in use.
   */
  static async open(
    host: string,
    port: number,
    local?: { readonly host: string; readonly port: number },
  ): Promise<UdpSender> {
    const family = isIP(host) === 0 ? (await lookup(host)).family : isIP(host);
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      const connect = (): void => {
        socket.connect(port, host, () => {
          socket.off('error', reject);
          resolve();
        });
      };
      if (local === undefined) connect();
      else socket.bind(local.port, local.host, connect);
    }).catch((error: unknown) => {
      socket.close();
      throw error;
    });
    return new UdpSender(socket);
  }

  /** Sends datagrams of one buffer. The buffer is in use until the promise resolves. */
  send(bytes: Uint8Array, offsets: Uint32Array, lengths: Uint32Array, count: number): Promise<void> {
    if (count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      let open = count;
      const done = (error: NodeJS.ErrnoException | null, bytes: number): void => {
        if (error === null) {
          this.sent++;
          this.bytes += bytes;
        } else this.#fail(error);
        open--;
        if (open === 0) resolve();
      };
      for (let index = 0; index < count; index++) this.#socket.send(bytes, offsets[index]!, lengths[index]!, done);
    });
  }

  #fail(error: NodeJS.ErrnoException): void {
    this.error ??= error;
    const code = error.code ?? 'UNKNOWN';
    this.failures.set(code, (this.failures.get(code) ?? 0) + 1);
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }
}

/**
 * Sends telemetry reports at the pace of their virtual time.
 *
 * @param limit most reports to send
 * @param isStopped called before each burst
 * @param onBurst called after each burst
 * @returns a promise that resolves when all reports are sent, when stopped, or when the peer is unreachable (see
 *   `sender.error`)
 */
export async function sendPaced(
  stream: ReportStream,
  sender: UdpSender,
  limit: number,
  isStopped: () => boolean,
  onBurst: () => void = () => {},
): Promise<void> {
  const bytes = new Uint8Array(BATCH_BYTES);
  const offsets = new Uint32Array(BATCH_REPORTS);
  const lengths = new Uint32Array(BATCH_REPORTS);
  const timesNs = new Float64Array(BATCH_REPORTS);
  let left = limit;
  let started = performance.now();
  while (left > 0 && !isStopped() && sender.error === null) {
    const untilMs = performance.now() - started;
    const most = Math.min(left, BATCH_REPORTS);
    const count = stream.fill(bytes, offsets.subarray(0, most), lengths, timesNs, untilMs * 1e6);
    if (count === 0) {
      await sleep(TICK_MS);
      continue;
    }
    await sender.send(bytes, offsets, lengths, count);
    left -= count;
    onBurst();
    const lagMs = untilMs - timesNs[count - 1]! / 1e6;
    if (lagMs > MAX_LAG_MS) started += lagMs - MAX_LAG_MS;
  }
}
