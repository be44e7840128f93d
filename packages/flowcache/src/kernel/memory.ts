import { Arena, type BatchCapacity, TelemetryBatch } from '@int/codec';

const PAGE = 0x10000;
const MOST_BYTES = 0x100000000;

/** The part of the WebAssembly JavaScript interface used here; the package is compiled without the types of a browser or of Node. */
interface WasmMemory {
  readonly buffer: ArrayBufferLike;
}
interface WebAssemblyInterface {
  readonly Memory: new (descriptor: { initial: number; maximum: number; shared: boolean }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: { env: { memory: WasmMemory } },
  ) => { readonly exports: Readonly<Record<string, unknown>> };
}

function webAssembly(): WebAssemblyInterface | undefined {
  return (globalThis as { WebAssembly?: WebAssemblyInterface }).WebAssembly;
}

/** Bytes of base64 text. */
function bytesOf(base64: string): Uint8Array {
  const { atob } = globalThis as { atob?: (text: string) => string };
  if (atob === undefined) throw new Error('there is no atob here');
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

/** "env", "memory", and that this import is a memory; the next byte says which limits it has. */
const IMPORT = /* @__PURE__ */ [3, 0x65, 0x6e, 0x76, 6, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 2];
/** Flags of a memory's limits: there is a maximum; the memory is shared. Threads proposal, "Limits". */
const HAS_MAXIMUM = 1;
const IS_SHARED = 2;

/**
 * Makes a module that imports a memory import one that threads share: the two differ in one bit.
 * @throws Error if the module does not import `env.memory` with a maximum
 */
export function withSharedMemory(module: Uint8Array): Uint8Array {
  for (let at = 0; at + IMPORT.length < module.length; at++) {
    if (IMPORT.every((byte, index) => module[at + index] === byte)) {
      const flags = at + IMPORT.length;
      if (module[flags] !== HAS_MAXIMUM) break;
      const shared = module.slice();
      shared[flags] = HAS_MAXIMUM | IS_SHARED;
      return shared;
    }
  }
  throw new Error('the module does not import env.memory with a maximum');
}

/** Compiled modules by their text; and those for a shared memory. */
const MODULES = /* @__PURE__ */ new Map<string, object>();
const SHARED_MODULES = /* @__PURE__ */ new Map<string, object>();

/** @throws Error where the engine cannot run the module */
function moduleOf(base64: string, isShared: boolean): object {
  const modules = isShared ? SHARED_MODULES : MODULES;
  let module = modules.get(base64);
  if (module === undefined) {
    const wasm = webAssembly();
    if (wasm === undefined) throw new Error('WebAssembly is not available here');
    const bytes = bytesOf(base64);
    module = new wasm.Module(isShared ? withSharedMemory(bytes) : bytes);
    modules.set(base64, module);
  }
  return module;
}

/** Whether this engine can run a module, given as base64 text. */
export function canRun(base64: string): boolean {
  if (webAssembly() === undefined) return false;
  try {
    moduleOf(base64, false);
    return true;
  } catch {
    return false;
  }
}

/** Where a kernel and what it works on lie. A `KernelMemory` of @int/codec is one. */
export interface KernelHost {
  readonly buffer: ArrayBufferLike;
  /** What is left of the memory. */
  readonly arena: Arena;
  /** Instantiates a module, given as base64 text, that imports `env.memory`. */
  instantiate(base64: string): Readonly<Record<string, unknown>>;
}

/**
 * A WebAssembly memory of up to 4 GiB, which other threads can read if it is shared. A cache in it updates from batches
 * in it without copying them.
 *
 * The size is fixed. It is address space, not memory in use: pages never written cost nothing on the usual systems.
 */
export class CacheMemory implements KernelHost {
  readonly buffer: ArrayBufferLike;
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
      throw new RangeError(`the memory must have 1 to 2^32 bytes, not ${byteLength}`);
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

  /**
   * Makes a batch that lies in this memory.
   * @throws RangeError for a bad capacity or if the memory is exhausted
   */
  batch(capacity: BatchCapacity): TelemetryBatch {
    return new TelemetryBatch(capacity, this.arena);
  }

  instantiate(base64: string): Readonly<Record<string, unknown>> {
    const module = moduleOf(base64, this.isShared);
    return new (webAssembly()!.Instance)(module, { env: { memory: this.#memory } }).exports;
  }
}
