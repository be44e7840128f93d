import { METRIC_NAMES } from '@int/codec';
import { RULE_PROBLEM_CODES, type RuleProblemCode, RulesError } from '../errors.js';
import { ExpressionError } from './errors.js';
import {
  AGGREGATES,
  type Aggregate,
  type Cnf,
  CONTRARY,
  type Condition,
  type ConvertQuantity,
  type Expression,
  MAX_CLAUSES,
  MAX_CONDITIONS,
  MAX_WRITTEN_CONDITIONS,
  OPERATORS,
  type Operator,
} from './model.js';
import { quote } from './parse.js';
import { type Monotone, minimalClauses, type Source } from './prime.js';
import { checkOperands, MAX_TREE_LEVELS, printExpression, tooDeep } from './print.js';

/**
 * Compiles an expression to its minimal conjunctive normal form: no condition twice in a clause, no clause that
 * contains another. Conditions that differ in metric, aggregate, operator or constant count as independent; so do a
 * condition and its contrary, because both are unknown where the metric is missing.
 *
 * The form is unique: expressions that say the same of the same conditions give the same result, in the same order (by
 * metric number with `count()` last, then aggregate, operator and constant).
 *
 * An expression is refused only if this form has more than 8 clauses or a clause of more than 4 conditions, however
 * large it would become on the way; or if it was not made by {@link parseExpression} and exceeds the limits of that
 * function. To find out takes fewer than 2 * 4^8 evaluations of the expression, mostly a few dozen, and little memory.
 *
 * @param convert called once for each condition, in the order of the text, with the operator and the aggregate of the
 *   result: after the negations around the condition
 * @param text what `expression` was parsed from, for messages; without it they quote its printed form
 * @throws ExpressionError `EXPRESSION_TOO_LARGE`; its span is the first part of the text that is too large while each
 *   of its operands fits. What `convert` throws, with its code, the span of the quantity, and the error as `cause`
 * @throws RangeError if `convert` gives no whole number of 32 bits, or an `and` or `or` has no operand
 */
export function toCnf(expression: Expression, convert: ConvertQuantity, text?: string): Cnf {
  const conditions: Condition[] = [];
  const root = withoutNot(expression, convert, conditions);
  const { clauses, fits } = minimalClauses(root, conditions.length);
  if (!fits) throw tooLarge(root, conditions.length, text);
  return clauses
    .map((clause) => clause.map((index) => conditions[index]!).sort(compareConditions))
    .sort((a, b) => {
      // No clause is the beginning of another: it would have absorbed it.
      const place = a.findIndex((condition, i) => compareConditions(condition, b[i]!) !== 0);
      return compareConditions(a[place]!, b[place]!);
    });
}

/** The contrary of an operator and its aggregate. */
export function negate(aggregate: Aggregate, operator: Operator): { aggregate: Aggregate; operator: Operator } {
  const contrary = aggregate === 'any' ? 'all' : aggregate === 'all' ? 'any' : aggregate;
  return { aggregate: contrary, operator: CONTRARY[operator] };
}

/** Pushes negations into the conditions, converts their constants, and numbers the distinct ones. */
function withoutNot(root: Expression, convert: ConvertQuantity, conditions: Condition[]): Monotone {
  const indices = new Map<string, number>();
  let written = 0;

  function visit(expression: Expression, isNegated: boolean, source: Source, level: number): Monotone {
    if (level > MAX_TREE_LEVELS) throw tooDeep(expression);
    switch (expression.type) {
      case 'not':
        return visit(expression.operand, !isNegated, source, level + 1);
      case 'condition': {
        if (++written > MAX_WRITTEN_CONDITIONS) {
          const message = `more than ${MAX_WRITTEN_CONDITIONS} conditions`;
          throw new ExpressionError('EXPRESSION_TOO_LARGE', message, expression.span);
        }
        const condition = compile(expression, isNegated, convert);
        const key = `${condition.aggregate} ${condition.metric} ${condition.operator} ${condition.constant}`;
        const index = indices.get(key) ?? conditions.push(condition) - 1;
        indices.set(key, index);
        return { type: 'condition', index, source };
      }
      default: {
        checkOperands(expression.operands);
        // De Morgan.
        const type = (expression.type === 'and') === isNegated ? 'or' : 'and';
        const operands = expression.operands.map((operand) =>
          visit(operand, isNegated, { expression: operand, isNegated }, level + 1),
        );
        return { type, operands, source };
      }
    }
  }

  return visit(root, false, { expression: root, isNegated: false }, 0);
}

