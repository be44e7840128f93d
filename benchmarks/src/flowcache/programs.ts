/** The contenders' processes: each keeps its flows in a memory of its own, and does what it is told. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MIXES, type Mix } from './workload.js';

/** The bundle lies in benchmarks/dist. */
const C_PROGRAM = fileURLToPath(new URL('../native/build/flowcache_bench', import.meta.url));
const CONTENDER = fileURLToPath(new URL('./flowcache-contender.js', import.meta.url));
const SCENARIO = fileURLToPath(new URL('./flowcache-scenario.js', import.meta.url));
/** Millions of objects need more than the default heap. */
const NODE_OPTIONS = ['--expose-gc', '--max-old-space-size=14000'];

/** What `fill` and `run` came to. */
export interface Outcome {
  /** Nanoseconds a report. */
  readonly ns: number;
  readonly reports: number;
  readonly hits: number;
  readonly inserted: number;
  readonly handedOn: number;
  readonly events: number;
  readonly live: number;
}

export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly arrayBuffers: number;
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

  static c(path: string): Program {
    return new Program('C', C_PROGRAM, [path]);
  }

  static javaScript(name: string, path: string, layout: string, rows: number, buckets: number): Program {
    const parameters = [name, path, layout, String(rows), String(buckets)];
    return new Program(name, process.execPath, [...NODE_OPTIONS, CONTENDER, ...parameters]);
  }

  /** One measurement, which answers once, by itself. */
  static async scenario<T>(name: string, ...parameters: (string | number)[]): Promise<T> {
    const program = new Program(name, process.execPath, [...NODE_OPTIONS, SCENARIO, name, ...parameters.map(String)]);
    try {
      return (await program.#answer()) as T;
    } finally {
      await program.stop();
    }
  }

  async #answer(): Promise<unknown> {
    const next = await this.#lines.next();
    if (next.done) throw new Error(`${this.#name} ended`);
    return JSON.parse(next.value);
  }

  async #ask(...words: (string | number)[]): Promise<unknown> {
    this.#process.stdin.write(`${words.join(' ')}\n`);
    return this.#answer();
  }

  /** Inserts flows, one after the other. */
  async fill(flows: number): Promise<Outcome> {
    return (await this.#ask('fill', flows)) as Outcome;
  }

  /** Updates with `lead` reports that do not count, and then with `reports` that do. */
  async run(mode: number, mix: Mix, lead: number, reports: number): Promise<Outcome> {
    return (await this.#ask('run', mode, MIXES[mix], lead, reports)) as Outcome;
  }

  async checksum(): Promise<number | null> {
    return ((await this.#ask('sum')) as { checksum: number | null }).checksum;
  }

  async values(from: number, step: number, count: number): Promise<(number | null)[]> {
    return (await this.#ask('values', from, step, count)) as (number | null)[];
  }

  async memory(): Promise<Memory> {
    return (await this.#ask('memory')) as Memory;
  }

  /** Ends it and waits until its memory is free again. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.stdin.end();
    await ended;
  }
}
