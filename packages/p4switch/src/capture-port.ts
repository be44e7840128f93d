/** A port on capture files: frames come from one, at its pace, and go into another. */
import type { Readable } from 'node:stream';
import { CaptureBatch, CaptureReader } from '@int/pcap';
import { type CaptureFile, createCaptureFile, gunzipIfNeeded, openReadable } from '@int/pcap/node';
import { type FrameTaker, type Port, PortCounts } from './port.js';
import { PortError } from './port-error.js';

export interface CapturePortOptions {
  /** The capture to read (pcap, pcapng, also gzip), or null: nothing comes in. */
  readonly input: string | null;
  /** The capture to write, or null: what leaves is counted and forgotten. */
  readonly output: string | null;
  /** Seconds of the capture per second; Infinity: as fast as the switch takes the frames. Default 1. */
  readonly speed?: number;
  /** Called when the input has ended, with the damage that ended it, or null. */
  readonly onEnd?: (damage: Error | null) => void;
}

interface WaitingFrame {
  readonly bytes: Uint8Array;
  /** Time since the first frame, in milliseconds of the switch. */
  readonly dueMs: number;
}

const BATCH_FRAMES = 256;
/** Frames read ahead. */
const AHEAD = 1024;
/** Frames that may wait to be written. */
const MOST_PENDING = 1024;
const LONGEST = 262_144;

/** Reads and writes captures in place of a network. */
export class CapturePort implements Port {
  readonly name: string;
  readonly isUp = true;
  readonly #options: CapturePortOptions;
  readonly #counts = new PortCounts();
  readonly #output: CaptureFile | null;
  #frames: WaitingFrame[] = [];
  #head = 0;
  #pending = 0;
  #startMs = Number.NaN;
  #wake: (() => void) | null = null;
  /** Lets the reader go on. */
  #more: (() => void) | null = null;
  #isClosed = false;
  #hasEnded = false;
  #input: Readable | null = null;

  private constructor(options: CapturePortOptions, output: CaptureFile | null) {
    this.#options = options;
    this.#output = output;
    this.name = `pcap:${options.input ?? ''}${options.output === null ? '' : `:${options.output}`}`;
    this.#hasEnded = options.input === null;
  }

  /** @throws PortError ERR_PORT_CAPTURE (rejects) if a file cannot be opened */
  static async open(options: CapturePortOptions): Promise<CapturePort> {
    const failed = (path: string, error: unknown): PortError =>
      new PortError('ERR_PORT_CAPTURE', `cannot open ${path}: ${(error as Error).message}`, error);
    let stream: Readable | null = null;
    if (options.input !== null) {
      const { input } = options;
      stream = await openReadable(input).catch((error: unknown) => {
        throw failed(input, error);
      });
    }
    let output: CaptureFile | null = null;
    if (options.output !== null) {
      const { output: path } = options;
      output = await createCaptureFile(path).catch((error: unknown) => {
        stream?.destroy();
        throw failed(path, error);
      });
    }
    const port = new CapturePort(options, output);
    if (stream !== null) {
      port.#input = stream;
      void port.#read(gunzipIfNeeded(stream));
    }
    return port;
  }

  /** Whether all frames of the input have come in. */
  get hasEnded(): boolean {
    return this.#hasEnded && this.#head === this.#frames.length;
  }

  get dueMs(): number {
    const next = this.#frames[this.#head];
    if (next === undefined) return Number.POSITIVE_INFINITY;
    return Number.isNaN(this.#startMs) ? 0 : this.#startMs + next.dueMs;
  }

  counts(): PortCounts {
    return this.#counts;
  }

  poll(most: number, take: FrameTaker): number {
    let count = 0;
    if (this.#head < this.#frames.length) {
      const now = performance.now();
      if (Number.isNaN(this.#startMs)) this.#startMs = now;
      for (; count < most && this.#head < this.#frames.length; count++) {
        const { bytes, dueMs } = this.#frames[this.#head]!;
        if (this.#startMs + dueMs > now) break;
        this.#head++;
        this.#counts.received++;
        this.#counts.receivedBytes += bytes.length;
        take(bytes, 0, bytes.length);
      }
      if (this.#head === this.#frames.length) {
        this.#frames = [];
        this.#head = 0;
        const more = this.#more;
        this.#more = null;
        more?.();
      }
    }
    return count;
  }

  room(): number {
    return MOST_PENDING - this.#pending;
  }

  send(bytes: Uint8Array, offset: number, length: number): void {
    const counts = this.#counts;
    if (length > LONGEST) {
      counts.dropped.txTooLong++;
      return;
    }
    if (this.#pending >= MOST_PENDING || this.#isClosed) {
      counts.dropped.txFull++;
      return;
    }
    counts.sent++;
    counts.sentBytes += length;
    if (this.#output === null) return;
    this.#pending++;
    const timeNs = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
    const done = (isWritten: boolean): void => {
      this.#pending--;
      if (!isWritten) {
        counts.sent--;
        counts.sentBytes -= length;
        counts.dropped.failed++;
      }
      this.#ready();
    };
    this.#output.write({ timeNs, data: bytes.subarray(offset, offset + length) }).then(
      () => done(true),
      () => done(false),
    );
  }

  flush(): void {}

  onReady(wake: () => void): void {
    this.#wake = wake;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#more?.();
    this.#input?.destroy();
    this.#counts.dropped.rxFull += this.#frames.length - this.#head;
    this.#frames = [];
    this.#head = 0;
    await this.#output?.close();
  }

  async #read(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { speed = 1, onEnd } = this.#options;
    const reader = new CaptureReader();
    const batch = new CaptureBatch(BATCH_FRAMES);
    let first: bigint | null = null;
    let damage: Error | null = null;
    try {
      for await (const chunk of chunks) {
        reader.feed(chunk);
        while (reader.readBatch(batch) > 0 && !this.#isClosed) {
          for (let row = 0; row < batch.count; row++) {
            const time = (BigInt(batch.timestampsHigh[row]!) << 32n) | BigInt(batch.timestampsLow[row]!);
            first ??= time;
            const start = batch.offsets[row]!;
            this.#frames.push({
              bytes: batch.bytes.slice(start, start + batch.lengths[row]!),
              dueMs: Math.max(0, Number(time - first) / 1e6 / speed),
            });
          }
          this.#ready();
          if (this.#frames.length - this.#head >= AHEAD) {
            await new Promise<void>((resolve) => {
              this.#more = resolve;
            });
          }
        }
        if (this.#isClosed) break;
      }
      if (!this.#isClosed) reader.end();
    } catch (error) {
      if (!this.#isClosed) {
        damage = error as Error;
        this.#counts.dropped.rxDamaged++;
      }
    }
    this.#hasEnded = true;
    onEnd?.(damage);
    this.#ready();
  }

  #ready(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
