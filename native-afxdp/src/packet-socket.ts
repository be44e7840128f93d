import { type BatchState, batchHandle, batchState, HELD, type XdpBatch } from './batch.js';
import { closed, lostInterface, toXdpError } from './errors.js';
import { type NativeHandle, native } from './native.js';
import { checkInteger, checkInterfaceName } from './options.js';
import { Waiting } from './waiting.js';

/** Options of {@link PacketSocket.open}. */
export interface PacketSocketOptions {
  /** Name of the network interface. */
  readonly interface: string;
  /** Bytes of memory per frame, 64 to 65,536. Longer frames are dropped and counted. Default 2048. */
  readonly frameSize?: number;
  /** Bytes of the kernel's buffer for frames that have arrived. Default 8 MiB; without CAP_NET_ADMIN, at most rmem_max. */
  readonly bufferBytes?: number;
}

/** What a packet socket has done since it was opened. */
export interface PacketStats {
  readonly received: number;
  readonly receivedBytes: number;
  readonly sent: number;
  readonly sentBytes: number;
  /** Received frames longer than `frameSize`, and segments that the sender on this machine has left to a card to cut. */
  readonly tooLong: number;
  /** Frames accepted by `transmit` that the kernel refused, such as those beyond the MTU. */
  readonly unsent: number;
  /** Received frames whose checksum the sender on this machine has left to a card; it has been computed. */
  readonly checksumsCompleted: number;
  readonly kernel: {
    /** Frames for which the kernel's buffer had no room. */
    readonly rxDropped: number;
    /** Always 0: there is no ring. */
    readonly rxRingFull: number;
  };
}

/** The addon's functions for packet sockets, see addon/packet_binding.c. */
interface PacketFunctions {
  packetOpen(ifindex: number, slot: number, buffer: number): { handle: NativeHandle; buffer: ArrayBuffer };
  packetClose(socket: NativeHandle): void;
  packetReceive(socket: NativeHandle, batch: NativeHandle, most: number): number;
  packetAcquire(socket: NativeHandle, batch: NativeHandle, count: number): number;
  packetTransmit(socket: NativeHandle, batch: NativeHandle, count: number): number;
  packetWaitStart(socket: NativeHandle, timeoutMs: number, callback: (result: number) => void): void;
  packetWaitCancel(socket: NativeHandle): void;
  packetStats(socket: NativeHandle, numbers: Float64Array): void;
  interfaceIndex(name: string): number;
  interfaceExists(index: number): boolean;
}

/** See ANSWER_ERRNO in addon/packet_binding.c. */
const ERRNO_UNIT = 2 ** 32;
const SLOTS = 64;

/** Sockets that somebody waits for: nothing else may hold them meanwhile. */
const waitedFor = /* @__PURE__ */ new Set<PacketSocket>();
let settle: (socket: PacketSocket, result: number) => void;

/**
 * An AF_PACKET socket: all frames that arrive at an interface, also those for other stations, and a way to send. It has
 * the calls of an {@link XdpSocket}, works with every interface, and needs CAP_NET_RAW alone; it costs several times as
 * much per frame. The network stack sees the frames too. One batch at a time holds received frames, and one frames to
 * send.
 */
export class PacketSocket {
  readonly interface: string;
  readonly frameSize: number;
  /** The memory that frames lie in. Stays readable after {@link close}. */
  readonly umem: Uint8Array;
  readonly #functions: PacketFunctions;
  readonly #handle: NativeHandle;
  readonly #ifindex: number;
  readonly #waiting: Waiting;
  readonly #numbers = new Float64Array(8);
  #receivedBy: BatchState | null = null;
  #acquiredBy: BatchState | null = null;
  #last: PacketStats | null = null;
  #isClosed = false;

