import { CALL_DEPTH } from '../budget/budget.js';
import type {
  ControlDeclaration,
  Identifier,
  ParserDeclaration,
  ParserState,
  ValueSetDeclaration,
} from '../syntax/ast.js';
import { hasVariable } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import type { ApplicableType, ParameterType, Type } from '../types/type.js';
import type { Checker } from './checker.js';
import { isKnownOrReport } from './constants.js';
import { enumToNumber } from './convert.js';
import { copyTree } from './copy.js';
import { checkDeclaration } from './declarations.js';
import { memoised } from './declare-types.js';
import { infer } from './expressions.js';
import { bindTypeParameters, variablesOf } from './generics.js';
import { checkDefaults, declareParameters, resolveParameters } from './parameters.js';
import { Scope } from './scope.js';
import { checkLabels, isMatchable, partsOf } from './sets.js';
import { checkStatements } from './statements.js';
import { resolveDefiniteType } from './type-nodes.js';

function checkValueSetType(c: Checker, declaration: ValueSetDeclaration, type: Type): void {
  const wrong = partsOf(type).find((part) => !isMatchable(part));
  if (wrong === undefined) return;
  c.error('value-set-type', declaration.type.span, `a value set cannot hold values of ${describeType(wrong)}`);
}

/** `value_set<T>(size) name;`. */
export function declareValueSet(c: Checker, declaration: ValueSetDeclaration): void {
  const type = resolveDefiniteType(c, declaration.type);
  checkValueSetType(c, declaration, type);
  const size = infer(c, declaration.size);
  if (size.kind !== 'unknown') {
    if (enumToNumber(c, declaration.size).kind === 'bits' || size.kind === 'integer') {
      isKnownOrReport(c, declaration.size, 'the size of a value set');
    } else c.error('type-mismatch', declaration.size.span, `a size must be a number, not ${describeType(size)}`);
  }
  c.declareValue({ kind: 'value-set', declaration }, { kind: 'set', element: type });
}

function checkTarget(c: Checker, state: Identifier, names: ReadonlyMap<string, ParserState>): void {
  if (state.text === 'accept' || state.text === 'reject' || names.has(state.text)) return;
  const hint = c.hint(state, [...names.keys(), 'accept', 'reject']);
  c.error('unknown-state', state.span, `the parser has no state "${state.text}"${hint}`);
}

function checkTransition(c: Checker, state: ParserState, names: ReadonlyMap<string, ParserState>): void {
  const { transition } = state;
  if (transition === undefined) return;
  if (transition.kind === 'goto') {
    checkTarget(c, transition.state, names);
    return;
  }
  const types = transition.keys.map((key) => {
    const type = infer(c, key);
    return isMatchable(type) ? type : c.wrong('select-type', key.span, `${describeType(type)} cannot be selected on`);
  });
  let last: { readonly span: ParserState['span'] } | undefined;
  for (const each of transition.cases) {
    if (last !== undefined)
      c.warn('unreachable-case', each.span, 'this case is never reached: one before it takes all');
    checkLabels(c, each.keys, types, each.span);
    checkTarget(c, each.state, names);
    if (each.keys.every((key) => key.kind === 'default' || key.kind === 'any')) last ??= each;
  }
}

function checkState(c: Checker, state: ParserState, names: ReadonlyMap<string, ParserState>): void {
  c.within(new Scope(c.scope), { ...c.place, kind: 'state', loops: 0 }, () => {
    checkStatements(c, state.body);
    checkTransition(c, state, names);
  });
}

function checkStates(c: Checker, declaration: ParserDeclaration): void {
  const names = new Map<string, ParserState>();
  for (const state of declaration.states) {
    const { name } = state;
    const previous = names.get(name.text);
    if (name.text === 'accept' || name.text === 'reject') {
      c.error('reserved-state', name.span, `"${name.text}" is a state of every parser and cannot be declared`);
    } else if (previous !== undefined) {
      c.duplicate('state ', name, previous.name);
    } else names.set(name.text, state);
  }
  if (!names.has('start')) {
    c.error('no-start', declaration.name.span, `parser "${declaration.name.text}" has no state "start"`);
  }
  for (const state of declaration.states) checkState(c, state, names);
}

/** Checks a parser or control whose type parameters are in scope; gives its type. */
function checkObject(c: Checker, declaration: ParserDeclaration | ControlDeclaration, outer: Scope): ApplicableType {
  const { kind, name, parameters, constructorParameters } = declaration;
  const scope = new Scope(outer);
  return c.within(scope, { kind, loops: 0, owner: declaration }, () => {
    const constructorTypes: readonly ParameterType[] = resolveParameters(c, 'constructor', constructorParameters);
    const types = resolveParameters(c, kind, parameters);
    checkDefaults(c, constructorParameters, constructorTypes);
    checkDefaults(c, parameters, types);
    c.constructorTypes.set(declaration, constructorTypes);
    const type: ApplicableType = { kind, name: name.text, parameters: types };
    c.objects.set(type, { declaration, bindings: new Map() });
    c.open.add(declaration);
    declareParameters(c, scope, parameters, types, 'other');
    declareParameters(c, scope, constructorParameters, constructorTypes, 'constructor');
    c.inBlock(() => {
      for (const local of declaration.locals) checkDeclaration(c, local);
      if (declaration.kind === 'parser') checkStates(c, declaration);
      else {
        c.within(c.scope, { ...c.place, kind: 'apply' }, () => {
          c.inBlock(() => checkStatements(c, declaration.apply.statements));
        });
      }
    });
    c.open.delete(declaration);
    return type;
  });
}

/** A parser or control with a body. One with type parameters is checked again for each list of type arguments, as a copy. */
export function declareObject(c: Checker, declaration: ParserDeclaration | ControlDeclaration): void {
  const { name, typeParameters } = declaration;
  const outer = c.scope;
  if (typeParameters.length === 0) {
    // The name is declared before the body is checked, so that recursion is reported as recursion.
    let type: ApplicableType = { kind: declaration.kind, name: name.text, parameters: [] };
    c.objects.set(type, { declaration, bindings: new Map() });
    c.declare({ kind: 'type', name, declaration, parameters: 0, specialise: () => type });
    type = checkObject(c, declaration, outer);
    return;
  }
  const variables = variablesOf(typeParameters);
  const check = (copy: ParserDeclaration | ControlDeclaration, types: readonly Type[]): Type => {
    const scope = bindTypeParameters(c, outer, typeParameters, types);
    return checkObject(c, copy, scope);
  };
  c.discarding(() => check(declaration, variables));
  c.declare({
    kind: 'type',
    name,
    declaration,
    parameters: typeParameters.length,
    specialise: memoised((types) => {
      const copy = { ...copyTree(c, declaration), typeParameters: [] };
      c.budget.enter(declaration.span, CALL_DEPTH);
      const type = types.some(hasVariable) ? c.discarding(() => check(copy, types)) : check(copy, types);
      c.budget.leave(CALL_DEPTH);
      return type;
    }),
  });
}
