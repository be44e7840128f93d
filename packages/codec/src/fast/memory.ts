import { Arena } from '../arena.js';
import { type BatchCapacity, TelemetryBatch } from '../batch.js';
import { decodeBase64 } from './base64.js';
import { type WasmMemory, webAssembly } from './webassembly.js';

const PAGE = 0x10000;

/**
 * A WebAssembly memory to share out: batches, input and frame tables that lie in it are decoded in place.
 *
 * The size is fixed, so that no view of it is ever detached. It is address space, not memory in use: pages that are
 * never written cost nothing on the usual systems.
 *
 * @example
 * const memory = new KernelMemory(64 << 20);
 * const decoder = new KernelReport2(memory, { intPorts: [5000] });
 * const batch = memory.batch({ frames: 1024 });
 * const input = memory.bytes(1 << 20);
 */
export class KernelMemory {
  /** @internal */
  readonly memory: WasmMemory;
  readonly buffer: ArrayBuffer;
  /** What is left of the memory, for columns and state that are to lie next to the batches. */
  readonly arena: Arena;

  /**
   * @param byteLength bytes to provide, rounded up to 64 KiB; at most 2 GiB
   * @throws RangeError for a length out of range
   * @throws Error where WebAssembly is missing
   */
  constructor(byteLength: number) {
    if (!(byteLength > 0 && byteLength <= 0x80000000)) {
      throw new RangeError(`kernel memory must have 1 to 2^31 bytes, not ${byteLength}`);
    }
    const wasm = webAssembly();
    if (wasm === undefined) throw new Error('WebAssembly is not available here');
    const pages = Math.ceil(byteLength / PAGE);
    this.memory = new wasm.Memory({ initial: pages, maximum: pages });
    this.buffer = this.memory.buffer;
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
   * Instantiates a WebAssembly module that imports `env.memory` over this memory, for kernels of other packages.
   * @param base64 the module as base64 text
   * @returns what it exports
   * @throws Error where the engine cannot run the module
   */
  instantiate(base64: string): Readonly<Record<string, unknown>> {
    const wasm = webAssembly()!;
    const module = new wasm.Module(decodeBase64(base64));
    const instance = new wasm.Instance(module, { env: { memory: this.memory } });
    return instance.exports;
  }

  /**
   * Makes a batch that lies in this memory.
   * @throws RangeError for a bad capacity or if the memory is exhausted
   */
  batch(capacity: BatchCapacity): TelemetryBatch {
    return new TelemetryBatch(capacity, this.arena);
  }
}
