/** Writing files of reports or rows into a store. */
import type { DecodeOptions, MetricName } from '@int/codec';
import {
  CaptureSource,
  Collector,
  type CollectorOptions,
  type CollectorTotals,
  DartStage,
  type DartTotals,
  SourceError,
} from '@int/collector';
import type { EpochStore } from '@int/dart/node';
import type { Prefix } from '@int/network';
import { KnownSwitches } from '@int/network/internals';
import { given } from '../given.js';
import { readLines } from '../input/lines.js';
import { readLinesOrCapture } from '../input/lines-or-capture.js';
import { CliError, EXIT, type Io, say } from '../io.js';
import { BadLines } from '../output/bad-lines.js';
import { DialectHint } from '../output/dialect-hint.js';
import { readRow } from './row-lines.js';

const OPEN_BRACE = 0x7b;

export interface WriteTotals {
  /** Frames of captures, and frames without usable telemetry, by reason. */
  frames: number;
  readonly dropped: Record<string, number>;
  lines: number;
}

export interface RowWriterOptions {
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  /** Content of the rows: paths of flows, or these metrics of each hop. */
  readonly values: 'path' | readonly MetricName[];
  readonly onProgress: () => void;
  /** Who may send what captures hold; default: anybody. */
  readonly from?: readonly Prefix[];
  /** The switches that reports and lines may name; default: any. */
  readonly knownSwitches?: CollectorOptions['knownSwitches'];
}

/** Writes files into a store, one after the other. */
export class RowWriter {
  readonly totals: WriteTotals = { frames: 0, dropped: {}, lines: 0 };
  readonly badLines: BadLines;
  readonly hint: DialectHint;
  /** Whether a capture was damaged. */
  hasFailed = false;
  /** Lines that name a switch that there is not. */
  unknownSwitchLines = 0;
  readonly #store: EpochStore;
  readonly #options: RowWriterOptions;
  readonly #io: Io;
  readonly #known: KnownSwitches | null;
  /** Null before the first capture. */
  #stage: DartStage | null = null;
  /** Rows of lines that were written. */
  #lineKeys = 0;

  constructor(store: EpochStore, options: RowWriterOptions, io: Io) {
    this.#store = store;
    this.#options = options;
    this.#io = io;
    const { knownSwitches } = options;
    this.#known = knownSwitches == null ? null : new KnownSwitches(knownSwitches);
    this.badLines = new BadLines(io);
    this.hint = new DialectHint(options.decode);
  }

  get keys(): number {
    return this.#lineKeys + (this.#stage?.totals().written ?? 0);
  }

  /** What became of the reports of captures; null before the first one. */
  get reports(): DartTotals | null {
    return this.#stage?.totals() ?? null;
  }

  /**
   * Reads a file (pcap, pcapng or NDJSON, also gzip), or standard input for `-`.
   * @throws CliError if it cannot be opened or read, or its values do not fit
   */
  write(path: string): Promise<void> {
    return readLinesOrCapture(path, this.#io, (byte) => byte === OPEN_BRACE, {
      lines: (input) => this.#writeLines(path, input),
      capture: (input) => this.#writeCapture(path, input),
    });
  }

  #dartStage(): DartStage {
    const store = this.#store;
    const { valueBytes } = store.live.geometry;
    try {
      this.#stage ??= new DartStage({ store, valueBytes, values: this.#options.values });
      return this.#stage;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new CliError(`${store.directory} cannot hold this: ${error.message}`, EXIT.USAGE, error);
    }
  }

  async #writeCapture(path: string, input: AsyncIterable<Uint8Array>): Promise<void> {
    const { decode, from, knownSwitches } = this.#options;
    const collector = new Collector({
      sources: [new CaptureSource({ path: '-', input, ...given({ from }) })],
      ...given({ knownSwitches }),
      decode,
      stages: [this.#dartStage(), { name: 'progress', process: this.#options.onProgress }, this.hint],
      onProblem: ({ error }) => {
        this.hasFailed = true;
        const reason = SourceError.is(error) && error.cause instanceof Error ? error.cause.message : error.message;
        say(this.#io, `${path}: ${reason}`);
      },
    });
    await collector.start();
    await Promise.race([collector.finished, aborted(this.#io.signal)]);
    this.#add(await collector.stop());
  }

  #add({ received, dropped }: CollectorTotals): void {
    this.totals.frames += received;
    // A capture waits, so nothing is overrun.
    const { overrun: _, ...reasons } = dropped;
    for (const [reason, count] of Object.entries(reasons)) {
      this.totals.dropped[reason] = (this.totals.dropped[reason] ?? 0) + count;
    }
  }

  async #writeLines(path: string, input: AsyncIterable<Uint8Array>): Promise<void> {
    const { totals } = this;
    const { valueBytes } = this.#store.live.geometry;
    let number = 0;
    for await (const lines of readLines(input)) {
      for (const line of lines) {
        number++;
        if (line.trim() === '') continue;
        totals.lines++;
        try {
          const { key, value, nodes } = readRow(line, valueBytes);
          if (this.#known !== null && !nodes.every((node) => this.#known!.has(node))) {
            this.unknownSwitchLines++;
            continue;
          }
          this.#store.write(key, value);
          this.#lineKeys++;
        } catch (error) {
          this.badLines.reject(path, number, error);
        }
      }
      this.#options.onProgress();
      // Give checkpoints and signals a turn.
      await new Promise(setImmediate);
      if (this.#io.signal.aborted) return;
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
