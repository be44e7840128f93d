/** DuckDB, the database library for the history; loaded when it is first needed. */
import type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance, DuckDBTableFunctionInfo } from '@duckdb/node-api';
import type { StoreGeometry } from '../layout.js';
import { readChecksum } from '../store/plain-engine.js';
import { DartStoreError } from './errors.js';
import type { PageRows } from './page-rows.js';

type Library = typeof import('@duckdb/node-api');

/** Rows of a chunk: DuckDB's limit. */
const CHUNK_ROWS = 2048;
/**
 * A query for a key reads the footer and decodes a row group per slot. Of 20480, 61440 and 122880 rows, with 10 million
 * in the file, 61440 answered fastest.
 */
const ROW_GROUP_ROWS = 61_440;
/** From this many slots on, a list of numbers in SQL takes longer than a join. */
const MANY_SLOTS = 64;
/** Values with more words are stored as one BLOB, to limit the number of columns. */
const MOST_WORDS = 16;

/** Number of 32-bit columns for a value; 0 for one BLOB. */
function valueWords(valueBytes: number): number {
  return valueBytes % 4 === 0 && valueBytes <= MOST_WORDS * 4 ? valueBytes / 4 : 0;
}

async function load(): Promise<Library> {
  try {
    return await import('@duckdb/node-api');
  } catch (error) {
    const message = 'the history needs DuckDB: npm install @duckdb/node-api';
    throw new DartStoreError('ERR_DART_NO_DUCKDB', message, null, error);
  }
}

