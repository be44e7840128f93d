import type { Expression } from '../ir/program.js';

/** A copy of an expression for a second place. Only for expressions that may be evaluated twice. */
export function copyOf(expression: Expression): Expression {
  switch (expression.kind) {
    case 'member':
    case 'stack-next':
    case 'stack-last':
    case 'slice':
      return { ...expression, base: copyOf(expression.base) };
    case 'element':
      return { ...expression, base: copyOf(expression.base), index: copyOf(expression.index) };
    case 'cast':
      return { ...expression, operand: copyOf(expression.operand) };
    default:
      return { ...expression };
  }
}
