import { type ChildProcess, spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { inTime, until } from '../../../.ci/test/until.js';

/** A process of the running test, such as one in a namespace, with what it has printed. It ends with the test. */
export class Started {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(line: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(line[0]!, line.slice(1), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '', ...env },
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    onTestFinished(async () => {
      this.#child.kill('SIGKILL');
      await this.#ended;
    });
  }

  get output(): string {
    return this.stdout + this.stderr;
  }

  async says(what: string): Promise<void> {
    const look = (): boolean => {
      if (this.output.includes(what)) return true;
      if (this.#child.exitCode !== null) throw new Error(`ended with ${this.#child.exitCode}: ${this.output}`);
      return false;
    };
    await until(`"${what}"`, look, { found: () => this.output });
  }

  ended(): Promise<number | null> {
    return inTime('the end', this.#ended, { found: () => this.output });
  }

  /** Ends it as Ctrl-C does. */
  interrupt(): Promise<number | null> {
    this.#child.kill('SIGINT');
    return this.ended();
  }

  /** Ends it without a chance to clean up. */
  kill(): Promise<number | null> {
    this.#child.kill('SIGKILL');
    return this.ended();
  }

  lines(type: string): Record<string, unknown>[] {
    const all = this.stdout.split('\n').slice(0, -1);
    return all.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line.type === type);
  }
}
