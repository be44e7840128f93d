import { mkdirSync } from 'node:fs';
import { type FileHandle, open, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KafkaSinkError } from '../errors.js';
import { type Parcel, perKind } from '../parcel.js';
import { CHUNK_HEADER, decodeHeader, decodePayload, encodeChunk } from './chunk.js';
import { lockFolder } from './lock.js';
import { addTo, POSITION, recover, type Segment, segmentName } from './recover.js';

/** When bytes are forced onto the disk. */
export const SPOOL_SYNCS = ['never', 'segment', 'chunk'] as const;
export type SpoolSync = (typeof SPOOL_SYNCS)[number];

export type Appended = 'stored' | 'full' | 'nothing';

export interface SpoolSettings {
  /** Made if it is not there. */
  readonly directory: string;
  /** Bytes of all segments together, at most. */
  readonly limitBytes: number;
  /** Bytes after which a new segment is begun. */
  readonly segmentBytes: number;
  readonly sync: SpoolSync;
  /**
   * Messages cannot be read any more.
   * @param counts by number of the kind
   */
  readonly onLost: (counts: ArrayLike<number>) => void;
  readonly onProblem: (problem: KafkaSinkError) => void;
}

/**
 * Messages on disk, first in, first out, in a folder of its own.
 *
 * They are kept in segments, files to which whole chunks are appended, and which are removed when they are consumed; see
 * chunk.ts. What is in a segment stays there if the process ends, and is found by the next one that opens the folder; a
 * chunk that was being written is cut off. How far the first segment is consumed is in a file `position`: after an end
 * that was not in order, the chunk consumed last may come again.
 */
