import type { MetricName } from '@int/codec';
import fc from 'fast-check';
import {
  AGGREGATES,
  type Aggregate,
  type Cnf,
  type ConvertQuantity,
  type Expression,
  MAX_WRITTEN_CONDITIONS,
  OPERATORS,
  type Operator,
  type Quantity,
} from '../../../src/expression/model.js';
import type { Observation } from './evaluate.js';

type ConditionNode = Extract<Expression, { type: 'condition' }>;

/** Few, so that conditions repeat and meet the same hops; of different widths. */
export const SOME_METRICS = ['hopLatency', 'queueOccupancy', 'egressUtilization'] as const satisfies MetricName[];

const NOWHERE = { start: 0, end: 0 } as const;
const OF_METRICS = AGGREGATES.filter((aggregate) => aggregate !== 'count');

/** A condition's node, without places. */
export function conditionNode(
  aggregate: Aggregate,
  metric: MetricName | null,
  operator: Operator,
  quantity: Quantity,
): ConditionNode {
  return { type: 'condition', aggregate, metric, operator, quantity, span: NOWHERE, quantitySpan: NOWHERE };
}

/** Whole numbers of device units near those of {@link observations}, where comparisons change their outcome. */
const deviceQuantities: fc.Arbitrary<Quantity> = fc
  .oneof(fc.integer({ min: 0, max: 6 }), fc.constantFrom(0xfffffe, 0xffffff, 0x80000000, 0xfffffffe, 0xffffffff))
  .map((number) => ({ number: String(number), unit: '' }));

/** Also fractions and multiples: what {@link exactConvert} has to round. `==` and `!=` refuse many of them. */
export const fractionalQuantities: fc.Arbitrary<Quantity> = fc.record({
  number: fc
    .tuple(fc.integer({ min: 0, max: 6 }), fc.constantFrom('', '.0', '.25', '.5', '.999', '.0001'))
    .map((parts) => parts.join('')),
  unit: fc.constantFrom('', 'half', 'quarter', 'third'),
});

export interface ExpressionOptions {
  /** Default: {@link SOME_METRICS}. */
  readonly metrics?: readonly MetricName[];
  /** Default: {@link deviceQuantities}. */
  readonly quantities?: fc.Arbitrary<Quantity>;
  /** Default: all. */
  readonly operators?: readonly Operator[];
  /** Levels of `and`, `or` and `not`; default 5. */
  readonly maxDepth?: number;
  /** Most operands of an `and` or `or`; default 3. */
  readonly maxOperands?: number;
}

/** Conditions, as nodes of a tree without places. */
function conditionNodes(options: ExpressionOptions = {}): fc.Arbitrary<ConditionNode> {
  const { metrics = SOME_METRICS, quantities = deviceQuantities, operators = OPERATORS } = options;
  const ofMetric = fc
    .tuple(fc.constantFrom(...OF_METRICS), fc.constantFrom(...metrics), fc.constantFrom(...operators), quantities)
    .map((parts) => conditionNode(...parts));
  const ofFlow = fc
    .tuple(fc.constantFrom(...operators), quantities)
    .map(([operator, quantity]) => conditionNode('count', null, operator, quantity));
  return fc.oneof({ weight: 6, arbitrary: ofMetric }, { weight: 1, arbitrary: ofFlow });
}

/**
 * Expressions as trees without places (all spans are 0 to 0): {@link printExpression} makes text of them. Groups within
 * groups of the same kind and repeated `not` occur; they may be too large for the data plane, but not to
 * be parsed.
 */
