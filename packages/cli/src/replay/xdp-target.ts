import { readFileSync } from 'node:fs';
import type { XdpBatch, XdpLink, XdpSocket, XdpSocketOptions } from '@int/afxdp';
import { loadAfxdp } from '../afxdp.js';
import { linkWords, type OnDown } from '../input/link-words.js';
import { CliError, EXIT } from '../io.js';
import type { FrameChunk } from './frame-chunk.js';
import type { SentCounts, Target } from './target.js';

export interface InterfaceQueue {
  readonly interface: string;
  readonly queue: number;
}

/** Most frames pending in the kernel. */
const TX_FRAMES = 2048;
/** Nothing is received, but a fill ring is required. */
const RX_FRAMES = 64;
const CHUNK = 4096;
/** Frames handed to the kernel at a time. */
const BATCH = 256;
/** Bytes of a frame beyond the MTU: Ethernet header and a VLAN tag. */
const BEYOND_MTU = 18;
const FLUSH_MS = 2000;
/** Time without progress after which the interface is checked. */
const STUCK_MS = 1000;

export interface XdpTargetOptions extends InterfaceQueue {
  /** The reaction to an interface that goes down or away: wait or fail. */
  readonly onDown: OnDown;
  readonly tell: (message: string) => void;
  /** When aborted, the target waits neither for the interface nor for frames that it does not take. */
  readonly signal: AbortSignal;
}

/** Counts of closed sockets. */
interface Done {
  sent: number;
  bytes: number;
  invalid: number;
  /** Frames accepted and not completed by the kernel. */
  left: number;
}

/**
 * An AF_XDP socket as target: each frame is one on the wire. A frame counts as sent if the kernel has completed and not
 * dropped it.
 */
export class XdpTarget implements Target {
  readonly name: string;
  readonly most = BATCH;
  readonly #options: XdpTargetOptions;
  readonly #link: XdpLink;
  readonly #open: () => Promise<XdpSocket>;
  readonly #batch: XdpBatch;
  readonly #done: Done = { sent: 0, bytes: 0, invalid: 0, left: 0 };
  /** Null while the interface is away. */
  #socket: XdpSocket | null;
  /** Time when the kernel last took a frame. */
  #movedAt = performance.now();

  private constructor(
    options: XdpTargetOptions,
    link: XdpLink,
    open: () => Promise<XdpSocket>,
    socket: XdpSocket,
    batch: XdpBatch,
  ) {
    const { interface: name, queue } = options;
    this.name = queue === 0 ? name : `${name}, queue ${queue}`;
    this.#options = options;
    this.#link = link;
    this.#open = open;
    this.#socket = socket;
    this.#batch = batch;
  }

  /** @throws CliError if the interface cannot send */
  static async open(options: XdpTargetOptions): Promise<XdpTarget> {
    const { interface: name, onDown, queue, tell } = options;
    const socketOptions: XdpSocketOptions = {
      interface: name,
      queue,
      frames: RX_FRAMES,
      txFrames: TX_FRAMES,
      frameSize: CHUNK,
      ports: [],
    };
    const afxdp = await loadAfxdp('--afxdp');
    const open = (): Promise<XdpSocket> => afxdp.XdpSocket.open(socketOptions);
    try {
      const link = new afxdp.XdpLink({ interface: name, ...(onDown === 'wait' && linkWords(name, tell)) });
      link.follow();
      return new XdpTarget(options, link, open, await open(), new afxdp.XdpBatch(BATCH));
    } catch (error) {
      if (afxdp.XdpError.is(error)) throw xdpFailure(`cannot open ${name}`, error);
      throw error;
    }
  }

  /** Bytes of the longest frame that the interface can send. */
  static longestFrame(name: string): number {
    const mtu = mtuOf(name);
    return Math.min(CHUNK, mtu === null ? Number.POSITIVE_INFINITY : mtu + BEYOND_MTU);
  }

