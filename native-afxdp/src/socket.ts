import { setTimeout as delay } from 'node:timers/promises';
import { markAsUntransferable } from 'node:worker_threads';
import { type BatchState, batchHandle, batchState, HELD, type XdpBatch } from './batch.js';
import {
  closed,
  errnoName,
  type FailureContext,
  isNativeFailure,
  lostInterface,
  toXdpError,
  type XdpError,
} from './errors.js';
import { type NativeHandle, native } from './native.js';
import { type CheckedOptions, checkOptions, type XdpSocketOptions } from './options.js';
import { type SocketProgram, type XdpMode, XdpProgram } from './program.js';
import type { SocketFunctions } from './socket-functions.js';
import { readStats, STATS_NUMBERS, type XdpStats } from './stats.js';
import { Waiting } from './waiting.js';

/** What a socket is made of, beside its options. */
interface Parts {
  readonly functions: SocketFunctions;
  readonly handle: NativeHandle;
  readonly ifindex: number;
  readonly umem: Uint8Array;
  readonly mode: XdpMode;
  readonly zeroCopy: boolean;
  /** To be closed with the socket. */
  readonly program: XdpProgram | null;
}

/** The queue of a closed socket becomes free some milliseconds later, and so does the memory that it had locked. */
const BIND_TRIES = 100;
const MEMLOCK_TRIES = 20;
const PAUSE_MS = 5;
/** The longest time in the addon: between two stays, a worker can be terminated. */
const SYNC_SLICE_MS = 200;
/** See ANSWER_ERRNO in addon/socket_binding.c. */
const ERRNO_UNIT = 2 ** 32;

/** Sockets that somebody waits for: nothing else may hold them meanwhile. */
const waitedFor = /* @__PURE__ */ new Set<XdpSocket>();

let settle: (socket: XdpSocket, result: number) => void;

/**
 * An AF_XDP socket at one queue of a network interface: frames arrive in {@link umem}, and a batch says where. A socket
 * and its batches belong to the thread that opened it.
 */
export class XdpSocket {
  readonly interface: string;
  readonly queue: number;
  readonly mode: XdpMode;
  /** Whether the network card writes the frames itself; else the kernel copies each once. */
  readonly zeroCopy: boolean;
  readonly frameSize: number;
  /** The memory that frames lie in; a batch's offsets count from its first byte. Stays readable after {@link close}. */
  readonly umem: Uint8Array;
  readonly #functions: SocketFunctions;
  readonly #handle: NativeHandle;
  readonly #ifindex: number;
  readonly #program: XdpProgram | null;
  readonly #waiting: Waiting;
  readonly #numbers = new Float64Array(STATS_NUMBERS);
  /** Statistics of a socket that is closed. */
  #last: XdpStats | null = null;
  #isClosed = false;

  private constructor(options: CheckedOptions, { functions, handle, ifindex, umem, mode, zeroCopy, program }: Parts) {
    this.interface = options.interface;
    this.queue = options.queue;
    this.mode = mode;
    this.zeroCopy = zeroCopy;
    this.frameSize = options.frameSize;
    this.umem = umem;
    this.#functions = functions;
    this.#handle = handle;
    this.#ifindex = ifindex;
    this.#program = program;
    this.#waiting = makeWaiting(functions, handle, listener(new WeakRef(this)));
  }

  /**
   * Opens a socket, with a program of its own unless there is one already. A queue whose socket has just been closed
   * becomes free a little later: then opening takes up to half a second.
   *
   * @throws XdpError of any code but ERR_XDP_CLOSED and ERR_XDP_DOWN; TypeError or RangeError for wrong options
   */
  static async open(options: XdpSocketOptions): Promise<XdpSocket> {
    const checked = checkOptions(options);
    const functions = native<SocketFunctions>();
    let program: XdpProgram | null = null;
    let handle: NativeHandle | null = null;
    try {
      const ifindex = functions.interfaceIndex(checked.interface);
      program = ownProgram(checked);
      const { mode, map } = target(checked, program);
      const { frames, txFrames, frameSize, queue, memory } = checked;
      const copies = checked.zeroCopy === true ? 2 : checked.zeroCopy === false || mode === 'generic' ? 1 : 0;
      const made = await patiently(MEMLOCK_TRIES, 'ENOBUFS', () =>
        functions.socketOpen(ifindex, queue, frames, txFrames, frameSize, copies, memory ?? null),
      );
      const opened = made.handle;
      handle = opened;
      const zeroCopy = await patiently(BIND_TRIES, 'EBUSY', () => functions.socketBind(opened));
      if (checked.promiscuous === true) functions.socketPromiscuous(handle);
      if (map !== null) functions.socketRegister(handle, map);
      const umem = memory ?? new Uint8Array(made.buffer!);
      // The kernel goes on writing to memory that another thread takes away, and might free.
      if (memory?.buffer instanceof ArrayBuffer) markAsUntransferable(memory.buffer);
      const actual = mode ?? (zeroCopy ? 'driver' : 'generic');
      return new XdpSocket(checked, { functions, handle, ifindex, umem, mode: actual, zeroCopy, program });
    } catch (failure) {
      if (handle !== null) functions.socketClose(handle);
      program?.close();
      throw toXdpError(failure, failureContext(functions, checked));
    }
  }

