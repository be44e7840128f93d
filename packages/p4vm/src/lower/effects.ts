import type { Expression } from '../ir/program.js';

/** True if the evaluation may change something, or depends on state that changes outside of the program. */
export function hasEffects(expression: Expression): boolean {
  switch (expression.kind) {
    case 'constant':
    case 'string':
    case 'variable':
    case 'default':
      return false;
    case 'member':
    case 'stack-next':
    case 'stack-last':
    case 'stack-last-index':
    case 'slice':
      return hasEffects(expression.base);
    case 'element':
      return hasEffects(expression.base) || hasEffects(expression.index);
    case 'dynamic-slice':
      return hasEffects(expression.base) || hasEffects(expression.low);
    case 'unary':
    case 'cast':
      return hasEffects(expression.operand);
    case 'binary':
      return hasEffects(expression.left) || hasEffects(expression.right);
    case 'conditional':
      return hasEffects(expression.condition) || hasEffects(expression.whenTrue) || hasEffects(expression.whenFalse);
    case 'aggregate':
      return expression.elements.some(hasEffects);
    case 'is-valid':
      return hasEffects(expression.header);
    default:
      return true;
  }
}

/** True if the nodes of `written` come in `ordered` in the same order. */
export function isInOrder<Node>(written: readonly Node[], ordered: readonly (Node | undefined)[]): boolean {
  const positions = new Map(ordered.map((each, position) => [each, position]));
  let last = -1;
  for (const each of written) {
    const position = positions.get(each);
    if (position === undefined) continue;
    if (position < last) return false;
    last = position;
  }
  return true;
}
