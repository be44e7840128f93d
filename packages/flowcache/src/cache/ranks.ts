/**
 * The order in which the flows of a row were updated: one byte per bucket, see layout.ts. Four bytes are worked on at
 * once. All are below 128, so no sum or difference reaches into the next byte.
 */
import { EMPTY_RANK } from '../layout.js';

/** The rank of a bucket. `ranksAt` is the word of the row's first ranks. */
export function rankOf(words: Int32Array, ranksAt: number, bucket: number): number {
  return (words[ranksAt + (bucket >> 2)]! >>> ((bucket & 3) << 3)) & 0xff;
}

export function setRank(words: Int32Array, ranksAt: number, bucket: number, rank: number): void {
  const at = ranksAt + (bucket >> 2);
  const shift = (bucket & 3) << 3;
  words[at] = (words[at]! & ~(0xff << shift)) | (rank << shift);
}

/** Makes a bucket of rank `rank` the one updated last: those before it move back by one. */
export function toFront(words: Int32Array, ranksAt: number, rankWords: number, bucket: number, rank: number): void {
  const limit = Math.imul(rank, 0x01010101);
  const end = ranksAt + rankWords;
  for (let at = ranksAt; at < end; at++) {
    const four = words[at]!;
    // The upper bit of each byte: set unless the byte is below the rank.
    const reached = ((four | 0x80808080) - limit) | 0;
    words[at] = four + ((~reached & 0x80808080) >>> 7);
  }
  setRank(words, ranksAt, bucket, 0);
}

/** Makes a bucket of rank `rank` an empty one: those behind it move up by one. */
export function toEmpty(words: Int32Array, ranksAt: number, buckets: number, bucket: number, rank: number): void {
  for (let other = 0; other < buckets; other++) {
    const behind = rankOf(words, ranksAt, other);
    if (behind > rank && behind !== EMPTY_RANK) setRank(words, ranksAt, other, behind - 1);
  }
  setRank(words, ranksAt, bucket, EMPTY_RANK);
}

/** The bucket of a given rank, or -1. */
export function bucketOfRank(words: Int32Array, ranksAt: number, buckets: number, rank: number): number {
  for (let bucket = 0; bucket < buckets; bucket++) {
    if (rankOf(words, ranksAt, bucket) === rank) return bucket;
  }
  return -1;
}
