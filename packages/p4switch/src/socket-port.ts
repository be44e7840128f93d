/** A port on the sockets of a network interface. */
import { flowHash } from './flow-hash.js';
import { copyBytes, type FrameTaker, type Port, PortCounts, QueueCounts } from './port.js';

/** Positions of frames in a socket's memory. */
export interface SocketRows {
  readonly capacity: number;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  count: number;
}

/** A socket that receives and sends frames: an `XdpSocket` or a `PacketSocket` of `@int/afxdp` is one. */
export interface FrameSocket {
  /** The queue of the interface that it belongs to; absent: the socket is for the whole interface. */
  readonly queue?: number | undefined;
  /** Memory of all frames. */
  readonly umem: Uint8Array;
  /** Bytes of memory per frame. */
  readonly frameSize: number;
  receive(rows: SocketRows): number;
  release(rows: SocketRows): void;
  acquire(rows: SocketRows, count: number): number;
  /** @throws Error if the interface is down or gone */
  transmit(rows: SocketRows): number;
  /** Resolves when there is something to receive, or the time is over. Rejects if the interface is gone. */
  wait(timeoutMs: number): Promise<boolean>;
  flush(timeoutMs?: number): Promise<boolean>;
  stats(): FrameSocketStats;
  close(): void;
}

/** The counters of a socket that a port reports. */
export interface FrameSocketStats {
  /** Frames accepted for sending that never left. */
  readonly unsent: number;
  readonly kernel: { readonly rxDropped: number; readonly rxRingFull: number };
  /** Received frames that were longer than the memory of a frame, where the socket can tell. */
  readonly tooLong?: number;
}

export interface SocketPortOptions {
  /** Such as `xdp:eth0`. */
  readonly name: string;
  /** Makes rows for the sockets: `new XdpBatch(capacity)`. */
  readonly rows: (capacity: number) => SocketRows;
  /** Called with an error of a socket: the interface has gone down, or away. Default: nothing. */
  readonly onFailure?: (error: unknown) => void;
  /** What is known of the interface, where somebody follows it. Default: it is up as long as there are sockets. */
  readonly link?: { readonly isUp: boolean; readonly outages: number };
}

const BATCH_ROWS = 64;
/** Longest wait for the last frames to leave, in milliseconds. */
const DRAIN_MS = 200;
/** Longest wait in the kernel, in milliseconds: an interface that has gone is seen at the end of a wait. */
const WAIT_MS = 1000;

/** One queue of the interface. */
class Queue {
  readonly received: SocketRows;
  readonly leaving: SocketRows;
  /** Rows of `leaving` that hold frames to send. */
  used = 0;
  isWaiting = false;

  constructor(
    readonly socket: FrameSocket,
    /** Counts by queue; undefined for the socket of a whole interface. */
    readonly counts: QueueCounts | undefined,
    rows: SocketPortOptions['rows'],
  ) {
    this.received = rows(BATCH_ROWS);
    this.leaving = rows(BATCH_ROWS);
  }
}

/** A port on the sockets of an interface, one per queue. The frames of a flow leave by one queue, in order. */
export class SocketPort implements Port {
  readonly name: string;
  readonly #options: SocketPortOptions;
  readonly #counts = new PortCounts();
  /** Counters of sockets that have been replaced. */
  #past = { unsent: 0, rxFull: 0, tooLong: 0 };
  /** By number of the queue; they stay when sockets are replaced. */
  readonly #byQueue = new Map<number, QueueCounts>();
  #queues: readonly Queue[] = [];
  #wake: (() => void) | null = null;
  #isClosed = false;

  /** @param sockets the open sockets of all queues; empty while the interface is down */
  constructor(sockets: readonly FrameSocket[], options: SocketPortOptions) {
    this.name = options.name;
    this.#options = options;
    this.#queues = this.#queuesOf(sockets);
  }

  get isUp(): boolean {
    return this.#queues.length > 0 && this.#options.link?.isUp !== false;
  }

