import { type ChildProcess, fork } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { QueryAnswer } from '../protocol/http.js';
import { ApiError } from '../server/api-error.js';
import type { FromQueries, QueryMemory, ToQueries } from './query-process.js';

/** The history of a program, as it tells its dashboard by the fact `history`. */
export interface HistoryFact {
  /** Address of a module with a `History` such as that of @int/sink-parquet: the dashboard does not depend on it. */
  readonly module: string;
  readonly directory: string;
}

/** What one query may take. */
export interface QueryLimits {
  readonly rows: number;
  readonly ms: number;
}

const MOST_BYTES = 8 << 20;
const MIB = 1 << 20;
/** The program and the engine without any data take about 120 MiB. */
const MEMORY: QueryMemory = { engineMiB: 256, bytes: 512 * MIB };
const HEAP_MIB = 128;
/** Linux: what the process may allocate at all. A single value can be made faster than anybody looks. */
const DATA_KIB = 768 * 1024;
/** Interval at which the memory of the process is looked at. It looks itself; but not while it is busy with one value. */
const WATCH_MS = 50;
/** A query that does not end when it is told to is ended with its process after so long. */
const GRACE_MS = 1000;
/** A process without queries ends after so long. */
const IDLE_MS = 60_000;
/** Queries that wait for the one that runs. */
const MOST_WAITING = 8;
const PAGE_BYTES = 4096;

/**
 * Reads the history, by a process of its own that is started for the first query: a query that takes too much ends with that
 * process, and nothing else does. One query runs at a time.
 */
export class HistoryReader {
  readonly #fact: HistoryFact;
  /** The program of the process. */
  readonly #file: string;
  #process: ChildProcess | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param file path or address of the code of the dashboard's thread, which is also that of the process */
  constructor(fact: HistoryFact, file: string) {
    this.#fact = fact;
    this.#file = file.startsWith('file:') ? fileURLToPath(file) : file;
  }

  get directory(): string {
    return this.#fact.directory;
  }

  /** Whether it reads what the program tells. */
  isOf({ module, directory }: HistoryFact): boolean {
    return module === this.#fact.module && directory === this.#fact.directory;
  }

