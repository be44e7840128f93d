/** WebAssembly modules that import `env.memory`, compiled once per text and kind of memory. */
import { decodeBase64 } from './base64.js';
import { webAssembly } from './webassembly.js';

/** "env", "memory", and that this import is a memory; the next byte says which limits it has. */
const IMPORT = /* @__PURE__ */ [3, 0x65, 0x6e, 0x76, 6, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 2];
/** Flags of a memory's limits: there is a maximum; the memory is shared. Threads proposal, "Limits". */
const HAS_MAXIMUM = 1;
const IS_SHARED = 2;

/** Where a module says which limits the memory that it imports has; -1 unless they are a maximum and nothing else. */
function limitsAt(module: Uint8Array): number {
  for (let at = 0; at + IMPORT.length < module.length; at++) {
    if (IMPORT.every((byte, index) => module[at + index] === byte)) {
      return module[at + IMPORT.length] === HAS_MAXIMUM ? at + IMPORT.length : -1;
    }
  }
  return -1;
}

/**
 * Makes a module that imports a memory import one that threads share: the two differ in one bit.
 *
 * @throws Error if the module does not import `env.memory`, unshared, with a maximum
 */
export function withSharedMemory(module: Uint8Array): Uint8Array {
  const at = limitsAt(module);
  if (at < 0) throw new Error('the module does not import env.memory with a maximum');
  // Not `slice`, which of a Buffer is the same memory.
  const shared = Uint8Array.from(module);
  shared[at] = HAS_MAXIMUM | IS_SHARED;
  return shared;
}

/** `small`: not shared and not beyond 2 GiB, which every module can have. `large`: beyond. Both others need a maximum. */
export type MemoryKind = 'small' | 'large' | 'shared';

const MODULES = {
  small: /* @__PURE__ */ new Map<string, object>(),
  large: /* @__PURE__ */ new Map<string, object>(),
  shared: /* @__PURE__ */ new Map<string, object>(),
};

/**
 * The module for a kind of memory.
 *
 * @throws Error where the engine cannot run it, or if it was not made for such a memory
 */
export function moduleFor(base64: string, kind: MemoryKind): object {
  const modules = MODULES[kind];
  let module = modules.get(base64);
  if (module === undefined) {
    const wasm = webAssembly();
    if (wasm === undefined) throw new Error('WebAssembly is not available here');
    const bytes = decodeBase64(base64);
    // Addresses from 2^31 on are negative to an accelerator that takes them as signed; one that does not states a maximum.
    if (kind === 'large' && limitsAt(bytes) < 0) throw new Error('the module was not made for more than 2 GiB');
    module = new wasm.Module(kind === 'shared' ? withSharedMemory(bytes) : bytes);
    modules.set(base64, module);
  }
  return module;
}

/**
 * Whether this JavaScript engine can run a WebAssembly module that imports `env.memory`.
 *
 * @param base64 the module as base64 text
 */
export function canRunAccelerator(base64: string): boolean {
  if (webAssembly() === undefined) return false;
  try {
    moduleFor(base64, 'small');
    return true;
  } catch {
    return false;
  }
}
