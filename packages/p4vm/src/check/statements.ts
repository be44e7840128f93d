import type {
  AssignmentStatement,
  BinaryExpression,
  Block,
  ConstantDeclaration,
  ForInStatement,
  Statement,
  VariableDeclaration,
} from '../syntax/ast.js';
import { hasInteger, sameType } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import { UNKNOWN } from '../types/primitives.js';
import type { Type } from '../types/type.js';
import type { Checker } from './checker.js';
import { isKnownOrReport } from './constants.js';
import { check, coerce, settle } from './convert.js';
import { checkDeclaration } from './declarations.js';
import { infer } from './expressions.js';
import { checkWritable } from './lvalues.js';
import { inferCondition, inferOperation } from './operators.js';
import { checkSwitch } from './switches.js';
import { resolveDefiniteType } from './type-nodes.js';
import { isValueType } from './type-rules.js';

/** Refuses a name that hides a parameter of the declaration around it: it usually is a mistake. */
function checkShadow(c: Checker, name: VariableDeclaration['name']): void {
  const previous = c.scope.lookup(name.text);
  if (previous?.kind !== 'value' || previous.symbol.kind !== 'parameter') return;
  const { owner } = c.place;
  if (owner === undefined || !('parameters' in owner)) return;
  if (!owner.parameters.some((parameter) => parameter === previous.symbol.declaration)) return;
  if (c.place.kind === 'control' || c.place.kind === 'parser') {
    c.warn('shadowed-parameter', name.span, `"${name.text}" hides the parameter of that name`);
    return;
  }
  c.error('shadowed-parameter', name.span, `"${name.text}" hides the parameter of that name`, {
    message: 'the parameter',
    span: previous.name.span,
  });
}

function variableType(c: Checker, declaration: VariableDeclaration): Type {
  const type = resolveDefiniteType(c, declaration.type);
  if (!hasInteger(type) && type.kind !== 'string' && isValueType(type)) return type;
  return c.wrong('variable-type', declaration.type.span, `a variable cannot have type ${describeType(type)}`);
}

/** `type name = value;`. */
export function declareVariable(c: Checker, declaration: VariableDeclaration): void {
  const type = variableType(c, declaration);
  if (declaration.value !== undefined) check(c, declaration.value, type);
  checkShadow(c, declaration.name);
  c.declareValue({ kind: 'variable', declaration }, type, { isWritable: true });
}

/** `const type name = value;`. */
export function declareConstant(c: Checker, declaration: ConstantDeclaration): void {
  let type = resolveDefiniteType(c, declaration.type);
  if (!isValueType(type) && type.kind !== 'list' && type.kind !== 'match-kind') {
    type = c.wrong('variable-type', declaration.type.span, `a constant cannot have type ${describeType(type)}`);
  }
  if (check(c, declaration.value, type)) {
    isKnownOrReport(c, declaration.value, `the value of constant "${declaration.name.text}"`);
  }
  const constant = c.found.constants.get(declaration.value);
  c.declareValue({ kind: 'constant', declaration }, type, { constant, isKnown: true });
}

function checkAssignment(c: Checker, statement: AssignmentStatement): void {
  const { target, value, operator } = statement;
  const type = infer(c, target);
  if (type.kind !== 'unknown' && !isValueType(type)) {
    c.error('not-assignable', target.span, `${describeType(type)} cannot be assigned to`);
  } else checkWritable(c, target, 'the left side of an assignment');
  if (operator === undefined) {
    check(c, value, type);
    return;
  }
  infer(c, value);
  const operation: BinaryExpression = { kind: 'binary', operator, left: target, right: value, span: statement.span };
  const result = inferOperation(c, operation);
  // The operation's node is not in the tree, and the target remains a place: restore their types.
  c.found.types.set(target, type);
  c.found.implicitCasts.delete(target);
  c.found.constants.delete(operation);
  c.known.delete(operation);
  if (result.kind !== 'unknown' && !sameType(result, type)) {
    const message = `the result of "${operator}" is ${describeType(result)}, and ${describeType(type)} is needed`;
    c.error('type-mismatch', statement.span, message);
  }
}

function inLoop(c: Checker, body: Statement): void {
  c.within(c.scope, { ...c.place, loops: c.place.loops + 1 }, () => c.inBlock(() => checkStatement(c, body)));
}

function checkForIn(c: Checker, statement: ForInStatement): void {
  const { variable, collection } = statement;
  c.inBlock(() => {
    if (variable.kind !== 'variable') {
      c.error('loop-variable', variable.span, 'the variable of this loop needs a type, as in "for (bit<8> i in ...)"');
      return;
    }
    const type = variableType(c, variable);
    checkCollection(c, collection, type);
    c.found.loops.set(statement, type);
    checkShadow(c, variable.name);
    c.declareValue({ kind: 'variable', declaration: variable }, type, { isWritable: true });
    inLoop(c, statement.body);
  });
}

