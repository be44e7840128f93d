import { CaptureBatch, CaptureError, CaptureReader } from '@int/pcap';
import { gunzipIfNeeded } from '@int/pcap/node';
import { openInput } from '../input/capture-frames.js';
import { CliError, EXIT, type Io, openFailure } from '../io.js';

const BATCH_FRAMES = 1024;

/** Frames of one capture, taken one after the other. */
class Source {
  readonly #batch = new CaptureBatch(BATCH_FRAMES);
  readonly #reader = new CaptureReader();
  #chunks: AsyncIterator<Uint8Array> | undefined;
  #at = -1;
  /** What is wrong with the capture behind the frames it gave. */
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

  /** Goes to the next frame within what is read already. */
  step(): boolean {
    return ++this.#at < this.#batch.count;
  }

  /** Reads on. False at the end. */
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

/** A frame of one of the captures; valid during the call only. */
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
 * Hands over the frames of several captures in the order of their times; of equal times that of the port given first.
 * Within a capture the order stays.
 *
 * @param pause called now and then: output may be behind
 * @returns what is wrong with captures, each with its path
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
