import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Prefix } from '@int/network';
import { CaptureBatch, CaptureReader } from '@int/pcap';
import { gunzipIfNeeded, openReadable } from '@int/pcap/node';
import { prefixesOf } from '../admission/sender-list.js';
import { deferred } from '../deferred.js';
import { type PushFrames, type SourceFrames, sourceTimeMs } from '../frames.js';
import { linkLayerOf } from '../link-layer.js';
import { type Source, SourceError } from './source.js';

const BATCH_FRAMES = 1024;
/** Frames due within this time are sent together: timers are no finer. */
const TICK_MS = 1;

export interface CaptureSourceOptions {
  /** A pcap or pcapng file, also gzip; `-` reads `input`. */
  readonly path: string;
  /** What `-` stands for. Default: standard input. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** 1 replays at the pace of the capture, 2 at twice that. Default: as fast as the pipeline takes it. */
  readonly speed?: number;
  /** Who may send: addresses and prefixes. The collector counts frames of others as `unknown-source`. Default: anybody. */
  readonly from?: readonly (string | Prefix)[];
}

/** A capture file as a source. It waits for the pipeline, so no frame is lost. */
export class CaptureSource implements Source {
  readonly name: string;
  readonly #end = deferred();
  readonly finished: Promise<void> = this.#end.promise;
  readonly overrun = 0;
  /** No kernel is involved. */
  readonly kernelDropped = 0;
  /** Who may send; `null`: anybody. */
  readonly from: readonly Prefix[] | null;

  readonly #path: string;
  readonly #input: AsyncIterable<Uint8Array>;
  readonly #speed: number | null;
  readonly #stopping = new AbortController();
  #file: Readable | null = null;
  #running: Promise<void> | null = null;
  /** Wall clock and capture time of the first frame. */
  #startedAt = Number.NaN;
  #firstFrameMs = 0;

  /** @throws RangeError unless `speed` is a positive number, or for a bad prefix */
  constructor(options: CaptureSourceOptions) {
    const { speed } = options;
    if (speed !== undefined && !(speed > 0 && Number.isFinite(speed))) {
      throw new RangeError(`speed must be a positive number, not ${speed}`);
    }
    this.#path = options.path;
    this.from = options.from === undefined ? null : prefixesOf(options.from);
    this.#input = options.input ?? process.stdin;
    this.#speed = speed ?? null;
    this.name = options.path === '-' ? 'standard input' : options.path;
    this.finished.catch(() => {});
  }

  async start(push: PushFrames): Promise<void> {
    if (this.#running !== null) throw new Error(`${this.name} is already started`);
    let input = this.#input;
    if (this.#path !== '-') {
      try {
        this.#file = await openReadable(this.#path);
      } catch (error) {
        const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
        const reason = missing ? 'no such file or folder' : (error as Error).message;
        throw new SourceError('ERR_SOURCE_OPEN', this.name, reason, error);
      }
      input = this.#file;
    }
    this.#running = this.#read(input, push).then(this.#end.resolve, (error: unknown) => {
      // stop() closed the stream: the input is not damaged.
      if (this.#stopping.signal.aborted) return this.#end.resolve();
      const reason = error instanceof Error ? error.message : String(error);
      this.#end.reject(new SourceError('ERR_SOURCE_DATA', this.name, reason, error));
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    // The input may never deliver again. End the wait.
    const input = this.#path === '-' ? this.#input : this.#file;
    if (input !== null && 'destroy' in input && typeof input.destroy === 'function') input.destroy();
    await this.#running;
    this.#end.resolve();
  }

  async #read(input: AsyncIterable<Uint8Array>, push: PushFrames): Promise<void> {
    const reader = new CaptureReader();
    const batch = new CaptureBatch(BATCH_FRAMES);
    const { signal } = this.#stopping;
    for await (const chunk of gunzipIfNeeded(input)) {
      reader.feed(chunk);
      while (!signal.aborted && reader.readBatch(batch) > 0) {
        const frames = { ...batch, linkType: linkLayerOf(batch.linkType), count: batch.count };
        if (this.#speed === null) await push(frames);
        else await this.#replay(frames, this.#speed, push);
      }
      if (signal.aborted) return;
    }
    reader.end();
  }

  /** Pushes the frames when they are due. */
  async #replay(frames: SourceFrames, speed: number, push: PushFrames): Promise<void> {
    if (Number.isNaN(this.#startedAt)) {
      this.#startedAt = performance.now();
      this.#firstFrameMs = sourceTimeMs(frames, 0);
    }
    const due = (row: number): number => this.#startedAt + (sourceTimeMs(frames, row) - this.#firstFrameMs) / speed;
    for (let from = 0; from < frames.count; ) {
      const wait = due(from) - performance.now();
      if (wait > TICK_MS) await sleep(wait, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
      const now = performance.now() + TICK_MS;
      let to = from + 1;
      while (to < frames.count && due(to) <= now) to++;
      await push({
        linkType: frames.linkType,
        bytes: frames.bytes,
        offsets: frames.offsets.subarray(from, to),
        lengths: frames.lengths.subarray(from, to),
        timestampsHigh: frames.timestampsHigh.subarray(from, to),
        timestampsLow: frames.timestampsLow.subarray(from, to),
        count: to - from,
      });
      from = to;
    }
  }
}
