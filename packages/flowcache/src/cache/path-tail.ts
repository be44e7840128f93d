/**
 * A hash of the switch ids that a bucket has no room for: all changes among them are seen but for one in 2^32. The steps
 * are those of MurmurHash3.
 */

/** The hash starts from this. Without ids, the word is 0. */
export const TAIL_SEED: number = 0x9747b28c | 0;

/** Adds an id. */
export function mixTail(tail: number, id: number): number {
  let key = Math.imul(id, 0xcc9e2d51);
  key = Math.imul((key << 15) | (key >>> 17), 0x1b873593);
  const mixed = tail ^ key;
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

/** The word for a tail of at least one id. It is never 0, which stands for none. */
export function finishTail(tail: number): number {
  return tail === 0 ? 1 : tail;
}
