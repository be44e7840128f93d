/** What made a complex expression true: a number for each clause, and the hop that it was seen at. */

import { HOP_COLUMNS, NOT_AVAILABLE } from '@int/codec';
import { REPORT_COLUMN } from '@int/codec/internals';
import { AGGREGATES } from '../../expression/model.js';
import { EVENT_COLUMN, EVIDENCE } from '../event-columns.js';
import type { Reading } from '../running-rule.js';
import type { LoopContext } from './context.js';
import { COLUMN, type Program, type Test } from './program.js';

const NODE = /* @__PURE__ */ HOP_COLUMNS.indexOf('nodeId');
const ANY = /* @__PURE__ */ AGGREGATES.indexOf('any');
const ALL = /* @__PURE__ */ AGGREGATES.indexOf('all');
const MAX = /* @__PURE__ */ AGGREGATES.indexOf('max');
const MIN = /* @__PURE__ */ AGGREGATES.indexOf('min');

/**
 * Writes the evidence of the reports that satisfy all clauses, as rows of events from `context.count` on: the first
 * condition of each clause that holds. The columns of these reports are all filled, because every clause looked at
 * them.
 */
export function writeEvidence(
  context: LoopContext,
  { clauses }: Program,
  metrics: readonly Reading[],
  rows: Int32Array,
  count: number,
  base: number,
): void {
  const { events, eventStride } = context;
  for (let c = 0; c < clauses.length; c++) {
    const { tests } = clauses[c]!;
    const whats = eventStride * (EVENT_COLUMN.EVIDENCE + c * EVIDENCE.COLUMNS + EVIDENCE.WHAT) + context.count;
    const nodes = whats + eventStride * (EVIDENCE.NODE - EVIDENCE.WHAT);
    const values = whats + eventStride * (EVIDENCE.VALUE - EVIDENCE.WHAT);
    for (let k = 0; k < count; k++) {
      const row = rows[k]!;
      const test = holdingTest(tests, (row - base) | 0);
      const { column, what } = test;
      // Sums and the history have no place of their own.
      if (column.kind === COLUMN.SUM || column.kind === COLUMN.DELTA || column.kind === COLUMN.COUNT) {
        events[whats + k] = what | (EVIDENCE.NO_HOP << EVIDENCE.HOP_SHIFT);
        events[nodes + k] = NOT_AVAILABLE;
        events[values + k] = column.values[(row - base) | 0]!;
        continue;
      }
      const reading = metrics[column.metric]!;
      const { view } = context;
      const first = view.report[REPORT_COLUMN.HOP_START * view.reportStride + row]!;
      const at = hopOf(context, test, reading, first, first + view.hopCount[row]!);
      events[whats + k] = what | ((at - first) << EVIDENCE.HOP_SHIFT);
      events[nodes + k] = view.hops[NODE * view.hopStride + at]!;
      events[values + k] = view.hops[reading.column * view.hopStride + at]!;
    }
  }
  const slots = Math.min(clauses.length + 1, EVIDENCE.SLOTS);
  if (clauses.length < EVIDENCE.SLOTS) {
    const end =
      eventStride * (EVENT_COLUMN.EVIDENCE + clauses.length * EVIDENCE.COLUMNS + EVIDENCE.WHAT) + context.count;
    for (let k = 0; k < count; k++) events[end + k] = EVIDENCE.NONE;
  }
  if (slots > context.evidenceSlots) context.evidenceSlots = slots;
}

/** The first condition of a clause that holds for the report at `at` of the block. One does. */
function holdingTest(tests: readonly Test[], at: number): Test {
  let t = 0;
  for (; t < tests.length - 1; t++) {
    const { column, low, high, isOutside } = tests[t]!;
    const value = column.values[at]!;
    if ((value >= low && value <= high) !== isOutside && value >= 0) break;
  }
  return tests[t]!;
}

/**
 * The hop at which a condition on single values was decided; of equals, the first.
 *
 * any: the first that holds; all: the one nearest to the constant; max, min: the one with the value; last: the last
 * one.
 */
function hopOf(context: LoopContext, test: Test, reading: Reading, from: number, to: number): number {
  const { hops, hopStride } = context.view;
  const { aggregate, constant, column } = test;
  const { low, high, isOutside } = column.range;
  const values = reading.column * hopStride;
  const pairs = reading.pair * hopStride;
  let best = -1;
  let found = from;
  for (let at = from; at < to; at++) {
    const word = hops[values + at]!;
    if (word === -1 && hops[pairs + at] === -1) continue;
    const x = word >>> 0;
    if (aggregate === ANY) {
      if ((x >= low && x <= high) !== isOutside) return at;
      continue;
    }
    // The largest rank wins; for `last`, it is the place.
    let rank = at;
    if (aggregate === MAX) rank = x;
    else if (aggregate === MIN) rank = 0xffffffff - x;
    else if (aggregate === ALL) rank = 0xffffffff - Math.abs(x - constant);
    if (rank <= best) continue;
    best = rank;
    found = at;
  }
  return found;
}
