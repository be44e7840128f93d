import { readdir } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { type DuckDBConnection, DuckDBInstance, type DuckDBResult, type Json, StatementType } from '@duckdb/node-api';
import { list } from '../engine/sql.js';
import { HistoryError } from '../errors.js';
import { jsonRow } from './json-row.js';
import { readStoreFiles, type StoreFiles, viewStatements } from './views.js';

/** Options of {@link History.open}. */
export interface HistoryOptions {
  /** The folder of the store. */
  readonly directory: string;
  /** Threads of the engine. Default: one for each core. */
  readonly threads?: number;
  /** Memory of the engine at most, in MiB. Default 1024. */
  readonly memoryMiB?: number;
}

/** A column of a result. */
export interface ResultColumn {
  readonly name: string;
  /** As the engine names it: `BIGINT`, `VARCHAR`, `UINTEGER[]`, ... */
  readonly type: string;
}

/**
 * A value of a result: whole numbers beyond 2^53, all of type UBIGINT, and times are texts; lists are arrays; structs and
 * maps are objects.
 */
export type ResultValue = Json;

/** A row of a result, by the names of its columns. */
export type ResultRow = Readonly<Record<string, ResultValue>>;

/** Attempts of a query whose files went away meanwhile: merged or removed. */
const ATTEMPTS = 10;

/** Answers of a query, in parts: rows are made as they are asked for. */
export class QueryResult {
  readonly columns: readonly ResultColumn[];
  readonly #result: DuckDBResult;
  readonly #toError: (error: unknown) => HistoryError;

  /** @internal */
  constructor(result: DuckDBResult, toError: (error: unknown) => HistoryError) {
    this.#result = result;
    this.#toError = toError;
    const types = result.columnTypes();
    this.columns = result.deduplicatedColumnNames().map((name, index) => ({ name, type: String(types[index]) }));
  }

  /**
   * The rows, as arrays of values in the order of {@link columns}, some thousand at a time. To be read once.
   * @throws HistoryError if the query fails on the way
   */
  async *chunks(): AsyncGenerator<ResultValue[][], void, undefined> {
    for (;;) {
      let rows: ResultValue[][];
      try {
        const chunk = await this.#result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) return;
        rows = chunk.convertRows<ResultValue>(jsonRow);
      } catch (error) {
        throw this.#toError(error);
      }
      yield rows;
    }
  }
}

/**
 * Queries the files of a store with SQL (that of DuckDB), while a sink may write to it. There are the views `hops`,
 * `reports`, `events`, `flows` and `paths`. Queries only read, and only the store.
 */
export class History {
  readonly directory: string;
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  #views = '';
  #isInterrupted = false;
  #isClosed = false;

  private constructor(directory: string, instance: DuckDBInstance, connection: DuckDBConnection) {
    this.directory = directory;
    this.#instance = instance;
    this.#connection = connection;
  }

  /** @throws HistoryError with `ERR_HISTORY_STORE` if the folder is not there; an empty one is an empty store */
  static async open({ directory, threads, memoryMiB = 1024 }: HistoryOptions): Promise<History> {
    const path = resolve(directory);
    await checkStore(path);
    const instance = await DuckDBInstance.create(':memory:', {
      memory_limit: `${memoryMiB}MiB`,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      ...(threads !== undefined && { threads: String(threads) }),
    });
    const connection = await instance.connect();
    // Nothing spills to files, and nothing but the store is there; nothing of this can be undone by a query.
    await connection.run(`SET temp_directory = ''`);
    await connection.run(`SET allowed_directories = ${list([path.endsWith(sep) ? path : path + sep])}`);
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
    return new History(path, instance, connection);
  }

