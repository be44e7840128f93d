import { mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, unlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { KafkaSinkError } from '../errors.js';
import type { MessageSlabCapacity } from '../message/slab.js';
import { type Parcel, perKind } from '../parcel.js';
import { CHUNK_HEADER, type ChunkHeader, ChunkReader, decodeHeader, encodeChunk } from './chunk.js';
import { lockFolder } from './lock.js';
import { POSITION, recover } from './recover.js';
import { ASIDE, addTo, chunksOf, earliestOf, newSegment, noteEarliest, type Segment } from './segment.js';

/** When bytes are forced onto the disk. */
export const SPOOL_SYNCS = ['never', 'segment', 'chunk'] as const;
export type SpoolSync = (typeof SPOOL_SYNCS)[number];

export interface SpoolSettings {
  /** Made if it is not there. */
  readonly directory: string;
  /** Bytes of all segments together, at most. */
  readonly limitBytes: number;
  /** Bytes after which a new segment is begun. */
  readonly segmentBytes: number;
  readonly sync: SpoolSync;
  /** Messages and bytes that are read at a time; a chunk that is larger is read alone. */
  readonly batch: MessageSlabCapacity;
  /** Reuses the last segment when all of it is consumed: less work if messages are consumed soon. */
  readonly keepsSegment: boolean;
  /** Messages cannot be read any more. @param counts by number of the kind */
  readonly onLost: (counts: ArrayLike<number>) => void;
  readonly onProblem: (problem: KafkaSinkError) => void;
}

export interface SpoolBatch {
  readonly parcel: Parcel;
  /** Where they end, for {@link Spool.consume}. */
  readonly end: number;
  /** How many there are, by number of the kind. */
  readonly counts: Float64Array;
}

/** Times that a segment may fail to be read before its messages are given up. */
const READ_TRIES = 3;
/** Damaged segments that are kept for inspection. */
const KEPT_ASIDE = 4;

/**
 * Messages on disk, first in, first out, in a folder of its own.
 *
 * They are kept in segments, files to which whole chunks are appended, and which are removed when they are consumed; see
 * chunk.ts. What is in a segment stays there if the process ends, and is found by the next one that opens the folder. How
 * far the first segment is consumed is in a file `position`: after an end that was not in order, what was consumed last may
 * come again. Bytes that are not what was written are passed over, up to the next message that is; a segment with such
 * bytes is set aside when it is consumed, as `NUMBER.chunks.damaged`.
 *
 * Places are counted in bytes over all segments that were there since it was opened.
 */
export class Spool {
  readonly #settings: SpoolSettings;
  readonly #segments: Segment[];
  readonly #unlock: () => void;
  readonly #counts = perKind();
  readonly #foundCounts: Float64Array;
  /** Messages of all chunks so far, by number of the kind. */
  readonly #appended: Float64Array;
  #next: number;
  #end = 0;
  #bytes = 0;
  #damagedBytes: number;
  #damagedMessages = 0;
  /** The last segment, open for writing. */
  #writer: FileHandle | null = null;
  #reader: { readonly segment: Segment; readonly file: FileHandle } | null = null;
  /** Failures in a row to read the first segment. */
  #failedReads = 0;
  #scratch: Buffer | null = null;
  /** Disk operations run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /** Opens a folder, synchronously. @throws KafkaSinkError ERR_KAFKA_SPOOL_IN_USE, ERR_KAFKA_DISK */
  constructor(settings: SpoolSettings) {
    this.#settings = settings;
    const { directory } = settings;
    try {
      mkdirSync(directory, { recursive: true });
      this.#unlock = lockFolder(directory);
    } catch (error) {
      throw KafkaSinkError.is(error) ? error : diskError(directory, error);
    }
    try {
      const { counts, damage, isPositionDamaged, next, segments } = recover(directory);
      this.#segments = segments;
      this.#next = next;
      this.#appended = Float64Array.from(counts);
      this.#damagedBytes = damage.bytes + damage.cutBytes;
      for (const segment of segments) {
        this.#bytes += segment.size;
        addTo(this.#counts, segment.counts, 1);
      }
      this.#end = this.#bytes;
      this.#foundCounts = this.#counts.slice();
      addTo(this.#foundCounts, damage.messages, 1);
      this.#tellOfFound(damage.bytes, damage.cutBytes, damage.messages, isPositionDamaged);
    } catch (error) {
      this.#unlock();
      throw diskError(directory, error);
    }
  }

  get fullError(): KafkaSinkError {
    const { directory, limitBytes } = this.#settings;
    return new KafkaSinkError('ERR_KAFKA_SPOOL_FULL', `${directory} has reached its ${limitBytes} bytes`);
  }

  /** Messages that are held, by number of the kind. */
  get counts(): Float64Array {
    return this.#counts.slice();
  }

  /** Messages that an earlier process has left, by number of the kind, those included that cannot be read any more. */
  get foundCounts(): Float64Array {
    return this.#foundCounts.slice();
  }

  get isEmpty(): boolean {
    return this.start === this.#end;
  }

  get start(): number {
    const first = this.#segments[0];
    return first === undefined ? this.#end : first.base + first.at;
  }

  get end(): number {
    return this.#end;
  }

  /** Time of the earliest report that was not consumed, or a bit before, in milliseconds; infinity: there is none. */
  get earliestMs(): number {
    return this.#segments.reduce((least, segment) => Math.min(least, earliestOf(segment)), Number.POSITIVE_INFINITY);
  }

  /** Bytes on disk that were not consumed. */
  get bytes(): number {
    return this.#end - this.start;
  }

  /** Damaged bytes that were skipped. */
  get damagedBytes(): number {
    return this.#damagedBytes;
  }

  get damagedMessages(): number {
    return this.#damagedMessages;
  }

  /**
   * Appends what is not settled of parcels and was not appended before, and notes it in them; with `sync: chunk`, forces
   * all of it onto the disk at once.
   * @returns `full`: not all of it, as it would exceed the limit; what was appended is noted
   * @throws KafkaSinkError ERR_KAFKA_DISK: nothing was appended
   */
  append(...parcels: Parcel[]): Promise<'stored' | 'full'> {
    return this.#inTurn(() => this.#append(parcels));
  }

  /**
   * Reads the first messages, as many as are read at a time.
   * @param before where to stop
   * @returns null if there are none
   * @throws KafkaSinkError ERR_KAFKA_DISK
   */
  head(before: number): Promise<SpoolBatch | null> {
    return this.#inTurn(() => this.#head(before));
  }

  /**
   * Removes the first messages.
   * @param end the place behind them
   * @param counts how many there are, by number of the kind
   * @throws KafkaSinkError ERR_KAFKA_DISK; they are removed all the same, but the next process may find them again
   */
  consume(end: number, counts: ArrayLike<number>): Promise<void> {
    return this.#inTurn(() => this.#consume(end, counts));
  }

  /** Syncs the files and releases the folder. */
  close(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        if (this.#settings.sync !== 'never') await this.#writer?.datasync();
        if (this.isEmpty) for (const segment of this.#segments.splice(0)) await this.#remove(segment);
      } catch (error) {
        this.#settings.onProblem(this.#error(error));
      }
      await this.#writer?.close().catch(() => undefined);
      await this.#reader?.file.close().catch(() => undefined);
      this.#writer = null;
      this.#reader = null;
      this.#unlock();
    });
  }

  #tellOfFound(bytes: number, cutBytes: number, messages: Float64Array, isPositionDamaged: boolean): void {
    const { directory, onLost, onProblem } = this.#settings;
    this.#damagedMessages = messages.reduce((sum, count) => sum + count);
    if (this.#damagedMessages > 0) onLost(messages);
    const tell = (text: string): void => {
      onProblem(new KafkaSinkError('ERR_KAFKA_SPOOL_DAMAGED', `${directory}: ${text}`));
    };
    if (isPositionDamaged) tell('it is not known what was sent last: it may be sent again');
    if (bytes > 0) tell(`${bytes} bytes are not what was written`);
    else if (cutBytes > 0) tell(`${cutBytes} bytes were being written when the process ended`);
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#last.then(action);
    this.#last = done.catch(() => undefined);
    return done;
  }

  #error(error: unknown): KafkaSinkError {
    return KafkaSinkError.is(error) ? error : diskError(this.#settings.directory, error);
  }

  async #append(parcels: readonly Parcel[]): Promise<'stored' | 'full'> {
    const { limitBytes, segmentBytes, sync } = this.#settings;
    const notes: (() => void)[] = [];
    let segment = this.#segments.at(-1);
    let written = segment?.size ?? 0;
    let isFull = false;
    const appended = this.#appended.slice();
    const counts = perKind();
    try {
      for (const parcel of parcels) {
        const rows = parcel.slab.count;
        const chunk = encodeChunk(parcel, parcel.stored.rows, appended, this.#scratch);
        if (chunk === null) {
          notes.push(() => parcel.noteStored(rows, null, null));
          continue;
        }
        this.#scratch = Buffer.from(chunk.buffer, 0, chunk.buffer.byteLength);
        isFull = this.#bytes + written - (segment?.size ?? 0) + chunk.length > limitBytes;
        if (isFull) break;
        // All of a commit goes into one segment, so that one look at the disk is enough.
        if (this.#writer === null || segment === undefined || (written === segment.size && written >= segmentBytes)) {
          segment = await this.#begin();
          written = 0;
        }
        await this.#write(chunk, written);
        const from = written;
        written += chunk.length;
        const { counts: ofChunk, earliestMs } = decodeHeader(chunk)!;
        addTo(appended, ofChunk, 1);
        addTo(counts, ofChunk, 1);
        const into = segment;
        const end = written;
        notes.push(() => {
          noteEarliest(into, from, end, earliestMs);
          parcel.noteStored(rows, into.base + end, ofChunk);
        });
      }
      if (sync === 'chunk' && segment !== undefined && written > segment.size) await this.#writer!.datasync();
    } catch (error) {
      await this.#cutBack();
      throw this.#error(error);
    }
    if (segment !== undefined) {
      this.#bytes += written - segment.size;
      segment.size = written;
      this.#end = segment.base + written;
      addTo(segment.counts, counts, 1);
    }
    addTo(this.#counts, counts, 1);
    this.#appended.set(appended);
    for (const note of notes) note();
    return isFull ? 'full' : 'stored';
  }

  async #write(chunk: Buffer, at: number): Promise<void> {
    let done = 0;
    while (done < chunk.length) {
      const { bytesWritten } = await this.#writer!.write(chunk, done, chunk.length - done, at + done);
      done += bytesWritten;
    }
  }

  async #begin(): Promise<Segment> {
    const { directory, sync } = this.#settings;
    if (this.#writer !== null) {
      if (sync !== 'never') await this.#writer.datasync();
      await this.#writer.close();
      this.#writer = null;
    }
    const segment = newSegment(directory, this.#next, [...this.#appended], this.#end);
    this.#writer = await open(segment.path, 'wx');
    this.#next += 1;
    const last = this.#segments.at(-1);
    this.#segments.push(segment);
    // One that was consumed and kept to go on in.
    if (last !== undefined && last.at === last.size) await this.#drop(last);
    if (sync !== 'never') await syncFolder(directory);
    return segment;
  }

  /** Handles a failed write, which may have left part of a chunk. */
  async #cutBack(): Promise<void> {
    const last = this.#segments.at(-1);
    if (this.#writer === null || last === undefined) return;
    try {
      await this.#writer.truncate(last.size);
    } catch {
      // The next chunk is written over it, or the next process passes over it.
    }
    if (last.size > 0) return;
    // An empty segment is none.
    this.#segments.pop();
    await this.#writer.close().catch(() => undefined);
    this.#writer = null;
    await unlink(last.path).catch(() => undefined);
  }

  async #head(before: number): Promise<SpoolBatch | null> {
    while (this.start < Math.min(before, this.#end)) {
      const segment = this.#segments[0]!;
      try {
        const batch = await this.#readBatch(segment, before);
        this.#failedReads = 0;
        if (batch !== null) return batch;
      } catch (error) {
        this.#failedReads += 1;
        if (this.#failedReads < READ_TRIES) throw this.#error(error);
        this.#failedReads = 0;
        this.#settings.onProblem(this.#error(error));
        await this.#lose(segment, segment.size, segment.counts.slice());
      }
    }
    return null;
  }

  /** @returns null if there is nothing sound at the beginning of the segment: that has been passed over */
  async #readBatch(segment: Segment, before: number): Promise<SpoolBatch | null> {
    const hole = segment.holes.get(segment.at);
    if (hole !== undefined) {
      await this.#pass(hole - segment.at, perKind());
      return null;
    }
    const { batch } = this.#settings;
    const limit = Math.min(segment.size, before - segment.base);
    let bytes = await this.#read(segment, segment.at, Math.min(limit - segment.at, batch.bytes + CHUNK_HEADER));
    const first = decodeHeader(bytes);
    if (first === null) {
      await this.#findNext(segment);
      return null;
    }
    if (CHUNK_HEADER + first.payload > bytes.length) {
      const whole = Math.min(limit - segment.at, CHUNK_HEADER + first.payload);
      bytes = await this.#read(segment, segment.at, whole);
    }
    return this.#takeChunks(segment, bytes, first);
  }

  /** Takes the chunks at the beginning of `bytes`: the first one, and others that are there as a whole and have room. */
  async #takeChunks(segment: Segment, bytes: Buffer, first: ChunkHeader): Promise<SpoolBatch | null> {
    const { batch } = this.#settings;
    const chunks: { readonly header: ChunkHeader; readonly at: number; readonly end: number }[] = [];
    let messages = 0;
    let payload = 0;
    for (let at = 0, header: ChunkHeader | null = first; header !== null; header = decodeHeader(bytes, at)) {
      const end = at + CHUNK_HEADER + header.payload;
      const isFirst = chunks.length === 0;
      if (!isFirst && (end > bytes.length || messages + header.messages > batch.messages)) break;
      messages += header.messages;
      payload += header.payload;
      chunks.push({ header, at, end: Math.min(end, bytes.length) });
      at = end;
    }
    const reader = new ChunkReader(messages, payload);
    const lost = perKind();
    let damagedBytes = 0;
    for (const { at, end, header } of chunks) {
      const before = reader.damagedBytes;
      const missing = reader.take(header, bytes.subarray(at + CHUNK_HEADER, end));
      if (segment.told.has(segment.at + at) || missing.every((count) => count === 0)) continue;
      segment.told.add(segment.at + at);
      addTo(lost, missing, 1);
      damagedBytes += reader.damagedBytes - before;
    }
    if (lost.some((count) => count > 0)) this.#tellLost(segment, damagedBytes, lost);
    const parcel = reader.finish();
    const length = chunks.at(-1)!.end;
    const counts = perKind();
    parcel.countUnsettled(counts);
    if (parcel.remaining === 0) {
      await this.#pass(length, counts);
      return null;
    }
    return { parcel, end: segment.base + segment.at + length, counts };
  }

  /** Skips damaged bytes up to the next chunk. */
  async #findNext(segment: Segment): Promise<void> {
    const { file } = await this.#readerOf(segment);
    const lost = segment.counts.slice();
    let next = segment.size;
    for (const { at, header } of chunksOf(file.fd, segment.at, segment.size)) {
      next = Math.min(next, at);
      addTo(lost, header.counts, -1);
    }
    await this.#lose(
      segment,
      next,
      lost.map((count) => Math.max(0, count)),
    );
  }

  async #readerOf(segment: Segment): Promise<{ readonly file: FileHandle }> {
    if (this.#reader?.segment !== segment) {
      const before = this.#reader;
      this.#reader = null;
      await before?.file.close();
      this.#reader = { segment, file: await open(segment.path, 'r') };
    }
    return this.#reader;
  }

  /** @returns as many bytes as there are */
  async #read(segment: Segment, at: number, length: number): Promise<Buffer> {
    const { file } = await this.#readerOf(segment);
    const bytes = Buffer.allocUnsafeSlow(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await file.read(bytes, done, length - done, at + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  }

  /** Gives up bytes at the beginning of the first segment. @param to where it goes on */
  async #lose(segment: Segment, to: number, counts: Float64Array): Promise<void> {
    const bytes = to - segment.at;
    this.#tellLost(segment, bytes, counts);
    await this.#pass(bytes, perKind());
  }

  #tellLost(segment: Segment, bytes: number, counts: Float64Array): void {
    const { directory, onLost, onProblem } = this.#settings;
    segment.isDamaged = true;
    this.#damagedBytes += bytes;
    this.#damagedMessages += counts.reduce((sum, count) => sum + count);
    onProblem(new KafkaSinkError('ERR_KAFKA_SPOOL_DAMAGED', `${directory}: ${bytes} bytes are not what was written`));
    addTo(segment.counts, counts, -1);
    addTo(this.#counts, counts, -1);
    onLost(counts);
  }

  /** Removes bytes without usable messages. */
  async #pass(bytes: number, counts: ArrayLike<number>): Promise<void> {
    try {
      await this.#consume(this.start + bytes, counts);
    } catch (error) {
      this.#settings.onProblem(this.#error(error));
    }
  }

  async #consume(end: number, counts: ArrayLike<number>): Promise<void> {
    const rest = Float64Array.from({ length: this.#counts.length }, (_, kind) => counts[kind] ?? 0);
    addTo(this.#counts, rest, -1);
    let failure: unknown = null;
    for (let segment = this.#segments[0]; segment !== undefined && segment.base < end; segment = this.#segments[0]) {
      const isWhole = segment.base + segment.size <= end;
      if (isWhole) {
        addTo(rest, segment.counts, -1);
        segment.counts.fill(0);
      } else addTo(segment.counts, rest, -1);
      segment.at = isWhole ? segment.size : Math.max(segment.at, end - segment.base);
      const isLast = this.#segments.length === 1;
      try {
        if (!isWhole || (isLast && this.#settings.keepsSegment && this.#writer !== null)) {
          await this.#savePosition(segment.number, segment.at);
          break;
        }
        if (isLast) {
          await this.#writer?.close();
          this.#writer = null;
        }
        await this.#drop(segment);
      } catch (error) {
        failure ??= error;
        if (this.#segments[0] === segment) break;
      }
    }
    if (failure !== null) throw this.#error(failure);
  }

  /** Forgets a segment that was consumed, and removes its file. */
  async #drop(segment: Segment): Promise<void> {
    this.#segments.splice(this.#segments.indexOf(segment), 1);
    this.#bytes -= segment.size;
    if (this.#reader?.segment === segment) {
      const { file } = this.#reader;
      this.#reader = null;
      await file.close();
    }
    await this.#remove(segment);
  }

  /** Removes a file, or sets it aside. */
  async #remove({ isDamaged, path }: Segment): Promise<void> {
    if (!isDamaged) {
      await unlink(path);
      return;
    }
    await rename(path, `${path}${ASIDE}`);
    const { directory } = this.#settings;
    const aside = (await readdir(directory)).filter((name) => name.endsWith(ASIDE)).sort();
    for (const name of aside.slice(0, -KEPT_ASIDE)) await unlink(join(directory, basename(name)));
  }

  async #savePosition(segment: number, offset: number): Promise<void> {
    const path = join(this.#settings.directory, POSITION);
    await writeFile(`${path}.new`, `${segment} ${offset}\n`);
    await rename(`${path}.new`, path);
  }
}

/** Makes the name of a new file last. Where folders cannot be opened, as on Windows, the system sees to that. */
async function syncFolder(directory: string): Promise<void> {
  let folder: FileHandle;
  try {
    folder = await open(directory, 'r');
  } catch {
    return;
  }
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function diskError(directory: string, error: unknown): KafkaSinkError {
  return new KafkaSinkError('ERR_KAFKA_DISK', `${directory}: ${error instanceof Error ? error.message : error}`, error);
}
