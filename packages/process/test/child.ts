import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle } from './bundle.js';

/** A program of these tests in a process of its own. */
export class Child {
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #gone: Promise<void>;
  #wake: () => void = () => {};

  private constructor(program: string, args: readonly string[]) {
    this.#folder = dirname(program);
    this.#process = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#gone = new Promise((resolve) => {
      this.#process.once('exit', () => {
        resolve();
        this.#wake();
      });
    });
    createInterface({ input: this.#process.stdout! }).on('line', (line) => {
      this.lines.push(line);
      this.#wake();
    });
  }

  static async start(file: URL, args: readonly string[]): Promise<Child> {
    return new Child(await bundle(file), args);
  }

  get pid(): number {
    return this.#process.pid!;
  }

  /** Waits for a line that fits, from the first on. @throws Error if the process ends before */
  async line(fits: (line: string) => boolean): Promise<string> {
    for (;;) {
      const found = this.lines.find(fits);
      if (found !== undefined) return found;
      if (this.#process.exitCode !== null || this.#process.signalCode !== null) {
        throw new Error(`the process has ended: ${this.lines.slice(-3).join(' | ')}`);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Sends a signal and waits for the end. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill(signal);
    await this.#gone;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
