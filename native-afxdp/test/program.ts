import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { entryPoints, repository, sourceOf, workspaces } from '../../.ci/scripts/workspaces.mjs';
import { requires } from '../../.ci/test/requires.js';
import { shared } from '../../.ci/test/shared.js';
import { inTime } from '../../.ci/test/until.js';
import type { End } from '../../.ci/test/veth-pair.js';
import { addon, type Build, sanitizerLibrary } from './addon.js';
import type { Answer, Failure, Handlers } from './serve.js';

/** How a program is started. */
export interface StartOptions {
  /** The namespace to start it in. Default: that of the tests. */
  readonly at?: End;
  readonly build?: Build;
  /** A command and its arguments that go in front of `node`, such as `setpriv`, to take rights away. */
  readonly through?: readonly string[];
  /** Of `node`, such as `--expose-gc`. */
  readonly flags?: readonly string[];
}

type Result<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;
type Arguments<F> = F extends (...args: infer A) => unknown ? A : never;

/** An error of a call: what the program said of its own. */
class CallError extends Error {
  override name = 'CallError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(`${failure.name} ${failure.code ?? ''}: ${failure.message}\n${failure.stack ?? ''}`);
    this.failure = failure;
  }
}

let folder: string | undefined;
const bundles = new Map<string, Promise<string>>();
const running = new Set<Program<Handlers>>();

/** A folder for what sanitizers find; removed when the process ends. */
function scratch(): string {
  if (folder === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'int-afxdp-'));
    folder = made;
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  }
  return folder;
}

/**
 * Node cannot read TypeScript: a program is put together from the sources, as the build would, once for all test files.
 * @returns the file to start
 */
export function bundle(file: URL): Promise<string> {
  const source = fileURLToPath(file);
  let path = bundles.get(source);
  if (path === undefined) {
    path = shared(relative(repository, source).replaceAll(/[\\/]/g, '-'), (into) => makeBundle(source, into));
    bundles.set(source, path);
  }
  return path;
}

async function makeBundle(source: string, into: string): Promise<string> {
  const alias = workspaces().flatMap((workspace) =>
    entryPoints(workspace.manifest).map((entry) => [
      `${workspace.manifest.name}${entry.slice(1)}`,
      sourceOf(workspace, entry) ?? join(workspace.path, 'src', 'index.ts'),
    ]),
  );
  const { outputFiles } = await build({
    entryPoints: [source],
    alias: Object.fromEntries(alias) as Record<string, string>,
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2022',
    logLevel: 'error',
    sourcemap: 'inline',
  });
  const path = join(into, 'program.mjs');
  writeFileSync(path, outputFiles[0]!.contents);
  return path;
}

/** How long a handler may take: less than a test, and more than what it waits for itself. */
const CALL_MS = 50_000;

/** A running program of these tests (`*.program.ts`) whose handlers can be called. */
export class Program<H extends Handlers> {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  readonly #reports: string | null;
  readonly #ended: Promise<string>;
  #end: string | null = null;
  #output = '';
  #calls = 0;

