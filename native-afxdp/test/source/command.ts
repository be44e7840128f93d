import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';
import { inTime, until } from '../../../.ci/test/until.js';
import type { End } from '../../../.ci/test/veth-pair.js';
import { addon } from '../addon.js';

/** The `int` command as it is installed: the committed file in front of the build. */
const BIN = fileURLToPath(new URL('../../../packages/cli/bin/int.js', import.meta.url));

/** What a run left behind. */
export interface Outcome {
  readonly code: number | null;
  readonly lines: readonly Record<string, unknown>[];
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** A command and its arguments that go in front of `node`, to take rights away. */
  readonly through?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A running `int` command in a namespace. Call the constructor inside a test; it is killed when that ends. */
export class Command {
  readonly child: ChildProcess;
  #stdout = '';
  #stderr = '';
  readonly #closed: Promise<number | null>;

  constructor(at: End, args: readonly string[], { through = [], env = {} }: CommandOptions = {}) {
    const ip = requires('ip', 'npm run setup:system');
    const command = ['netns', 'exec', at.namespace, ...through, process.execPath, BIN, ...args];
    this.child = spawn(ip, command, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, INT_AFXDP_ADDON: addon(), NODE_OPTIONS: '', ...env },
    });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#closed = new Promise((resolve) => this.child.once('close', resolve));
    onTestFinished(() => {
      this.child.kill('SIGKILL');
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Objects of the whole lines so far. */
  get lines(): Record<string, unknown>[] {
    const whole = this.#stdout.slice(0, this.#stdout.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
  }

  /** Waits until something holds. @throws Error if the command ends before */
  async until(holds: () => boolean): Promise<void> {
    const look = (): boolean => {
      if (holds()) return true;
      const { exitCode, signalCode } = this.child;
      if (exitCode === null && signalCode === null) return false;
      throw new Error(`int ended with ${exitCode ?? signalCode}: ${this.#stderr}`);
    };
    await until(`${holds} of the command`, look, { everyMs: 10, found: () => this.#stdout + this.#stderr });
  }

  /** Waits for text on standard error. */
  async saying(pattern: RegExp): Promise<void> {
    await this.until(() => pattern.test(this.#stderr));
  }

  /** Waits until the totals of a second say that so many have been received. */
  async receiving(count: number): Promise<void> {
    await this.until(() => this.lines.some(({ type, received }) => type === 'stats' && (received as number) >= count));
  }

  async end(): Promise<Outcome> {
    const code = await inTime('the end of the command', this.#closed, {
      found: () => this.#stdout + this.#stderr,
      inVain: () => this.child.kill('SIGKILL'),
    });
    return { code, lines: this.lines, stdout: this.#stdout, stderr: this.#stderr };
  }

  async interrupt(): Promise<Outcome> {
    this.child.kill('SIGINT');
    return this.end();
  }
}