  /**
   * Starts a query on what is in the store now.
   * @param sql one statement that reads: SELECT, FROM, WITH, DESCRIBE, SUMMARIZE, EXPLAIN, ...
   * @throws HistoryError
   */
  async query(sql: string): Promise<QueryResult> {
    this.#isInterrupted = false;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#refresh();
        const statement = await this.#prepare(sql);
        return new QueryResult(await statement.stream(), (error) => this.#toError(error));
      } catch (error) {
        const problem = this.#toError(error);
        // A file that was listed was merged into another one before it was opened.
        if (attempt >= ATTEMPTS || !/No such file|No files found/.test(problem.message)) throw problem;
      }
    }
  }

  /** All rows of a query, as objects. @throws HistoryError */
  async rows(sql: string): Promise<ResultRow[]> {
    for (let attempt = 1; ; attempt++) {
      const result = await this.query(sql);
      const names = result.columns.map(({ name }) => name);
      const rows: ResultRow[] = [];
      try {
        for await (const chunk of result.chunks()) {
          for (const row of chunk)
            rows.push(Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])));
        }
        return rows;
      } catch (error) {
        if (attempt >= ATTEMPTS || !HistoryError.is(error) || !/No such file/.test(error.message)) throw error;
      }
    }
  }

  /** Ends the query that runs, which then fails. */
  interrupt(): void {
    if (this.#isClosed) return;
    this.#isInterrupted = true;
    this.#connection.interrupt();
  }

  close(): void {
    if (this.#isClosed) return;
    this.interrupt();
    this.#isClosed = true;
    this.#connection.closeSync();
    this.#instance.closeSync();
  }

  async #prepare(sql: string): Promise<Awaited<ReturnType<DuckDBConnection['prepare']>>> {
    const nothing = /^(\s|;|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)*$/;
    if (nothing.test(sql)) throw new HistoryError('ERR_HISTORY_READ_ONLY', 'there is no statement');
    const statements = await this.#connection.extractStatements(sql);
    if (statements.count !== 1) {
      throw new HistoryError('ERR_HISTORY_READ_ONLY', `one statement is expected, not ${statements.count}`);
    }
    const statement = await statements.prepare(0);
    const type = statement.statementType;
    if (type !== StatementType.SELECT && type !== StatementType.EXPLAIN) {
      throw new HistoryError(
        'ERR_HISTORY_READ_ONLY',
        'only statements that read are allowed: SELECT, FROM, WITH, DESCRIBE',
      );
    }
    return statement;
  }

  /** Makes the views anew if there are other files than the last time. */
  async #refresh(): Promise<void> {
    if (this.#isClosed) throw new HistoryError('ERR_HISTORY_INTERRUPTED', 'the history is closed');
    let files: StoreFiles;
    try {
      files = await readStoreFiles(this.directory);
    } catch (error) {
      const { message } = error as Error;
      throw new HistoryError('ERR_HISTORY_STORE', `cannot read ${this.directory}: ${message}`, null, error);
    }
    const views = JSON.stringify(files);
    if (views === this.#views) return;
    for (const statement of viewStatements(files)) await this.#connection.run(statement);
    this.#views = views;
  }

  #toError(error: unknown): HistoryError {
    if (HistoryError.is(error)) return error;
    const full = error instanceof Error ? error.message : String(error);
    const message = full.replace(/^Failed to \w+ statements?: /, '');
    if (this.#isInterrupted && /INTERRUPT/i.test(message)) {
      return new HistoryError('ERR_HISTORY_INTERRUPTED', 'the query was interrupted', null, error);
    }
    const isText = /^(Parser|Binder|Catalog|Syntax|Not implemented|Permission) Error/.test(message);
    const offset = caretOf(message);
    const [first = message] = message.split('\n\n');
    return new HistoryError(isText ? 'ERR_HISTORY_SQL' : 'ERR_HISTORY_FAILED', isText ? first : message, offset, error);
  }
}

/** The place in the text that the engine points at with a caret under it. */
function caretOf(message: string): number | null {
  const [line = '', caret = ''] = message.split('\n').slice(-2);
  const prefix = /^LINE 1: /.exec(line)?.[0];
  // Long lines are shown in part: there the place is not known.
  if (prefix === undefined || line.startsWith(`${prefix}...`) || !/^ *\^$/.test(caret)) return null;
  return caret.length - 1 - prefix.length;
}

async function checkStore(path: string): Promise<void> {
  try {
    await readdir(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'no such folder' : code === 'ENOTDIR' ? 'it is no folder' : message;
    throw new HistoryError('ERR_HISTORY_STORE', `cannot read ${path}: ${reason}`, null, error);
  }
}
