import type { Annotation, Identifier, Parameter } from '../syntax/ast.js';
import { hasVariable } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import type { ParameterType, Type } from '../types/type.js';
import type { Checker } from './checker.js';
import { isKnownOrReport } from './constants.js';
import { check } from './convert.js';
import { infer } from './expressions.js';
import type { Scope } from './scope.js';
import { resolveType } from './type-nodes.js';
import { isValueType } from './type-rules.js';

/** The annotation of a name, if there is one. */
export function annotation(annotations: readonly Annotation[], name: string): Annotation | undefined {
  return annotations.find((each) => each.name === name);
}

/** Reports names that occur twice. */
export function checkDistinct(c: Checker, named: readonly { readonly name: Identifier }[], what: string): void {
  const seen = new Map<string, Identifier>();
  for (const { name } of named) {
    const previous = seen.get(name.text);
    if (previous === undefined) seen.set(name.text, name);
    else c.duplicate(`${what} `, name, previous);
  }
}

/** What has parameters. */
export type ParameterOwner =
  | 'parser'
  | 'control'
  | 'parser-type'
  | 'control-type'
  | 'action'
  | 'function'
  | 'extern'
  | 'package'
  | 'constructor';

function checkParameterType(c: Checker, owner: ParameterOwner, parameter: Parameter, type: Type): void {
  const { span } = parameter.type;
  const { direction } = parameter;
  if (type.kind === 'unknown' || type.kind === 'variable' || type.kind === 'any') return;
  const report = (why: string): void =>
    c.error('parameter-type', span, `parameter "${parameter.name.text}" cannot have type ${describeType(type)}${why}`);
  const isConstruction = owner === 'constructor' || owner === 'package';
  if (type.kind === 'extern') {
    if (owner === 'action' || owner === 'function')
      report(`: an extern object cannot be passed to ${owner === 'action' ? 'an action' : 'a function'}`);
    else if (direction !== 'none') report(`: an extern object is passed without a direction`);
  } else if (type.kind === 'parser' || type.kind === 'control' || type.kind === 'package') {
    if (!isConstruction) report(': only constructors take such objects');
  } else if (type.kind === 'list' || type.kind === 'match-kind') {
    if (!isConstruction && owner !== 'extern') report('');
  } else if (!isValueType(type)) report('');
  else if (direction !== 'none' || owner === 'action') {
    if (type.kind === 'integer') report(': its size must be known at run time');
    if (type.kind === 'string') report(': strings are known at compile time only');
  }
}

/** Types of parameters as declared. Their type parameters have to be in scope. */
export function resolveParameters(
  c: Checker,
  owner: ParameterOwner,
  parameters: readonly Parameter[],
): ParameterType[] {
  checkDistinct(c, parameters, 'parameter');
  let firstData: Parameter | undefined;
  return parameters.map((parameter) => {
    const type = resolveType(c, parameter.type);
    const { direction, name, span } = parameter;
    checkParameterType(c, owner, parameter, type);
    if ((owner === 'constructor' || owner === 'package') && direction !== 'none') {
      c.error('parameter-direction', span, `${owner} parameter "${name.text}" cannot have a direction`);
    }
    if (owner === 'action') {
      if (direction === 'none') firstData ??= parameter;
      else if (firstData !== undefined) {
        const rule = 'must stand before those without one, which are action data';
        const related = { message: 'a parameter without a direction', span: firstData.span };
        c.error('parameter-order', span, `parameter "${name.text}" has a direction and ${rule}`, related);
      }
    }
    const isOptional = annotation(parameter.annotations, 'optional') !== undefined;
    if (isOptional && (owner === 'action' || owner === 'function')) {
      const what = owner === 'action' ? 'an action' : 'a function';
      c.error('optional-parameter', span, `a parameter of ${what} cannot be @optional`);
    }
    if (isOptional && parameter.defaultValue !== undefined) {
      c.error('optional-parameter', span, `parameter "${name.text}" cannot be @optional and have a default value`);
    }
    return { name: name.text, direction, type, isOptional: isOptional || parameter.defaultValue !== undefined };
  });
}

/** Checks default values, in the scope of the declaration. */
export function checkDefaults(c: Checker, parameters: readonly Parameter[], types: readonly ParameterType[]): void {
  parameters.forEach((parameter, i) => {
    const { direction, name, defaultValue } = parameter;
    if (defaultValue === undefined) return;
    if (direction === 'out' || direction === 'inout') {
      const message = `"${direction}" parameter "${name.text}" cannot have a default value`;
      c.error('default-value', defaultValue.span, message);
      return;
    }
    const isObject = ['control', 'parser', 'extern', 'package'].includes(types[i]!.type.kind);
    if (isObject) c.constructing++;
    // The variables of a generic declaration have no types yet: the value is checked at each use.
    const isConverted = hasVariable(types[i]!.type)
      ? infer(c, defaultValue).kind !== 'unknown'
      : check(c, defaultValue, types[i]!.type);
    if (isObject) c.constructing--;
    if (isConverted && !isObject) isKnownOrReport(c, defaultValue, 'a default value');
  });
}

/**
 * Puts parameters into a scope. Constructor parameters are known when an instance is made. So are parameters without a
 * direction, except those of actions, which are data.
 */
export function declareParameters(
  c: Checker,
  scope: Scope,
  parameters: readonly Parameter[],
  types: readonly ParameterType[],
  owner: 'constructor' | 'action' | 'other',
): void {
  parameters.forEach((parameter, i) => {
    const previous = scope.local(parameter.name.text);
    if (previous !== undefined) c.duplicate('parameter ', parameter.name, previous.name);
    else {
      scope.add({
        kind: 'value',
        name: parameter.name,
        symbol: { kind: owner === 'constructor' ? 'constructor-parameter' : 'parameter', declaration: parameter },
        type: types[i]!.type,
        isKnown: owner === 'constructor' || (owner === 'other' && parameter.direction === 'none'),
        isWritable: parameter.direction === 'out' || parameter.direction === 'inout',
      });
    }
  });
}
