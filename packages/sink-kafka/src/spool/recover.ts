import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { perKind } from '../parcel.js';
import { CHUNK_HEADER, decodeHeader, decodePayload, MAGIC } from './chunk.js';

/** A file of chunks. */
export interface Segment {
  readonly number: number;
  readonly path: string;
  /** Bytes of whole chunks. */
  size: number;
  /** Where the first chunk is that was not consumed. */
  at: number;
  /** Messages that were not consumed, by number of the kind. */
  readonly counts: Float64Array;
  /** Of each chunk that was not consumed: where it ends, and the time of its earliest report. */
  readonly earliest: { readonly end: number; readonly timeMs: number }[];
}

/** What an earlier process has left. */
export interface Found {
  /** Oldest first. */
  readonly segments: Segment[];
  /** The number of the next segment. */
  readonly next: number;
  /** Bytes that are not chunks, as a process ended while it wrote, or as the disk lost them. They are cut off. */
  readonly cutBytes: number;
}

/** The name of the file that says how far the segments are consumed: number of a segment and offset in it. */
export const POSITION = 'position';
const NAME = /^(\d{12})\.chunks$/;

/** @param number of a segment */
export function segmentName(number: number): string {
  return `${String(number).padStart(12, '0')}.chunks`;
}

/**
 * Finds the chunks in a folder. Segments that were consumed are removed.
 * @throws the system's errors
 */
export function recover(folder: string): Found {
  const position = readPosition(folder);
  const segments: Segment[] = [];
  let next = position.segment + 1;
  let cutBytes = 0;
  const numbers = readdirSync(folder).flatMap((name) => NAME.exec(name)?.[1] ?? []);
  for (const number of numbers.map(Number).sort((a, b) => a - b)) {
    const path = join(folder, segmentName(number));
    next = Math.max(next, number + 1);
    const consumed =
      number < position.segment ? Number.POSITIVE_INFINITY : number > position.segment ? 0 : position.offset;
    const { segment, cut } = scan(path, number, consumed);
    if (consumed !== Number.POSITIVE_INFINITY) cutBytes += cut;
    if (segment.at < segment.size) segments.push(segment);
    else unlinkSync(path);
  }
  return { segments, next, cutBytes };
}

function readPosition(folder: string): { readonly segment: number; readonly offset: number } {
  try {
    const match = /^(\d+) (\d+)\n$/.exec(readFileSync(join(folder, POSITION), 'utf8'));
    if (match !== null) return { segment: Number(match[1]), offset: Number(match[2]) };
  } catch {
    // Nothing was consumed.
  }
  return { segment: 0, offset: 0 };
}

/** Goes from header to header, and takes out what does not belong to a whole chunk. */
function scan(path: string, number: number, consumed: number): { readonly segment: Segment; readonly cut: number } {
  const segment: Segment = { number, path, size: 0, at: 0, counts: perKind(), earliest: [] };
  let cut = 0;
  for (;;) {
    const { end, size } = chunksOf(segment, consumed);
    const next = end < size && consumed < size ? nextChunk(path, end, size) : -1;
    if (next < 0) {
      // The end of a process in the middle of a chunk, or the disk's.
      if (end < size) truncateSync(path, end);
      return { segment, cut: cut + size - end };
    }
    takeOut(path, end, next);
    cut += next - end;
  }
}

/** Finds the chunks from the one on that was not consumed. @returns where the whole ones end, and the size of the file */
function chunksOf(segment: Segment, consumed: number): { readonly end: number; readonly size: number } {
  const file = openSync(segment.path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(CHUNK_HEADER);
    segment.at = Math.min(consumed, size);
    segment.size = segment.at;
    segment.counts.fill(0);
    segment.earliest.length = 0;
    let last = segment.at;
    let lastCounts: readonly number[] = [];
    for (;;) {
      if (readSync(file, bytes, 0, CHUNK_HEADER, segment.size) < CHUNK_HEADER) break;
      const header = decodeHeader(bytes);
      if (header === null || segment.size + CHUNK_HEADER + header.payload > size) break;
      last = segment.size;
      lastCounts = header.counts;
      segment.size += CHUNK_HEADER + header.payload;
      addTo(segment.counts, header.counts, 1);
      segment.earliest.push({ end: segment.size, timeMs: header.earliestMs });
    }
    // After a power cut a file may be long enough without having its bytes.
    if (segment.size === size && segment.at < size && !isWhole(file, last, size)) {
      segment.size = last;
      segment.earliest.pop();
      addTo(segment.counts, lastCounts, -1);
    }
    return { end: segment.size, size };
  } finally {
    closeSync(file);
  }
}

/** Where the next header is behind bytes that are none; -1: there is none. */
function nextChunk(path: string, from: number, size: number): number {
  const bytes = readFileSync(path);
  const mark = Buffer.alloc(4);
  mark.writeUInt32BE(MAGIC);
  for (let at = bytes.indexOf(mark, from + 1); at >= 0; at = bytes.indexOf(mark, at + 1)) {
    const header = decodeHeader(bytes.subarray(at, at + CHUNK_HEADER));
    if (header !== null && at + CHUNK_HEADER + header.payload <= size) return at;
  }
  return -1;
}

/** Removes bytes of a file: it has either all of them or none. */
function takeOut(path: string, from: number, to: number): void {
  const bytes = readFileSync(path);
  writeFileSync(`${path}.new`, Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]));
  renameSync(`${path}.new`, path);
}

function isWhole(file: number, from: number, to: number): boolean {
  const bytes = Buffer.alloc(to - from);
  if (readSync(file, bytes, 0, bytes.length, from) < bytes.length) return false;
  const header = decodeHeader(bytes);
  return header !== null && decodePayload(header, bytes.subarray(CHUNK_HEADER)) !== null;
}

/** Adds `sign` times the numbers of one list to those of the other. */
export function addTo(counts: Float64Array, more: ArrayLike<number>, sign: 1 | -1): void {
  for (let kind = 0; kind < counts.length; kind++) counts[kind]! += sign * (more[kind] ?? 0);
}
