import type { Expression } from '../syntax/ast.js';
import type { Checker } from './checker.js';

/** Why an expression cannot be assigned to, or undefined if it can. The expression has been inferred. */
function whyNot(c: Checker, e: Expression): string | undefined {
  switch (e.kind) {
    case 'path': {
      const scope = e.isAbsolute ? c.scope.root : c.scope;
      const entry = scope.lookup(e.name.text);
      if (entry?.kind !== 'value') return `"${e.name.text}" is not a variable`;
      if (entry.isWritable) return undefined;
      const { symbol } = entry;
      if (symbol.kind === 'constant') return `"${e.name.text}" is a constant`;
      if (symbol.kind === 'parameter') {
        const { direction } = symbol.declaration;
        return direction === 'in'
          ? `"${e.name.text}" is an "in" parameter`
          : `"${e.name.text}" is a parameter without a direction`;
      }
      if (symbol.kind === 'constructor-parameter') return `"${e.name.text}" is a constructor parameter`;
      return `"${e.name.text}" is not a variable`;
    }
    case 'member': {
      const base = c.found.types.get(e.base);
      if (base?.kind === 'stack' && e.member.text !== 'next') {
        return `"${e.member.text}" of a header stack can only be read`;
      }
      if (base?.kind === 'table-result') return 'the result of a table can only be read';
      return whyNot(c, e.base);
    }
    // Elements of tuples as well: the language leaves this open, and programs do it.
    case 'index':
    case 'slice':
      return whyNot(c, e.base);
    default:
      return 'this is a value, not a variable, field or element of one';
  }
}

/** Reports an expression that cannot be assigned to. */
export function checkWritable(c: Checker, e: Expression, purpose: string): boolean {
  if (c.found.types.get(e)?.kind === 'unknown') return true;
  const reason = whyNot(c, e);
  if (reason === undefined) return true;
  c.error('not-assignable', e.span, `${purpose}: ${reason}`);
  return false;
}
