/** Snapshots taken apart and put together again, from the description of their bytes. */
import { crc32 } from 'node:zlib';
import { type CacheGeometry, type FlowCache, writeSnapshot } from '@int/flowcache';

export const MARK_BYTES = 8;
export const HEADER_BYTES: number = MARK_BYTES + 512;

export interface Row {
  row: number;
  /** As many as `entries`, if nobody lies. */
  held: number;
  /** Bucket and rank, tag, bucket. */
  entries: Uint8Array[];
}

export interface Pieces {
  /** "INTFLOWS" and the header. */
  readonly header: Uint8Array;
  readonly rows: Row[];
  /** The two words of the end. */
  readonly end: [number, number];
}

/** All bytes of a snapshot. */
export function snapshotOf(cache: FlowCache): Uint8Array<ArrayBuffer> {
  return joined([...writeSnapshot(cache)]);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function words(...values: number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  values.forEach((value, index) => {
    view.setUint32(index * 4, value >>> 0, true);
  });
  return bytes;
}

/** A word of a piece. */
export function wordOf(bytes: Uint8Array, word: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(word * 4, true);
}

export function setWord(bytes: Uint8Array, word: number, value: number): void {
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).setUint32(word * 4, value >>> 0, true);
}

export function takeApart(bytes: Uint8Array, { bucketStride }: CacheGeometry): Pieces {
  const at = (offset: number): number => wordOf(bytes.subarray(offset, offset + 4), 0);
  const size = 8 + 4 * bucketStride;
  const rows: Row[] = [];
  let offset = HEADER_BYTES + 4;
  while (at(offset) !== 0xffffffff) {
    const held = at(offset + 4);
    const entries = Array.from({ length: held }, (_, index) => {
      const first = offset + 8 + index * size;
      return bytes.slice(first, first + size);
    });
    rows.push({ row: at(offset), held, entries });
    offset += 8 + held * size;
  }
  return { header: bytes.slice(0, HEADER_BYTES), rows, end: [at(offset), at(offset + 4)] };
}

/** The bytes of pieces, with checksums that are right. */
export function putTogether({ header, rows, end }: Pieces): Uint8Array<ArrayBuffer> {
  const bytes = joined([
    header,
    words(crc32(header)),
    ...rows.flatMap(({ row, held, entries }) => [words(row, held), ...entries]),
    words(...end),
  ]);
  return joined([bytes, words(crc32(bytes))]);
}

/** Makes the checksums right in bytes that may be anything. */
export function sealed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  if (copy.length >= HEADER_BYTES + 4) copy.set(words(crc32(copy.subarray(0, HEADER_BYTES))), HEADER_BYTES);
  if (copy.length >= HEADER_BYTES + 8) copy.set(words(crc32(copy.subarray(0, -4))), copy.length - 4);
  return copy;
}