  /**
   * Runs one statement that reads.
   * @throws ApiError (rejects) `ERR_QUERY` for what cannot be answered, or not in time; `ERR_QUERY_MEMORY` for what takes too much
   *   memory; the signal's reason
   */
  async query(sql: string, limits: QueryLimits, signal: AbortSignal): Promise<QueryAnswer> {
    if (this.#waiting >= MOST_WAITING) {
      throw new ApiError(429, 'ERR_TOO_MANY', `${MOST_WAITING} queries wait already: try again later`);
    }
    this.#waiting++;
    const running = this.#last.then(() => this.#run(sql, limits, signal));
    this.#last = running.catch(() => {});
    try {
      return await running;
    } finally {
      this.#waiting--;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#process?.kill('SIGKILL');
    await this.#last;
  }

  async #run(sql: string, limits: QueryLimits, signal: AbortSignal): Promise<QueryAnswer> {
    signal.throwIfAborted();
    if (this.#isClosed) throw new ApiError(503, 'ERR_UNAVAILABLE', 'the dashboard is being closed');
    const begun = performance.now();
    clearTimeout(this.#idle);
    const process = this.#start();
    const watch = watchMemory(process, MEMORY.bytes);
    let isLate = false;
    let kill: NodeJS.Timeout | undefined;
    const stop = (): void => {
      send(process, { name: 'stop' });
      kill ??= setTimeout(() => process.kill('SIGKILL'), GRACE_MS);
    };
    const limit = setTimeout(() => {
      isLate = true;
      stop();
    }, limits.ms);
    signal.addEventListener('abort', stop, { once: true });
    try {
      const became = nextOf(process);
      send(process, { name: 'query', sql, rows: limits.rows, bytes: MOST_BYTES });
      const end = await became;
      if (end.name === 'answer') return { ...end.answer, ms: Math.round(performance.now() - begun) };
      signal.throwIfAborted();
      if (isLate) throw new ApiError(408, 'ERR_QUERY', `the query was ended after ${limits.ms / 1000} s: ask for less`);
      if (end.name === 'too-large' || (end.name === 'ended' && watch.isOver())) throw tooLarge();
      if (end.name === 'ended') throw new ApiError(500, 'ERR_QUERY', 'the process of queries has ended: try again');
      throw refusalOf(end, sql);
    } finally {
      clearTimeout(limit);
      clearTimeout(kill);
      watch.end();
      signal.removeEventListener('abort', stop);
      this.#idle = setTimeout(() => this.#process?.kill('SIGKILL'), IDLE_MS);
      this.#idle.unref();
    }
  }

  /** The process; a new one if there is none. */
  #start(): ChildProcess {
    if (this.#process?.connected === true && this.#process.exitCode === null) return this.#process;
    const { NODE_OPTIONS: _, ...env } = process.env;
    const started = fork(this.#file, {
      ...limited([`--max-old-space-size=${HEAP_MIB}`]),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env,
    });
    this.#process = started;
    started.on('error', () => {});
    started.once('exit', () => {
      if (this.#process === started) this.#process = null;
    });
    // Linux: should memory run out, this one goes first.
    if (started.pid !== undefined) writeFile(`/proc/${started.pid}/oom_score_adj`, '1000').catch(() => {});
    const { module, directory } = this.#fact;
    send(started, { name: 'open', module, directory, limits: MEMORY });
    return started;
  }
}

/** How Node is started: by a shell that sets the limit, where the system enforces one. */
function limited(execArgv: readonly string[]): { readonly execPath?: string; readonly execArgv: string[] } {
  if (process.platform !== 'linux') return { execArgv: [...execArgv] };
  const script = `ulimit -d ${DATA_KIB}; exec "$0" "$@"`;
  return { execPath: '/bin/sh', execArgv: ['-c', script, process.execPath, ...execArgv] };
}

type End = FromQueries | { readonly name: 'ended' };

/** What becomes of the query at hand: its answer, or the end of the process. */
function nextOf(process: ChildProcess): Promise<End> {
  return new Promise((resolve) => {
    let isTooLarge = false;
    const settle = (end: End): void => {
      process.off('message', told);
      process.off('exit', ended);
      process.off('error', failed);
      resolve(end);
    };
    // Its end follows.
    const told = (message: FromQueries): void => {
      if (message.name === 'too-large') isTooLarge = true;
      else settle(message);
    };
    const ended = (): void => settle({ name: isTooLarge ? 'too-large' : 'ended' });
    const failed = (error: Error): void =>
      settle({
        name: 'failed',
        code: '',
        message: `the process of queries does not start: ${error.message}`,
        offset: null,
      });
    process.on('message', told as (message: unknown) => void);
    process.once('exit', ended);
    process.once('error', failed);
  });
}

function send(process: ChildProcess, message: ToQueries): void {
  // It may end meanwhile: its end is the answer then.
  if (process.connected) process.send(message, () => {});
}

/** Ends a process that takes too much memory, where the system tells. */
function watchMemory(process: ChildProcess, bytes: number): { isOver(): boolean; end(): void } {
  let isOver = false;
  const look = async (): Promise<void> => {
    const text = await readFile(`/proc/${process.pid}/statm`, 'utf8').catch(() => '');
    if (Number(text.split(' ')[1] ?? 0) * PAGE_BYTES <= bytes) return;
    isOver = true;
    process.kill('SIGKILL');
  };
  const looking = setInterval(() => void look(), WATCH_MS);
  return { isOver: () => isOver, end: () => clearInterval(looking) };
}

const tooLarge = (): ApiError =>
  new ApiError(
    413,
    'ERR_QUERY_MEMORY',
    `the query was ended: it would take more than ${MEMORY.bytes / MIB} MiB of memory, ask for less`,
  );

/** Errors of the history have codes, and the place in the text. */
function refusalOf(end: Extract<End, { name: 'failed' }>, sql: string): ApiError {
  const { code, message, offset } = end;
  if (/^Out of Memory Error/i.test(message)) return tooLarge();
  const isOfText = code === 'ERR_HISTORY_SQL' || code === 'ERR_HISTORY_READ_ONLY';
  return new ApiError(isOfText ? 400 : 500, 'ERR_QUERY', message, offset === null ? undefined : placeOf(sql, offset));
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}
