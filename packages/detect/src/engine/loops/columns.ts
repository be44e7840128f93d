/** Fills the columns of complex expressions. */
import { REPORT_COLUMN } from '@int/codec/internals';
import type { Reading } from '../running-rule.js';
import type { LoopContext } from './context.js';
import { COLUMN, type Column } from './program.js';
import { doubtOf, sumOf } from './sum.js';

/**
 * Writes a column for some reports of a block.
 *
 * @param reading how to read the column's metric
 * @param rows the reports: indices in the batch
 * @param count how many
 * @param base the block's first report: that of cell 0
 */
export function fillColumn(
  context: LoopContext,
  column: Column,
  reading: Reading,
  rows: Int32Array,
  count: number,
  base: number,
): void {
  if (column.kind === COLUMN.SUM) fillSums(context, column, reading, rows, count, base);
  else if (column.kind === COLUMN.SOME) fillSome(context, column, reading, rows, count, base);
  else if (column.kind === COLUMN.LAST) fillLast(context, column, reading, rows, count, base);
  else fillExtremes(context, column, reading, rows, count, base);
}

type Fill = typeof fillColumn;

const fillSums: Fill = (context, column, reading, rows, count, base) => {
  const { view } = context;
  const { hops, report, hopCount } = view;
  const { values: out } = column;
  const values = (reading.column * view.hopStride) | 0;
  const pairs = (reading.pair * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const doubt = doubtOf(reading) | 0;
  for (let k = 0; k < count; k++) {
    const row = rows[k]!;
    const first = report[(starts + row) | 0]!;
    out[(row - base) | 0] = sumOf(hops, (values + first) | 0, (pairs + first) | 0, hopCount[row]!, doubt);
  }
};

const fillSome: Fill = (context, column, reading, rows, count, base) => {
  const { view } = context;
  const { hops, report, hopCount } = view;
  const { values: out, range } = column;
  const values = (reading.column * view.hopStride) | 0;
  const pairs = (reading.pair * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  // One unsigned comparison tells whether a word is of a range.
  const low = range.low | 0;
  const span = (range.high - range.low) >>> 0;
  const { isOutside } = range;
  for (let k = 0; k < count; k++) {
    const row = rows[k]!;
    const first = report[(starts + row) | 0]!;
    const end = (first + hopCount[row]!) | 0;
    let some = -1;
    for (let at = first; at < end; at = (at + 1) | 0) {
      const word = hops[(values + at) | 0]!;
      if (word === -1 && hops[(pairs + at) | 0] === -1) continue;
      some = 0;
      if ((word - low) >>> 0 <= span !== isOutside) {
        some = 1;
        break;
      }
    }
    out[(row - base) | 0] = some;
  }
};

const fillLast: Fill = (context, column, reading, rows, count, base) => {
  const { view } = context;
  const { hops, report, hopCount } = view;
  const { values: out } = column;
  const values = (reading.column * view.hopStride) | 0;
  const pairs = (reading.pair * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  for (let k = 0; k < count; k++) {
    const row = rows[k]!;
    const first = report[(starts + row) | 0]!;
    let at = (first + hopCount[row]! - 1) | 0;
    while (at >= first && hops[(values + at) | 0] === -1 && hops[(pairs + at) | 0] === -1) at--;
    out[(row - base) | 0] = at < first ? -1 : hops[(values + at) | 0]! >>> 0;
  }
};

/** The largest or the smallest value. */
const fillExtremes: Fill = (context, column, reading, rows, count, base) => {
  const { view } = context;
  const { hops, report, hopCount } = view;
  const { values: out } = column;
  const values = (reading.column * view.hopStride) | 0;
  const pairs = (reading.pair * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const isMax = column.kind === COLUMN.MAX;
  for (let k = 0; k < count; k++) {
    const row = rows[k]!;
    const first = report[(starts + row) | 0]!;
    const end = (first + hopCount[row]!) | 0;
    let extreme = -1;
    for (let at = first; at < end; at = (at + 1) | 0) {
      const word = hops[(values + at) | 0]!;
      if (word === -1 && hops[(pairs + at) | 0] === -1) continue;
      const x = word >>> 0;
      if (extreme < 0 || x > extreme === isMax) extreme = x;
    }
    out[(row - base) | 0] = extreme;
  }
};
