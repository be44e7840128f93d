/** Reading captures and flow logs into a knowledge plane. */
import { stat } from 'node:fs/promises';
import { CaptureSource, Collector, SourceError } from '@int/collector';
import { ConnLog, ConnLogError, type KnowledgePlane } from '@int/knowledge';
import { InOrder } from '@int/knowledge/internals';
import { CaptureError } from '@int/pcap';
import { given } from '../given.js';
import { readLines } from '../input/lines.js';
import { readLinesOrCapture } from '../input/lines-or-capture.js';
import { type Io, say } from '../io.js';
import type { KnownNetwork } from '../network/known-network.js';
import { BadLines } from '../output/bad-lines.js';
import { DialectHint } from '../output/dialect-hint.js';
import { counted } from '../output/numbers.js';
import { readHistory } from './history.js';

/** A flow log begins with a comment, or with JSON. */
const HASH = 0x23;
const OPEN_BRACE = 0x7b;
/** Connections that are held to be put in order: a log has them in the order of their ends. */
const HELD = 1 << 17;

/** Reads files, one after the other. */
export class KnowledgeReader {
  frames = 0;
  /** Connections of protocols other than TCP, UDP and ICMP. */
  passedOver = 0;
  readonly badLines: BadLines;
  readonly hint: DialectHint;
  /** Whether an input was damaged. */
  hasFailed = false;
  readonly #plane: KnowledgePlane;
  readonly #network: KnownNetwork;
  readonly #onProgress: () => void;
  readonly #io: Io;
  /** Connections of all flow logs: one that lasts is in the log of a later hour. */
  readonly #order = new InOrder(HELD);

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
      this.finish();
      this.frames += await readHistory(path, this.#plane, this.#onProgress, this.#io);
      return;
    }
    await readLinesOrCapture(path, this.#io, (byte) => byte === HASH || byte === OPEN_BRACE, {
      lines: (input) => this.#readLogUpToDamage(path, input),
      capture: (input) => {
        this.finish();
        return this.#readCapture(path, input);
      },
    });
  }

  /** Gives what is held of flow logs. */
  finish(): void {
    for (const connection of this.#order.rest()) this.#plane.connection(connection);
  }

  async #readCapture(path: string, input: AsyncIterable<Uint8Array>): Promise<void> {
    const plane = this.#plane;
    const { decode, sources } = this.#network.device;
    let taken = 0;
    const collector = new Collector({
      sources: [new CaptureSource({ path: '-', input, ...given({ from: sources ?? undefined }) })],
      decode,
      stages: [
        {
          name: 'knowledge',
          process: (batch) => {
            taken += batch.frames;
            plane.observe(batch);
          },
        },
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
    const { received } = await collector.stop();
    this.frames += received;
    if (received === taken || signal.aborted) return;
    this.hasFailed = true;
    const unknown = counted(received - taken, 'frame');
    say(this.#io, `${path}: ${unknown} of a link type other than Ethernet, raw IP and cooked Linux; not read`);
  }

  async #readLogUpToDamage(path: string, input: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      await this.#readLog(path, input);
    } catch (error) {
      if (this.#io.signal.aborted || !(CaptureError.is(error) || error instanceof RangeError)) throw error;
      this.hasFailed = true;
      say(this.#io, `${path}: ${error.message}; what came before it counts`);
    }
  }

  async #readLog(path: string, input: AsyncIterable<Uint8Array>): Promise<void> {
    const log = new ConnLog();
    for await (const lines of readLines(input)) {
      for (const line of lines) {
        try {
          const connection = log.read(line.endsWith('\r') ? line.slice(0, -1) : line);
          const earliest = connection === null ? null : this.#order.push(connection);
          if (earliest !== null) this.#plane.connection(earliest);
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
    this.passedOver += log.passedOver;
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
