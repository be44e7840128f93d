import type { QueryAnswer } from '../protocol/http.js';
import { ApiError } from '../server/api-error.js';

/** The history of a program, as it tells its dashboard by the fact `history`. */
export interface HistoryFact {
  /** Address of a module with a `History` such as that of @int/sink-parquet: the dashboard does not depend on it. */
  readonly module: string;
  readonly directory: string;
}

interface HistoryModule {
  readonly History: { open(options: object): Promise<OpenHistory> };
}

interface OpenHistory {
  query(sql: string): Promise<HistoryResult>;
  interrupt(): void;
  close(): void;
}

interface HistoryResult {
  readonly columns: QueryAnswer['columns'];
  chunks(): AsyncIterable<readonly (readonly unknown[])[]>;
}

/** What one query may take. */
export interface QueryLimits {
  readonly rows: number;
  readonly ms: number;
}

const MOST_BYTES = 8 << 20;
const MEMORY_MIB = 256;
const THREADS = 1;
/** Queries that wait for the one that runs. */
const MOST_WAITING = 8;

/** Reads the history, in the dashboard's thread: the engine has threads of its own. One query runs at a time. */
export class HistoryReader {
  readonly #fact: HistoryFact;
  /** Files whose checksums were found right. */
  readonly #checked = new Map<string, string>();
  #opening: Promise<OpenHistory> | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(fact: HistoryFact) {
    this.#fact = fact;
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
   * @throws ApiError (rejects) `ERR_QUERY` for what cannot be answered, or not in time; the signal's reason
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
    const opening = this.#opening;
    this.#opening = null;
    if (opening !== null) (await opening.catch(() => null))?.close();
  }

  async #run(sql: string, limits: QueryLimits, signal: AbortSignal): Promise<QueryAnswer> {
    signal.throwIfAborted();
    const begun = performance.now();
    let isLate = false;
    let history: OpenHistory | null = null;
    const stop = (): void => history?.interrupt();
    const limit = setTimeout(() => {
      isLate = true;
      stop();
    }, limits.ms);
    signal.addEventListener('abort', stop, { once: true });
    try {
      history = await this.#open();
      const result = await history.query(sql);
      const { rows, truncated } = await firstRows(result, limits.rows);
      // The engine goes on with rows that nobody wants.
      if (truncated) stop();
      return { columns: result.columns, rows, truncated, ms: Math.round(performance.now() - begun) };
    } catch (error) {
      signal.throwIfAborted();
      if (isLate) throw new ApiError(408, 'ERR_QUERY', `the query was ended after ${limits.ms / 1000} s: ask for less`);
      throw refusalOf(error, sql);
    } finally {
      clearTimeout(limit);
      signal.removeEventListener('abort', stop);
    }
  }

  async #open(): Promise<OpenHistory> {
    const { module, directory } = this.#fact;
    this.#opening ??= import(module).then(({ History }: HistoryModule) =>
      History.open({ directory, threads: THREADS, memoryMiB: MEMORY_MIB, checked: this.#checked, salvage: true }),
    );
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = null;
      throw error;
    }
  }
}

async function firstRows(
  result: HistoryResult,
  most: number,
): Promise<{ readonly rows: (readonly unknown[])[]; readonly truncated: boolean }> {
  const rows: (readonly unknown[])[] = [];
  let bytes = 0;
  for await (const chunk of result.chunks()) {
    for (const row of chunk) {
      if (rows.length === most || bytes > MOST_BYTES) return { rows, truncated: true };
      bytes += JSON.stringify(row).length;
      rows.push(row);
    }
  }
  return { rows, truncated: false };
}

/** Errors of the history have codes, and the place in the text. */
function refusalOf(error: unknown, sql: string): ApiError {
  if (ApiError.is(error)) return error;
  const { code = '', message, offset } = error as { code?: string; message: string; offset?: number | null };
  const isOfText = code === 'ERR_HISTORY_SQL' || code === 'ERR_HISTORY_READ_ONLY';
  const at = offset === null || offset === undefined ? undefined : placeOf(sql, offset);
  return new ApiError(isOfText ? 400 : 500, 'ERR_QUERY', message, at);
}

function placeOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}
