/** A program that answers a line with a line of JSON. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export class Child<Answer> {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(command: readonly string[]) {
    const [program, ...args] = command;
    this.#process = spawn(program!, args);
    this.#process.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** The next line. @throws Error if the program has ended */
  async next<T = Answer>(): Promise<T> {
    const line = await this.#lines.next();
    if (line.done) throw new Error('a program ended');
    return JSON.parse(line.value) as T;
  }

  ask(line = ''): Promise<Answer> {
    this.#process.stdin.write(`${line}\n`);
    return this.next();
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.stdin.end();
    await ended;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}
