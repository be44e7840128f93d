import type { ResultColumn, ResultValue } from '@int/sink-parquet';
import type { Colours } from '../output/colour.js';
import { printable } from '../output/printable.js';

/** Turns the rows of a result into lines of text. */
export interface ResultLines {
  /** Lines before the first row. `rows` are the first rows, for computing column widths. */
  begin(columns: readonly ResultColumn[], rows: readonly (readonly ResultValue[])[]): readonly string[];
  row(values: readonly ResultValue[]): string;
}

/** A value as text; lists, structs and maps as JSON. */
function textOf(value: ResultValue): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** One JSON object per row. */
export class JsonLines implements ResultLines {
  #names: readonly string[] = [];

  begin(columns: readonly ResultColumn[]): readonly string[] {
    this.#names = columns.map(({ name }) => name);
    return [];
  }

  row(values: readonly ResultValue[]): string {
    return JSON.stringify(Object.fromEntries(this.#names.map((name, column) => [name, values[column] ?? null])));
  }
}

/**
 * Comma-separated values of RFC 4180, except that lines end with a line feed alone. The first line names the columns.
 */
export class CsvLines implements ResultLines {
  begin(columns: readonly ResultColumn[]): readonly string[] {
    return [this.row(columns.map(({ name }) => name))];
  }

  row(values: readonly ResultValue[]): string {
    return values
      .map((value) => {
        // An empty text differs from a missing value.
        if (value === '') return '""';
        const text = textOf(value);
        return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      })
      .join(',');
  }
}

/** Most characters of a column, to leave room for others. */
const WIDEST = 60;

function isNumeric({ type }: ResultColumn): boolean {
  return /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*)$/.test(type);
}

/** A table for people. The first rows determine the column widths; numbers are right-aligned. */
export class TableLines implements ResultLines {
  readonly #colour: Colours;
  #widths: readonly number[] = [];
  #numeric: readonly boolean[] = [];

  constructor(colour: Colours) {
    this.#colour = colour;
  }

  begin(columns: readonly ResultColumn[], rows: readonly (readonly ResultValue[])[]): readonly string[] {
    this.#numeric = columns.map(isNumeric);
    this.#widths = columns.map(({ name }, column) =>
      Math.min(
        WIDEST,
        rows.reduce((width, row) => Math.max(width, printable(textOf(row[column] ?? null)).length), name.length),
      ),
    );
    return [this.#colour.bold(this.row(columns.map(({ name }) => name)))];
  }

  row(values: readonly ResultValue[]): string {
    const cells = values.map((value, column) => {
      const text = printable(textOf(value));
      const width = this.#widths[column]!;
      return this.#numeric[column] === true ? text.padStart(width) : text.padEnd(width);
    });
    return cells.join('  ').trimEnd();
  }
}
