import { Arena, type KernelHost, KernelMemory } from '@int/codec';

let memory: KernelMemory | null = null;

/**
 * A WebAssembly memory for one cache at a time, as if it were new: each memory reserves gigabytes of address space, and
 * a property makes a cache per run.
 */
export function reusedMemory(): KernelHost {
  memory ??= new KernelMemory(16 << 20);
  const host = memory;
  new Uint8Array(host.buffer).fill(0);
  return {
    buffer: host.buffer,
    arena: new Arena(host.buffer, 64),
    instantiate: (base64) => host.instantiate(base64),
  };
}
