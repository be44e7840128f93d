/** Complex events: an expression in conjunctive normal form over aggregates of a report and the history of its flow. */
import { AGGREGATES, type Aggregate, OPERATORS, type Operator } from '../../expression/model.js';
import { REPORT } from '../batch-view.js';
import type { Reading, RunningCondition, RunningExpression, RunningRule } from '../running-rule.js';
import { type LoopContext, writeEvent } from './context.js';

const FULL = 0xffffffff;
const aggregate = (name: Aggregate): number => AGGREGATES.indexOf(name);
const operator = (name: Operator): number => OPERATORS.indexOf(name);
const ANY = /* @__PURE__ */ aggregate('any');
const ALL = /* @__PURE__ */ aggregate('all');
const COUNT = /* @__PURE__ */ aggregate('count');
const DELTA = /* @__PURE__ */ aggregate('delta');
const SUM = /* @__PURE__ */ aggregate('sum');
const MAX = /* @__PURE__ */ aggregate('max');
const LAST = /* @__PURE__ */ aggregate('last');
const LESS = /* @__PURE__ */ operator('<');
const LESS_EQUAL = /* @__PURE__ */ operator('<=');
const EQUAL = /* @__PURE__ */ operator('==');
const NOT_EQUAL = /* @__PURE__ */ operator('!=');
const GREATER_EQUAL = /* @__PURE__ */ operator('>=');

/** What one report says of one metric; -1 in `carried` terms means none. */
class Aggregates {
  carried = 0;
  sum = 0;
  maximum = 0;
  minimum = 0;
  last = 0;
  delta = 0;

  /** Reads hops `first` to `first + count - 1`. */
  read(hops: Int32Array, hopStride: number, reading: Reading, first: number, count: number): void {
    const { shift, mask } = reading;
    const values = reading.column * hopStride + first;
    const pairs = reading.pair * hopStride + first;
    let carried = 0;
    let sum = 0;
    let maximum = 0;
    let minimum = FULL;
    let last = 0;
    for (let hop = 0; hop < count; hop++) {
      const word = hops[values + hop]!;
      if (word === -1 && hops[pairs + hop] === -1) continue;
      const x = ((word >>> shift) & mask) >>> 0;
      carried++;
      sum += x;
      if (x > maximum) maximum = x;
      if (x < minimum) minimum = x;
      last = x;
    }
    this.carried = carried;
    this.sum = Math.min(sum, FULL);
    this.maximum = maximum;
    this.minimum = minimum;
    this.last = last;
    this.delta = 0;
  }
}

/** One for each metric an expression can name: 8 clauses of 4 conditions. */
const AGGREGATES_OF_REPORT: readonly Aggregates[] = /* @__PURE__ */ Array.from({ length: 32 }, () => new Aggregates());

function compare(value: number, operation: number, constant: number): boolean {
  if (operation === LESS) return value < constant;
  if (operation === LESS_EQUAL) return value <= constant;
  if (operation === EQUAL) return value === constant;
  if (operation === NOT_EQUAL) return value !== constant;
  if (operation === GREATER_EQUAL) return value >= constant;
  return value > constant;
}

/** Whether some hop has exactly this value. */
function occurs(
  hops: Int32Array,
  hopStride: number,
  reading: Reading,
  first: number,
  count: number,
  constant: number,
): boolean {
  const { column, pair, shift, mask } = reading;
  const wanted = constant | 0;
  for (let at = first; at < first + count; at++) {
    const word = hops[column * hopStride + at]!;
    if (word === -1 && hops[pair * hopStride + at] === -1) continue;
    if (((word >>> shift) & mask) === wanted) return true;
  }
  return false;
}

/** Looks at one report's aggregates: a condition on a metric that no hop carries does not hold. */
function holds(
  condition: RunningCondition,
  expression: RunningExpression,
  hops: Int32Array,
  hopStride: number,
  first: number,
  count: number,
  seen: number,
): boolean {
  const { aggregate: by, operator: operation, constant, metric } = condition;
  if (by === COUNT) return compare(seen, operation, constant);
  const of = AGGREGATES_OF_REPORT[metric]!;
  if (of.carried === 0) return false;
  if (by === SUM) return compare(of.sum, operation, constant);
  if (by === MAX) return compare(of.maximum, operation, constant);
  if (by === LAST) return compare(of.last, operation, constant);
  if (by === DELTA) return compare(of.delta, operation, constant);
  if (by !== ANY && by !== ALL) return compare(of.minimum, operation, constant);
  if (operation === EQUAL || operation === NOT_EQUAL) {
    // any ==: some hop has the value. all !=: none has. The other two follow from the extremes.
    if ((by === ANY) === (operation === EQUAL)) {
      const isThere = occurs(hops, hopStride, expression.metrics[metric]!, first, count, constant);
      return isThere === (by === ANY);
    }
    const isUniform = of.minimum === constant && of.maximum === constant;
    return isUniform === (by === ALL);
  }
  const isBelow = operation === LESS || operation === LESS_EQUAL;
  return compare(isBelow === (by === ANY) ? of.minimum : of.maximum, operation, constant);
}

/** complex: the expression is true. History changes with every report the rule decides that carries one of its metrics. */
export function complex(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, words, events, eventStride } = context;
  const { hops, hopStride, report, reportStride, hopCount, cells } = view;
  const starts = REPORT.HOP_START * reportStride;
  const expression = rule.expression!;
  const { clauses, metrics, sums, history } = expression;
  let count = context.count;
  const before = count;
  for (let row = from; row < to; row++) {
    const flow = cells[row]!;
    if (history >= 0 && flow < 0) {
      context.withoutFlow++;
      continue;
    }
    const first = report[starts + row]!;
    const hopsHere = hopCount[row]!;
    let carried = metrics.length === 0 ? 1 : 0;
    for (let m = 0; m < metrics.length; m++) {
      const of = AGGREGATES_OF_REPORT[m]!;
      of.read(hops, hopStride, metrics[m]!, first, hopsHere);
      carried += of.carried;
    }
    if (carried === 0) continue;
    let seen = 0;
    if (history >= 0) {
      const cell = history + 2 * flow;
      seen = words[cell]! >>> 0;
      if (seen < FULL) seen++;
      words[cell] = seen;
      for (let m = 0; m < metrics.length; m++) {
        const of = AGGREGATES_OF_REPORT[m]!;
        if (sums[m]! < 0 || of.carried === 0) continue;
        const bit = 1 << metrics[m]!.id;
        const at = sums[m]! + flow;
        if ((words[cell + 1]! & bit) !== 0) of.delta = Math.abs(of.sum - (words[at]! >>> 0));
        words[cell + 1]! |= bit;
        words[at] = of.sum;
      }
    }
    let isTrue = true;
    for (let c = 0; isTrue && c < clauses.length; c++) {
      const clause = clauses[c]!;
      isTrue = false;
      for (let k = 0; !isTrue && k < clause.length; k++) {
        isTrue = holds(clause[k]!, expression, hops, hopStride, first, hopsHere, seen);
      }
    }
    if (isTrue) writeEvent(events, eventStride, count++, row, rule, 0, -1, 0, 0, 0);
  }
  context.survivors += count - before;
  context.count = count;
}
