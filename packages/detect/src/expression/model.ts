import type { MetricName } from '@int/codec';

/** Aggregates over the hops of a report that carry the metric, and over a flow's history. */
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

/** A constant as written: its value and its unit, not yet converted. */
export interface Quantity {
  /** Exact decimal text of the number, as `0.5`. */
  readonly number: string;
  /** `us`, `%`, `KiB`, ...; empty: device units. */
  readonly unit: string;
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

/** Conjunctive normal form: all clauses must hold; of each clause, one condition. */
export type Cnf = readonly (readonly Condition[])[];

/** What the data plane's logic registers hold. */
export const MAX_CLAUSES = 8;
export const MAX_CONDITIONS = 4;

/** Levels of parentheses and `not` that a text may nest. */
export const MAX_NESTING = 64;
/** Conditions that a text may contain, before duplicates and absorbed ones are taken out. */
export const MAX_WRITTEN_CONDITIONS = 256;

/**
 * Converts a constant to device units, 0 to 2^32 - 1: exactly, then rounded down for `>` and `<=` and up for `>=` and
 * `<`; `==` and `!=` with a fraction are refused. The same rounding serves an operator and its negation, so that
 * negating and rounding can be done in either order.
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