  /** For {@link start}. `reports`: where sanitizers write, or null. */
  constructor(child: ChildProcess, reports: string | null) {
    this.#child = child;
    this.#reports = reports;
    const keep = (text: string): void => {
      this.#output = (this.#output + text).slice(-20_000);
    };
    child.stdout?.setEncoding('utf8').on('data', keep);
    child.stderr?.setEncoding('utf8').on('data', keep);
    child.on('message', (answer: Answer) => this.#answer(answer));
    // Not `close`: it does not come where this side has disconnected.
    const streams = [child.stdout, child.stderr].map(
      (stream) => new Promise((resolve) => stream!.once('close', resolve)),
    );
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => {
        keep(String(error));
        resolve('not started');
      });
      child.once('exit', (code, signal) => {
        Promise.all(streams).then(() => resolve(`${signal ?? code}`));
      });
    });
    this.#ended.then((end) => {
      this.#end = end;
      running.delete(this as unknown as Program<Handlers>);
      for (const { reject } of this.#waiting.values()) reject(this.#gone());
      this.#waiting.clear();
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  #gone(): Error {
    return new Error(`the program has ended (${this.#end})\n${this.#reported()}${this.#output}`);
  }

  #answer(answer: Answer): void {
    const call = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('failure' in answer) call?.reject(new CallError(answer.failure));
    else call?.resolve(answer.result);
  }

  /**
   * Calls a handler.
   * @throws CallError with what the handler threw; Error if the program ends
   */
  call<K extends keyof H & string>(name: K, ...args: Arguments<H[K]>): Promise<Result<H[K]>> {
    const id = this.#calls++;
    const answered = new Promise<Result<H[K]>>((resolve, reject) => {
      if (this.#end !== null) return reject(this.#gone());
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.send({ id, name, args }, (error) => {
        if (error !== null && this.#waiting.delete(id)) reject(this.#gone());
      });
    });
    return inTime(`an answer to ${name}`, answered, { withinMs: CALL_MS, found: () => this.#output });
  }

  /**
   * Calls a handler that is to fail.
   * @returns what it threw
   * @throws Error if it does not fail, or the program ends
   */
  async failure<K extends keyof H & string>(name: K, ...args: Arguments<H[K]>): Promise<Failure> {
    try {
      await this.call(name, ...args);
    } catch (error) {
      if (error instanceof CallError) return error.failure;
      throw error;
    }
    throw new Error(`${name} did not fail`);
  }

  /** Kills the program, by default without a warning. @returns how it ended */
  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<string> {
    this.#child.kill(signal);
    return this.#whenEnded();
  }

  /**
   * Lets the program end.
   * @throws Error if it did not end well, or a sanitizer has found something
   */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const end = await this.#whenEnded();
    const found = this.#reported();
    if (end !== '0' || found !== '') throw new Error(`the program ended with ${end}\n${found}${this.#output}`);
  }

  #whenEnded(): Promise<string> {
    return inTime('the end of the program', this.#ended, {
      found: () => this.#output,
      inVain: () => this.#child.kill('SIGKILL'),
    });
  }

  #reported(): string {
    return reportsIn(this.#reports);
  }
}

/** What is to be started, and where sanitizers write what they find (null: there are none). */
interface Command {
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly reports: string | null;
}

async function commandOf(file: URL, options: StartOptions, args: readonly string[]): Promise<Command> {
  const { at, build: which = 'plain', through = [], flags = [] } = options;
  const library = which === 'sanitized' ? sanitizerLibrary() : null;
  const binary = addon(which);
  const path = await bundle(file);
  const words: string[] = [];
  if (at !== undefined) words.push(requires('ip', 'npm run setup:system'), 'netns', 'exec', at.namespace);
  words.push(...through);
  let reports: string | null = null;
  if (library !== null) {
    reports = mkdtempSync(join(scratch(), 'reports-'));
    const log = join(reports, 'report');
    const address = `detect_leaks=0:exitcode=99:abort_on_error=0:log_path=${log}`;
    const undefinedBehaviour = `halt_on_error=1:print_stacktrace=1:exitcode=99:log_path=${log}`;
    words.push('env', `LD_PRELOAD=${library}`, `ASAN_OPTIONS=${address}`, `UBSAN_OPTIONS=${undefinedBehaviour}`);
  }
  words.push(process.execPath, '--enable-source-maps', ...flags, path, ...args);
  return { words, env: { ...process.env, INT_AFXDP_ADDON: binary, NODE_OPTIONS: '' }, reports };
}

/**
 * Starts a program. Call it inside a test: without a compiler the test is skipped.
 *
 * @param file such as `new URL('../traffic.program.ts', import.meta.url)`
 */
export async function start<H extends Handlers>(file: URL, options: StartOptions = {}): Promise<Program<H>> {
  const { words, env, reports } = await commandOf(file, options, []);
  const child = spawn(words[0]!, words.slice(1), {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    env,
  });
  const program = new Program<H>(child, reports);
  running.add(program as unknown as Program<Handlers>);
  return program;
}

/** How a program came to its end by itself. */
export interface Ending {
  readonly status: number | null;
  readonly signal: string | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a program that offers nothing and ends by itself, or is killed after 40 seconds. */
export async function run(file: URL, args: readonly string[], options: StartOptions = {}): Promise<Ending> {
  const { words, env, reports } = await commandOf(file, options, args);
  const { status, signal, stdout, stderr } = spawnSync(words[0]!, words.slice(1), {
    env,
    encoding: 'utf8',
    timeout: 40_000,
    killSignal: 'SIGKILL',
  });
  return { status, signal, output: stdout, errors: stderr + reportsIn(reports) };
}

function reportsIn(folder: string | null): string {
  if (folder === null) return '';
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}

/** Kills what is still running: for `afterEach`. */
export async function killPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.kill()));
}
