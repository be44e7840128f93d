/** A capture file as the source of a replay: read as by `int collect`, as far as the replay has got. */
import { type DecodeOptions, STATE, type TelemetryBatch } from '@int/codec';
import { CaptureSource, Collector, DetectionStage, type RecordKind, type Sink } from '@int/collector';
import { frameTimeMs } from '@int/collector/internals';
import type { DetectorOptions, EventBatch, RuleSet } from '@int/detect';
import type { LeftOutReports } from '../protocol/http.js';
import { type HeldEvents, holdEvents, Segment } from '../retention/segment.js';
import { ApiError } from '../server/api-error.js';
import type { Portion, RangeSource } from './range-source.js';

const PORTION_MS = 1000;
/** Reports of a portion that are kept whole, and of how many at most one is. */
const MOST_REPORTS = 20_000;
const MOST_EVERY = 1 << 20;
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'the collector may not read it',
  EISDIR: 'it is a folder',
};

export interface CaptureRangeOptions {
  /** What people call it. */
  readonly name: string;
  readonly path: string;
  readonly decode: DecodeOptions;
  /** The rules in force; `null`: none. */
  readonly rules: RuleSet | null;
  readonly detector: DetectorOptions;
  /** What came before is passed over. Default: nothing. */
  readonly from?: number | undefined;
}

/** Takes what a pipeline reads, and lets it wait while the replay is behind. */
class Reading implements Sink {
  readonly name = 'replay';
  readonly records: readonly RecordKind[] = ['reports', 'events'];
  /** Where the range begins; `null`: with the first report. */
  readonly #from: number | null;
  #segments: Segment[] = [];
  #events: Segment[] = [];
  /** Events of the batch that comes next. */
  #ofBatch: HeldEvents | null = null;
  #wantedMs = Number.NEGATIVE_INFINITY;
  #go: (() => void) | null = null;
  #taken: (() => void) | null = null;
  #every = 1;
  #kept = 0;
  #seen = 0;
  #leftOut = { sampled: 0, early: 0, undecoded: 0 };
  firstMs: number | null = null;
  lastMs = Number.NEGATIVE_INFINITY;
  isOver = false;

  constructor(from: number | null) {
    this.#from = from;
  }

  writeEvents(events: EventBatch): undefined {
    if (events.count === 0) return undefined;
    if (!events.isApart) this.#ofBatch = holdEvents(events, this.#ofBatch);
    else this.#events.push(Segment.copied(events.batch, holdEvents(events, null), allOf(events.batch), true));
    return undefined;
  }