  async send(chunk: FrameChunk, from: number, to: number): Promise<void> {
    let next = from;
    while (next < to) {
      const batch = this.#batch;
      const before = next;
      let taken = 0;
      try {
        const socket = this.#socket!;
        taken = socket.acquire(batch, to - next);
        this.#fill(chunk, next, taken);
        if (taken === 0 && !(await this.#pause(socket))) return;
        while (batch.count > 0) {
          if (socket.transmit(batch) > 0) this.#movedAt = performance.now();
          else if (!(await this.#pause(socket))) return;
        }
        next += taken;
      } catch (error) {
        next = before + taken - batch.count;
        if (!(await this.#renew(error, chunk, next))) return;
      }
    }
  }

  counts(): SentCounts {
    const { sent, bytes, invalid, left } = this.#done;
    const now = this.#socket?.stats();
    const failed = new Map<string, number>();
    const invalidNow = invalid + (now?.kernel.txInvalid ?? 0);
    const leftNow = left + (now?.unsent ?? 0);
    if (invalidNow > 0) failed.set('invalid', invalidNow);
    if (leftNow > 0) failed.set('not-completed', leftNow);
    return {
      sent: sent + (now === undefined ? 0 : now.completed - now.unsent),
      bytes: bytes + (now?.sentBytes ?? 0),
      failed,
      outages: this.#link.outages,
    };
  }

  async finish(): Promise<void> {
    try {
      await this.#socket?.flush(FLUSH_MS);
    } catch (error) {
      if (this.#options.onDown === 'exit' || !this.#link.failed(error))
        throw xdpFailure(`cannot send by ${this.name}`, error);
    } finally {
      this.#settle(0);
    }
  }

  async close(): Promise<void> {
    this.#socket?.close();
  }

  /**
   * Opens another socket when the interface is back after an outage.
   * @param chunk the frames being sent, up to row `end`
   * @returns false if waiting was aborted
   * @throws CliError if the interface is not the cause, or `onDown` forbids waiting
   */
  async #renew(error: unknown, chunk: FrameChunk, end: number): Promise<boolean> {
    if (!this.#link.failed(error) || this.#options.onDown === 'exit')
      throw xdpFailure(`cannot send by ${this.name}`, error);
    const { signal } = this.#options;
    const pending = this.#socket!.pending;
    let unsent = 0;
    for (let row = Math.max(0, end - pending); row < end; row++) unsent += chunk.lengths[row]!;
    // Close the old socket first, or its frames would leave late.
    this.#settle(unsent);
    while (!signal.aborted) {
      this.#socket = await this.#link.reopen(this.#open, signal);
      if (this.#socket !== null && (await this.#link.whenUp(signal))) return true;
      this.#socket?.close();
      this.#socket = null;
    }
    return false;
  }

  /** Closes the socket and adds its counts. @param unsentBytes bytes of frames that it has accepted and not sent */
  #settle(unsentBytes: number): void {
    const socket = this.#socket;
    if (socket === null) return;
    const { sent, sentBytes, completed, unsent, kernel } = socket.stats();
    socket.close();
    this.#socket = null;
    this.#done.sent += completed - unsent;
    this.#done.bytes += sentBytes - unsentBytes;
    this.#done.invalid += kernel.txInvalid;
    this.#done.left += Math.max(0, sent - completed - kernel.txInvalid) + unsent;
    this.#movedAt = performance.now();
  }

  #fill(chunk: FrameChunk, from: number, count: number): void {
    const { umem } = this.#socket!;
    const { offsets, lengths } = this.#batch;
    for (let row = 0; row < count; row++) {
      const start = chunk.offsets[from + row]!;
      const length = chunk.lengths[from + row]!;
      umem.set(chunk.bytes.subarray(start, start + length), offsets[row]!);
      lengths[row] = length;
    }
  }

  /** Waits for the kernel. @returns false if waiting was aborted */
  async #pause(socket: XdpSocket): Promise<boolean> {
    if (this.#options.signal.aborted) return false;
    const now = performance.now();
    if (now - this.#movedAt > STUCK_MS) {
      this.#movedAt = now;
      // The loss of an interface shows only on a check.
      socket.checkInterface();
    }
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  }
}

function xdpFailure(what: string, error: unknown): unknown {
  const { hint, message } = error as { hint?: unknown; message: string };
  if (typeof hint !== 'string') return error;
  return new CliError(`${what}: ${message}`, EXIT.OPEN, error);
}

/** The MTU of an interface; null if unknown. */
function mtuOf(name: string): number | null {
  try {
    const mtu = Number(readFileSync(`/sys/class/net/${name}/mtu`, 'latin1'));
    return mtu > 0 ? mtu : null;
  } catch {
    return null;
  }
}