export function expressions(options: ExpressionOptions = {}): fc.Arbitrary<Expression> {
  const { maxDepth = 5, maxOperands = 3 } = options;
  // A small pool of conditions per expression, so that there is something to absorb.
  return fc.array(conditionNodes(options), { minLength: 1, maxLength: 6 }).chain((pool) => {
    const { tree } = fc.letrec<{ tree: Expression }>((tie) => ({
      tree: fc.oneof(
        { maxDepth, depthSize: 'medium', withCrossShrink: true },
        { weight: 2, arbitrary: fc.constantFrom(...pool) },
        {
          weight: 3,
          arbitrary: fc
            .tuple(
              fc.constantFrom('and' as const, 'or' as const),
              fc.array(tie('tree'), { minLength: 2, maxLength: maxOperands }),
            )
            .map(([type, operands]): Expression => ({ type, operands, span: NOWHERE })),
        },
        {
          weight: 1,
          arbitrary: tie('tree').map((operand): Expression => ({ type: 'not', operand, span: NOWHERE })),
        },
      ),
    }));
    return tree.filter((each) => countConditions(each) <= MAX_WRITTEN_CONDITIONS);
  });
}

/** Conditions of an expression, repeated ones as often as they occur. */
export function countConditions(expression: Expression): number {
  if (expression.type === 'condition') return 1;
  const operands = expression.type === 'not' ? [expression.operand] : expression.operands;
  return operands.reduce((sum, operand) => sum + countConditions(operand), 0);
}

/** Conjunctive normal forms within the limits, not minimal: as a program may write them into a rule. */
export function cnfs(options: ExpressionOptions = {}): fc.Arbitrary<Cnf> {
  const condition = conditionNodes(options).map(({ aggregate, metric, operator, quantity }) => ({
    aggregate,
    metric,
    operator,
    constant: Number(quantity.number),
  }));
  return fc.array(fc.array(condition, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });
}

/** Values that meet the constants, and those at which sums saturate. */
const values: fc.Arbitrary<number> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom(0xfffffe, 0xffffff, 0x80000000, 0xfffffffe, 0xffffffff) },
);

/** Reports of no to five hops that carry any of the metrics or none, with and without history. */
export function observations(metrics: readonly MetricName[] = SOME_METRICS): fc.Arbitrary<Observation> {
  const row = fc.record(
    Object.fromEntries(metrics.map((metric) => [metric, fc.option(values, { freq: 5, nil: null })])),
    { requiredKeys: [] },
  );
  return fc.record({
    hops: fc
      .tuple(fc.array(row, { maxLength: 5 }), fc.subarray([...metrics]))
      // Whole metrics missing, often enough for 'unknown' to matter.
      .map(([rows, missing]) =>
        rows.map((each) => ({ ...each, ...Object.fromEntries(missing.map((m) => [m, null])) })),
      ),
    previousSums: fc
      .uniqueArray(fc.tuple(fc.constantFrom(...metrics), values), { selector: ([metric]) => metric })
      .map((entries) => new Map(entries)),
    count: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant(0xffffffff)),
  });
}

/** Takes the number as device units. */
export const deviceConvert: ConvertQuantity = (_metric, _operator, { number }) => Number(number);

/** What `half`, `third` and so on are in {@link exactFraction}. */
const DIVISORS: Readonly<Record<string, bigint>> = { '': 1n, half: 2n, third: 3n, quarter: 4n };

/** The exact value of a quantity, as a fraction. */
export function exactFraction({ number, unit }: Quantity): readonly [numerator: bigint, denominator: bigint] {
  const [whole = '', fraction = ''] = number.split('.');
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length) * DIVISORS[unit]!];
}

/** Rounds as {@link ConvertQuantity} demands; the code of its error is INEXACT_QUANTITY. */
export const exactConvert: ConvertQuantity = (_metric, operator, quantity) => {
  const [numerator, denominator] = exactFraction(quantity);
  const floor = numerator / denominator;
  if (floor * denominator === numerator) return Number(floor);
  if (operator === '==' || operator === '!=') {
    throw Object.assign(new Error(`${quantity.number}${quantity.unit} is no whole number`), {
      code: 'INEXACT_QUANTITY',
    });
  }
  return Number(operator === '>=' || operator === '<' ? floor + 1n : floor);
};
