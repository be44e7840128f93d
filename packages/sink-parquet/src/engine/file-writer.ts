import { DuckDBConnection } from '@duckdb/node-api';
import duckdb, { type Connection, type Database } from '@duckdb/node-bindings';
import type { Segment } from '../memory/segment.js';
import type { Table } from '../table/table.js';
import { SegmentFeed } from './feed.js';
import { identifier, list, literal } from './sql.js';

/** Compression of the files' pages. */
export const COMPRESSIONS = ['zstd', 'snappy', 'lz4', 'none'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

const CODECS = { zstd: 'zstd', snappy: 'snappy', lz4: 'lz4_raw', none: 'uncompressed' } as const satisfies Record<
  Compression,
  string
>;

/** Level of zstd for files as they are first written: most processor time goes into these, and merging writes them anew. */
const FIRST_LEVEL = 1;

/**
 * Values of a row group's column up to which files as they are first written have a dictionary of them (the columns of
 * texts have theirs anyway): to look for more takes time, and saves nothing that can be measured.
 */
const FIRST_DICTIONARY = 64;

/** Version of the tables' columns, in the files' metadata. */
const SCHEMA_VERSION = 1;

/** Options of {@link FileWriter}. */
export interface FileWriterOptions {
  readonly compression: Compression;
  /** Units of the numbers, for the metadata of files; `null`: none is known. */
  readonly units: string | null;
  /** Threads of the engine. */
  readonly threads: number;
  /** Rows that a reader can skip or read together. */
  readonly rowGroup: number;
  /** Memory of the engine at most, in MiB. */
  readonly memoryMiB: number;
  /** Names of switches by id as JSON, for the files' metadata; `null`: none. */
  readonly namesJson: string | null;
  /** Folder for what does not fit into that memory. */
  readonly spill: string;
}

/** Writes Parquet files with the embedded engine, one at a time. */
export class FileWriter {
  readonly #database: Database;
  readonly #connection: Connection;
  readonly #options: FileWriterOptions;
  #feed: SegmentFeed | null = null;
  #isClosed = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(database: Database, connection: Connection, options: FileWriterOptions) {
    this.#database = database;
    this.#connection = connection;
    this.#options = options;
    const rows = duckdb.create_table_function();
    duckdb.table_function_set_name(rows, SegmentFeed.FUNCTION);
    // What these throw is the error of the query.
    duckdb.table_function_set_bind(rows, (info) => {
      if (this.#feed === null) duckdb.bind_set_error(info, 'there are no rows');
      else this.#feed.bind(info);
    });
    duckdb.table_function_set_init(rows, (info) => duckdb.init_set_max_threads(info, 1));
    duckdb.table_function_set_function(rows, (info, chunk) => {
      try {
        this.#feed?.fill(info, chunk);
      } catch (error) {
        duckdb.function_set_error(info, error instanceof Error ? error.message : String(error));
      }
    });
    duckdb.register_table_function(connection, rows);
  }

  static async open(options: FileWriterOptions): Promise<FileWriter> {
    const config = duckdb.create_config();
    duckdb.set_config(config, 'threads', String(options.threads));
    duckdb.set_config(config, 'memory_limit', `${options.memoryMiB}MiB`);
    duckdb.set_config(config, 'temp_directory', options.spill);
    duckdb.set_config(config, 'autoinstall_known_extensions', 'false');
    const database = await duckdb.open(':memory:', config);
    const connection = await duckdb.connect(database);
    return new FileWriter(database, connection, options);
  }

  /** Writes a segment to a file that must not be there yet. Leaves the segment as it is. */
  write(segment: Segment, path: string): Promise<void> {
    return this.#exclusive(async () => {
      const { table } = segment;
      this.#feed = new SegmentFeed(segment);
      try {
        const columns = table.columns.map(({ name }) => {
          const type = table.ofJson[name];
          return type === undefined ? identifier(name) : `${identifier(name)}::JSON::${type} AS ${identifier(name)}`;
        });
        const query = `SELECT ${columns.join(', ')} FROM ${SegmentFeed.FUNCTION}()`;
        await this.#copy(query, table, path, this.#options.units, true);
      } finally {
        this.#feed = null;
      }
    });
  }

  /**
   * Writes the rows of several files of a table, one file after the other, to a new one.
   * @param units of all their numbers
   */
  merge(table: Table, files: readonly string[], path: string, units: string | null): Promise<void> {
    return this.#exclusive(() =>
      // Older files may lack columns.
      this.#copy(
        `SELECT * FROM read_parquet(${list(files)}, hive_partitioning = false, union_by_name = true)`,
        table,
        path,
        units,
      ),
    );
  }

  /** The units in the metadata of files, in their order. */
  async unitsOf(files: readonly string[]): Promise<(string | null)[]> {
    const units = new Map<unknown, string>();
    await this.#exclusive(async () => {
      const query = `SELECT file_name, decode(value) FROM parquet_kv_metadata(${list(files)}) WHERE decode(key) = 'int_units'`;
      const found = await new DuckDBConnection(this.#connection).runAndReadAll(query);
      for (const [file, value] of found.getRows()) units.set(file, String(value));
    });
    return files.map((file) => units.get(file) ?? null);
  }

  /** Ends what is being written, which then fails. */
  interrupt(): void {
    if (!this.#isClosed) duckdb.interrupt(this.#connection);
  }

  /** Waits for what is being written and lets go of the engine. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#running;
    duckdb.disconnect_sync(this.#connection);
    duckdb.close_sync(this.#database);
  }

  async #copy(query: string, table: Table, path: string, units: string | null, isFirst = false): Promise<void> {
    const { compression, rowGroup, namesJson } = this.#options;
    const metadata = [
      `int_table: ${literal(table.name)}`,
      `int_schema: ${literal(String(SCHEMA_VERSION))}`,
      ...(units === null ? [] : [`int_units: ${literal(units)}`]),
      ...(namesJson === null ? [] : [`int_switch_names: ${literal(namesJson)}`]),
    ];
    const options = [
      'FORMAT parquet',
      'PARQUET_VERSION v2',
      `COMPRESSION ${CODECS[compression]}`,
      ...(isFirst && compression === 'zstd' ? [`COMPRESSION_LEVEL ${FIRST_LEVEL}`] : []),
      ...(isFirst ? [`DICTIONARY_SIZE_LIMIT ${FIRST_DICTIONARY}`] : []),
      `ROW_GROUP_SIZE ${rowGroup}`,
      `KV_METADATA {${metadata.join(', ')}}`,
    ];
    await duckdb.query(this.#connection, `COPY (${query}) TO ${literal(path)} (${options.join(', ')})`);
  }

  /** One at a time: the connection has one feed. */
  #exclusive(task: () => Promise<void>): Promise<void> {
    const done = this.#running.then(() => {
      if (this.#isClosed) throw new Error('the writer is closed');
      return task();
    });
    this.#running = done.catch(() => undefined);
    return done;
  }
}
