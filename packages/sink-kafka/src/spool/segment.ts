import { fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { perKind } from '../parcel.js';
import { CHUNK_HEADER, type ChunkHeader, ChunkReader, decodeHeader, findHeader } from './chunk.js';

export interface Segment {
  readonly number: number;
  readonly path: string;
  /** Where its first byte is in the spool as a whole. */
  readonly base: number;
  /** Messages of all chunks before it, by number of the kind. It is part of its name. */
  readonly before: readonly number[];
  /** Bytes of it, without what was being written when the process ended. */
  size: number;
  /** Where the first chunk is that was not consumed. */
  at: number;
  /** Messages that were not consumed and can be read, by number of the kind. */
  readonly counts: Float64Array;
  /** Time of the earliest report of each piece, a few chunks one behind the other. */
  readonly earliest: { readonly from: number; end: number; timeMs: number }[];
  /** Bytes that are no chunk: where they begin, and where the next chunk is. */
  readonly holes: Map<number, number>;
  /** Chunks whose missing messages have been reported. */
  readonly told: Set<number>;
  /** Whether anything in it is not as it was written. */
  isDamaged: boolean;
}

export interface FoundChunk {
  readonly at: number;
  readonly header: ChunkHeader;
  /** Bytes of it, with its header, that there are. */
  readonly bytes: number;
}

const NAME = /^(\d{12})-(\d+)-(\d+)-(\d+)\.chunks$/;
/** Bytes of a piece that has one time: many small chunks are to take little memory. */
const EARLIEST_BYTES = 1 << 16;
/** Bytes read at a time in search of a header. */
const BLOCK = 1 << 20;

/** What the name of a segment's file says; null: it is another file. */
export function readName(name: string): { readonly number: number; readonly before: readonly number[] } | null {
  const match = NAME.exec(name);
  return match === null ? null : { number: Number(match[1]), before: match.slice(2).map(Number) };
}

/** Suffix of a file that is kept for inspection. */
export const ASIDE = '.damaged';

/** Whether a file is a segment with a name that cannot be parsed. */
export function isForeign(name: string): boolean {
  return name.endsWith('.chunks') && readName(name) === null;
}

/** A segment without anything in it. @param before messages of all chunks before it, by number of the kind */
export function newSegment(folder: string, number: number, before: readonly number[], base: number): Segment {
  const path = join(folder, `${String(number).padStart(12, '0')}-${before.join('-')}.chunks`);
  const nothing = { size: 0, at: 0, counts: perKind(), earliest: [], holes: new Map(), told: new Set<number>() };
  return { number, path, base, before, ...nothing, isDamaged: false };
}

/** Notes a chunk of a segment: from where it begins to where it ends. */
export function noteEarliest({ earliest }: Segment, from: number, end: number, timeMs: number): void {
  const last = earliest.at(-1);
  if (last === undefined || end - last.from > EARLIEST_BYTES) earliest.push({ from, end, timeMs });
  else {
    last.end = end;
    last.timeMs = Math.min(last.timeMs, timeMs);
  }
}

/** Time of the earliest report that was not consumed, or of one shortly before; infinity: there is none. */
export function earliestOf({ at, earliest }: Segment): number {
  return earliest.reduce(
    (least, { end, timeMs }) => (end > at && timeMs < least ? timeMs : least),
    Number.POSITIVE_INFINITY,
  );
}

/**
 * Goes from chunk to chunk, over what is none.
 * @param file open for reading
 * @param from where a chunk begins, or should
 * @param to where the file ends
 */
export function* chunksOf(file: number, from: number, to: number): Generator<FoundChunk> {
  const bytes = Buffer.allocUnsafe(CHUNK_HEADER);
  for (let at = from; at < to; ) {
    const read = readSync(file, bytes, 0, CHUNK_HEADER, at);
    const header = decodeHeader(bytes.subarray(0, read));
    if (header === null) {
      at = nextHeader(file, at + 1, to);
      continue;
    }
    const end = Math.min(to, at + CHUNK_HEADER + header.payload);
    yield { at, header, bytes: end - at };
    at = end;
  }
}

/** @returns where the next header is; `to`: there is none */
function nextHeader(file: number, from: number, to: number): number {
  const block = Buffer.allocUnsafe(Math.min(BLOCK, Math.max(0, to - from)));
  for (let at = from; at + CHUNK_HEADER <= to; at += block.length - CHUNK_HEADER + 1) {
    const read = readSync(file, block, 0, Math.min(block.length, to - at), at);
    const found = findHeader(block.subarray(0, read), 0);
    if (found >= 0) return at + found;
    if (read < block.length) return to;
  }
  return to;
}

/** What a scan has found besides chunks. */
export interface Damage {
  /** Bytes that were written whole and are not what was written. */
  bytes: number;
  /** Messages of them, by number of the kind, as far as that is known. */
  readonly messages: Float64Array;
  /** Bytes that were being written when the process ended. */
  cutBytes: number;
}

/**
 * Reads what is in a segment that an earlier process has written, and notes what in it is no chunk.
 *
 * Of the last chunk the messages are looked at: after a power cut a file may be long enough without having its bytes. Of
 * others that is found out when they are read.
 * @param file open for reading
 * @param isLast whether it is the last one, at which the process may have been writing
 * @returns messages of all chunks up to its end, by number of the kind
 */
export function scanSegment(segment: Segment, file: number, isLast: boolean, damage: Damage): readonly number[] {
  const { size } = fstatSync(file);
  segment.size = size;
  let end = segment.at;
  // What is before the place up to which it is consumed is of no interest.
  let expected = segment.at === 0 ? segment.before : null;
  let last: FoundChunk | null = null;
  for (const chunk of chunksOf(file, segment.at, size)) {
    if (chunk.at > end) noteHole(segment, end, chunk.at, damage);
    const { before, counts } = chunk.header;
    if (expected !== null) noteGap(expected, before, damage);
    expected = before.map((count, kind) => count + counts[kind]!);
    addTo(segment.counts, counts, 1);
    noteEarliest(segment, chunk.at, chunk.at + chunk.bytes, chunk.header.earliestMs);
    end = chunk.at + chunk.bytes;
    last = chunk;
  }
  if (last !== null) checkChunk(segment, file, last, isLast, damage);
  if (end >= size) return expected ?? segment.before;
  // What is shorter than a header is the beginning of one.
  if (isLast && size - end < CHUNK_HEADER) {
    damage.cutBytes += size - end;
    segment.holes.set(end, size);
  } else noteHole(segment, end, size, damage);
  return expected ?? segment.before;
}

/** Notes the messages that are missing between two places of a spool. */
export function noteGap(from: readonly number[], to: readonly number[], damage: Damage): void {
  to.forEach((count, kind) => {
    damage.messages[kind]! += Math.max(0, count - from[kind]!);
  });
}

function noteHole(segment: Segment, from: number, to: number, damage: Damage): void {
  segment.holes.set(from, to);
  segment.isDamaged = true;
  damage.bytes += to - from;
}

/** Looks at the messages of a chunk, and takes those that are missing off. */
function checkChunk(segment: Segment, file: number, chunk: FoundChunk, isLast: boolean, damage: Damage): void {
  const { at, bytes, header } = chunk;
  const payload = Buffer.allocUnsafe(bytes - CHUNK_HEADER);
  const read = readSync(file, payload, 0, payload.length, at + CHUNK_HEADER);
  const reader = new ChunkReader(header.messages, header.payload);
  const lost = reader.take(header, payload.subarray(0, read));
  if (lost.every((count) => count === 0)) return;
  segment.told.add(at);
  addTo(segment.counts, lost, -1);
  addTo(damage.messages, lost, 1);
  if (isLast && bytes < CHUNK_HEADER + header.payload) damage.cutBytes += reader.damagedBytes;
  else {
    segment.isDamaged = true;
    damage.bytes += reader.damagedBytes;
  }
}

/** Adds `sign` times the numbers of one list to those of the other. */
export function addTo(counts: Float64Array, more: ArrayLike<number>, sign: 1 | -1): void {
  for (let kind = 0; kind < counts.length; kind++) counts[kind]! += sign * (more[kind] ?? 0);
}
