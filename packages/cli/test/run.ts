import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { main } from '../src/index.js';

/** The command as it is installed: the committed file in front of the build. */
export const BIN: string = fileURLToPath(new URL('../bin/int.js', import.meta.url));

/** What a run left behind. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly bytes: Buffer;
  readonly stderr: string;
}

/** A stream that takes everything and may pretend to be a terminal. */
class Sink extends PassThrough {
  isTTY = false;
  columns = 100;
  rows = 24;
  readonly chunks: Buffer[] = [];

  constructor() {
    super();
    this.on('data', (chunk: Buffer) => this.chunks.push(chunk));
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString();
  }
}

export interface InProcess {
  readonly input?: string | Uint8Array;
  readonly env?: Record<string, string>;
  /** Standard output and error are terminals. */
  readonly terminal?: { readonly columns: number; readonly rows: number };
  /** Ends the command as a signal does, after so many milliseconds: for what must not happen until then. */
  readonly interruptAfterMs?: number;
  /** Ends the command as a signal does, when it has done what the test is about. */
  readonly interruptWhen?: (shown: { readonly stdout: string; readonly stderr: string }) => boolean;
}

/** Runs the command in this process. */
export async function run(args: readonly string[], options: InProcess = {}): Promise<Outcome> {
  const stdout = new Sink();
  const stderr = new Sink();
  if (options.terminal !== undefined) {
    Object.assign(stdout, options.terminal, { isTTY: true });
    Object.assign(stderr, options.terminal, { isTTY: true });
  }
  const stopping = new AbortController();
  const timer =
    options.interruptAfterMs === undefined ? undefined : setTimeout(() => stopping.abort(), options.interruptAfterMs);
  const { interruptWhen } = options;
  const looking = setInterval(() => {
    if (interruptWhen?.({ stdout: stdout.text, stderr: stderr.text })) stopping.abort();
  }, 10);
  const code = await main(['node', 'int', ...args], {
    stdin: Readable.from(options.input === undefined ? [] : [Buffer.from(options.input)]),
    stdout,
    stderr,
    env: options.env ?? {},
    signal: stopping.signal,
  });
  clearTimeout(timer);
  clearInterval(looking);
  await new Promise(setImmediate);
  return { code, stdout: stdout.text, bytes: Buffer.concat(stdout.chunks), stderr: stderr.text };
}

/** A running process of the real command. */
export class Running {
  readonly child: ChildProcess;
  readonly #stdout: Buffer[] = [];
  stderr = '';
  readonly #closed: Promise<number | null>;

  /** @param input what standard input holds; `open` leaves it to the test */
  constructor(args: readonly string[], input: string | Uint8Array | undefined | { readonly open: true } = undefined) {
    this.child = spawn(process.execPath, [BIN, ...args], { stdio: 'pipe' });
    this.child.stdout!.on('data', (chunk: Buffer) => this.#stdout.push(chunk));
    this.child.stderr!.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    // The command may end before it has read everything.
    this.child.stdin!.on('error', () => {});
    if (input === undefined || typeof input === 'string' || input instanceof Uint8Array) this.child.stdin!.end(input);
    this.#closed = new Promise((resolve) => this.child.once('close', resolve));
  }

  get stdout(): string {
    return Buffer.concat(this.#stdout).toString();
  }

  /** Waits until something holds. Fails if the command ends before. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      const { exitCode, signalCode } = this.child;
      if (exitCode !== null || signalCode !== null)
        throw new Error(`int ended (${exitCode ?? signalCode}): ${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Waits for text on standard error. */
  async saying(pattern: RegExp): Promise<RegExpExecArray> {
    await this.until(() => pattern.test(this.stderr));
    return pattern.exec(this.stderr)!;
  }

  async end(): Promise<Outcome> {
    const code = await this.#closed;
    return { code, stdout: this.stdout, bytes: Buffer.concat(this.#stdout), stderr: this.stderr };
  }
}

/** Runs the real command to its end. */
export function runBin(args: readonly string[], input?: string | Uint8Array): Promise<Outcome> {
  return new Running(args, input).end();
}

/** A folder for the tests of a file, removed afterwards. */
export function temporaryFolder(): {
  path(name: string): string;
  write(name: string, bytes: Uint8Array | string): Promise<string>;
} {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'int-cli-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });
  const path = (name: string): string => join(folder, name);
  return {
    path,
    async write(name, bytes) {
      await writeFile(path(name), bytes);
      return path(name);
    },
  };
}

/** The objects of NDJSON text. */
export function ndjson(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
