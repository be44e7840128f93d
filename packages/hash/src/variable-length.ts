import { rangeEnd } from './arguments.js';

/** xxHash for keys of any length: the signatures and results of `xxh32` and `xxh64`, computed in WebAssembly. */
export interface VariableLengthHasher {
  /**
   * xxh32 of a run of bytes.
   *
   * @param bytes the message, or a buffer that contains it
   * @param offset its first byte; 0 if absent
   * @param length its length in bytes; up to the end of `bytes` if absent
   * @param seed taken modulo 2^32; 0 if absent
   * @returns the hash, unsigned
   * @throws TypeError if `bytes` is not a Uint8Array; RangeError if the range is not inside it, or if the message does
   *   not fit into WebAssembly's memory
   */
  xxh32(bytes: Uint8Array, offset?: number, length?: number, seed?: number): number;
  /**
   * xxh64 of a run of bytes.
   *
   * @param bytes the message, or a buffer that contains it
   * @param offset its first byte; 0 if absent
   * @param length its length in bytes; up to the end of `bytes` if absent
   * @param seed taken modulo 2^64; 0 if absent
   * @returns the hash, 0..2^64 - 1
   * @throws TypeError if `bytes` is not a Uint8Array; RangeError if the range is not inside it, or if the message does
   *   not fit into WebAssembly's memory
   */
  xxh64(bytes: Uint8Array, offset?: number, length?: number, seed?: bigint): bigint;
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