/** A string in SQL. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Escapes a file name where DuckDB expects a pattern of names. */
function literalName(path: string): string {
  return quoted(path.replace(/[*?[]/g, '[$&]'));
}

/** Takes a row of a file; `value` is reused. */
type RowConsumer = (file: string, slot: number, checksum: number, value: Uint8Array) => void;

/** Writes slots as rows of Parquet files, and finds rows by slot. */
export class DuckDb {
  readonly #library: Library;
  readonly #instance: DuckDBInstance;
  /** Separate connections for writing and reading, so that neither waits for the other. */
  readonly #writer: DuckDBConnection;
  readonly #reader: DuckDBConnection;
  readonly #geometry: StoreGeometry;
  readonly #words: number;
  /** The rows that the running COPY reads. */
  #rows: PageRows | null = null;

  private constructor(
    library: Library,
    instance: DuckDBInstance,
    writer: DuckDBConnection,
    reader: DuckDBConnection,
    geometry: StoreGeometry,
  ) {
    this.#library = library;
    this.#instance = instance;
    this.#writer = writer;
    this.#reader = reader;
    this.#geometry = geometry;
    this.#words = valueWords(geometry.valueBytes);
    this.#register();
  }

  /**
   * @param settings settings of DuckDB, which override this package's defaults
   * @throws DartStoreError `ERR_DART_NO_DUCKDB`
   */
  static async open(geometry: StoreGeometry, settings: Readonly<Record<string, string>>): Promise<DuckDb> {
    const library = await load();
    const instance = await library.DuckDBInstance.create(':memory:', {
      threads: '2',
      memory_limit: '512MB',
      ...settings,
    });
    const reader = await instance.connect();
    // Footers are cached: reading them would take most of a query's time.
    await reader.run('LOAD parquet; SET parquet_metadata_cache = true');
    return new DuckDb(library, instance, await instance.connect(), reader, geometry);
  }

  /**
   * Writes a Parquet file in the order of the rows. It reads the rows in the caller's thread, a chunk at a time.
   *
   * @param metadata key-value pairs of the footer
   */
  async write(path: string, rows: PageRows, metadata: Readonly<Record<string, string>>): Promise<void> {
    const pairs = Object.entries(metadata).map(([key, value]) => `${key}: ${quoted(value)}`);
    const options = [
      'FORMAT parquet',
      "PARQUET_VERSION 'V2'",
      "COMPRESSION 'zstd'",
      `ROW_GROUP_SIZE ${ROW_GROUP_ROWS}`,
      'USE_TMP_FILE false',
      `KV_METADATA {${pairs.join(', ')}}`,
    ];
    this.#rows = rows;
    try {
      await this.#writer.run(`COPY (SELECT * FROM dart_slots()) TO ${quoted(path)} (${options.join(', ')})`);
    } finally {
      this.#rows = null;
    }
  }

  /** Finds the rows of slots in files. The slots are numbers below 2^32. */
  async read(files: readonly string[], slots: readonly number[], sink: RowConsumer): Promise<void> {
    const { valueBytes } = this.#geometry;
    const words = this.#words;
    const list = files.map(literalName).join(', ');
    const columns = words === 0 ? ['value'] : Array.from({ length: words }, (_, word) => `w${word}`);
    const rows = `SELECT filename, slot, checksum, ${columns.join(', ')} FROM read_parquet([${list}], filename = true)`;
    const { LIST, listValue, UINTEGER } = this.#library;
    const result =
      slots.length < MANY_SLOTS
        ? await this.#reader.runAndReadAll(`${rows} WHERE slot IN (${slots.join(', ')})`)
        : await this.#reader.runAndReadAll(
            `${rows} WHERE slot IN (SELECT unnest($1))`,
            [listValue(slots)],
            [LIST(UINTEGER)],
          );
    const value = new Uint8Array(valueBytes);
    const view = new DataView(value.buffer);
    for (const [file, slot, checksum, ...rest] of result.getRows()) {
      if (words > 0) for (let word = 0; word < words; word++) view.setUint32(word * 4, rest[word] as number);
      else value.set((rest[0] as { bytes: Uint8Array }).bytes);
      sink(file as string, slot as number, checksum as number, value);
    }
  }

  close(): void {
    this.#writer.closeSync();
    this.#reader.closeSync();
    this.#instance.closeSync();
  }

  #register(): void {
    const { BLOB, DuckDBTableFunction, UINTEGER } = this.#library;
    const words = this.#words;
    const slots = DuckDBTableFunction.create({
      name: 'dart_slots',
      bindFunction: (bind) => {
        bind.addResultColumn('slot', UINTEGER);
        bind.addResultColumn('checksum', UINTEGER);
        for (let word = 0; word < words; word++) bind.addResultColumn(`w${word}`, UINTEGER);
        if (words === 0) bind.addResultColumn('value', BLOB);
      },
      // One thread keeps the rows in the order of the slots.
      initFunction: (init) => init.setMaxThreads(1),
      mainFunction: (info, chunk) => this.#fill(info, chunk),
    });
    this.#writer.registerTableFunction(slots);
  }

  /** Runs on the thread that made this object, between its other work. */
  #fill(info: DuckDBTableFunctionInfo, chunk: DuckDBDataChunk): void {
    const rows = this.#rows;
    if (rows === null) {
      info.setError('there are no slots to read');
      return;
    }
    const begun = performance.now();
    const count = rows.next(CHUNK_ROWS);
    chunk.rowCount = count;
    if (count > 0) {
      this.#fillNumbers(chunk, rows, count);
      if (this.#words === 0) this.#fillBlobs(chunk, rows, count);
    }
    rows.spent(performance.now() - begun);
  }

  #fillNumbers(chunk: DuckDBDataChunk, rows: PageRows, count: number): void {
    const { slotBytes, checksumBytes } = this.#geometry;
    const { bytes, slots } = rows;
    for (let column = 0; column < 2 + this.#words; column++) {
      const vector = chunk.getColumnVector(column) as InstanceType<Library['DuckDBUIntegerVector']>;
      if (column === 0) for (let row = 0; row < count; row++) vector.setItem(row, slots[row]!);
      else if (column === 1) {
        for (let row = 0; row < count; row++) vector.setItem(row, readChecksum(bytes, row * slotBytes, checksumBytes));
      } else {
        const from = checksumBytes + (column - 2) * 4;
        for (let row = 0; row < count; row++) vector.setItem(row, readChecksum(bytes, row * slotBytes + from, 4));
      }
      vector.flush();
    }
  }

  #fillBlobs(chunk: DuckDBDataChunk, rows: PageRows, count: number): void {
    const { slotBytes, checksumBytes } = this.#geometry;
    const { DuckDBBlobValue } = this.#library;
    const vector = chunk.getColumnVector(2) as InstanceType<Library['DuckDBBlobVector']>;
    for (let row = 0; row < count; row++) {
      const value = rows.bytes.subarray(row * slotBytes + checksumBytes, (row + 1) * slotBytes);
      vector.setItem(row, new DuckDBBlobValue(value));
    }
    vector.flush();
  }
}
