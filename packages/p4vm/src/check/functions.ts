import type { ActionDeclaration, FunctionDeclaration } from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import type { FunctionType } from '../types/type.js';
import type { Checker } from './checker.js';
import { sameNames } from './declare-types.js';
import { bindTypeParameters, variablesOf } from './generics.js';
import { checkDefaults, declareParameters, resolveParameters } from './parameters.js';
import { type ActionEntry, type FunctionEntry, type Overload, Scope } from './scope.js';
import { alwaysReturns, checkStatements } from './statements.js';
import { resolveType } from './type-nodes.js';
import { isValueType } from './type-rules.js';

/** Adds an overload of a function, if it differs from the others by number or names of parameters. */
export function declareOverload(
  c: Checker,
  overload: Overload,
  name: FunctionDeclaration['name'],
): FunctionEntry | undefined {
  const previous = c.scope.local(name.text);
  if (previous === undefined || previous.kind !== 'functions') {
    const entry: FunctionEntry = { kind: 'functions', name, overloads: [overload], scope: c.scope };
    c.declare(entry);
    return entry;
  }
  c.spend(previous.overloads.length, name.span);
  const { parameters } = overload.type;
  const twin = previous.overloads.find((each) => sameNames(each.type.parameters, parameters));
  if (twin !== undefined) {
    c.duplicate('function ', name, twin.declaration.name, ' with these parameters');
    return undefined;
  }
  previous.overloads.push(overload);
  return previous;
}

/** Checks the body of a function whose type parameters are in scope already. */
export function checkFunctionBody(c: Checker, declaration: FunctionDeclaration, outer: Scope): void {
  const scope = new Scope(outer);
  c.within(scope, { kind: 'function', loops: 0, owner: declaration }, () => {
    const returnType = resolveType(c, declaration.returnType);
    const types = resolveParameters(c, 'function', declaration.parameters);
    checkDefaults(c, declaration.parameters, types);
    declareParameters(c, scope, declaration.parameters, types, 'other');
    c.place = { ...c.place, returnType };
    c.inBlock(() => checkStatements(c, declaration.body.statements));
    if (returnType.kind !== 'void' && returnType.kind !== 'unknown' && !alwaysReturns(declaration.body)) {
      c.error(
        'missing-return',
        declaration.name.span,
        `function "${declaration.name.text}" can end without returning a value of ${describeType(returnType)}`,
      );
    }
  });
}

/** A function of the program's. */
export function declareFunction(c: Checker, declaration: FunctionDeclaration): void {
  const variables = variablesOf(declaration.typeParameters);
  const scope = bindTypeParameters(c, c.scope, declaration.typeParameters, variables);
  const type = c.within(scope, { kind: 'function', loops: 0, owner: declaration }, (): FunctionType => {
    const returnType = resolveType(c, declaration.returnType);
    if (!isValueType(returnType) && returnType.kind !== 'void' && returnType.kind !== 'variable') {
      c.error('return-type', declaration.returnType.span, `${describeType(returnType)} cannot be returned`);
    }
    const parameters = resolveParameters(c, 'function', declaration.parameters);
    return { kind: 'function', typeParameters: variables, parameters, returnType };
  });
  const overload: Overload = { kind: 'function', declaration, type, isOpen: true };
  declareOverload(c, overload, declaration.name);
  if (variables.length === 0) checkFunctionBody(c, declaration, scope);
  else c.discarding(() => checkFunctionBody(c, declaration, scope));
  overload.isOpen = false;
}

/** An action, of a control or of the program. */
export function declareAction(c: Checker, declaration: ActionDeclaration): void {
  const scope = new Scope(c.scope);
  const parameters = resolveParameters(c, 'action', declaration.parameters);
  const entry: ActionEntry = { kind: 'action', name: declaration.name, declaration, parameters, isOpen: true };
  c.declare(entry);
  c.within(scope, { kind: 'action', loops: 0, owner: declaration }, () => {
    checkDefaults(c, declaration.parameters, parameters);
    declareParameters(c, scope, declaration.parameters, parameters, 'action');
    c.inBlock(() => checkStatements(c, declaration.body.statements));
  });
  entry.isOpen = false;
}
