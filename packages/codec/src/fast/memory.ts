import { Arena } from '../arena.js';
import { type BatchCapacity, TelemetryBatch } from '../batch.js';
import { moduleFor } from './modules.js';
import { type WasmMemory, webAssembly } from './webassembly.js';

const PAGE = 0x10000;
const MOST_BYTES = 0x100000000;
const MOST_SMALL_BYTES = 0x80000000;

/** Where an accelerator and what it works on lie: a {@link AcceleratorMemory}, or a part of one. */
export interface AcceleratorHost {
  readonly buffer: ArrayBufferLike;
  /** What is left of the memory. */
  readonly arena: Arena;
  /** Instantiates a module, given as base64 text, that imports `env.memory`; returns what it exports. */
  instantiate(base64: string): Readonly<Record<string, unknown>>;
}

/**
 * A WebAssembly memory to share out: batches, input and frame tables that lie in it are worked on in place.
 *
 * The size is fixed, so that no view of it is ever detached. It is address space, not memory in use: pages that are
 * never written cost nothing on the usual systems.
 *
 * A memory that threads share, or of more than 2 GiB, is for modules that import a memory with a maximum, as the accelerator
 * of `AcceleratorReport2` does: `instantiate` refuses others there.
 *
 * @example
 * const memory = new AcceleratorMemory(64 << 20);
 * const decoder = new BatchDecoder({ memory });
 * const batch = memory.batch({ frames: 1024 });
 * const input = memory.bytes(1 << 20);
 */
export class AcceleratorMemory implements AcceleratorHost {
  readonly buffer: ArrayBufferLike;
  /** What is left of the memory, for columns and state that are to lie next to the batches. */
  readonly arena: Arena;
  /** Whether it is a SharedArrayBuffer. */
  readonly isShared: boolean;
  readonly #memory: WasmMemory;

  /**
   * @param byteLength bytes to provide, rounded up to 64 KiB; at most 4 GiB
   * @param isShared whether other threads are to reach it
   * @throws RangeError for a length out of range, or if there is not that much address space
   * @throws Error where WebAssembly is missing
   */
  constructor(byteLength: number, isShared = false) {
    if (!(byteLength > 0 && byteLength <= MOST_BYTES)) {
      throw new RangeError(`accelerator memory must have 1 to 2^32 bytes, not ${byteLength}`);
    }
    const wasm = webAssembly();
    if (wasm === undefined) throw new Error('WebAssembly is not available here');
    const pages = Math.ceil(byteLength / PAGE);
    this.#memory = new wasm.Memory({ initial: pages, maximum: pages, shared: isShared });
    this.isShared = isShared;
    this.buffer = this.#memory.buffer;
    // Address 0 stays unused: a zero pointer is always a mistake.
    this.arena = new Arena(this.buffer, 64);
  }

  /** Bytes not yet given out. */
  get free(): number {
    return this.buffer.byteLength - this.arena.position;
  }

  /**
   * Takes `count` bytes, for input.
   * @throws RangeError if the memory is exhausted
   */
  bytes(count: number): Uint8Array {
    return this.arena.bytes(count);
  }

  /**
   * Takes `count` 32-bit words, for offsets or lengths.
   * @throws RangeError if the memory is exhausted
   */
  words(count: number): Uint32Array {
    return this.arena.words(count);
  }

  /**
   * Instantiates a WebAssembly module that imports `env.memory` over this memory, for accelerators of other packages.
   * @param base64 the module as base64 text
   * @returns what it exports
   * @throws Error where the engine cannot run the module, or if the module was not made for a memory like this one
   */
  instantiate(base64: string): Readonly<Record<string, unknown>> {
    const isLarge = this.buffer.byteLength > MOST_SMALL_BYTES;
    const module = moduleFor(base64, this.isShared ? 'shared' : isLarge ? 'large' : 'small');
    return new (webAssembly()!.Instance)(module, { env: { memory: this.#memory } }).exports;
  }

  /**
   * Makes a batch that lies in this memory.
   * @throws RangeError for a bad capacity or if the memory is exhausted
   */
  batch(capacity: BatchCapacity): TelemetryBatch {
    return new TelemetryBatch(capacity, this.arena);
  }
}
