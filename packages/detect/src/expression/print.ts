import { ExpressionError } from './errors.js';
import { type Cnf, type Condition, type Expression, MAX_NESTING } from './model.js';

/** Levels that a tree of 64 nested groups can have: an `or` and an `and` each, and those outside. */
export const MAX_TREE_LEVELS = 2 * MAX_NESTING + 2;

const BINDING = { or: 0, and: 1, not: 2, condition: 2 } as const;

/**
 * The text of an expression, with only the parentheses that it needs. Parsed again, it gives the same tree, except for
 * spans and for groups within a group of the same kind, which become one.
 *
 * @throws ExpressionError `EXPRESSION_TOO_LARGE` for a tree deeper than a parsed one can be
 * @throws RangeError for an `and` or `or` of nothing
 */
export function printExpression(expression: Expression): string {
  return print(expression, 0);
}

function print(expression: Expression, level: number): string {
  if (level > MAX_TREE_LEVELS) throw tooDeep(expression);
  switch (expression.type) {
    case 'condition': {
      const { aggregate, metric, operator, quantity } = expression;
      return `${aggregate}(${metric ?? ''}) ${operator} ${quantity.number}${quantity.unit}`;
    }
    case 'not':
      return `not ${printWithin(expression.operand, BINDING.not, level + 1)}`;
    default: {
      checkOperands(expression.operands);
      const binding = BINDING[expression.type];
      const operands = expression.operands.map((operand) => printWithin(operand, binding, level + 1));
      return operands.join(` ${expression.type} `);
    }
  }
}

function printWithin(expression: Expression, binding: number, level: number): string {
  const text = print(expression, level);
  return BINDING[expression.type] < binding ? `(${text})` : text;
}

/** The error for a tree that no text gives: too deep, or with itself inside. */
export function tooDeep({ span }: Expression): ExpressionError {
  return new ExpressionError('EXPRESSION_TOO_LARGE', `more than ${MAX_TREE_LEVELS} levels of and, or and not`, span);
}

/** @throws RangeError if there are none, which no text can say */
export function checkOperands(operands: readonly unknown[]): void {
  if (operands.length === 0) throw new RangeError("'and' and 'or' need at least one operand");
}

/**
 * The text of a conjunctive normal form, constants in device units: `a and (b or c)`. Parsed and compiled again, with
 * constants taken as they are, it gives the same.
 *
 * @throws RangeError for no clause, or a clause without a condition; the compiler gives neither
 */
export function printCnf(cnf: Cnf): string {
  if (cnf.length === 0 || cnf.some((clause) => clause.length === 0)) {
    throw new RangeError('a conjunctive normal form has at least one clause, and each at least one condition');
  }
  const clauses = cnf.map((clause) => {
    const text = clause.map(printCondition).join(' or ');
    return clause.length > 1 && cnf.length > 1 ? `(${text})` : text;
  });
  return clauses.join(' and ');
}

function printCondition({ aggregate, metric, operator, constant }: Condition): string {
  return `${aggregate}(${metric ?? ''}) ${operator} ${constant}`;
}
