import { BOOLEAN, DOUBLE, type DuckDBType, TIMESTAMP_NS, UBIGINT, UINTEGER, VARCHAR } from '@duckdb/node-api';
import duckdb, {
  type DataChunk,
  type LogicalType,
  type TableFunctionBindInfo,
  type TableFunctionInfo,
  type Vector,
} from '@duckdb/node-bindings';
import type { Segment } from '../memory/segment.js';
import type { Slab } from '../memory/slab.js';
import { CONTENT, type Column, ColumnBuffer, type ColumnType } from '../table/column.js';

const TYPES: Readonly<Record<Exclude<ColumnType, 'ENUM'>, DuckDBType>> = {
  BOOLEAN,
  UINTEGER,
  UBIGINT,
  TIMESTAMP_NS,
  DOUBLE,
  VARCHAR,
};

/** Bytes of a value in the engine's vectors. */
const WIDTHS = {
  BOOLEAN: 1,
  UINTEGER: 4,
  UBIGINT: 8,
  TIMESTAMP_NS: 8,
  DOUBLE: 8,
  VARCHAR: 16,
} as const satisfies Record<Exclude<ColumnType, 'ENUM'>, number>;

/** How many bytes the engine takes for the number of a text, by how many texts there are. */
function enumWidth(texts: number): number {
  if (texts <= 0xff) return 1;
  return texts <= 0xffff ? 2 : 4;
}

/**
 * Gives the rows of a segment to the engine, a slab at a time, when the engine asks for them: a table function. Column
 * by column, values are put together in one buffer and copied into the engine's vectors.
 */
export class SegmentFeed {
  static readonly FUNCTION = 'int_rows';
  readonly #segment: Segment;
  readonly #texts: readonly (readonly string[] | null)[];
  readonly #types: readonly LogicalType[];
  readonly #buffer = new ColumnBuffer();
  /** Values of records, once for each of their rows. */
  readonly #spreadBuffer = new ColumnBuffer();
  #next = 0;

  constructor(segment: Segment) {
    this.#segment = segment;
    const { columns } = segment.table;
    this.#texts = columns.map(({ texts }) => {
      if (texts === undefined) return null;
      const known = typeof texts === 'string' ? segment.texts[texts].texts() : texts;
      // The engine wants at least one text; rows that have none do not refer to it.
      return known.length === 0 ? [''] : known;
    });
    this.#types = columns.map(({ type }, index) =>
      type === 'ENUM' ? duckdb.create_enum_type(this.#texts[index]!) : TYPES[type].toLogicalType().logical_type,
    );
  }

  bind(info: TableFunctionBindInfo): void {
    this.#next = 0;
    this.#segment.table.columns.forEach(({ name }, index) => {
      duckdb.bind_add_result_column(info, name, this.#types[index]!);
    });
    duckdb.bind_set_cardinality(info, this.#segment.rows, true);
  }

  /** Fills the engine's next chunk; an empty one is the end. */
  fill(_info: TableFunctionInfo, chunk: DataChunk): void {
    const slab = this.#segment.slabs[this.#next++];
    if (slab === undefined) {
      duckdb.data_chunk_set_size(chunk, 0);
      return;
    }
    this.#segment.table.columns.forEach((column, index) => {
      this.#column(column, index, slab, duckdb.data_chunk_get_vector(chunk, index));
    });
    duckdb.data_chunk_set_size(chunk, slab.rows);
  }

  #column(column: Column, index: number, slab: Slab, vector: Vector): void {
    const buffer = this.#buffer;
    const { rows } = slab;
    if (column.text !== undefined) {
      const texts = slab.texts[column.text]!;
      for (let row = 0; row < rows; row++) duckdb.vector_assign_string_element(vector, row, texts[row]!);
      return;
    }
    const isSpread = column.isOfRecord === true && slab.records !== rows;
    const count = isSpread ? slab.records : rows;
    const content = column.fill(slab, count, buffer);
    if (content !== CONTENT.ALL) {
      if (content === CONTENT.NONE) buffer.valid.fill(0);
      else if (isSpread) this.#spreadValid(slab);
      const { valid } = isSpread && content === CONTENT.SOME ? this.#spreadBuffer : buffer;
      duckdb.vector_ensure_validity_writable(vector);
      duckdb.copy_data_to_vector_validity(vector, 0, valid.buffer, 0, Math.ceil(rows / 64) * 8);
    }
    if (content === CONTENT.NONE) return;
    const { words, bytes, halves, pairs } = isSpread ? this.#spreadBuffer : buffer;
    const width = column.type === 'ENUM' ? enumWidth(this.#texts[index]!.length) : WIDTHS[column.type];
    if (column.type === 'ENUM') this.#narrow(width, count, content === CONTENT.SOME);
    if (isSpread) this.#spread(width, slab);
    const { buffer: data } = width === 1 ? bytes : width === 2 ? halves : width === 4 ? words : pairs;
    duckdb.copy_data_to_vector(vector, 0, data, 0, width * rows);
  }

  /** Numbers of texts, in as many bytes as the engine takes. */
  #narrow(width: number, count: number, hasMissing: boolean): void {
    const { words, bytes, halves } = this.#buffer;
    // The number of a missing text is not looked at, but must be one of a text.
    if (hasMissing) for (let row = 0; row < count; row++) if (words[row] === 0xffffffff) words[row] = 0;
    if (width === 1) for (let row = 0; row < count; row++) bytes[row] = words[row]!;
    else if (width === 2) for (let row = 0; row < count; row++) halves[row] = words[row]!;
  }

  /** From values of records to values of rows. */
  #spread(width: number, { spans, records }: Slab): void {
    const from = this.#buffer;
    const to = this.#spreadBuffer;
    if (width === 1) spread(from.bytes, to.bytes, spans, records);
    else if (width === 2) spread(from.halves, to.halves, spans, records);
    else if (width === 4) spread(from.words, to.words, spans, records);
    else spreadPairs(from.pairs, to.pairs, spans, records);
  }

  #spreadValid({ spans, records }: Slab): void {
    const from = this.#buffer.valid;
    const to = this.#spreadBuffer.valid;
    to.fill(0);
    let row = 0;
    for (let record = 0; record < records; record++) {
      const end = row + spans[record]!;
      if ((from[record >>> 5]! & (1 << (record & 31))) === 0) row = end;
      else for (; row < end; row++) to[row >>> 5]! |= 1 << (row & 31);
    }
  }
}

function spread<T extends Uint8Array | Uint16Array | Uint32Array>(
  from: T,
  to: T,
  spans: Uint8Array,
  records: number,
): void {
  let row = 0;
  for (let record = 0; record < records; record++) {
    const value = from[record]!;
    for (const end = row + spans[record]!; row < end; row++) to[row] = value;
  }
}

function spreadPairs(from: Uint32Array, to: Uint32Array, spans: Uint8Array, records: number): void {
  let at = 0;
  for (let record = 0; record < records; record++) {
    const low = from[2 * record]!;
    const high = from[2 * record + 1]!;
    for (const end = at + 2 * spans[record]!; at < end; at += 2) {
      to[at] = low;
      to[at + 1] = high;
    }
  }
}