export class Spool {
  readonly #settings: SpoolSettings;
  readonly #segments: Segment[];
  readonly #unlock: () => void;
  readonly #counts = perKind();
  readonly #foundCounts: Float64Array;
  #next: number;
  #bytes = 0;
  #damagedBytes: number;
  /** The last segment, open for writing. */
  #writer: FileHandle | null = null;
  #reader: { readonly segment: Segment; readonly file: FileHandle } | null = null;
  #scratch: Buffer | null = null;
  /** Bytes of the chunk that `head` gave out. */
  #headBytes = 0;
  #headCounts: readonly number[] = [];
  /** What is done on the disk is done one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Opens a folder, synchronously.
   * @throws KafkaSinkError ERR_KAFKA_SPOOL_IN_USE, ERR_KAFKA_DISK
   */
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
      const { cutBytes, next, segments } = recover(directory);
      this.#segments = segments;
      this.#next = next;
      this.#damagedBytes = cutBytes;
    } catch (error) {
      this.#unlock();
      throw diskError(directory, error);
    }
    for (const segment of this.#segments) {
      this.#bytes += segment.size;
      addTo(this.#counts, segment.counts, 1);
    }
    this.#foundCounts = this.#counts.slice();
    if (this.#damagedBytes > 0) {
      settings.onProblem(
        new KafkaSinkError('ERR_KAFKA_SPOOL_DAMAGED', `${directory}: ${this.#damagedBytes} bytes are no whole chunk`),
      );
    }
  }

  /** What it tells when it takes no more. */
  get fullError(): KafkaSinkError {
    const { directory, limitBytes } = this.#settings;
    return new KafkaSinkError('ERR_KAFKA_SPOOL_FULL', `${directory} has reached its ${limitBytes} bytes`);
  }

  /** Messages that are held, by number of the kind. */
  get counts(): Float64Array {
    return this.#counts.slice();
  }

  /** Messages that an earlier process has left, by number of the kind. */
  get foundCounts(): Float64Array {
    return this.#foundCounts.slice();
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0;
  }

  /** Time of the earliest report that is held, in milliseconds; infinity: there is none. */
  get earliestMs(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const segment of this.#segments) {
      for (const { timeMs } of segment.earliest) if (timeMs < earliest) earliest = timeMs;
    }
    return earliest;
  }

  /** Bytes on disk. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes that were cut off or skipped as they are no whole chunk. */
  get damagedBytes(): number {
    return this.#damagedBytes;
  }

  /**
   * Appends the messages of a parcel that are not settled.
   * @returns `full`: that would exceed the limit; `nothing`: there are none
   * @throws KafkaSinkError ERR_KAFKA_DISK: nothing was appended
   */
  append(parcel: Parcel): Promise<Appended> {
    return this.#inTurn(() => this.#append(parcel));
  }

  /**
   * Reads the first messages.
   * @returns a parcel of its own; null if there are none
   * @throws KafkaSinkError ERR_KAFKA_DISK
   */
  head(): Promise<Parcel | null> {
    return this.#inTurn(() => this.#head());
  }

  /**
   * Removes what {@link head} has given.
   * @throws KafkaSinkError ERR_KAFKA_DISK; it is removed all the same, but the next process may find it again
   */
  consume(): Promise<void> {
    return this.#inTurn(async () => {
      const bytes = this.#headBytes > 0 ? this.#headBytes : await this.#measureHead();
      this.#headBytes = 0;
      if (bytes > 0) await this.#skip(bytes, this.#headCounts);
    });
  }

  /** Writes out what the system holds back, and gives the folder free. */
  close(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        if (this.#settings.sync !== 'never') await this.#writer?.datasync();
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

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const done = this.#last.then(action);
    this.#last = done.catch(() => undefined);
    return done;
  }

  #error(error: unknown): KafkaSinkError {
    return KafkaSinkError.is(error) ? error : diskError(this.#settings.directory, error);
  }

  async #append(parcel: Parcel): Promise<Appended> {
    const { limitBytes, segmentBytes, sync } = this.#settings;
    if (parcel.remaining === 0) return 'nothing';
    const chunk = encodeChunk(parcel, this.#scratch);
    this.#scratch = Buffer.from(chunk.buffer, 0, chunk.buffer.byteLength);
    if (this.#bytes + chunk.length > limitBytes) return 'full';
    try {
      const last = this.#segments.at(-1);
      if (this.#writer === null || last === undefined || last.size >= segmentBytes) await this.#begin();
      const segment = this.#segments.at(-1)!;
      await this.#write(segment, chunk);
      if (sync === 'chunk') await this.#writer!.datasync();
      const { counts, earliestMs } = decodeHeader(chunk)!;
      segment.size += chunk.length;
      segment.earliest.push({ end: segment.size, timeMs: earliestMs });
      this.#bytes += chunk.length;
      addTo(segment.counts, counts, 1);
      addTo(this.#counts, counts, 1);
      return 'stored';
    } catch (error) {
      await this.#cutBack();
      throw this.#error(error);
    }
  }

  async #write(segment: Segment, chunk: Buffer): Promise<void> {
    let done = 0;
    while (done < chunk.length) {
      const { bytesWritten } = await this.#writer!.write(chunk, done, chunk.length - done, segment.size + done);
      done += bytesWritten;
    }
  }

  /** Begins a segment. */
  async #begin(): Promise<void> {
    const { directory, sync } = this.#settings;
    if (this.#writer !== null) {
      if (sync !== 'never') await this.#writer.datasync();
      await this.#writer.close();
      this.#writer = null;
    }
    const number = this.#next;
    const path = join(directory, segmentName(number));
    this.#writer = await open(path, 'wx');
    this.#next += 1;
    this.#segments.push({ number, path, size: 0, at: 0, counts: perKind(), earliest: [] });
  }

  /** After a write that failed: what arrived of it is no chunk. */
  async #cutBack(): Promise<void> {
    const last = this.#segments.at(-1);
    if (this.#writer === null || last === undefined) return;
    try {
      await this.#writer.truncate(last.size);
    } catch {
      // The next chunk is written over it, or the next process cuts it off.
    }
    if (last.size > 0) return;
    // An empty segment is none.
    this.#segments.pop();
    await this.#writer.close().catch(() => undefined);
    this.#writer = null;
    await unlink(last.path).catch(() => undefined);
  }

  async #head(): Promise<Parcel | null> {
    for (;;) {
      const segment = this.#segments[0];
      if (segment === undefined) return null;
      const header = decodeHeader(await this.#read(segment, segment.at, CHUNK_HEADER));
      if (header === null) {
        await this.#lose(segment.size - segment.at, segment.counts.slice());
        continue;
      }
      const bytes = CHUNK_HEADER + header.payload;
      const parcel = decodePayload(header, await this.#read(segment, segment.at + CHUNK_HEADER, header.payload));
      if (parcel === null) {
        await this.#lose(Math.min(bytes, segment.size - segment.at), header.counts);
        continue;
      }
      this.#headBytes = bytes;
      this.#headCounts = header.counts;
      return parcel;
    }
  }

  /** Of the first chunk, which {@link head} has not given out. */
  async #measureHead(): Promise<number> {
    const segment = this.#segments[0];
    if (segment === undefined) return 0;
    const header = decodeHeader(await this.#read(segment, segment.at, CHUNK_HEADER));
    this.#headCounts = header?.counts ?? [...segment.counts];
    return header === null ? segment.size - segment.at : CHUNK_HEADER + header.payload;
  }

  async #read(segment: Segment, at: number, length: number): Promise<Buffer> {
    try {
      if (this.#reader?.segment !== segment) {
        await this.#reader?.file.close();
        this.#reader = null;
        this.#reader = { segment, file: await open(segment.path, 'r') };
      }
      const bytes = Buffer.allocUnsafeSlow(length);
      let done = 0;
      while (done < length) {
        const { bytesRead } = await this.#reader.file.read(bytes, done, length - done, at + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    } catch (error) {
      throw this.#error(error);
    }
  }

  /** Gives up bytes that cannot be read. */
  async #lose(bytes: number, counts: ArrayLike<number>): Promise<void> {
    const { directory, onLost, onProblem } = this.#settings;
    this.#damagedBytes += bytes;
    onProblem(new KafkaSinkError('ERR_KAFKA_SPOOL_DAMAGED', `${directory}: ${bytes} bytes are not what was written`));
    onLost(counts);
    await this.#skip(bytes, counts);
  }

  async #skip(bytes: number, counts: ArrayLike<number>): Promise<void> {
    const segment = this.#segments[0]!;
    segment.at += bytes;
    while (segment.earliest.length > 0 && segment.earliest[0]!.end <= segment.at) segment.earliest.shift();
    addTo(segment.counts, counts, -1);
    addTo(this.#counts, counts, -1);
    try {
      if (segment.at < segment.size) {
        await this.#savePosition(segment.number, segment.at);
        return;
      }
      this.#segments.shift();
      this.#bytes -= segment.size;
      if (this.#reader?.segment === segment) {
        await this.#reader.file.close();
        this.#reader = null;
      }
      if (this.#segments.length === 0) {
        await this.#writer?.close();
        this.#writer = null;
      }
      await unlink(segment.path);
    } catch (error) {
      throw this.#error(error);
    }
  }

  async #savePosition(segment: number, offset: number): Promise<void> {
    const path = join(this.#settings.directory, POSITION);
    await writeFile(`${path}.new`, `${segment} ${offset}\n`);
    await rename(`${path}.new`, path);
  }
}

function diskError(directory: string, error: unknown): KafkaSinkError {
  return new KafkaSinkError('ERR_KAFKA_DISK', `${directory}: ${error instanceof Error ? error.message : error}`, error);
}
