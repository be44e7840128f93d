/** Complex expressions in the form in which the loop evaluates them: columns of numbers, and ranges to test them by. */
import { AGGREGATES, OPERATORS, type Operator } from '../../expression/model.js';
import { EVIDENCE, NO_METRIC } from '../event-columns.js';
import type { RunningCondition, RunningExpression } from '../running-rule.js';

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

/** Holds if the column's number is not -1 and of the range. */
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
const COMPLEMENT: Readonly<Record<Operator, Operator>> = {
  '<': '>=',
  '<=': '>',
  '==': '!=',
  '!=': '==',
  '>=': '<',
  '>': '<=',
};

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

/** The number to look at for a condition, and which numbers will do. */
function readCondition({ aggregate, operator, constant }: RunningCondition): [kind: number, of: Range, wanted: Range] {
  const by = AGGREGATES[aggregate]!;
  const op = OPERATORS[operator]!;
  const isEqual = op === '==' || op === '!=';
  const isBelow = op === '<' || op === '<=';
  if (by === 'sum') return [COLUMN.SUM, EVERYTHING, rangeOf(op, constant)];
  if (by === 'last') return [COLUMN.LAST, EVERYTHING, rangeOf(op, constant)];
  if (by === 'delta') return [COLUMN.DELTA, EVERYTHING, rangeOf(op, constant)];
  if (by === 'count') return [COLUMN.COUNT, EVERYTHING, rangeOf(op, constant)];
  if (isEqual && by === 'max') return [COLUMN.MAX, EVERYTHING, rangeOf(op, constant)];
  if (isEqual && by === 'min') return [COLUMN.MIN, EVERYTHING, rangeOf(op, constant)];
  // A maximum is above what some hop is above, and below what all are below; a minimum the other way round.
  const isSome = by === 'any' || (by === 'max' && !isBelow) || (by === 'min' && isBelow);
  return isSome ? [COLUMN.SOME, rangeOf(op, constant), TRUE] : [COLUMN.SOME, rangeOf(COMPLEMENT[op], constant), FALSE];
}

function isSame(a: Range, b: Range): boolean {
  return a.low === b.low && a.high === b.high && a.isOutside === b.isOutside;
}

/** Makes a program, with the memory of its columns. */
export function programOf({ clauses, metrics, sums, history }: RunningExpression): Program {
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
  const made = clauses.map((clause) => {
    const filled = columns.length;
    const tests = clause.map((condition) => {
      const [kind, of, wanted] = readCondition(condition);
      const { aggregate, constant, metric } = condition;
      const what = (metrics[metric]?.id ?? NO_METRIC) | (aggregate << EVIDENCE.AGGREGATE_SHIFT);
      return { column: columnOf(kind, metric, of), ...wanted, aggregate, constant, what };
    });
    return { columns: columns.slice(filled), tests };
  });
  return { clauses: made, sums: sumColumns, deltas, count };
}
