import type { MetricName } from '@int/codec';
import type { Quantity } from '@int/network/internals';

export type { Quantity };

/**
 * Aggregates over the hops of a report that carry the metric, and over the history of a flow.
 *
 * `any` and `all` compare each hop. `sum` (saturating at 2^32 - 1), `max`, `min` and `last` (the hop nearest the sink)
 * give one value. `delta` is the absolute difference between the sum of this report and that of the flow's previous
 * one, 0 at first sight. `count` is the number of the flow's reports. A condition on a metric that no hop carries is
 * unknown.
 */
export const AGGREGATES = ['any', 'all', 'sum', 'max', 'min', 'last', 'delta', 'count'] as const;
export type Aggregate = (typeof AGGREGATES)[number];

export const OPERATORS = ['<', '<=', '==', '!=', '>=', '>'] as const;
export type Operator = (typeof OPERATORS)[number];

/** The operator that holds where the other does not. */
export const CONTRARY: Readonly<Record<Operator, Operator>> = {
  '<': '>=',
  '<=': '>',
  '==': '!=',
  '!=': '==',
  '>=': '<',
  '>': '<=',
};

/** Where a piece of an expression stands in its text: characters from the start, end excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** `aggregate(metric) operator constant`. */
export interface Condition {
  readonly aggregate: Aggregate;
  /** `null` for `count()` only. */
  readonly metric: MetricName | null;
  readonly operator: Operator;
  /** Device units, a whole number. 0 to 2^32 - 1 once compiled. */
  readonly constant: number;
}

/** An expression as parsed. */
export type Expression =
  | { readonly type: 'and' | 'or'; readonly operands: readonly Expression[]; readonly span: Span }
  | { readonly type: 'not'; readonly operand: Expression; readonly span: Span }
  | {
      readonly type: 'condition';
      readonly aggregate: Aggregate;
      readonly metric: MetricName | null;
      readonly operator: Operator;
      readonly quantity: Quantity;
      readonly span: Span;
      /** Where the quantity stands. */
      readonly quantitySpan: Span;
    };

/** Conjunctive normal form: every clause must hold, and of each clause one condition. */
export type Cnf = readonly (readonly Condition[])[];

/** The data plane's logic registers hold so many clauses of so many conditions. */
export const MAX_CLAUSES = 8;
export const MAX_CONDITIONS = 4;

/** Levels of parentheses and `not` that a text may nest. */
export const MAX_NESTING = 64;
/** Conditions that a text may contain, duplicates and absorbed ones included. */
export const MAX_WRITTEN_CONDITIONS = 256;

/**
 * Converts a constant to device units, 0 to 2^32 - 1: exactly, then rounded down for `>` and `<=` and up for `>=` and
 * `<`. For `==` and `!=` it refuses a fraction. An operator and its contrary round alike, so that negating and rounding
 * can be done in either order.
 *
 * @param metric `null` for `count()`
 * @throws an error with a `code` of `RULE_PROBLEM_CODES`, or a `RulesError`
 */
export type ConvertQuantity = (
  metric: MetricName | null,
  operator: Operator,
  quantity: Quantity,
  aggregate: Aggregate,
) => number;