  /** Whether {@link close} has been called. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Takes the frames that have arrived, up to the capacity of the batch. They are the caller's until `release`.
   *
   * @param batch an empty one; its rows are filled
   * @returns the number of frames, 0 if none is there
   * @throws RangeError if the batch still holds frames; XdpError ERR_XDP_CLOSED
   */
  receive(batch: XdpBatch): number {
    const state = batchState(batch);
    if (state.rows !== 0) mustBeEmpty(state);
    const count = this.#functions.receive(this.#handle, batchHandle(state), state.capacity);
    if (count < 0) throw this.#fault(count);
    hold(state, count === 0 ? HELD.nothing : HELD.received, count, this);
    batch.count = count;
    return count;
  }

  /**
   * Gives all frames of a batch back, to be received into again; the batch is empty then.
   *
   * @throws RangeError if the rows are not those that `receive` of this socket put there, or not as many; then nothing is
   *   given back. XdpError ERR_XDP_CLOSED: the frames of a closed socket are gone, and its batches can be used by others
   */
  release(batch: XdpBatch): void {
    const state = batchState(batch);
    if (this.#isClosed) throw closed('the socket');
    if (state.rows === 0 && batch.count === 0) return;
    this.#checkHeld(batch, state, HELD.received);
    if (batch.count !== state.rows) throw wrongCount(batch, state);
    const answer = this.#functions.release(this.#handle, batchHandle(state), state.rows);
    if (answer < 0) throw this.#fault(answer);
    hold(state, HELD.nothing, 0, null);
    batch.count = 0;
  }

  /**
   * Waits until there is something to receive, without blocking the event loop; the process stays alive meanwhile. Several
   * waits may be under way.
   *
   * @param timeoutMs milliseconds from 0 on; Infinity: no limit
   * @returns true: something to receive; false: the time is over, or the socket is closed
   * @throws XdpError ERR_XDP_NO_DEVICE or ERR_XDP_DOWN if the interface went away; RangeError
   */
  async wait(timeoutMs: number): Promise<boolean> {
    checkTimeout(timeoutMs);
    if (this.#isClosed) return false;
    if (this.#functions.readable(this.#handle)) return true;
    if (timeoutMs === 0) {
      this.checkInterface();
      return false;
    }
    waitedFor.add(this);
    try {
      return await this.#waiting.wait(timeoutMs);
    } finally {
      if (this.#waiting.isIdle) waitedFor.delete(this);
    }
  }

  /**
   * Like {@link wait}, but blocks the calling thread: for worker threads.
   *
   * @throws XdpError ERR_XDP_NO_DEVICE or ERR_XDP_DOWN if the interface went away; RangeError
   */
  waitSync(timeoutMs: number): boolean {
    checkTimeout(timeoutMs);
    if (this.#isClosed) return false;
    const end = performance.now() + timeoutMs;
    for (let left = timeoutMs; ; left = end - performance.now()) {
      const result = this.#functions.waitSync(this.#handle, Math.min(Math.max(left, 0), SYNC_SLICE_MS));
      if (result < 0) throw this.#lost(-result);
      if (result === 1) return true;
      if (left <= SYNC_SLICE_MS) return false;
    }
  }

  /**
   * Takes free frames to send: their offsets are set and their lengths 0.
   *
   * @param batch an empty one; its rows are filled
   * @param count how many frames are wanted, 0 to the batch's capacity
   * @returns how many there were
   * @throws RangeError; XdpError ERR_XDP_CLOSED
   */
  acquire(batch: XdpBatch, count: number): number {
    const state = batchState(batch);
    if (state.rows !== 0) mustBeEmpty(state);
    if (!(Number.isInteger(count) && count >= 0 && count <= state.capacity)) {
      throw new RangeError(`0 to ${state.capacity} frames can be acquired into this batch, not ${count}`);
    }
    const taken = this.#functions.acquire(this.#handle, batchHandle(state), count);
    if (taken < 0) throw this.#fault(taken);
    hold(state, taken === 0 ? HELD.nothing : HELD.acquired, taken, this);
    batch.count = taken;
    return taken;
  }

  /**
   * Sends the rows [0, count) of a batch of acquired frames: bytes at `umem[offset]`, as many as `lengths` says, 14 to what
   * fits between the offset and the end of the frame's memory. Rows from `count` on, if it has been lowered, go back
   * unsent. Frames become free again when the kernel is done with them.
   *
   * @returns how many rows were accepted; the others are in front of the batch now, and `count` is their number
   * @throws RangeError if a row is not what the socket put there or its length is out of range; then nothing is sent.
   *   XdpError ERR_XDP_DOWN or ERR_XDP_NO_DEVICE if the interface does not send (the accepted frames stay {@link pending});
   *   ERR_XDP_CLOSED
   */
  transmit(batch: XdpBatch): number {
    const state = batchState(batch);
    if (this.#isClosed) throw closed('the socket');
    if (state.rows === 0 && batch.count === 0) return 0;
    this.#checkHeld(batch, state, HELD.acquired);
    const { count } = batch;
    if (!(Number.isInteger(count) && count >= 0 && count <= state.rows)) throw wrongCount(batch, state);
    const handle = batchHandle(state);
    if (count < state.rows) {
      const answer = this.#functions.discard(this.#handle, handle, state.rows, count);
      if (answer < 0) throw this.#fault(answer);
      state.rows = count;
    }
    const answer = this.#functions.transmit(this.#handle, handle, count);
    if (answer < 0) throw this.#fault(answer);
    const accepted = answer % ERRNO_UNIT;
    const left = count - accepted;
    hold(state, left === 0 ? HELD.nothing : HELD.acquired, left, left === 0 ? null : this);
    batch.count = left;
    if (answer >= ERRNO_UNIT) throw this.#lost(Math.floor(answer / ERRNO_UNIT), 'sendto');
    return accepted;
  }

  /** Frames that were accepted by {@link transmit} and not completed yet; 0 of a closed socket. */
  get pending(): number {
    return this.#functions.pending(this.#handle) % ERRNO_UNIT;
  }

  /**
   * Waits until the kernel is done with all frames that were sent.
   *
   * @param timeoutMs milliseconds from 0 on; default 1000
   * @returns whether it is; false: the time is over, or the socket has been closed
   * @throws XdpError ERR_XDP_DOWN, ERR_XDP_NO_DEVICE if the interface does not send; RangeError
   */
  async flush(timeoutMs = 1000): Promise<boolean> {
    checkTimeout(timeoutMs);
    const end = performance.now() + timeoutMs;
    while (!this.#isClosed) {
      const answer = this.#functions.pending(this.#handle);
      if (answer >= ERRNO_UNIT) throw this.#lost(Math.floor(answer / ERRNO_UNIT), 'sendto');
      if (answer === 0) return true;
      if (performance.now() >= end) return false;
      await delay(1);
    }
    return false;
  }

  /** Counters; after {@link close}, those at that time. @throws XdpError ERR_XDP_SYSTEM */
  stats(): XdpStats {
    if (this.#last !== null) return this.#last;
    const numbers = this.#numbers;
    try {
      this.#functions.socketStats(this.#handle, numbers);
    } catch (failure) {
      throw toXdpError(failure, this.#context());
    }
    return readStats(numbers, this.#program === null ? null : this.#program.counters());
  }

  /**
   * Looks whether the interface is still there: a socket whose interface has been removed just receives nothing more.
   *
   * @throws XdpError ERR_XDP_NO_DEVICE if it has been removed, ERR_XDP_DOWN if the kernel took the socket off it;
   *   ERR_XDP_CLOSED
   */
  checkInterface(): void {
    if (this.#isClosed) throw closed('the socket');
    const errno = this.#functions.socketError(this.#handle);
    if (errno !== 0) throw this.#lost(errno);
  }

  /** Closes the socket and its own program. Waits resolve to false. Again: nothing. */
  close(): void {
    if (this.#isClosed) return;
    try {
      this.#last = this.stats();
    } catch {
      // Its program may have been taken away; there is nothing more to be counted then.
      this.#last = null;
    }
    this.#isClosed = true;
    waitedFor.delete(this);
    this.#functions.socketClose(this.#handle);
    this.#program?.close();
    this.#waiting.end();
  }

  static {
    settle = (socket, result) => socket.#settle(result);
  }

  #settle(result: number): void {
    if (this.#isClosed) return;
    if (result < 0) this.#waiting.fail(this.#lost(-result));
    else this.#waiting.settle(result === 1);
  }

  #checkHeld(batch: XdpBatch, state: BatchState, kind: BatchState['kind']): void {
    if (state.rows === 0) throw wrongCount(batch, state);
    if (state.owner !== this) throw new RangeError('the batch holds frames of another socket');
    if (state.kind === kind) return;
    throw new RangeError(
      kind === HELD.received
        ? 'the batch holds frames to send: transmit gives back unsent what is behind its count'
        : 'the batch holds received frames: acquire frames to send',
    );
  }

  #context(): FailureContext {
    return { interface: this.interface, queue: this.queue };
  }

  /** The error for an answer of the addon: see ANSWER_CLOSED and ANSWER_FAULT in addon/socket_binding.c. */
  #fault(answer: number): Error {
    if (answer === -1) return closed('the socket');
    const fault = (-2 - answer) % 4;
    const row = Math.floor((-2 - answer) / 4);
    const what =
      fault === 1
        ? 'its offset is not one that the socket put there'
        : fault === 2
          ? "its frame is not the caller's: it has been given back already, or was never handed out"
          : 'its length is less than 14 bytes or leaves the memory of its frame';
    return new RangeError(`row ${row} of the batch: ${what}`);
  }

  /** The error for what the kernel says of the interface. */
  #lost(errno: number, syscall = 'SO_ERROR'): XdpError {
    return lostInterface(syscall, errno, this.#context(), this.#functions.interfaceExists(this.#ifindex));
  }
}

function makeWaiting(functions: SocketFunctions, handle: NativeHandle, tell: (result: number) => void): Waiting {
  return new Waiting({
    start: (timeoutMs) => functions.waitStart(handle, timeoutMs, tell),
    cancel: () => functions.waitCancel(handle),
  });
}

/**
 * What the addon calls with the result of a wait. The addon holds it, so that it may hold neither the socket nor its
 * handle: one that is forgotten without being closed goes, and the addon closes it then.
 */
function listener(socket: WeakRef<XdpSocket>): (result: number) => void {
  return (result) => {
    const waiting = socket.deref();
    if (waiting !== undefined) settle(waiting, result);
  };
}

function hold(state: BatchState, kind: BatchState['kind'], rows: number, owner: BatchState['owner']): void {
  state.kind = kind;
  state.rows = rows;
  state.owner = owner;
}

/** Frames of a closed socket are gone: nobody can give them back any more. */
function mustBeEmpty(state: BatchState): void {
  if (state.owner?.isClosed === false) throw new RangeError(`the batch holds ${state.rows} frames: release it first`);
}

function wrongCount(batch: XdpBatch, state: BatchState): RangeError {
  return new RangeError(`the batch holds ${state.rows} frames, and its count has been set to ${batch.count}`);
}

function checkTimeout(timeoutMs: number): void {
  if (!(timeoutMs >= 0)) throw new RangeError(`a time is 0 milliseconds or more, not ${timeoutMs}`);
}

function ownProgram({ interface: name, mode, ports, program }: CheckedOptions): XdpProgram | null {
  if (program !== undefined || ports.length === 0) return null;
  return XdpProgram.steer({ interface: name, mode, ports });
}

/** Which mode the socket is to be in (null: not known), and the map that it is to be found in. */
function target(options: CheckedOptions, own: XdpProgram | null): { mode: XdpMode | null; map: number | null } {
  const program: SocketProgram | number | undefined = own ?? options.program;
  const asked = options.mode === 'auto' ? null : options.mode;
  if (program === undefined) return { mode: asked, map: null };
  if (typeof program === 'number') return { mode: asked, map: program };
  return { mode: program.mode, map: program.socketMap };
}

/** Tries again what fails because the kernel is still clearing up behind a socket that has been closed. */
async function patiently<Result>(tries: number, errno: string, action: () => Result): Promise<Result> {
  for (let left = tries - 1; ; left--) {
    try {
      return action();
    } catch (failure) {
      if (left === 0 || !isNativeFailure(failure) || errnoName(failure.errno) !== errno) throw failure;
    }
    await delay(PAUSE_MS);
  }
}

/** Facts for clear messages. The number of queues is one, because a bind answers EINVAL for many reasons. */
function failureContext(functions: SocketFunctions, options: CheckedOptions): FailureContext {
  let queues: number | undefined;
  try {
    queues = functions.interfaceQueues(options.interface);
  } catch {
    // No such interface: the message says so.
  }
  return {
    interface: options.interface,
    queue: options.queue,
    ...(queues === undefined ? {} : { queues }),
    ...(options.zeroCopy === true ? { insists: 'zero copy' } : {}),
  };
}
