/** Reading captures and flow logs into a knowledge plane. */
import { stat } from 'node:fs/promises';
import { CaptureSource, Collector, SourceError } from '@int/collector';
import { type ConnectionObservation, ConnLog, ConnLogError, type KnowledgePlane } from '@int/knowledge';
import { InOrder } from '@int/knowledge/internals';
import { given } from '../given.js';
import { readLines } from '../input/lines.js';
import { readLinesOrCapture } from '../input/lines-or-capture.js';
import { type Io, say } from '../io.js';
import type { KnownNetwork } from '../network/known-network.js';
import { BadLines } from '../output/bad-lines.js';
import { DialectHint } from '../output/dialect-hint.js';
import { readHistory } from './history.js';

/** A flow log begins with a comment, or with JSON. */
const HASH = 0x23;
const OPEN_BRACE = 0x7b;
/** Connections that are held to be put in order: a log has them in the order of their ends. */
const HELD = 1 << 17;

/** Reads files, one after the other. */
export class KnowledgeReader {
  frames = 0;
  readonly badLines: BadLines;
  readonly hint: DialectHint;
  /** Whether a capture was damaged. */
  hasFailed = false;
  readonly #plane: KnowledgePlane;
  readonly #network: KnownNetwork;
  readonly #onProgress: () => void;
  readonly #io: Io;

  constructor(plane: KnowledgePlane, network: KnownNetwork, onProgress: () => void, io: Io) {
    this.#plane = plane;
    this.#network = network;
    this.#onProgress = onProgress;
    this.#io = io;
    this.badLines = new BadLines(io);
    this.hint = new DialectHint(network.device.decode);
  }

  /**
   * Reads a capture or a flow log, also gzip, or standard input for `-`; or a folder with a history in Parquet.
   * @throws CliError if it cannot be opened or read
   */
  async read(path: string): Promise<void> {
    if (path !== '-' && (await isFolder(path))) {
      this.frames += await readHistory(path, this.#plane, this.#onProgress, this.#io);
      return;
    }
    await readLinesOrCapture(path, this.#io, (byte) => byte === HASH || byte === OPEN_BRACE, {
      lines: (input) => this.#readLog(path, input),
      capture: (input) => this.#readCapture(path, input),
    });
  }

  async #readCapture(path: string, input: AsyncIterable<Uint8Array>): Promise<void> {
    const plane = this.#plane;
    const { decode, sources } = this.#network.device;
    const collector = new Collector({
      sources: [new CaptureSource({ path: '-', input, ...given({ from: sources ?? undefined }) })],
      decode,
      stages: [
        { name: 'knowledge', process: (batch) => plane.observe(batch) },
        { name: 'progress', process: this.#onProgress },
        this.hint,
      ],
      onProblem: ({ error }) => {
        this.hasFailed = true;
        const reason = SourceError.is(error) && error.cause instanceof Error ? error.cause.message : error.message;
        say(this.#io, `${path}: ${reason}`);
      },
    });
    await collector.start();
    const { signal } = this.#io;
    const isInterrupted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([collector.finished, isInterrupted]);
    this.frames += (await collector.stop()).received;
  }

  async #readLog(path: string, input: AsyncIterable<Uint8Array>): Promise<void> {
    const log = new ConnLog();
    const order = new InOrder(HELD);
    const take = (connection: ConnectionObservation | null): void => {
      if (connection !== null) this.#plane.connection(connection);
    };
    for await (const lines of readLines(input)) {
      for (const line of lines) {
        try {
          const connection = log.read(line.endsWith('\r') ? line.slice(0, -1) : line);
          if (connection !== null) take(order.push(connection));
        } catch (error) {
          if (!ConnLogError.is(error)) throw error;
          this.badLines.reject(path, error.line, new Error(error.message.replace(/^line \d+: /, '')));
        }
      }
      this.#onProgress();
      // Signals get a turn.
      await new Promise(setImmediate);
      if (this.#io.signal.aborted) return;
    }
    for (const connection of order.rest()) take(connection);
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // What is wrong with it is said by who opens it.
    return false;
  }
}