  private constructor(name: string, frameSize: number, bufferBytes: number) {
    const functions = native<PacketFunctions>();
    this.interface = name;
    this.frameSize = frameSize;
    this.#functions = functions;
    this.#ifindex = functions.interfaceIndex(name);
    const { handle, buffer } = functions.packetOpen(this.#ifindex, frameSize, bufferBytes);
    this.#handle = handle;
    this.umem = new Uint8Array(buffer);
    const tell = listener(new WeakRef(this));
    this.#waiting = new Waiting({
      start: (timeoutMs) => functions.packetWaitStart(handle, timeoutMs, tell),
      cancel: () => functions.packetWaitCancel(handle),
    });
  }

  /**
   * Opens a socket.
   *
   * @throws XdpError ERR_XDP_PLATFORM, ERR_XDP_NOT_BUILT, ERR_XDP_NO_DEVICE, ERR_XDP_DOWN, ERR_XDP_PERMISSION,
   *   ERR_XDP_SYSTEM; RangeError for an option out of range
   */
  static open(options: PacketSocketOptions): PacketSocket {
    const { interface: name, frameSize = 2048, bufferBytes = 8 << 20 } = options;
    checkInterfaceName(name);
    checkInteger('frameSize', frameSize, 64, 65_536);
    checkInteger('bufferBytes', bufferBytes, 4096, 2 ** 30);
    try {
      return new PacketSocket(name, frameSize, bufferBytes);
    } catch (failure) {
      throw toXdpError(failure, { interface: name });
    }
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Takes the frames that have arrived, up to 64 and the capacity of the batch. They are the caller's until `release`.
   *
   * @returns the number of frames, 0 if none is there
   * @throws RangeError if a batch still holds received frames; XdpError ERR_XDP_CLOSED, ERR_XDP_DOWN, ERR_XDP_NO_DEVICE
   */
  receive(batch: XdpBatch): number {
    const state = batchState(batch);
    if (this.#receivedBy !== null || state.rows !== 0) throw new RangeError('a batch holds frames: release it first');
    const answer = this.#functions.packetReceive(this.#handle, batchHandle(state), state.capacity);
    if (answer < 0) throw closed('the socket');
    if (answer >= ERRNO_UNIT) throw this.#lost(answer / ERRNO_UNIT, 'recvmmsg');
    if (answer > 0) {
      this.#hold(state, HELD.received, answer);
      this.#receivedBy = state;
    }
    batch.count = answer;
    return answer;
  }

  /** Gives all received frames of a batch back. @throws RangeError if it holds none of this socket */
  release(batch: XdpBatch): void {
    const state = batchState(batch);
    if (this.#receivedBy !== state) throw new RangeError('the batch holds no received frames of this socket');
    this.#drop(state);
    this.#receivedBy = null;
    batch.count = 0;
  }

  /**
   * Takes free frames to send: their offsets are set and their lengths 0.
   *
   * @returns how many there were: up to 64; 0 while a batch holds frames to send
   * @throws RangeError; XdpError ERR_XDP_CLOSED
   */
  acquire(batch: XdpBatch, count: number): number {
    const state = batchState(batch);
    checkInteger('the number of frames', count, 0, state.capacity);
    if (state.rows !== 0) throw new RangeError('the batch holds frames');
    if (this.#acquiredBy !== null) return 0;
    const taken = this.#functions.packetAcquire(this.#handle, batchHandle(state), Math.min(count, SLOTS));
    if (taken < 0) throw closed('the socket');
    if (taken > 0) {
      this.#hold(state, HELD.acquired, taken);
      this.#acquiredBy = state;
    }
    batch.count = taken;
    return taken;
  }

  /**
   * Sends the rows [0, count) of a batch of acquired frames. Rows from `count` on go back unsent.
   *
   * @returns how many rows were accepted; the others are in front of the batch now
   * @throws RangeError if a row is not what the socket put there; XdpError ERR_XDP_DOWN or ERR_XDP_NO_DEVICE if the
   *   interface does not send: the rows stay
   */
  transmit(batch: XdpBatch): number {
    const state = batchState(batch);
    if (this.#acquiredBy !== state) throw new RangeError('the batch holds no frames of this socket to send');
    const { count } = batch;
    checkInteger('the count of the batch', count, 0, state.rows);
    const answer = this.#functions.packetTransmit(this.#handle, batchHandle(state), count);
    if (answer === -1) throw closed('the socket');
    if (answer < 0)
      throw new RangeError('a row of the batch is no frame of 14 bytes or more in the memory of the socket');
    const left = answer % ERRNO_UNIT;
    batch.count = left;
    if (left === 0) {
      this.#drop(state);
      this.#acquiredBy = null;
    } else state.rows = left;
    if (answer >= ERRNO_UNIT) throw this.#lost(Math.floor(answer / ERRNO_UNIT), 'sendmmsg');
    return count - left;
  }

  /** Frames that were accepted have left: there is nothing to wait for. */
  get pending(): number {
    return 0;
  }

  /** As {@link XdpSocket.flush}: there is nothing to wait for. */
  async flush(_timeoutMs?: number): Promise<boolean> {
    return true;
  }

  /**
   * Waits until there is something to receive, without blocking the event loop.
   *
   * @param timeoutMs milliseconds from 0 on; Infinity: no limit
   * @returns true: something to receive; false: the time is over, or the socket is closed
   * @throws XdpError ERR_XDP_NO_DEVICE or ERR_XDP_DOWN if the interface went away; RangeError
   */
  async wait(timeoutMs: number): Promise<boolean> {
    if (!(timeoutMs >= 0)) throw new RangeError(`a time is 0 milliseconds or more, not ${timeoutMs}`);
    if (this.#isClosed) return false;
    waitedFor.add(this);
    try {
      return await this.#waiting.wait(timeoutMs);
    } finally {
      if (this.#waiting.isIdle) waitedFor.delete(this);
    }
  }

  /** Counters; after {@link close}, those at that time. */
  stats(): PacketStats {
    if (this.#last !== null) return this.#last;
    const numbers = this.#numbers;
    this.#functions.packetStats(this.#handle, numbers);
    const at = (index: number): number => numbers[index]!;
    return {
      received: at(0),
      receivedBytes: at(1),
      sent: at(2),
      sentBytes: at(3),
      tooLong: at(4),
      unsent: at(5),
      checksumsCompleted: at(6),
      kernel: { rxDropped: at(7), rxRingFull: 0 },
    };
  }

  /** Closes the socket. Waits resolve to false. Again: nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#last = this.stats();
    this.#isClosed = true;
    waitedFor.delete(this);
    for (const state of [this.#receivedBy, this.#acquiredBy]) if (state !== null) this.#drop(state);
    this.#functions.packetClose(this.#handle);
    this.#waiting.end();
  }

  static {
    settle = (socket, result) => {
      if (socket.#isClosed) return;
      if (result < 0) socket.#waiting.fail(socket.#lost(-result, 'SO_ERROR'));
      else socket.#waiting.settle(result === 1);
    };
  }

  #hold(state: BatchState, kind: BatchState['kind'], rows: number): void {
    state.kind = kind;
    state.rows = rows;
    state.owner = this;
  }

  #drop(state: BatchState): void {
    state.kind = HELD.nothing;
    state.rows = 0;
    state.owner = null;
  }

  #lost(errno: number, syscall: string): Error {
    return lostInterface(syscall, errno, { interface: this.interface }, this.#functions.interfaceExists(this.#ifindex));
  }
}

/** What the addon calls with the result of a wait. It holds the socket weakly, as that of an XdpSocket does. */
function listener(socket: WeakRef<PacketSocket>): (result: number) => void {
  return (result) => {
    const waiting = socket.deref();
    if (waiting !== undefined) settle(waiting, result);
  };
}
