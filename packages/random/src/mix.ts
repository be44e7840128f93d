/** Finaliser of MurmurHash3 (Austin Appleby, public domain): a bijection of 32 bits in which every bit affects every. */
export function mix32(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
