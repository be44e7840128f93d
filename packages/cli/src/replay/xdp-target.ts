import { readFileSync } from 'node:fs';
import type { XdpBatch, XdpSocket, XdpSocketOptions } from '@int/afxdp';
import { CliError, EXIT } from '../io.js';
import type { FrameChunk } from './frame-chunk.js';
import type { SentCounts, Target } from './target.js';

/** An interface and one of its queues. */
export interface InterfaceQueue {
  readonly interface: string;
  readonly queue: number;
}

/** Frames that may be on their way through the kernel. */
const TX_FRAMES = 2048;
/** Nothing is received; a fill ring there has to be all the same. */
const RX_FRAMES = 64;
const CHUNK = 4096;
/** Ethernet header and a VLAN tag: what a frame has beyond the MTU. */
const BEYOND_MTU = 18;
const FLUSH_MS = 2000;
/** How long the interface may take none of the frames before it is looked at. */
const STUCK_MS = 1000;

/** An AF_XDP socket: a frame is one on the wire. What has left is what the kernel has completed. */
export class XdpTarget implements Target {
  readonly name: string;
  readonly most = 256;
  readonly #socket: XdpSocket;
  readonly #batch: XdpBatch;
  readonly #signal: AbortSignal;
  /** When the kernel last took a frame. */
  #movedAt = performance.now();
  /** Frames that it took and did not complete. */
  #left = 0;

  private constructor(name: string, socket: XdpSocket, batch: XdpBatch, signal: AbortSignal) {
    this.name = name;
    this.#socket = socket;
    this.#batch = batch;
    this.#signal = signal;
  }

  /**
   * @param signal when aborted, frames that the interface does not take are not waited for
   * @throws CliError if the interface cannot be sent by
   */
  static async open({ interface: name, queue }: InterfaceQueue, signal: AbortSignal): Promise<XdpTarget> {
    const options: XdpSocketOptions = {
      interface: name,
      queue,
      frames: RX_FRAMES,
      txFrames: TX_FRAMES,
      frameSize: CHUNK,
      ports: [],
    };
    const afxdp = await import('@int/afxdp').catch((error: unknown) => {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (!/MODULE_NOT_FOUND/.test(code)) throw error;
      throw new CliError('--afxdp needs the package @int/afxdp: npm install @int/afxdp', EXIT.OPEN, error);
    });
    try {
      const socket = await afxdp.XdpSocket.open(options);
      const where = queue === 0 ? name : `${name}, queue ${queue}`;
      return new XdpTarget(where, socket, new afxdp.XdpBatch(256), signal);
    } catch (error) {
      if (afxdp.XdpError.is(error)) throw xdpFailure(name, error);
      throw error;
    }
  }

  /** Bytes of the longest frame that can be sent. */
  static longestFrame(name: string): number {
    const mtu = mtuOf(name);
    return Math.min(CHUNK, mtu === null ? Number.POSITIVE_INFINITY : mtu + BEYOND_MTU);
  }

  async send(chunk: FrameChunk, from: number, to: number): Promise<void> {
    const socket = this.#socket;
    const batch = this.#batch;
    try {
      for (let next = from; next < to; ) {
        const taken = socket.acquire(batch, to - next);
        this.#fill(chunk, next, taken);
        if (taken === 0 && !(await this.#pause())) return;
        while (batch.count > 0) {
          if (socket.transmit(batch) > 0) this.#movedAt = performance.now();
          else if (!(await this.#pause())) return;
        }
        next += taken;
      }
    } catch (error) {
      throw xdpFailure(this.name, error);
    }
  }

  counts(): SentCounts {
    const { sentBytes, completed, kernel } = this.#socket.stats();
    const failed = new Map<string, number>();
    if (kernel.txInvalid > 0) failed.set('invalid', kernel.txInvalid);
    if (this.#left > 0) failed.set('not-completed', this.#left);
    return { sent: completed, bytes: sentBytes, failed };
  }

  async finish(): Promise<void> {
    try {
      await this.#socket.flush(FLUSH_MS);
    } finally {
      const { sent, completed, kernel } = this.#socket.stats();
      this.#left = Math.max(0, sent - completed - kernel.txInvalid);
    }
  }

  async close(): Promise<void> {
    this.#socket.close();
  }

  #fill(chunk: FrameChunk, from: number, count: number): void {
    const { umem } = this.#socket;
    const { offsets, lengths } = this.#batch;
    for (let row = 0; row < count; row++) {
      const start = chunk.offsets[from + row]!;
      const length = chunk.lengths[from + row]!;
      umem.set(chunk.bytes.subarray(start, start + length), offsets[row]!);
      lengths[row] = length;
    }
  }

  /**
   * Lets the kernel work.
   * @returns false if it is no longer to be waited for
   */
  async #pause(): Promise<boolean> {
    if (this.#signal.aborted) return false;
    const now = performance.now();
    if (now - this.#movedAt > STUCK_MS) {
      this.#movedAt = now;
      // An interface that has gone away says so only when asked.
      this.#socket.checkInterface();
    }
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  }
}

function xdpFailure(name: string, error: unknown): unknown {
  const { hint, message } = error as { hint?: unknown; message: string };
  if (typeof hint !== 'string') return error;
  return new CliError(`cannot send by ${name}: ${message}`, EXIT.OPEN, error);
}

/** The MTU of an interface; null if the system does not tell. */
function mtuOf(name: string): number | null {
  try {
    const mtu = Number(readFileSync(`/sys/class/net/${name}/mtu`, 'latin1'));
    return mtu > 0 ? mtu : null;
  } catch {
    return null;
  }
}
