import { CaptureBatch, CaptureError, CaptureReader } from '@int/pcap';
import { gunzipIfNeeded } from '@int/pcap/node';
import { openInput } from '../input/capture-frames.js';
import { CliError, EXIT, type Io, openFailure } from '../io.js';

const BATCH_FRAMES = 1024;

/** The frames of one capture, one after the other. */
class Source {
  readonly batch = new CaptureBatch(BATCH_FRAMES);
  readonly #reader = new CaptureReader();
  #chunks: AsyncIterator<Uint8Array> | undefined;
  /** The row of the present frame. */
  at = -1;
  /** The damage after the frames read so far. */
  damage: CaptureError | undefined;

  constructor(
    readonly port: number,
    readonly path: string,
    readonly io: Io,
  ) {}

  /** Whether its frame is earlier than that of another capture. */
  isBefore({ batch, at }: Source): boolean {
    const { timestampsHigh, timestampsLow } = this.batch;
    const high = timestampsHigh[this.at]! - batch.timestampsHigh[at]!;
    return high < 0 || (high === 0 && timestampsLow[this.at]! < batch.timestampsLow[at]!);
  }

  /** Advances to the next frame of the current batch; false at its end. */
  step(): boolean {
    return ++this.at < this.batch.count;
  }

  /** Reads the next batch; false at the end. */
  async fill(): Promise<boolean> {
    try {
      this.#chunks ??= gunzipIfNeeded(await openInput(this.path, this.io))[Symbol.asyncIterator]();
      for (;;) {
        this.at = 0;
        if (this.#reader.readBatch(this.batch) > 0) return true;
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

/**
 * Merges the frames of several captures by time; of equal times, the port given first comes first. The order within a
 * capture is kept.
 *
 * @param take called with each frame: its port, and its row of a batch that is valid only during the call
 * @param pause called at intervals, because output may be behind
 * @returns the damage of captures, each with its path
 * @throws CliError if one cannot be opened or read
 */
export async function mergeCaptures(
  ports: ReadonlyMap<number, string>,
  io: Io,
  take: (port: number, batch: CaptureBatch, row: number) => void,
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
      if (other.isBefore(first)) first = other;
    }
    take(first.port, first.batch, first.at);
    if (first.step()) continue;
    await pause();
    if (!(await first.fill())) waiting = waiting.filter((source) => source !== first);
  }
  return sources.flatMap(({ path, damage }) => (damage === undefined ? [] : [{ path, damage }]));
}
