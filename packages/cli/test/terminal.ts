import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';
import { inTime, until } from '../../../.ci/test/until.js';

const HOST = fileURLToPath(new URL('terminal_host.py', import.meta.url));

/** A command in a terminal of its own: what it shows, and keys for it. It does not outlive the test. */
export class InTerminal {
  readonly #host: ChildProcess;
  readonly #ended: Promise<number | null>;
  shown = '';

  constructor(command: readonly string[], { columns, rows }: { readonly columns: number; readonly rows: number }) {
    const python = requires('python3', 'npm run setup:system');
    this.#host = spawn(python, [HOST, String(columns), String(rows), ...command], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, TERM: 'xterm', NO_COLOR: '1', PS1: '$ ' },
    });
    onTestFinished(() => void this.#host.kill());
    this.#host.stdin!.on('error', () => {});
    this.#host.stdout!.on('data', (data: Buffer) => {
      this.shown += data.toString();
    });
    this.#ended = new Promise((resolve) => this.#host.once('close', resolve));
  }

  type(keys: string): void {
    this.#host.stdin!.write(keys);
  }

  /** Text since a position of {@link shown}. */
  since(from: number): string {
    return this.shown.slice(from);
  }

  /** Waits for a pattern behind a position. @returns the position behind what was found */
  async see(pattern: RegExp, from = 0): Promise<number> {
    await until(String(pattern), () => pattern.test(this.since(from)), { found: () => this.since(from), everyMs: 10 });
    const found = pattern.exec(this.since(from))!;
    return from + found.index + found[0].length;
  }

  /** The exit code of the command. */
  end(): Promise<number | null> {
    return inTime('the end of the command in the terminal', this.#ended, { found: () => this.shown });
  }
}
