import { readdir } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { type DuckDBConnection, DuckDBInstance, type DuckDBResult, type Json, StatementType } from '@duckdb/node-api';
import type { Topology } from '@int/network';
import { list } from '../engine/sql.js';
import { HistoryError } from '../errors.js';
import type { TableName } from '../table/table.js';
import { jsonRow } from './json-row.js';
import { nameStatements } from './names.js';
import { type CheckedFiles, type LeftOutFile, Verification } from './verification.js';
import { readStoreFiles, type StoreFiles, type StoreListing, tablesIn, viewStatements } from './views.js';

/** Options of {@link History.open}. */
export interface HistoryOptions {
  /** The folder of the store. */
  readonly directory: string;
  /** Threads of the engine. Default: one for each core. */
  readonly threads?: number;
  /** Memory of the engine at most, in MiB. Default 1024. */
  readonly memoryMiB?: number;
  /**
   * Which of the files that a query may read are held against their checksums before: `changed`, the default: those that
   * `checked` does not know; `all`; `none`.
   */
  readonly verify?: 'changed' | 'all' | 'none';
  /** Where is remembered which files were as they were written. Default: in this object. */
  readonly checked?: CheckedFiles;
  /** Whether damaged files are left out, and told in {@link History.leftOut}. Default: a query fails because of them. */
  readonly salvage?: boolean;
  /**
   * Names of switches and ports, as the tables `switches` (nodeId, nodeName) and `ports` (nodeId, port, portName, peerId,
   * peerPort, speedBps). Default: there are no such tables.
   */
  readonly names?: Topology;
  /** Told, while files are checked, how many bytes are done and how many there are. */
  readonly onVerify?: (doneBytes: number, totalBytes: number) => void;
}

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

/** How often a statement is interrupted until it ends, in ms: the engine forgets what came before it began to run. */
const INTERRUPT_EVERY_MS = 20;

/** Does work of a query, which may be interrupted. @throws HistoryError (rejects) */
type Running = <T>(work: () => Promise<T>) => Promise<T>;

/** Answers of a query, in parts: rows are made as they are asked for. */
export class QueryResult {
  readonly columns: readonly ResultColumn[];
  readonly #result: DuckDBResult;
  readonly #running: Running;

  /** @internal */
  constructor(result: DuckDBResult, running: Running) {
    this.#result = result;
    this.#running = running;
    const types = result.columnTypes();
    this.columns = result.deduplicatedColumnNames().map((name, index) => ({ name, type: String(types[index]) }));
  }

  /**
   * The rows, as arrays of values in the order of {@link columns}, some thousand at a time. To be read once.
   * @throws HistoryError if the query fails on the way
   */
  async *chunks(): AsyncGenerator<ResultValue[][], void, undefined> {
    for (;;) {
      const rows = await this.#running(async () => {
        const chunk = await this.#result.fetchChunk();
        return chunk?.convertRows<ResultValue>(jsonRow) ?? [];
      });
      if (rows.length === 0) return;
      yield rows;
    }
  }
}

/**
 * Queries the files of a store with SQL (that of DuckDB), while a sink may write to it. There are the views `hops`,
 * `reports`, `events`, `flows` and `paths`. Queries only read, and only the store. Times are UTC, whatever the zone of the
 * process is.
 */
export class History {
  readonly directory: string;
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly #verification: Verification | null;
  readonly #salvages: boolean;
  #views = '';
  #leftOut: readonly LeftOutFile[] = [];
  #unchecked = 0;
  #isInterrupted = false;
  #isClosed = false;
  /** Parts of queries that are at work. */
  #atWork = 0;
  #interruptions: NodeJS.Timeout | undefined;

  private constructor(
    directory: string,
    options: HistoryOptions,
    instance: DuckDBInstance,
    connection: DuckDBConnection,
  ) {
    this.directory = directory;
    this.#instance = instance;
    this.#connection = connection;
    const { verify = 'changed', checked = new Map<string, string>(), salvage = false, onVerify } = options;
    const onProgress = (done: number, total: number): void => {
      this.#throwIfInterrupted();
      onVerify?.(done, total);
    };
    this.#verification = verify === 'none' ? null : new Verification(checked, verify === 'changed', onProgress);
    this.#salvages = salvage;
  }

  /** @throws HistoryError with `ERR_HISTORY_STORE` if the folder is not there; an empty one is an empty store */
  static async open(options: HistoryOptions): Promise<History> {
    const { directory, threads, memoryMiB = 1024, names } = options;
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
    // What the text of a time or now() means is not to depend on where the process runs.
    await connection.run(`SET TimeZone = 'UTC'`);
    await connection.run('SET lock_configuration = true');
    for (const statement of names === undefined ? [] : nameStatements(names)) await connection.run(statement);
    return new History(path, options, instance, connection);
  }