function compile(
  expression: Extract<Expression, { type: 'condition' }>,
  isNegated: boolean,
  convert: ConvertQuantity,
): Condition {
  const { metric, quantity } = expression;
  const { aggregate, operator } = isNegated ? negate(expression.aggregate, expression.operator) : expression;
  let constant: number;
  try {
    constant = convert(metric, operator, quantity, aggregate);
  } catch (error) {
    const problem = problemOf(error);
    // Anything else is a bug, and must not pass for bad input.
    if (problem === null) throw error;
    throw new ExpressionError(problem.code, problem.message, expression.quantitySpan, { cause: error });
  }
  if (constant >>> 0 !== constant) throw new RangeError(`constant ${constant} is no whole number of 32 bits`);
  return { aggregate, metric, operator, constant };
}

/** The code and message of an error that says what is wrong with a rule. */
function problemOf(error: unknown): { readonly code: RuleProblemCode; readonly message: string } | null {
  if (RulesError.is(error)) return error.problems[0]!;
  if (!(error instanceof Error) || !('code' in error)) return null;
  const code = RULE_PROBLEM_CODES.find((each) => each === error.code);
  return code === undefined ? null : { code, message: error.message };
}

function compareConditions(a: Condition, b: Condition): number {
  return (
    rankOfMetric(a) - rankOfMetric(b) ||
    AGGREGATES.indexOf(a.aggregate) - AGGREGATES.indexOf(b.aggregate) ||
    OPERATORS.indexOf(a.operator) - OPERATORS.indexOf(b.operator) ||
    a.constant - b.constant
  );
}

function rankOfMetric({ metric }: Condition): number {
  return metric === null ? METRIC_NAMES.length : METRIC_NAMES.indexOf(metric);
}

/** The refusal of a tree that does not fit. */
function tooLarge(root: Monotone, conditionCount: number, text: string | undefined): ExpressionError {
  const { part, last, count } = smallestTooLarge(root, conditionCount)!;
  const { expression, isNegated } = part.source;
  const { span } = expression;
  const quoted = quote(text === undefined ? printExpression(expression) : text.slice(span.start, span.end));
  const reached = last.length > MAX_CONDITIONS ? `a clause of ${last.length} conditions` : `at least ${count} clauses`;
  const message =
    `too large: ${quoted}${isNegated ? " under 'not'" : ''}, made an 'and' of clauses joined by 'or', ` +
    `needs ${reached}; the limit is ${MAX_CLAUSES} clauses of ${MAX_CONDITIONS} conditions`;
  return new ExpressionError('EXPRESSION_TOO_LARGE', message, span);
}

/** The first part that does not fit while all its operands do, and the clauses that show it; `null` if all fits. */
function smallestTooLarge(
  part: Monotone,
  conditionCount: number,
): { readonly part: Monotone; readonly last: readonly number[]; readonly count: number } | null {
  const { clauses, fits } = minimalClauses(part, conditionCount);
  if (fits) return null;
  for (const operand of part.type === 'condition' ? [] : part.operands) {
    const smaller = smallestTooLarge(operand, conditionCount);
    if (smaller !== null) return smaller;
  }
  return { part, last: clauses[clauses.length - 1]!, count: clauses.length };
}
