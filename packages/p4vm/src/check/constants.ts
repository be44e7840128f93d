import type { Expression } from '../syntax/ast.js';
import type { Checker } from './checker.js';

/** Whether an expression is known at compile time, at the latest when instances are made. Reports one that is not. */
export function isKnownOrReport(c: Checker, expression: Expression, what: string): boolean {
  if (c.isKnown(expression) || c.found.types.get(expression)?.kind === 'unknown') return true;
  c.error('not-constant', expression.span, `${what} must be known at compile time`);
  return false;
}

/** Marks an expression as known when instances are made, if all its parts are. */
export function inheritKnown(c: Checker, expression: Expression, parts: readonly Expression[]): void {
  if (parts.every((part) => c.isKnown(part))) c.known.add(expression);
}
