import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { main } from '@int/cli';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { inTime, until } from '../../../.ci/test/until.js';

/** The command as it is installed: the committed file in front of the build. */
export const BIN: string = fileURLToPath(new URL('../bin/int.js', import.meta.url));

/** How long a run in this process may take: less than a test, which then says what there is. */
const RUN_MS = 50_000;

/** What a run left behind. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly bytes: Buffer;
  readonly stderr: string;
}

/** A stream that takes everything and may pretend to be a terminal. */
class Captured extends PassThrough {
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
  const stdout = new Captured();
  const stderr = new Captured();
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
  const ending = main(['node', 'int', ...args], {
    stdin: Readable.from(options.input === undefined ? [] : [Buffer.from(options.input)]),
    stdout,
    stderr,
    env: options.env ?? {},
    signal: stopping.signal,
  });
  const code = await inTime(`the end of int ${args.join(' ')}`, ending, {
    withinMs: RUN_MS,
    found: () => stdout.text + stderr.text,
    inVain: () => stopping.abort(),
  }).finally(() => {
    clearTimeout(timer);
    clearInterval(looking);
  });
  await new Promise(setImmediate);
  return { code, stdout: stdout.text, bytes: Buffer.concat(stdout.chunks), stderr: stderr.text };
}

/** A running process of the real command. It does not outlive the test. */
export class Running {
  readonly child: ChildProcess;
  readonly #command: string;
  readonly #stdout: Buffer[] = [];
  stderr = '';
  readonly #closed: Promise<number | null>;

  /** @param input what standard input holds; `open` leaves it to the test */
  constructor(args: readonly string[], input: string | Uint8Array | undefined | { readonly open: true } = undefined) {
    this.#command = `int ${args.join(' ')}`;
    this.child = spawn(process.execPath, [BIN, ...args], { stdio: 'pipe' });
    onTestFinished(() => void this.child.kill('SIGKILL'));
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
  until(holds: () => boolean): Promise<void> {
    return this.#until(String(holds), holds);
  }

  /** Waits for text on standard error. */
  async saying(pattern: RegExp): Promise<RegExpExecArray> {
    await this.#until(String(pattern), () => pattern.test(this.stderr));
    return pattern.exec(this.stderr)!;
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    const look = (): boolean => {
      if (holds()) return true;
      const { exitCode, signalCode } = this.child;
      if (exitCode === null && signalCode === null) return false;
      throw new Error(`int ended (${exitCode ?? signalCode}): ${this.stderr}`);
    };
    await until(`${what} of ${this.#command}`, look, { found: () => this.stdout + this.stderr, everyMs: 10 });
  }

  async end(): Promise<Outcome> {
    const code = await inTime(`the end of ${this.#command}`, this.#closed, {
      found: () => this.stdout + this.stderr,
      inVain: () => this.child.kill('SIGKILL'),
    });
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

/** The objects of NDJSON text, without a line that has not come to its end. */
export function ndjson(text: string): Record<string, unknown>[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