function checkCollection(c: Checker, collection: ForInStatement['collection'], type: Type): void {
  if (collection.kind === 'range') {
    for (const end of [collection.low, collection.high]) check(c, end, type);
    if (type.kind !== 'bits' && type.kind !== 'unknown') {
      c.error('loop-type', collection.span, `a range has numbers of fixed width, not ${describeType(type)}`);
    }
    c.found.types.set(collection, { kind: 'set', element: type });
    return;
  }
  const given = infer(c, collection);
  if (collection.kind === 'list') {
    for (const element of collection.elements) coerce(c, element, type);
    settle(c, collection, { kind: 'tuple', elements: collection.elements.map(() => type) }, undefined);
  } else if (given.kind === 'stack' || given.kind === 'list') {
    if (!sameType(given.element, type)) {
      const elements = `its elements are ${describeType(given.element)}`;
      c.error('loop-type', collection.span, `${elements}, and the variable is ${describeType(type)}`);
    }
  } else if (given.kind !== 'unknown') {
    c.error('loop-type', collection.span, `${describeType(given)} has no elements to go through`);
  }
}

function checkReturn(c: Checker, statement: Extract<Statement, { kind: 'return' }>): void {
  const { kind, returnType } = c.place;
  const { value, span } = statement;
  if (kind !== 'function') {
    if (value === undefined) return;
    infer(c, value);
    c.error('return-value', value.span, `${kind === 'action' ? 'an action' : 'a control'} returns no value`);
    return;
  }
  const type = returnType ?? UNKNOWN;
  if (value === undefined) {
    if (type.kind !== 'void' && type.kind !== 'unknown') {
      c.error('return-value', span, `the function has to return a value of ${describeType(type)}`);
    }
  } else if (type.kind === 'void') {
    infer(c, value);
    c.error('return-value', value.span, 'the function returns no value');
  } else check(c, value, type);
}

/** Checks a statement, and adds its declarations to the scope. */
export function checkStatement(c: Checker, statement: Statement): void {
  c.spend(1, statement.span);
  c.budget.enter(statement.span);
  checkKind(c, statement);
  c.budget.leave();
}

function checkKind(c: Checker, statement: Statement): void {
  switch (statement.kind) {
    case 'block':
      c.inBlock(() => checkStatements(c, statement.statements));
      break;
    case 'assign':
      checkAssignment(c, statement);
      break;
    case 'call-statement':
      infer(c, statement.call);
      break;
    case 'if':
      inferCondition(c, statement.condition);
      c.inBlock(() => checkStatement(c, statement.whenTrue));
      if (statement.whenFalse !== undefined) {
        const otherwise = statement.whenFalse;
        c.inBlock(() => checkStatement(c, otherwise));
      }
      break;
    case 'return':
      checkReturn(c, statement);
      break;
    case 'exit':
      if (c.place.kind === 'function') c.error('exit-place', statement.span, '"exit" cannot be used in a function');
      break;
    case 'empty':
      break;
    case 'switch':
      checkSwitch(c, statement);
      break;
    case 'for':
      c.inBlock(() => {
        for (const each of statement.initial) checkStatement(c, each);
        inferCondition(c, statement.condition);
        for (const each of statement.update) checkStatement(c, each);
        inLoop(c, statement.body);
      });
      break;
    case 'for-in':
      checkForIn(c, statement);
      break;
    case 'break':
    case 'continue':
      if (c.place.loops === 0) c.error('loop-place', statement.span, `"${statement.kind}" can only be used in a loop`);
      break;
    case 'variable':
    case 'constant':
    case 'instance':
      checkDeclaration(c, statement);
      break;
  }
}

export function checkStatements(c: Checker, statements: readonly Statement[]): void {
  for (const statement of statements) checkStatement(c, statement);
}

/** Whether a statement always ends in `return` (or `exit`). */
export function alwaysReturns(statement: Statement | Block): boolean {
  switch (statement.kind) {
    case 'return':
    case 'exit':
      return true;
    case 'block':
      return statement.statements.some(alwaysReturns);
    case 'if':
      return (
        statement.whenFalse !== undefined && alwaysReturns(statement.whenTrue) && alwaysReturns(statement.whenFalse)
      );
    case 'switch': {
      const last = statement.cases.at(-1);
      return (
        last?.label.kind === 'default' &&
        last.body !== undefined &&
        statement.cases.every((each) => each.body === undefined || alwaysReturns(each.body))
      );
    }
    default:
      return false;
  }
}
