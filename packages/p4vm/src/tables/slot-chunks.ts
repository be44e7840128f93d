/*
 * Typed arrays by slot that grow without being copied: chunk after chunk, each twice as large as the one before.
 */

const FIRST_BITS = 4;

/** Number of the chunk that a slot lies in. */
export function chunkOf(slot: number): number {
  return 31 - Math.clz32((slot >>> FIRST_BITS) + 1);
}

/** Slots of a chunk. */
export function chunkSize(chunk: number): number {
  return 1 << (FIRST_BITS + chunk);
}

/** The first slot of a chunk. */
export function chunkStart(chunk: number): number {
  return chunkSize(chunk) - chunkSize(0);
}
