import { type AcceleratorHost, AcceleratorMemory, Arena } from '@int/codec';

let memory: AcceleratorMemory | null = null;

/**
 * A WebAssembly memory for one cache at a time, as if it were new: each memory reserves gigabytes of address space, and
 * a property makes a cache per run.
 */
export function reusedMemory(): AcceleratorHost {
  memory ??= new AcceleratorMemory(16 << 20);
  const host = memory;
  new Uint8Array(host.buffer).fill(0);
  return {
    buffer: host.buffer,
    arena: new Arena(host.buffer, 64),
    instantiate: (base64) => host.instantiate(base64),
  };
}
