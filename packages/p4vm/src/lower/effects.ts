import type { Expression } from '../ir/program.js';
import { isCall, someExpression } from '../ir/walk.js';

/** True if the evaluation may change something, or depends on state that changes outside of the program. */
export function hasEffects(expression: Expression): boolean {
  return someExpression(expression, isCall);
}

/** True if the nodes of `written` come in `ordered` in the same order. */
export function isInOrder<Node>(written: readonly Node[], ordered: readonly (Node | undefined)[]): boolean {
  const positions = new Map(ordered.map((each, position) => [each, position]));
  const order = written.flatMap((each) => positions.get(each) ?? []);
  return order.every((position, at) => at === 0 || order[at - 1]! <= position);
}