  counts(): PortCounts {
    const counts = this.#counts;
    let { unsent, rxFull, tooLong } = this.#past;
    const ofQueues = new Map([...this.#byQueue].map(([queue, each]) => [queue, { ...each }]));
    for (const { socket } of this.#queues) {
      const stats = socket.stats();
      unsent += stats.unsent;
      const ofQueue = socket.queue === undefined ? undefined : ofQueues.get(socket.queue);
      if (ofQueue !== undefined) ofQueue.sent -= stats.unsent;
      rxFull += stats.kernel.rxDropped + stats.kernel.rxRingFull;
      tooLong += stats.tooLong ?? 0;
    }
    const all = new PortCounts();
    const outages = this.#options.link?.outages ?? counts.outages;
    const queues = [...ofQueues.values()];
    Object.assign(all, counts, { sent: counts.sent - unsent, dropped: all.dropped, outages, queues });
    Object.assign(all.dropped, counts.dropped);
    all.dropped.failed += unsent;
    all.dropped.rxFull += rxFull;
    all.dropped.rxTooLong += tooLong;
    return all;
  }

  /**
   * Takes other sockets, after the interface has gone or come. The caller closes the ones before, after this call.
   * @param sockets empty: the port is down
   */
  replace(sockets: readonly FrameSocket[]): void {
    if (this.#queues.length > 0 && sockets.length === 0) this.#counts.outages++;
    for (const queue of this.#queues) {
      this.#counts.dropped.down += queue.used;
      this.#counts.sent -= queue.used;
      if (queue.counts !== undefined) queue.counts.sent -= queue.used;
      try {
        const { unsent, kernel, tooLong = 0 } = queue.socket.stats();
        this.#past.unsent += unsent;
        if (queue.counts !== undefined) queue.counts.sent -= unsent;
        this.#past.rxFull += kernel.rxDropped + kernel.rxRingFull;
        this.#past.tooLong += tooLong;
      } catch {
        // The program that counts has gone with the interface.
      }
    }
    this.#queues = this.#queuesOf(sockets);
    this.#ready();
  }

  poll(most: number, take: FrameTaker): number {
    const queues = this.#queues;
    const counts = this.#counts;
    let total = 0;
    for (const { socket, received, counts: ofQueue } of queues) {
      for (let left = most; left > 0; ) {
        const count = this.#arrived(socket, received);
        if (count === 0) break;
        const { umem } = socket;
        const { offsets, lengths } = received;
        let bytes = 0;
        for (let row = 0; row < count; row++) {
          const length = lengths[row]!;
          bytes += length;
          take(umem, offsets[row]!, length);
        }
        counts.received += count;
        counts.receivedBytes += bytes;
        if (ofQueue !== undefined) {
          ofQueue.received += count;
          ofQueue.receivedBytes += bytes;
        }
        total += count;
        left -= count;
        // A consumer may have replaced the sockets.
        if (this.#queues !== queues) return total;
        socket.release(received);
        if (count < received.capacity) break;
      }
    }
    return total;
  }

  room(): number {
    // What is sent while the port is down is counted, and does not wait.
    if (this.#queues.length === 0 || !this.isUp) return BATCH_ROWS;
    // A flow may need any of the queues.
    let least = BATCH_ROWS;
    for (const queue of this.#queues) {
      const room = this.#roomOf(queue);
      if (room < least) least = room;
    }
    return least;
  }

  send(bytes: Uint8Array, offset: number, length: number): void {
    const counts = this.#counts;
    const queues = this.#queues;
    if (queues.length === 0 || !this.isUp) {
      counts.dropped.down++;
      return;
    }
    const queue = queues[queues.length === 1 ? 0 : flowHash(bytes, offset, length) % queues.length]!;
    const { leaving, socket, counts: ofQueue } = queue;
    if (length > socket.frameSize) {
      counts.dropped.txTooLong++;
      return;
    }
    if (queue.used === leaving.count && this.#roomOf(queue) === 0) {
      counts.dropped.txFull++;
      return;
    }
    const row = queue.used++;
    copyBytes(bytes, offset, length, socket.umem, leaving.offsets[row]!);
    leaving.lengths[row] = length;
    counts.sent++;
    counts.sentBytes += length;
    if (ofQueue !== undefined) {
      ofQueue.sent++;
      ofQueue.sentBytes += length;
    }
  }

  flush(): void {
    for (const queue of this.#queues) if (queue.used > 0) this.#transmit(queue);
  }

  onReady(wake: () => void): void {
    this.#wake = wake;
    for (const queue of this.#queues) void this.#waitFor(queue);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.flush();
    for (const { socket } of this.#queues) {
      try {
        await socket.flush(DRAIN_MS);
      } catch {
        // The interface is down: what has not left is counted as failed.
      }
    }
    const queues = this.#queues;
    this.replace([]);
    for (const { socket } of queues) socket.close();
  }

  async #waitFor(queue: Queue): Promise<void> {
    if (queue.isWaiting) return;
    queue.isWaiting = true;
    try {
      while (this.#wake !== null && this.#queues.includes(queue)) if (await queue.socket.wait(WAIT_MS)) this.#ready();
    } catch (error) {
      this.#fail(error);
    } finally {
      queue.isWaiting = false;
    }
  }

  #ready(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #arrived(socket: FrameSocket, rows: SocketRows): number {
    try {
      return socket.receive(rows);
    } catch (error) {
      this.#fail(error);
      return 0;
    }
  }

  #queuesOf(sockets: readonly FrameSocket[]): readonly Queue[] {
    return sockets.map((socket) => new Queue(socket, this.#countsOf(socket), this.#options.rows));
  }

  #countsOf({ queue }: FrameSocket): QueueCounts | undefined {
    if (queue === undefined) return undefined;
    const counts = this.#byQueue.get(queue) ?? new QueueCounts(queue);
    this.#byQueue.set(queue, counts);
    return counts;
  }

  /** Frames that a queue can take at once. */
  #roomOf(queue: Queue): number {
    const { leaving } = queue;
    if (queue.used < leaving.count) return leaving.count - queue.used;
    if (queue.used > 0) this.#transmit(queue);
    return leaving.count > 0 ? 0 : this.#acquire(queue);
  }

  #acquire(queue: Queue): number {
    try {
      return queue.socket.acquire(queue.leaving, BATCH_ROWS);
    } catch (error) {
      this.#fail(error);
      return 0;
    }
  }

  /** Sends the frames of a queue. Rows that are not accepted stay; rows without frames go back. */
  #transmit(queue: Queue): void {
    const { leaving, socket } = queue;
    leaving.count = queue.used;
    try {
      socket.transmit(leaving);
    } catch (error) {
      // Accepted frames are pending, and `unsent` counts those that never leave; the others stay in the rows.
      this.#fail(error);
    }
    queue.used = leaving.count;
  }

  #fail(error: unknown): void {
    if (!this.#isClosed) this.#options.onFailure?.(error);
  }
}
