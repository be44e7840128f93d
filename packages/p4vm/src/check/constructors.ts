import type { Span } from '../source/position.js';
import type { Argument, CallExpression, ExternDeclaration, InstanceDeclaration, TypeNode } from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import { UNKNOWN } from '../types/primitives.js';
import type { PackageType, ParameterType, Type, TypeVariable } from '../types/type.js';
import { type CheckedArguments, checkArguments, type Signature } from './arguments.js';
import { inferArguments, selectOverload } from './calls.js';
import type { ResolvedConstructor } from './checked-program.js';
import type { Checker } from './checker.js';
import { infer } from './expressions.js';
import type { TypeEntry } from './scope.js';
import { lookupType, resolveType, specialiseOrReport } from './type-nodes.js';

interface Construction {
  readonly type: Type;
  readonly constructor: ResolvedConstructor;
}

function checkConstructor(
  c: Checker,
  signature: Signature,
  typeArguments: readonly TypeNode[],
  args: readonly Argument[],
  span: Span,
): CheckedArguments | undefined {
  c.constructing++;
  try {
    return checkArguments(c, signature, typeArguments, args, span);
  } finally {
    c.constructing--;
  }
}

function constructExtern(
  c: Checker,
  entry: TypeEntry,
  declaration: ExternDeclaration,
  typeArguments: readonly TypeNode[],
  args: readonly Argument[],
  span: Span,
  preset?: ReadonlyMap<TypeVariable, Type>,
): Construction | undefined {
  const name = declaration.name.text;
  const constructors = declaration.methods.filter((method) => method.isConstructor);
  if (constructors.length === 0) {
    c.error('no-constructor', span, `extern "${name}" has no constructor: no instance of it can be made`);
    return undefined;
  }
  const method = selectOverload(
    c,
    constructors,
    (each) => ({ parameters: each.parameters, types: c.methodTypes.get(each)?.parameters ?? [] }),
    args,
    `constructor of "${name}"`,
    span,
  );
  const declared = method && c.methodTypes.get(method);
  if (method === undefined || declared === undefined) return undefined;
  const variables = c.variables.get(declaration) ?? [];
  const checked = checkConstructor(
    c,
    {
      what: `constructor of "${name}"`,
      parameters: method.parameters,
      types: declared.parameters,
      variables,
      ...(preset && { preset }),
    },
    typeArguments,
    args,
    span,
  );
  if (checked === undefined) return undefined;
  const types = variables.map((variable) => checked.bindings.get(variable) ?? UNKNOWN);
  return {
    type: entry.specialise(types, span),
    constructor: { kind: 'extern', declaration, typeArguments: types, arguments: checked.bound },
  };
}

function constructObject(
  c: Checker,
  entry: TypeEntry,
  typeArguments: readonly TypeNode[],
  args: readonly Argument[],
  span: Span,
): Construction | undefined {
  const type = specialiseOrReport(
    c,
    entry,
    typeArguments.map((node) => resolveType(c, node)),
    span,
  );
  const declaration = c.objects.get(type)?.declaration;
  if (declaration?.kind !== 'parser' && declaration?.kind !== 'control') return undefined;
  const name = declaration.name.text;
  if (c.open.has(declaration)) {
    c.error('recursion', span, `"${name}" contains an instance of itself: there is no recursion in P4`);
    return undefined;
  }
  const types: readonly ParameterType[] = c.constructorTypes.get(declaration) ?? [];
  const checked = checkConstructor(
    c,
    { what: `constructor of "${name}"`, parameters: declaration.constructorParameters, types, variables: [] },
    [],
    args,
    span,
  );
  if (checked === undefined) return undefined;
  return { type, constructor: { kind: declaration.kind, declaration, arguments: checked.bound } };
}

/** Resolves a constructor call to its constructor and arguments; undefined, after a diagnostic, if it is wrong. */
function construct(
  c: Checker,
  entry: TypeEntry,
  typeArguments: readonly TypeNode[],
  args: readonly Argument[],
  span: Span,
): Construction | undefined {
  const { declaration } = entry;
  switch (declaration?.kind) {
    case 'extern':
      return constructExtern(c, entry, declaration, typeArguments, args, span);
    case 'parser':
    case 'control':
      return constructObject(c, entry, typeArguments, args, span);
    case 'package': {
      const variables = c.variables.get(declaration) ?? [];
      const open = entry.specialise(variables, span) as PackageType;
      const checked = checkConstructor(
        c,
        {
          what: `package "${entry.name.text}"`,
          parameters: declaration.parameters,
          types: open.parameters,
          variables,
          isLoose: true,
        },
        typeArguments,
        args,
        span,
      );
      if (checked === undefined) return undefined;
      const types = variables.map((variable) => checked.bindings.get(variable) ?? UNKNOWN);
      return {
        type: entry.specialise(types, span),
        constructor: { kind: 'package', name: entry.name.text, typeArguments: types, arguments: checked.bound },
      };
    }
    default: {
      const type = entry.parameters === 0 ? entry.specialise([], span) : UNKNOWN;
      // A typedef of an object type has its constructors.
      const origin = c.origins.get(type);
      const object = c.objects.get(type);
      if (declaration?.kind === 'typedef' && object !== undefined) {
        if (origin !== undefined && object.declaration.kind === 'extern') {
          return constructExtern(c, origin, object.declaration, typeArguments, args, span, object.bindings);
        }
        if (object.declaration.kind === 'parser' || object.declaration.kind === 'control') {
          return constructObject(c, entry, typeArguments, args, span);
        }
      }
      inferArguments(c, args);
      if (type.kind !== 'unknown' || entry.parameters > 0) {
        c.error('no-constructor', span, `"${entry.name.text}" is a type without a constructor`);
      }
      return undefined;
    }
  }
}

