import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OutageLog, within } from '@int/collector/internals';
import type { FileWriter } from '../engine/file-writer.js';
import { type ParquetSinkError, toSinkError } from '../errors.js';
import type { Segment } from '../memory/segment.js';
import { checksumOf, sealedName } from './checksum.js';
import { publish, remove } from './durable.js';
import { partitionOf } from './layout.js';
import type { Workplace } from './workplace.js';

export interface PublisherOptions {
  readonly directory: string;
  readonly writer: FileWriter;
  readonly workplace: Workplace;
  readonly outages: OutageLog<ParquetSinkError>;
  readonly retryFirstMs: number;
  readonly retryMaxMs: number;
  /** Name of a new file, without its ending. */
  readonly nextName: () => string;
  /** Called when the file of a segment is in the store. */
  readonly onDone: (segment: Segment) => void;
}

/** How long a write that was interrupted may take to end, in ms. */
const INTERRUPT_MS = 2000;

/** Makes files of segments, one after the other, and goes on trying where that fails. */
export class Publisher {
  readonly #options: PublisherOptions;
  readonly #queue: Segment[] = [];
  #running: Promise<void> | null = null;
  #pausing: AbortController | null = null;
  #hasEnded = false;
  /** The hour of the file that was written last; null before there is one. */
  lastHour: number | null = null;
  files = 0;
  bytes = 0;
  rows = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Segments that are not in the store yet. */
  get waiting(): number {
    return this.#queue.length;
  }

  add(segment: Segment): void {
    this.#queue.push(segment);
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Resolves when all segments are in the store. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Goes on for at most `timeoutMs`. @returns the segments that are not in the store */
  async close(timeoutMs: number): Promise<Segment[]> {
    // A pause after a failure is over: there is no later.
    this.#pausing?.abort();
    await within(timeoutMs, this.idle());
    this.#hasEnded = true;
    this.#pausing?.abort();
    if (this.#running !== null) {
      this.#options.writer.interrupt();
      await within(INTERRUPT_MS, this.idle());
    }
    return this.#queue.splice(0);
  }

  async #run(): Promise<void> {
    // The segments that one call adds need not be known to be one.
    await Promise.resolve();
    while (!this.#hasEnded) {
      const segment = this.#queue[0];
      if (segment === undefined) return;
      try {
        await this.#publish(segment);
      } catch (error) {
        if (this.#hasEnded) return;
        this.#options.outages.fail(toSinkError(error, `cannot write to ${this.#options.directory}`));
        await this.#pause();
        continue;
      }
      this.#queue.shift();
      this.#options.outages.succeed();
      this.#options.onDone(segment);
    }
  }

  async #publish(segment: Segment): Promise<void> {
    const { directory, writer, workplace, nextName } = this.#options;
    const stem = `part-${nextName()}`;
    const written = workplace.file(`${stem}.parquet`);
    try {
      await writer.write(segment, written);
      const { size } = await stat(written);
      const file = sealedName(stem, await checksumOf(written));
      await publish(written, join(directory, segment.table.name, partitionOf(segment.hour)), file);
      this.lastHour = segment.hour;
      this.files++;
      this.bytes += size;
      this.rows += segment.rows;
    } catch (error) {
      await remove(written).catch(() => undefined);
      throw error;
    }
  }

  async #pause(): Promise<void> {
    const { outages, retryFirstMs, retryMaxMs } = this.#options;
    const ms = Math.min(retryMaxMs, retryFirstMs * 2 ** Math.min(30, outages.attempts - 1));
    this.#pausing = new AbortController();
    await sleep(ms, undefined, { signal: this.#pausing.signal }).catch(() => undefined);
  }
}
