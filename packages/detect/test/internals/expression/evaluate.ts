import type { MetricName } from '@int/codec';
import type { Cnf, Condition, ConvertQuantity, Expression, Operator } from '../../../src/expression/model.js';

/** Sums end here. */
const MAX_SUM = 0xffffffff;

/** What the conditions of an expression look at: a report, and the history of its flow. */
export interface Observation {
  /** Hops in path order, source first; each with the metrics it carries, unsigned. `null`: not available. */
  readonly hops: readonly { readonly [M in MetricName]?: number | null | undefined }[];
  /** Per metric, the sum over the hops of the flow's previous report that carried it; not there: there was none. */
  readonly previousSums: ReadonlyMap<MetricName, number>;
  /** Reports of the flow so far, this one included; at most 2^32 - 1. */
  readonly count: number;
}

/**
 * Whether a condition holds.
 *
 * Aggregates go over the hops that carry the metric: `any` and `all` compare each, `sum` (saturating at 2^32 - 1),
 * `max`, `min` and `last` (the hop nearest the sink) give one value, and so does `delta`: the absolute difference
 * between this report's sum and the flow's previous one, 0 at first sight. `count` is the number of the flow's reports.
 *
 * @returns `null`, unknown, if no hop carries the metric
 */
export function evaluateCondition(condition: Condition, observation: Observation): boolean | null {
  const { aggregate, metric, operator, constant } = condition;
  const holds = (value: number): boolean => compare(value, operator, constant);
  if (metric === null) return holds(observation.count);

  const values = valuesOf(metric, observation);
  if (values.length === 0) return null;
  switch (aggregate) {
    case 'any':
      return values.some(holds);
    case 'all':
      return values.every(holds);
    case 'sum':
      return holds(sumOf(values));
    case 'max':
      return holds(Math.max(...values));
    case 'min':
      return holds(Math.min(...values));
    case 'last':
      return holds(values[values.length - 1]!);
    case 'delta': {
      const previous = observation.previousSums.get(metric);
      return holds(previous === undefined ? 0 : Math.abs(sumOf(values) - previous));
    }
    case 'count':
      throw new TypeError('count() takes no metric');
  }
}

/**
 * Whether an expression holds, straight from its tree. Three-valued (Kleene): `false and unknown` is false, `true or
 * unknown` is true, `not unknown` is unknown. An event is due where the whole is true.
 *
 * This is the plain reading that {@link toCnf} is held against; detectors run the conjunctive normal form.
 *
 * @returns `null`: unknown
 * @throws whatever `convert` throws
 */
export function evaluateExpression(
  expression: Expression,
  observation: Observation,
  convert: ConvertQuantity,
): boolean | null {
  switch (expression.type) {
    case 'condition': {
      const { aggregate, metric, operator, quantity } = expression;
      const constant = convert(metric, operator, quantity, aggregate);
      return evaluateCondition({ aggregate, metric, operator, constant }, observation);
    }
    case 'not': {
      const value = evaluateExpression(expression.operand, observation, convert);
      return value === null ? null : !value;
    }
    default: {
      const values = expression.operands.map((operand) => evaluateExpression(operand, observation, convert));
      const decisive = expression.type === 'or';
      if (values.includes(decisive)) return decisive;
      return values.includes(null) ? null : !decisive;
    }
  }
}

/**
 * Whether a conjunctive normal form is true: of each clause, one condition. A condition on a metric that no hop carries
 * does not hold; negations are within the conditions, so that the outcome is that of the three-valued reading.
 */
export function evaluateCnf(cnf: Cnf, observation: Observation): boolean {
  return cnf.every((clause) => clause.some((condition) => evaluateCondition(condition, observation) === true));
}

/**
 * Whether a report concerns an expression at all: some hop carries some metric that the expression names, or it names
 * none (`count()` alone). A report that does not raises no event, whatever `count()` is, and changes no state.
 */
export function concerns(cnf: Cnf, observation: Observation): boolean {
  const metrics = cnf.flat().flatMap(({ metric }) => (metric === null ? [] : [metric]));
  return metrics.length === 0 || metrics.some((metric) => valuesOf(metric, observation).length > 0);
}

function valuesOf(metric: MetricName, observation: Observation): number[] {
  return observation.hops.flatMap((hop) => hop[metric] ?? []);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => Math.min(sum + value, MAX_SUM), 0);
}

function compare(value: number, operator: Operator, constant: number): boolean {
  switch (operator) {
    case '<':
      return value < constant;
    case '<=':
      return value <= constant;
    case '==':
      return value === constant;
    case '!=':
      return value !== constant;
    case '>=':
      return value >= constant;
    case '>':
      return value > constant;
  }
}
