/** The real collector, in a process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { inTime, until } from '../../../.ci/test/until.js';

const INT = fileURLToPath(new URL('../../../packages/cli/bin/int.js', import.meta.url));

export interface Line {
  readonly type: string;
  readonly [key: string]: unknown;
}

export class Collect {
  port = 0;
  #out = '';
  #err = '';
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown>;

  private constructor(args: readonly string[]) {
    this.#process = spawn(process.execPath, [INT, 'collect', '--listen', 'udp://127.0.0.1:0', '--json', ...args]);
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text;
    });
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text;
    });
    this.#ended = once(this.#process, 'close');
  }

  static async start(...args: readonly string[]): Promise<Collect> {
    const collect = new Collect(args);
    const port = await collect.until(() => /listening on udp:\/\/127\.0\.0\.1:(\d+)/.exec(collect.#err)?.[1]);
    collect.port = Number(port);
    return collect;
  }

  /** The lines so far. */
  get lines(): Line[] {
    const whole = this.#out.slice(0, this.#out.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  }

  /** Waits until there is an answer. Fails if the command ends before. */
  async until<T>(answer: () => T | undefined): Promise<T> {
    const look = (): { readonly given: T } | null => {
      const given = answer();
      if (given !== undefined) return { given };
      if (this.#process.exitCode !== null) throw new Error(`int collect ended: ${this.#err}`);
      return null;
    };
    const patience = { everyMs: 10, found: () => this.#out + this.#err };
    return (await until(`an answer of int collect: ${answer}`, look, patience)).given;
  }

  /** Interrupts it. @returns all its lines */
  async stop(): Promise<Line[]> {
    this.#process.kill('SIGINT');
    await inTime('the end of int collect', this.#ended, { inVain: () => this.#process.kill('SIGKILL') });
    return this.lines;
  }
}