  /**
   * Files of the tables of the last query that had no part in its answer: those that were set aside because they were
   * damaged, and, with `salvage`, those that are damaged now.
   */
  get leftOut(): readonly LeftOutFile[] {
    return this.#leftOut;
  }

  /** How many files of the tables of the last query have no checksum: they were not made by a sink. 0 with `verify: 'none'`. */
  get unchecked(): number {
    return this.#unchecked;
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
        return await this.#running(async () => {
          await this.#refresh(sql);
          const statement = await this.#prepare(sql);
          return new QueryResult(await statement.stream(), this.#running);
        });
      } catch (error) {
        // A file that was listed was merged into another one before it was opened.
        if (attempt >= ATTEMPTS || !/No such file|No files found/.test((error as Error).message)) throw error;
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

  /** Ends the query that runs, which then fails, wherever it is: no matter whether the engine has begun with it. */
  interrupt(): void {
    if (this.#isClosed) return;
    this.#isInterrupted = true;
    this.#connection.interrupt();
    if (this.#atWork > 0) this.#interruptions ??= setInterval(() => this.#connection.interrupt(), INTERRUPT_EVERY_MS);
  }

  close(): void {
    if (this.#isClosed) return;
    this.interrupt();
    this.#isClosed = true;
    clearInterval(this.#interruptions);
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

  /** Does a part of a query, and goes on to interrupt it until it ends. */
  readonly #running: Running = async (work) => {
    this.#atWork++;
    try {
      this.#throwIfInterrupted();
      const done = await work();
      this.#throwIfInterrupted();
      return done;
    } catch (error) {
      throw this.#toError(error);
    } finally {
      this.#atWork--;
      if (this.#atWork === 0) {
        clearInterval(this.#interruptions);
        this.#interruptions = undefined;
      }
    }
  };

  /** Sees which files are there and can be read; makes the views anew if they are others than before. @throws HistoryError */
  async #refresh(sql: string): Promise<void> {
    if (this.#isClosed) throw new HistoryError('ERR_HISTORY_INTERRUPTED', 'the history is closed');
    const tables = tablesIn(sql);
    const damaged = new Set<string>();
    let listing: StoreListing;
    try {
      listing = await readStoreFiles(this.directory);
      for (const { path } of await this.#verify(tables, listing)) damaged.add(path);
    } catch (error) {
      if (HistoryError.is(error)) throw error;
      const { message } = error as Error;
      throw new HistoryError('ERR_HISTORY_STORE', `cannot read ${this.directory}: ${message}`, null, error);
    }
    // Others are not read: damage to them is not to matter.
    const of = (table: TableName): string[] =>
      tables.includes(table) ? listing.files[table].filter((path) => !damaged.has(path)) : [];
    const files: StoreFiles = { hops: of('hops'), events: of('events'), flows: of('flows') };
    const views = JSON.stringify(files);
    if (views === this.#views) return;
    for (const statement of viewStatements(files)) await this.#connection.run(statement);
    this.#views = views;
  }

  /** @returns files to leave out. @throws HistoryError `ERR_HISTORY_DAMAGED` if there are some and nothing was said of it */
  async #verify(
    tables: readonly TableName[],
    { files, damaged: setAside }: StoreListing,
  ): Promise<readonly LeftOutFile[]> {
    const reason = 'it was damaged, and set aside';
    const before = tables.flatMap((table) => setAside[table].map((path) => ({ path, reason })));
    const verified = await this.#verification?.run(tables.flatMap((table) => files[table]));
    const { damaged = [], unchecked = 0 } = verified ?? {};
    this.#leftOut = [...before, ...damaged];
    this.#unchecked = unchecked;
    const [first] = damaged;
    if (first === undefined || this.#salvages) return damaged;
    const others = damaged.length === 1 ? '' : `, and ${damaged.length - 1} more are`;
    const message = `${first.path} is damaged${others}: ${first.reason}`;
    throw new HistoryError('ERR_HISTORY_DAMAGED', message, null, undefined, damaged);
  }

  #throwIfInterrupted(): void {
    if (this.#isInterrupted) throw new HistoryError('ERR_HISTORY_INTERRUPTED', 'the query was interrupted');
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
    const reason = code === 'ENOENT' ? 'no such file or folder' : code === 'ENOTDIR' ? 'it is no folder' : message;
    throw new HistoryError('ERR_HISTORY_STORE', `cannot open ${path}: ${reason}`, null, error);
  }
}
