import { EntryReader, EXACT, type FlowCache, type FlowEntry } from '@int/flowcache';

/** Orders in which flows can be listed, the largest first. */
export const FLOW_ORDERS = ['packets', 'latency', 'duration', 'changes', 'last'] as const;
export type FlowOrder = (typeof FLOW_ORDERS)[number];

const WORD = 2 ** 32;

/** A number of 64 bits, exact up to 2^53. */
function long(words: Int32Array, at: number): number {
  return (words[at + 1]! >>> 0) * WORD + (words[at]! >>> 0);
}

/** Nanoseconds from time `earlier` to time `later`, exact up to 2^53 for any times. */
function between(words: Int32Array, earlier: number, later: number): number {
  const high = (words[later + 1]! >>> 0) - (words[earlier + 1]! >>> 0);
  return high * WORD + (words[later]! >>> 0) - (words[earlier]! >>> 0);
}

/** Offsets of a cache's entries, in words. */
function placesOf({ words, geometry }: FlowCache, size: number): Float64Array {
  const { rows, buckets, rowsAt, rowStride, bucketsAt, bucketStride } = geometry;
  const places = new Float64Array(size);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    for (let bucket = 0; bucket < buckets; bucket++) {
      if (words[rowsAt + row * rowStride + bucket] === 0) continue;
      places[count++] = bucketsAt + (row * buckets + bucket) * bucketStride;
    }
  }
  return places.subarray(0, count);
}

/**
 * The flows of a cache of the exact layout in order; among equal ones, the older comes first. A flow takes only a few
 * numbers until its object is made, one at a time.
 *
 * @param most most flows to return
 */
export function* flowsInOrder(cache: FlowCache, order: FlowOrder, most: number): Generator<FlowEntry, void, undefined> {
  const { words } = cache;
  const places = placesOf(cache, cache.size);
  const [origin] = places;
  if (origin === undefined) return;
  const keyOf: Record<FlowOrder, (at: number) => number> = {
    packets: (at) => words[at + EXACT.PACKETS]! >>> 0,
    latency(at) {
      const count = words[at + EXACT.END_TO_END_COUNT]! >>> 0;
      return count === 0 ? -1 : long(words, at + EXACT.END_TO_END_SUM) / count;
    },
    duration: (at) => between(words, at + EXACT.FIRST, at + EXACT.LAST),
    changes: (at) => words[at + EXACT.PATH_CHANGES]! >>> 0,
    last: (at) => between(words, origin + EXACT.LAST, at + EXACT.LAST),
  };
  const keys = places.map(keyOf[order]);
  const ages = places.map((at) => between(words, origin + EXACT.FIRST, at + EXACT.FIRST));
  const indices = new Uint32Array(places.length);
  for (let index = 0; index < indices.length; index++) indices[index] = index;
  indices.sort((a, b) => keys[b]! - keys[a]! || ages[a]! - ages[b]! || a - b);
  const reader = new EntryReader(cache.geometry);
  for (const index of indices.subarray(0, most)) yield reader.read(words, places[index]!);
}
