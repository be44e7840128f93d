import type { Summary } from '../model/window.js';
import type { ByteFields } from '../partial/fields.js';

/** Cells of a row. They share a cache line. */
const CELL = { COUNT: 0, SUM: 1, MIN: 2, MAX: 3 } as const;
const CELLS = 4;

/** Count, sum, minimum and maximum of values, with a row for each series. */
export class Summaries {
  readonly #cells: Float64Array;

  constructor(rows: number) {
    this.#cells = new Float64Array(rows * CELLS);
  }

  reset(row: number): void {
    const at = row * CELLS;
    this.#cells[at + CELL.COUNT] = 0;
    this.#cells[at + CELL.SUM] = 0;
    this.#cells[at + CELL.MIN] = 0;
    this.#cells[at + CELL.MAX] = 0;
  }

  /** @param value 32 bits, unsigned */
  add(row: number, value: number): void {
    const cells = this.#cells;
    const at = row * CELLS;
    const count = cells[at + CELL.COUNT]!;
    cells[at + CELL.COUNT] = count + 1;
    cells[at + CELL.SUM]! += value;
    if (count === 0 || cells[at + CELL.MIN]! > value) cells[at + CELL.MIN] = value;
    if (cells[at + CELL.MAX]! < value) cells[at + CELL.MAX] = value;
  }

  count(row: number): number {
    return this.#cells[row * CELLS + CELL.COUNT]!;
  }

  /** Count, sum, minimum and maximum; zeros without values. Allocates. */
  read(row: number): Summary {
    const at = row * CELLS;
    const cells = this.#cells;
    return {
      count: cells[at + CELL.COUNT]!,
      sum: cells[at + CELL.SUM]!,
      min: cells[at + CELL.MIN]!,
      max: cells[at + CELL.MAX]!,
    };
  }

  /** Loads a result of {@link read}. */
  load(row: number, { count, sum, min, max }: Summary): void {
    this.#cells.set([count, sum, min, max], row * CELLS);
  }

  pass(row: number, fields: ByteFields): void {
    const cells = this.#cells;
    const at = row * CELLS;
    cells[at + CELL.COUNT] = fields.number(cells[at + CELL.COUNT]!);
    if (cells[at + CELL.COUNT] === 0) {
      this.reset(row);
      return;
    }
    cells[at + CELL.SUM] = fields.number(cells[at + CELL.SUM]!);
    cells[at + CELL.MIN] = fields.between(0, 0xffffffff, 'min', cells[at + CELL.MIN]!);
    cells[at + CELL.MAX] = fields.between(0, 0xffffffff, 'max', cells[at + CELL.MAX]!);
  }
}
