/** Complex events: an expression in conjunctive normal form over aggregates of a report and the history of its flow. */
import type { RunningExpression, RunningRule } from '../running-rule.js';
import { fillColumn } from './columns.js';
import { closeEvents, type LoopContext } from './context.js';
import { writeEvidence } from './evidence.js';
import { BLOCK, type Clause, type Program, programOf } from './program.js';

/**
 * complex: the expression is true. Every report that the rule decides and that carries one of its metrics changes the
 * history.
 *
 * Goes clause by clause through a block of reports: what a clause needs is worked out only for the reports that satisfy
 * the clauses before it. Most reports fail the first.
 */
export function complex(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const expression = rule.expression!;
  expression.program ??= programOf(expression);
  const { program } = expression;
  const { rows } = context;
  for (let base = from; base < to; base += BLOCK) {
    const end = Math.min(base + BLOCK, to);
    let count = 0;
    if (expression.history >= 0) count = recall(context, program, expression, base, end);
    else for (let row = base | 0; row < end; row++) rows[count++] = row;
    for (const clause of program.clauses) {
      if (count === 0) break;
      for (const column of clause.columns) {
        fillColumn(context, column, expression.metrics[column.metric]!, rows, count, base);
      }
      count = keep(clause, rows, count, base);
    }
    if (count === 0) continue;
    const { events } = context;
    const first = context.count;
    for (let k = 0; k < count; k++) events[first + k] = rows[k]!;
    writeEvidence(context, program, expression.metrics, rows, count, base);
    closeEvents(context, rule, first + count);
  }
}

/** Keeps the reports that satisfy a clause. A condition on a metric that no hop carries does not hold. */
function keep({ tests }: Clause, rows: Int32Array, count: number, base: number): number {
  let kept = 0;
  for (let k = 0; k < count; k++) {
    const row = rows[k]!;
    for (let t = 0; t < tests.length; t++) {
      const { column, low, high, isOutside } = tests[t]!;
      const value = column.values[(row - base) | 0]!;
      if ((value >= low && value <= high) !== isOutside && value >= 0) {
        rows[kept] = row;
        kept = (kept + 1) | 0;
        break;
      }
    }
  }
  return kept;
}

/** Looks up and updates the history of reports in order. @returns how many carry one of the metrics, in `rows` */
function recall(
  context: LoopContext,
  program: Program,
  expression: RunningExpression,
  from: number,
  to: number,
): number {
  const { words, rows } = context;
  const { cells } = context.view;
  const { history, metrics, sums } = expression;
  let count = 0;
  for (let row = from | 0; row < to; row++) {
    if (cells[row]! >= 0) rows[count++] = row;
    else context.withoutFlow++;
  }
  for (const column of program.sums) fillColumn(context, column, metrics[column.metric]!, rows, count, from);
  let kept = 0;
  for (let k = 0; k < count; k++) {
    const row = rows[k]!;
    const flow = cells[row]!;
    const at = row - from;
    let isCarried = metrics.length === 0;
    for (let m = 0; m < metrics.length; m++) isCarried ||= program.sums[m]!.values[at]! >= 0;
    if (!isCarried) continue;
    rows[kept++] = row;
    const cell = history + 2 * flow;
    const seen = Math.min((words[cell]! >>> 0) + 1, 0xffffffff);
    words[cell] = seen;
    program.count!.values[at] = seen;
    for (let m = 0; m < metrics.length; m++) {
      const deltas = program.deltas[m];
      if (deltas === undefined) continue;
      const sum = program.sums[m]!.values[at]!;
      deltas.values[at] = sum;
      if (sum < 0) continue;
      const bit = 1 << metrics[m]!.id;
      const known = sums[m]! + flow;
      deltas.values[at] = (words[cell + 1]! & bit) === 0 ? 0 : Math.abs(sum - (words[known]! >>> 0));
      words[cell + 1]! |= bit;
      words[known] = sum;
    }
  }
  return kept;
}
