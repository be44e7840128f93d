import { negate } from '../../../src/expression/cnf.js';
import type { Condition, ConvertQuantity, Expression } from '../../../src/expression/model.js';

/** A clause as a set of conditions, each as text. */
export type Clause = ReadonlySet<string>;

export const conditionText = ({ aggregate, metric, operator, constant }: Condition): string =>
  `${aggregate}(${metric ?? ''}) ${operator} ${constant}`;

/**
 * The minimal conjunctive normal form by the rule book: multiplied out from the conditions up, without duplicates and
 * absorbed clauses.
 *
 * @returns `null` if it becomes large on the way: then this gives no answer
 */
export function multiplyOut(expression: Expression, convert: ConvertQuantity, isNegated = false): Clause[] | null {
  if (expression.type === 'not') return multiplyOut(expression.operand, convert, !isNegated);
  if (expression.type === 'condition') {
    const { aggregate, operator } = isNegated ? negate(expression.aggregate, expression.operator) : expression;
    const { metric, quantity } = expression;
    const constant = convert(metric, operator, quantity, aggregate);
    return [new Set([conditionText({ aggregate, metric, operator, constant })])];
  }
  const isAnd = (expression.type === 'and') !== isNegated;
  let clauses: Clause[] | null = null;
  for (const operand of expression.operands) {
    const others = multiplyOut(operand, convert, isNegated);
    if (others === null) return null;
    if (clauses === null) clauses = others;
    else if (isAnd) clauses = [...clauses, ...others];
    else if (clauses.length * others.length > 2000) return null;
    else clauses = clauses.flatMap((a) => others.map((b) => new Set([...a, ...b])));
    clauses = absorb(clauses);
  }
  return clauses;
}

function absorb(clauses: readonly Clause[]): Clause[] {
  const kept: Clause[] = [];
  for (const clause of [...clauses].sort((a, b) => a.size - b.size)) {
    if (!kept.some((smaller) => [...smaller].every((condition) => clause.has(condition)))) kept.push(clause);
  }
  return kept;
}

/** A set of clauses, in an order that does not depend on how they were found. */
export function sortedClauses(clauses: Iterable<Iterable<string>>): string[][] {
  return [...clauses].map((clause) => [...clause].sort()).sort((a, b) => (a.join() < b.join() ? -1 : 1));
}

/** The tree without places, single operands, and groups within groups of the same kind. */
export function plainTree(expression: Expression): unknown {
  switch (expression.type) {
    case 'condition': {
      const { type, aggregate, metric, operator, quantity } = expression;
      return { type, aggregate, metric, operator, quantity };
    }
    case 'not':
      return { type: 'not', operand: plainTree(expression.operand) };
    default: {
      const { type } = expression;
      const flat = (each: Expression): unknown[] =>
        each.type === type ? each.operands.flatMap(flat) : [plainTree(each)];
      return { type, operands: flat(expression) };
    }
  }
}

/** All parts of an expression, itself first. */
export function partsOf(expression: Expression): Expression[] {
  if (expression.type === 'condition') return [expression];
  const operands = expression.type === 'not' ? [expression.operand] : expression.operands;
  return [expression, ...operands.flatMap(partsOf)];
}
