/** Complex expressions in the form in which the loop evaluates them: columns of numbers, and ranges to test them by. */
import { AGGREGATES, type Aggregate, CONTRARY, type Condition, type Operator } from '../../expression/model.js';
import { EVIDENCE, NO_METRIC } from '../event-columns.js';
import type { RunningExpression } from '../running-rule.js';

/** Reports that are looked at together. */
export const BLOCK = 256;

/** What a column holds of each report. */
export const COLUMN = { SUM: 0, MAX: 1, MIN: 2, LAST: 3, SOME: 4, DELTA: 5, COUNT: 6 } as const;

/** Unsigned words from `low` to `high`, or all others. */
interface Range {
  readonly low: number;
  readonly high: number;
  readonly isOutside: boolean;
}

/** One number for each report of a block; -1 if no hop carries the metric. */
export interface Column {
  /** See {@link COLUMN}. */
  readonly kind: number;
  /** Index in the expression's metrics; -1 for COUNT. */
  readonly metric: number;
  /** SOME: the column holds 1 if some hop's value is of this range, else 0. */
  readonly range: Range;
  readonly values: Float64Array;
}

/** Holds if the column's number is in the range and not -1. */
export interface Test extends Range {
  readonly column: Column;
  /** Of the condition: an index in AGGREGATES. */
  readonly aggregate: number;
  readonly constant: number;
  /** The metric and aggregate as evidence holds them. */
  readonly what: number;
}

/** A report satisfies a clause if one of its tests holds. */
export interface Clause {
  /** Columns that no clause before has filled. */
  readonly columns: readonly Column[];
  readonly tests: readonly Test[];
}

/** An expression, ready to run. */
export interface Program {
  readonly clauses: readonly Clause[];
  /** If there is a history: the sum of each metric, and the columns made from it. */
  readonly sums: readonly Column[];
  readonly deltas: readonly (Column | undefined)[];
  readonly count: Column | undefined;
}

const FULL = 0xffffffff;
const EVERYTHING: Range = { low: 0, high: FULL, isOutside: false };
const TRUE: Range = { low: 1, high: 1, isOutside: false };
const FALSE: Range = { low: 0, high: 0, isOutside: false };

/** The words for which `word operator constant` is true. */
function rangeOf(operator: Operator, constant: number): Range {
  const isBelow = operator === '<' || operator === '<=';
  const isStrict = operator === '<' || operator === '>';
  if (operator === '==' || operator === '!=') return { low: constant, high: constant, isOutside: operator === '!=' };
  if (isStrict && constant === (isBelow ? 0 : FULL)) return { ...EVERYTHING, isOutside: true };
  return isBelow
    ? { low: 0, high: constant - Number(isStrict), isOutside: false }
    : { low: constant + Number(isStrict), high: FULL, isOutside: false };
}

/** Columns of the aggregates that give one number. */
const COLUMN_OF: { readonly [A in Aggregate]?: number } = {
  sum: COLUMN.SUM,
  last: COLUMN.LAST,
  delta: COLUMN.DELTA,
  count: COLUMN.COUNT,
};

/** The number to look at for a condition, and which numbers will do. */
function readCondition({ aggregate, operator, constant }: Condition): [kind: number, of: Range, wanted: Range] {
  const kind = COLUMN_OF[aggregate];
  if (kind !== undefined) return [kind, EVERYTHING, rangeOf(operator, constant)];
  if ((operator === '==' || operator === '!=') && (aggregate === 'max' || aggregate === 'min')) {
    return [aggregate === 'max' ? COLUMN.MAX : COLUMN.MIN, EVERYTHING, rangeOf(operator, constant)];
  }
  // A maximum is above what some hop is above, and below what all are below; a minimum the other way round.
  const isBelow = operator === '<' || operator === '<=';
  const isSome = aggregate === 'any' || (aggregate === 'max' && !isBelow) || (aggregate === 'min' && isBelow);
  const range = rangeOf(isSome ? operator : CONTRARY[operator], constant);
  return [COLUMN.SOME, range, isSome ? TRUE : FALSE];
}

function isSame(a: Range, b: Range): boolean {
  return a.low === b.low && a.high === b.high && a.isOutside === b.isOutside;
}

/** Makes a program, with the memory of its columns. */
export function programOf({ cnf, names, metrics, sums, history }: RunningExpression): Program {
  const columns: Column[] = [];
  const columnOf = (kind: number, metric: number, range: Range): Column => {
    const isIt = (column: Column): boolean =>
      column.kind === kind && column.metric === metric && isSame(column.range, range);
    const known = columns.find(isIt);
    if (known !== undefined) return known;
    const column = { kind, metric, range, values: new Float64Array(BLOCK) };
    columns.push(column);
    return column;
  };
  const hasHistory = history >= 0;
  const sumColumns = hasHistory ? metrics.map((_, metric) => columnOf(COLUMN.SUM, metric, EVERYTHING)) : [];
  const deltas = metrics.map((_, metric) =>
    hasHistory && sums[metric]! >= 0 ? columnOf(COLUMN.DELTA, metric, EVERYTHING) : undefined,
  );
  const count = hasHistory ? columnOf(COLUMN.COUNT, -1, EVERYTHING) : undefined;
  const clauses = cnf.map((clause) => {
    const filled = columns.length;
    const tests = clause.map((condition) => {
      const [kind, of, wanted] = readCondition(condition);
      const aggregate = AGGREGATES.indexOf(condition.aggregate);
      const metric = condition.metric === null ? -1 : names.indexOf(condition.metric);
      const id = metrics[metric]?.id ?? NO_METRIC;
      const what = id | (aggregate << EVIDENCE.AGGREGATE_SHIFT);
      return { column: columnOf(kind, metric, of), ...wanted, aggregate, constant: condition.constant, what };
    });
    return { columns: columns.slice(filled), tests };
  });
  return { clauses, sums: sumColumns, deltas, count };
}
