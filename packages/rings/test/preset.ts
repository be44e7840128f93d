import { RING_HEADER } from '@int/rings';

/** Makes an empty ring look as if so many records had gone through it. To be done before anything is attached. */
export function presetCount(buffer: ArrayBufferLike, byteOffset: number, count: number): void {
  const header = new Int32Array(buffer, byteOffset);
  for (const counter of [RING_HEADER.PUSHED, RING_HEADER.POPPED]) setCounter(header, counter, count);
}

/** Writes a counter as the README describes it. */
export function setCounter(header: Int32Array, at: number, count: number): void {
  header[at] = (count % 2 ** 32) | 0;
  header[at + 1] = Math.floor(count / 2 ** 31);
}

/** The check word that goes with the four words before it. */
export function checkWord(header: Int32Array): number {
  let check = 0;
  for (const word of header.subarray(0, RING_HEADER.CHECK)) {
    check = Math.imul(check ^ word, 0x9e3779b1);
    check ^= check >>> 15;
  }
  return check;
}
