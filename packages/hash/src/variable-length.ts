import { rangeEnd } from './arguments.js';
import type { xxh32 } from './xxh32.js';
import type { xxh64 } from './xxh64.js';

/**
 * xxHash for keys of any length, computed in WebAssembly. Signatures and results are those of `xxh32` and `xxh64`; a
 * message that does not fit into WebAssembly's memory is a RangeError as well.
 */
export interface VariableLengthHasher {
  readonly xxh32: typeof xxh32;
  readonly xxh64: typeof xxh64;
}

function range(bytes: Uint8Array, offset: number, length: number | undefined): Uint8Array {
  const end = rangeEnd(bytes, offset, length);
  return offset === 0 && end === bytes.length ? bytes : bytes.subarray(offset, end);
}

/**
 * Loads xxhash-wasm and makes a hasher for keys of variable length. Nothing is loaded before the first call. Each
 * hasher has its own WebAssembly memory. Each message is copied into it, and it grows to the longest message.
 *
 * @returns the hasher; its methods are synchronous and need no `this`
 * @throws (rejects) the platform's error if WebAssembly is missing or forbidden
 */
export async function createVariableLengthHasher(): Promise<VariableLengthHasher> {
  const { default: createXxHash } = await import('xxhash-wasm');
  const { h32Raw, h64Raw } = await createXxHash();
  return {
    xxh32: (bytes, offset = 0, length, seed = 0) => h32Raw(range(bytes, offset, length), seed),
    xxh64: (bytes, offset = 0, length, seed = 0n) => h64Raw(range(bytes, offset, length), seed),
  };
}
