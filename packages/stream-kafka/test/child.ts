import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { inTime, until } from '../../../.ci/test/until.js';
import { bundle } from './bundle.js';

/** A program of these tests in a process of its own. */
export class Child {
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #gone: Promise<unknown>;

  private constructor(program: string, args: readonly string[]) {
    this.#folder = dirname(program);
    this.#process = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#gone = once(this.#process, 'exit');
    createInterface({ input: this.#process.stdout! }).on('line', (line) => this.lines.push(line));
  }

  static async start(file: URL, args: readonly string[]): Promise<Child> {
    return new Child(await bundle(file), args);
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** Waits for a line that fits, from the first on. @throws Error if the process ends before */
  line(fits: (line: string) => boolean): Promise<string> {
    const look = (): string | undefined => {
      const found = this.lines.find(fits);
      const { exitCode, signalCode } = this.#process;
      if (found === undefined && (exitCode !== null || signalCode !== null)) {
        throw new Error(`the process has ended: ${this.lines.slice(-3).join(' | ')}`);
      }
      return found;
    };
    return until(`a line of the process: ${fits}`, look, { withinMs: 60_000, found: () => this.lines.slice(-3) });
  }

  /** Sends a signal and waits for the end. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill(signal);
    await inTime(`the end of the process by ${signal}`, this.#gone, { inVain: () => this.#process.kill('SIGKILL') });
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
