import { type NativeHandle, native } from './native.js';

/** Where the columns of a batch may lie: the `Arena` and `AcceleratorMemory` of `@int/codec` are such. */
export interface WordMemory {
  /** Takes `count` 32-bit words. */
  words(count: number): Uint32Array;
}

/** What a batch's rows are at present. */
export const HELD = { nothing: 0, received: 1, acquired: 2 } as const;

/** The part of a batch that sockets deal with. */
export interface BatchState {
  readonly capacity: number;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  /** The columns' addresses, for the addon. */
  handle: NativeHandle | null;
  /** The socket whose frames the rows are, and how many of what kind they are. */
  owner: { readonly isClosed: boolean } | null;
  kind: (typeof HELD)[keyof typeof HELD];
  rows: number;
}

interface BatchFunctions {
  batchCreate(offsets: Uint32Array, lengths: Uint32Array): NativeHandle;
}

/** Most rows of a batch. */
const MOST_ROWS = 1 << 24;

let readState: (batch: XdpBatch) => BatchState;

/**
 * Rows of frames: where each lies in the memory of the socket, and how long it is. A batch is made once and used again
 * and again; its columns go to `BatchDecoder.decode` of `@int/codec` as they are.
 */
export class XdpBatch {
  /** Rows that fit. */
  readonly capacity: number;
  /** First byte of each frame, counted from the first byte of the socket's `umem`. */
  readonly offsets: Uint32Array;
  /** Bytes of each frame, from the Ethernet header on. */
  readonly lengths: Uint32Array;
  /** Rows in use. */
  count = 0;
  readonly #state: BatchState;

  static {
    readState = (batch) => batch.#state;
  }

  /**
   * @param capacity rows, 1 to 2^24
   * @param memory where the columns are to lie; without, in an ArrayBuffer of their own
   * @throws RangeError for a capacity out of range, or if the memory is exhausted
   */
  constructor(capacity: number, memory?: WordMemory) {
    if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= MOST_ROWS)) {
      throw new RangeError(`a batch has 1 to ${MOST_ROWS} rows, not ${capacity}`);
    }
    this.capacity = capacity;
    this.offsets = memory === undefined ? new Uint32Array(capacity) : memory.words(capacity);
    this.lengths = memory === undefined ? new Uint32Array(capacity) : memory.words(capacity);
    for (const column of [this.offsets, this.lengths]) {
      if (!(column instanceof Uint32Array) || column.length !== capacity) {
        throw new TypeError(`memory.words(${capacity}) must return a Uint32Array of that length`);
      }
    }
    this.#state = {
      capacity,
      offsets: this.offsets,
      lengths: this.lengths,
      handle: null,
      owner: null,
      kind: HELD.nothing,
      rows: 0,
    };
  }
}

/** The state of a batch, ready for the addon. @throws TypeError if the memory of its columns has been detached */
export function batchState(batch: XdpBatch): BatchState {
  const state = readState(batch);
  // The addon writes to addresses: memory that has been transferred or has grown is not there any more.
  if (state.offsets.length !== state.capacity || state.lengths.length !== state.capacity) {
    throw new TypeError('the memory of the batch has been detached');
  }
  return state;
}

/** The batch for the addon. */
export function batchHandle(state: BatchState): NativeHandle {
  state.handle ??= native<BatchFunctions>().batchCreate(state.offsets, state.lengths);
  return state.handle;
}
