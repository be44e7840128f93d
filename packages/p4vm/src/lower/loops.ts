import type { Expression, LValue, Statement } from '../ir/program.js';
import type { ForInStatement, ForStatement, Expression as Syntax } from '../syntax/ast.js';
import type { Type } from '../types/type.js';
import { constant } from './constants.js';
import { BIT32, BOOL, sameDataType } from './data-types.js';
import { Evaluator } from './evaluate.js';
import { binary, convert, lowerExpression, lowerPlace } from './expressions.js';
import type { Lowering } from './lowering.js';
import type { Scope } from './scope.js';
import { lowerOne, lowerStatements } from './statements.js';

/** A loop with a condition. Its declarations are in its `initial` statements. */
export function lowerFor(lowering: Lowering, scope: Scope, statement: ForStatement): Statement {
  return {
    kind: 'for',
    initial: lowerStatements(lowering, scope, statement.initial),
    condition: lowerExpression(lowering, scope, statement.condition),
    update: lowerStatements(lowering, scope, statement.update),
    body: lowerOne(lowering, scope, statement.body),
    span: statement.span,
  };
}

/** A loop over a range, a stack or a list, in a block with its variable if it declares one. */
export function lowerForIn(lowering: Lowering, scope: Scope, statement: ForInStatement): Statement {
  const { variable: named, collection, span } = statement;
  const element = lowering.checked.loops.get(statement) ?? lowering.missing(span, 'this loop is not resolved');
  if (named.kind !== 'variable') {
    return lowerLoop(lowering, scope, statement, collection, element, () => lowerPlace(lowering, scope, named));
  }
  const variable = lowering.variable(named.name.text, lowering.dataTypeOfNode(named.type));
  const loop = lowerLoop(lowering, scope, statement, collection, element, () => {
    scope.variables.set(named, variable);
    return { kind: 'variable', type: variable.type, variable, span: named.name.span };
  });
  return { kind: 'block', statements: [{ kind: 'declare', variable, value: undefined, span: named.span }, loop], span };
}

/**
 * `place` makes the loop's variable. It is called after the bounds and the collection, which are outside of the
 * variable's scope.
 */
function lowerLoop(
  lowering: Lowering,
  scope: Scope,
  statement: ForInStatement,
  collection: Syntax,
  element: Type,
  place: () => LValue,
): Statement {
  const { span } = statement;
  if (collection.kind === 'range') {
    const low = lowerBound(lowering, scope, collection.low, element);
    const high = lowerBound(lowering, scope, collection.high, element);
    const variable = place();
    return { kind: 'for-range', variable, low, high, body: lowerOne(lowering, scope, statement.body), span };
  }
  const elements = listElements(lowering, collection);
  if (elements !== undefined) return lowerList(lowering, scope, statement, elements, element, place);
  const values = lowerExpression(lowering, scope, collection);
  if (values.type.kind !== 'stack')
    lowering.refuse(collection.span, 'only ranges, stacks and lists can be looped over');
  const variable = place();
  const body = lowerOne(lowering, scope, statement.body);
  return { kind: 'for-elements', variable, collection: values, body, span };
}

function lowerBound(lowering: Lowering, scope: Scope, bound: Syntax, type: Type): Expression {
  const known = new Evaluator(lowering, scope).value(bound);
  const data = lowering.dataType(type, bound.span);
  if (known?.kind === 'integer' && data.kind === 'bits') return constant(known.value, data, bound.span);
  const lowered = lowerExpression(lowering, scope, bound);
  return sameDataType(lowered.type, data) ? lowered : convert(lowering, lowered, type, bound.span);
}

/** The elements of a list literal or a constant list; undefined for other collections. */
function listElements(lowering: Lowering, collection: Syntax): readonly Syntax[] | undefined {
  let each = collection;
  while (each.kind === 'path') {
    const symbol = lowering.checked.references.get(each);
    if (symbol?.kind !== 'constant') return undefined;
    each = symbol.declaration.value;
  }
  return each.kind === 'list' ? each.elements : undefined;
}

/** A loop over a list: variables for the elements, and a loop over their positions that picks one. */
function lowerList(
  lowering: Lowering,
  scope: Scope,
  statement: ForInStatement,
  elements: readonly Syntax[],
  element: Type,
  place: () => LValue,
): Statement {
  const { span } = statement;
  const statements: Statement[] = [];
  if (elements.length === 0) return { kind: 'block', statements, span };
  const values = elements.map((each): Expression => {
    const value = convert(lowering, lowerExpression(lowering, scope, each), element, each.span);
    if (value.kind === 'constant') return value;
    const variable = lowering.variable('element', value.type);
    statements.push({ kind: 'declare', variable, value, span: each.span });
    return { kind: 'variable', type: value.type, variable, span: each.span };
  });
  const position = lowering.variable('position', BIT32);
  const index = (): LValue => ({ kind: 'variable', type: BIT32, variable: position, span });
  const assign = (value: Expression): Statement => ({ kind: 'assign', target: place(), value, span });
  lowering.spend(3 * values.length, span);
  // A binary search, because a list may be longer than statements may be nested.
  const pick = (from: number, to: number): Statement => {
    if (to - from === 1) return assign(values[from]!);
    const middle = (from + to) >> 1;
    const condition = binary('<', index(), constant(BigInt(middle), BIT32, span), BOOL, span);
    return { kind: 'if', condition, whenTrue: pick(from, middle), whenFalse: pick(middle, to), span };
  };
  const body: Statement = {
    kind: 'block',
    statements: [pick(0, values.length), lowerOne(lowering, scope, statement.body)],
    span,
  };
  statements.push({ kind: 'declare', variable: position, value: undefined, span });
  const low = constant(0n, BIT32, span);
  const high = constant(BigInt(elements.length - 1), BIT32, span);
  statements.push({ kind: 'for-range', variable: index(), low, high, body, span });
  return { kind: 'block', statements, span };
}
