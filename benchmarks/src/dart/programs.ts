/** The contenders' processes: each keeps a store in a memory of its own, and does what it is told. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { StoreShape } from './stores.js';

/** The bundle lies in benchmarks/dist. */
const NATIVE = fileURLToPath(new URL('../native/build/', import.meta.url));
const CONTENDER = fileURLToPath(new URL('./dart-contender.js', import.meta.url));
const RNIC = fileURLToPath(new URL('./dart-rnic.js', import.meta.url));
/** Millions of objects need more than the default heap. */
const NODE_OPTIONS = ['--expose-gc', '--max-old-space-size=12000'];

export type Command = 'write' | 'query' | 'raw' | 'frames';

/** What a command came to. */
export interface Outcome {
  /** Nanoseconds a key, a write or a frame. */
  readonly ns: number;
  /** Keys that had an answer, or frames that were executed. */
  readonly found: number;
  /** Over all answers. */
  readonly checksum: number;
}

/** A program that answers a line with a line of JSON. */
export class Program {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #name: string;

  private constructor(name: string, command: string, parameters: readonly string[]) {
    this.#name = name;
    this.#process = spawn(command, parameters);
    this.#process.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** @param program of benchmarks/native @param header file of a segment's header @param bytes of the segment */
  static c(program: string, header: string, bytes: number, frames = '-'): Program {
    return new Program(program, `${NATIVE}${program}`, [header, String(bytes), frames]);
  }

  static javaScript(name: string, shape: StoreShape): Program {
    return new Program(name, process.execPath, [...NODE_OPTIONS, CONTENDER, name, JSON.stringify(shape)]);
  }

  static rnic(engine: string, shape: StoreShape, frames: string): Program {
    return new Program(engine, process.execPath, [...NODE_OPTIONS, RNIC, engine, JSON.stringify(shape), frames]);
  }

  async ask<T = Outcome>(command: string, ...numbers: number[]): Promise<T> {
    this.#process.stdin.write(`${[command, ...numbers].join(' ')}\n`);
    const next = await this.#lines.next();
    if (next.done) throw new Error(`${this.#name} ended`);
    return JSON.parse(next.value) as T;
  }

  async checksum(): Promise<number | null> {
    return (await this.ask<{ checksum: number | null }>('sum')).checksum;
  }

  /** Bytes in use. */
  async memory(): Promise<number> {
    return (await this.ask<{ rss: number }>('memory')).rss;
  }

  /** Ends it and waits until its memory is free again. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.stdin.end();
    await ended;
  }
}