  write(batch: TelemetryBatch): Promise<void> | undefined {
    const held = this.#ofBatch;
    this.#ofBatch = null;
    const rows = this.#wanted(batch, held?.events ?? null);
    if (rows.length > 0) this.#segments.push(Segment.copied(batch, held, rows, false));
    if (this.firstMs !== null) this.#taken?.();
    if (this.lastMs < this.#wantedMs || this.firstMs === null) return undefined;
    return new Promise((resolve) => {
      this.#go = resolve;
    });
  }

  /** Waits until all before a time has come. */
  async until(timeMs: number, signal: AbortSignal): Promise<void> {
    this.#wantedMs = timeMs;
    this.#go?.();
    this.#go = null;
    while (!this.isOver && (this.firstMs === null || this.lastMs < timeMs)) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#taken = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    signal.throwIfAborted();
  }

  end(): void {
    this.isOver = true;
    this.#taken?.();
  }

  /** Lets the pipeline go on, so that it can end. */
  release(): void {
    this.#wantedMs = Number.POSITIVE_INFINITY;
    this.#go?.();
  }

  take(toMs: number): Portion {
    const isIn = ({ fromMs: first }: Segment): boolean => first < toMs;
    const all = [...this.#segments, ...this.#events];
    const segments = all.filter(isIn);
    // A batch may reach beyond the portion: it is handed out once more with the next one, where its rest is.
    const rest = (list: Segment[]): Segment[] => list.filter((each) => each.toMs >= toMs);
    this.#segments = rest(this.#segments);
    this.#events = rest(this.#events);
    const leftOut: LeftOutReports = this.#leftOut;
    this.#leftOut = { sampled: 0, early: 0, undecoded: 0 };
    this.#kept = 0;
    if (this.#every > 1) this.#every /= 2;
    const isLast = this.isOver && this.lastMs < toMs;
    return { segments, leftOut, isLast };
  }

  /** Good reports from the beginning of the range on: all of those with events, of others as many as there is room for. */
  #wanted(batch: TelemetryBatch, events: EventBatch | null): Uint32Array {
    const rows = new Uint32Array(batch.reports);
    const hasEvent = new Set(events === null ? [] : events.report.subarray(0, events.count));
    let count = 0;
    for (let row = 0; row < batch.reports; row++) {
      if (batch.code[row] !== 0) {
        this.#leftOut.undecoded++;
        continue;
      }
      const timeMs = frameTimeMs(batch, batch.frame[row]!);
      if (timeMs < (this.#from ?? this.firstMs ?? timeMs)) {
        this.#leftOut.early++;
        continue;
      }
      this.firstMs ??= timeMs;
      if (timeMs > this.lastMs) this.lastMs = timeMs;
      if (!hasEvent.has(row) && this.#seen++ % this.#every !== 0) {
        this.#leftOut.sampled++;
        continue;
      }
      rows[count++] = row;
      if (++this.#kept % MOST_REPORTS === 0) this.#every = Math.min(MOST_EVERY, this.#every * 2);
    }
    return rows.subarray(0, count);
  }
}

const allOf = (batch: TelemetryBatch): Uint32Array =>
  Uint32Array.from({ length: batch.state[STATE.REPORTS]! }, (_, row) => row);

export class CaptureRange implements RangeSource {
  readonly portionMs = PORTION_MS;
  readonly firstMs: number;
  readonly #reading: Reading;
  readonly #collector: Collector;
  #failure: Error | null = null;

  private constructor(reading: Reading, collector: Collector) {
    this.#reading = reading;
    this.#collector = collector;
    this.firstMs = reading.firstMs!;
  }

  /**
   * Opens a capture and reads up to its first report.
   * @throws ApiError (rejects) if it cannot be read, or has none; the signal's reason
   */
  static async open(options: CaptureRangeOptions, signal: AbortSignal): Promise<CaptureRange> {
    const { name, path, decode, rules, detector, from } = options;
    const reading = new Reading(from ?? null);
    let failure: Error | null = null;
    let range: CaptureRange | null = null;
    const collector = new Collector({
      sources: [new CaptureSource({ path })],
      decode,
      stages: rules === null ? [] : [new DetectionStage(rules, detector)],
      sinks: [reading],
      onProblem: ({ error }) => {
        failure = error;
        if (range !== null) range.#failure = error;
      },
    });
    try {
      await collector.start();
      void collector.finished.then(
        () => reading.end(),
        () => reading.end(),
      );
      await reading.until(Number.NEGATIVE_INFINITY, signal);
      const found = failure as Error | null;
      if (reading.firstMs === null) {
        const reason =
          found === null ? (from === undefined ? 'there is no report in it' : 'it ends before') : reasonOf(found);
        throw new ApiError(404, 'ERR_UNAVAILABLE', `the capture ${name} cannot be replayed: ${reason}`);
      }
    } catch (error) {
      reading.release();
      await collector.stop().catch(() => {});
      if (ApiError.is(error) || signal.aborted) throw error;
      throw new ApiError(404, 'ERR_UNAVAILABLE', `the capture ${name} cannot be replayed: ${reasonOf(error as Error)}`);
    }
    range = new CaptureRange(reading, collector);
    range.#failure = failure;
    return range;
  }

  async read(_: number, toMs: number, signal: AbortSignal): Promise<Portion> {
    await this.#reading.until(toMs, signal);
    const portion = this.#reading.take(toMs);
    return portion.isLast === true && this.#failure !== null
      ? { ...portion, failure: `its rest cannot be read: ${reasonOf(this.#failure)}` }
      : portion;
  }

  close(): void {
    this.#reading.release();
    void this.#collector.stop().catch(() => {});
  }
}

/** What went wrong, without the path of the file: viewers are not told where it lies. */
function reasonOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return 'it cannot be read';
  const { code = '', syscall } = cause as NodeJS.ErrnoException;
  return syscall === undefined ? cause.message : (REASONS[code] ?? code);
}