/** Reports an instance that is not allowed in the current place. `isDeclared`: it has a name and is not an argument. */
function checkInstancePlace(c: Checker, type: Type, span: Span, isDeclared: boolean): void {
  const { kind } = c.place;
  const refuse = (where: string): void =>
    c.error('instance-place', span, `an instance of ${describeType(type)} cannot be made ${where}`);
  if (kind === 'state' || kind === 'apply' || kind === 'action' || kind === 'function') {
    refuse('in a block of statements: declare it with the locals');
  } else if (type.kind === 'package') {
    if (kind !== 'top') refuse('here: packages are made at the top level only');
  } else if (type.kind === 'parser') {
    if (kind === 'top' && isDeclared) refuse('at the top level');
    if (kind === 'control' || kind === 'table') refuse('in a control');
  } else if (type.kind === 'control') {
    if (kind === 'top' && isDeclared) refuse('at the top level');
    if (kind === 'parser') refuse('in a parser');
    if (kind === 'table') refuse('in a table');
  }
}

/** `Type(arguments)` as an expression: an argument of another constructor, or a table's property. */
export function constructFromCall(
  c: Checker,
  e: CallExpression,
  entry: TypeEntry,
  typeArguments: readonly TypeNode[],
): Type {
  if (e.callee.kind === 'path' && entry.declaration !== undefined) {
    c.found.references.set(e.callee, { kind: 'type', declaration: entry.declaration });
  }
  if (c.constructing === 0 && c.place.kind !== 'table') {
    c.error(
      'instance-place',
      e.span,
      `"${entry.name.text}" is a type: an instance of it has to be declared with a name and used by that`,
    );
    inferArguments(c, e.arguments);
    return UNKNOWN;
  }
  const construction = construct(c, entry, typeArguments, e.arguments, e.span);
  if (construction === undefined) {
    inferArguments(c, e.arguments);
    return UNKNOWN;
  }
  checkInstancePlace(c, construction.type, e.span, false);
  c.known.add(e);
  c.found.calls.set(e, { kind: 'constructor', constructor: construction.constructor });
  return construction.type;
}

/** `Type(arguments) name;`. */
export function declareInstance(c: Checker, declaration: InstanceDeclaration): void {
  const node = declaration.type;
  let construction: Construction | undefined;
  if (node.kind === 'named-type') {
    const entry = lookupType(c, node);
    if (entry !== undefined)
      construction = construct(c, entry, node.arguments, declaration.arguments, declaration.span);
    else for (const { value } of declaration.arguments) if (value.kind !== 'any') inferLoosely(c, value);
  } else {
    const type = resolveType(c, node);
    if (type.kind !== 'unknown') {
      c.error('no-constructor', node.span, `${describeType(type)} has no constructor: no instance of it can be made`);
    }
  }
  const type = construction?.type ?? UNKNOWN;
  if (construction !== undefined) {
    c.found.typeNodes.set(node, type);
    c.found.instances.set(declaration, construction.constructor);
    checkInstancePlace(c, type, declaration.span, true);
    checkAbstract(c, declaration, construction.constructor);
  }
  c.declare({
    kind: 'value',
    name: declaration.name,
    symbol: { kind: 'instance', declaration },
    type,
    constant: undefined,
    isKnown: true,
    isWritable: false,
  });
}

function inferLoosely(c: Checker, value: Argument['value']): void {
  c.constructing++;
  infer(c, value);
  c.constructing--;
}

function checkAbstract(c: Checker, declaration: InstanceDeclaration, made: ResolvedConstructor): void {
  const abstract = made.kind === 'extern' ? made.declaration.methods.filter((method) => method.isAbstract) : [];
  const [first] = declaration.initializer ?? [];
  if (declaration.initializer === undefined) {
    const [missing] = abstract;
    if (missing === undefined) return;
    c.error(
      'abstract-method',
      declaration.span,
      `the instance has to implement the abstract method "${missing.name.text}"`,
      { message: 'declared here', span: missing.name.span },
    );
  } else if (made.kind !== 'extern') {
    c.error(
      'abstract-method',
      first?.span ?? declaration.span,
      'only instances of externs have implementations of methods',
    );
  } else if (first !== undefined) {
    c.report(
      'target',
      'unsupported-abstract',
      first.span,
      'implementations of abstract methods are not supported by v1model',
    );
  }
}
