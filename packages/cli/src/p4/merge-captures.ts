import { CaptureBatch, CaptureError, CaptureReader } from '@int/pcap';
import { gunzipIfNeeded } from '@int/pcap/node';
import { openInput } from '../input/capture-frames.js';
import { CliError, EXIT, type Io, openFailure } from '../io.js';

const BATCH_FRAMES = 1024;

/** The frames of one capture, one after the other. */
class Source {
  readonly #batch = new CaptureBatch(BATCH_FRAMES);
  readonly #reader = new CaptureReader();
  #chunks: AsyncIterator<Uint8Array> | undefined;
  #at = -1;
  /** The damage after the frames read so far. */
  damage: CaptureError | undefined;

  constructor(
    readonly port: number,
    readonly path: string,
    readonly io: Io,
  ) {}

  get bytes(): Uint8Array {
    return this.#batch.bytes;
  }

  get offset(): number {
    return this.#batch.offsets[this.#at]!;
  }

  get length(): number {
    return this.#batch.lengths[this.#at]!;
  }

  get linkType(): number {
    return this.#batch.linkType;
  }

  get timestampHigh(): number {
    return this.#batch.timestampsHigh[this.#at]!;
  }

  get timestampLow(): number {
    return this.#batch.timestampsLow[this.#at]!;
  }

  /** Advances to the next frame of the current batch; false at its end. */
  step(): boolean {
    return ++this.#at < this.#batch.count;
  }

  /** Reads the next batch; false at the end. */
  async fill(): Promise<boolean> {
    try {
      this.#chunks ??= gunzipIfNeeded(await openInput(this.path, this.io))[Symbol.asyncIterator]();
      for (;;) {
        this.#at = 0;
        if (this.#reader.readBatch(this.#batch) > 0) return true;
        const { done, value } = await this.#chunks.next();
        if (done === true) {
          if (!this.io.signal.aborted) this.#reader.end();
          return false;
        }
        this.#reader.feed(value);
      }
    } catch (error) {
      if (CaptureError.is(error)) this.damage = error;
      else if (error instanceof CliError) throw error;
      else if (!this.io.signal.aborted) {
        throw new CliError(`cannot read ${this.path}: ${openFailure(error)}`, EXIT.OPEN, error);
      }
      return false;
    }
  }
}

/** A frame of one of the captures; valid only during the call. */
export interface PortFrame {
  readonly port: number;
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly length: number;
  readonly linkType: number;
  readonly timestampHigh: number;
  readonly timestampLow: number;
}

/**
 * Merges the frames of several captures by time; of equal times, the port given first comes first. The order within a
 * capture is kept.
 *
 * @param pause called at intervals, because output may be behind
 * @returns the damage of captures, each with its path
 * @throws CliError if one cannot be opened or read
 */
export async function mergeCaptures(
  ports: ReadonlyMap<number, string>,
  io: Io,
  take: (frame: PortFrame) => void,
  pause: () => Promise<void> | undefined,
): Promise<{ readonly path: string; readonly damage: CaptureError }[]> {
  const sources: Source[] = [];
  let waiting: Source[] = [];
  for (const [port, path] of ports) {
    const source = new Source(port, path, io);
    sources.push(source);
    if (await source.fill()) waiting.push(source);
  }
  while (waiting.length > 0 && !io.signal.aborted) {
    let first = waiting[0]!;
    for (let i = 1; i < waiting.length; i++) {
      const other = waiting[i]!;
      const high = other.timestampHigh - first.timestampHigh;
      if (high < 0 || (high === 0 && other.timestampLow < first.timestampLow)) first = other;
    }
    take(first);
    if (first.step()) continue;
    await pause();
    if (!(await first.fill())) waiting = waiting.filter((source) => source !== first);
  }
  return sources.flatMap(({ path, damage }) => (damage === undefined ? [] : [{ path, damage }]));
}
