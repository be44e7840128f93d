import type { Span } from '../source/position.js';
import type { CallExpression, ExternDeclaration, InstanceDeclaration, ObjectTypeDeclaration } from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import { UNKNOWN } from '../types/primitives.js';
import type { PackageType, Type, TypeVariable } from '../types/type.js';
import {
  type CheckedArguments,
  checkArguments,
  type Given,
  inferArguments,
  type Signature,
  signatureOf,
  wrongCall,
} from './arguments.js';
import { selectMethod } from './calls.js';
import type { ResolvedConstructor } from './checked-program.js';
import type { Checker } from './checker.js';
import type { TypeEntry } from './scope.js';
import { lookupType, resolveType, specialiseOrReport } from './type-nodes.js';

interface Construction {
  readonly type: Type;
  readonly constructor: ResolvedConstructor;
}

function checkConstructor(c: Checker, signature: Signature, given: Given): CheckedArguments | undefined {
  c.constructing++;
  try {
    return checkArguments(c, signature, given);
  } finally {
    c.constructing--;
  }
}

function constructExtern(
  c: Checker,
  entry: TypeEntry,
  declaration: ExternDeclaration,
  given: Given,
  preset?: ReadonlyMap<TypeVariable, Type>,
): Construction | undefined {
  const name = declaration.name.text;
  const what = `constructor of "${name}"`;
  const constructors = declaration.methods.filter((method) => method.isConstructor);
  if (constructors.length === 0) {
    return c.error('no-constructor', given.span, `extern "${name}" has no constructor: no instance of it can be made`);
  }
  const found = selectMethod(c, constructors, given, what);
  if (found === undefined) return undefined;
  const variables = c.variables.get(declaration) ?? [];
  const signature = { ...signatureOf(what, found.method.parameters, found.type), variables, ...(preset && { preset }) };
  const checked = checkConstructor(c, signature, given);
  if (checked === undefined) return undefined;
  const { types, bound } = checked;
  return {
    type: entry.specialise(types, given.span),
    constructor: { kind: 'extern', declaration, typeArguments: types, arguments: bound },
  };
}

function constructObject(c: Checker, entry: TypeEntry, given: Given): Construction | undefined {
  const typeArguments = given.typeArguments.map((node) => resolveType(c, node));
  const type = specialiseOrReport(c, entry, typeArguments, given.span);
  const declaration = c.objects.get(type)?.declaration;
  if (declaration?.kind !== 'parser' && declaration?.kind !== 'control') return undefined;
  const name = declaration.name.text;
  if (c.open.has(declaration)) {
    return c.error('recursion', given.span, `"${name}" contains an instance of itself: there is no recursion in P4`);
  }
  const types = c.constructorTypes.get(declaration) ?? [];
  const signature = { parameters: declaration.constructorParameters, types, variables: [] };
  const checked = checkConstructor(
    c,
    { what: `constructor of "${name}"`, ...signature },
    { ...given, typeArguments: [] },
  );
  return checked && { type, constructor: { kind: declaration.kind, declaration, arguments: checked.bound } };
}

function constructPackage(
  c: Checker,
  entry: TypeEntry,
  declaration: ObjectTypeDeclaration,
  given: Given,
): Construction | undefined {
  const name = entry.name.text;
  const variables = c.variables.get(declaration) ?? [];
  const { parameters } = declaration;
  const { parameters: types } = entry.specialise(variables, given.span) as PackageType;
  const checked = checkConstructor(
    c,
    { what: `package "${name}"`, parameters, types, variables, isLoose: true },
    given,
  );
  if (checked === undefined) return undefined;
  return {
    type: entry.specialise(checked.types, given.span),
    constructor: { kind: 'package', name, typeArguments: checked.types, arguments: checked.bound },
  };
}

/** Resolves a constructor call to its constructor and arguments; undefined, after a diagnostic, if it is wrong. */
function construct(c: Checker, entry: TypeEntry, given: Given): Construction | undefined {
  const { declaration } = entry;
  switch (declaration?.kind) {
    case 'extern':
      return constructExtern(c, entry, declaration, given);
    case 'parser':
    case 'control':
      return constructObject(c, entry, given);
    case 'package':
      return constructPackage(c, entry, declaration, given);
    default: {
      const type = entry.parameters === 0 ? entry.specialise([], given.span) : UNKNOWN;
      // A typedef of an object type has its constructors.
      const origin = c.origins.get(type);
      const object = c.objects.get(type);
      if (declaration?.kind === 'typedef' && object !== undefined) {
        if (origin !== undefined && object.declaration.kind === 'extern') {
          return constructExtern(c, origin, object.declaration, given, object.bindings);
        }
        if (object.declaration.kind === 'parser' || object.declaration.kind === 'control') {
          return constructObject(c, entry, given);
        }
      }
      inferArguments(c, given.arguments);
      if (type.kind === 'unknown' && entry.parameters === 0) return undefined;
      return c.error('no-constructor', given.span, `"${entry.name.text}" is a type without a constructor`);
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
  } else if (type.kind === 'parser' || type.kind === 'control') {
    if (kind === 'top' && isDeclared) refuse('at the top level');
    if (type.kind === 'parser' && (kind === 'control' || kind === 'table')) refuse('in a control');
    if (type.kind === 'control' && (kind === 'parser' || kind === 'table')) refuse(`in a ${kind}`);
  }
}

/** `Type(arguments)` as an expression: an argument of another constructor, or a table's property. */
export function constructFromCall(c: Checker, e: CallExpression, entry: TypeEntry, given: Given): Type {
  if (e.callee.kind === 'path' && entry.declaration !== undefined) {
    c.found.references.set(e.callee, { kind: 'type', declaration: entry.declaration });
  }
  if (c.constructing === 0 && c.place.kind !== 'table') {
    const advice = 'an instance of it has to be declared with a name and used by that';
    return wrongCall(c, e, 'instance-place', e.span, `"${entry.name.text}" is a type: ${advice}`);
  }
  const construction = construct(c, entry, given);
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
    const { arguments: args, span } = declaration;
    if (entry !== undefined)
      construction = construct(c, entry, { typeArguments: node.arguments, arguments: args, span });
    else {
      c.constructing++;
      inferArguments(c, args);
      c.constructing--;
    }
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
  c.declareValue({ kind: 'instance', declaration }, type, { isKnown: true });
}

function checkAbstract(c: Checker, declaration: InstanceDeclaration, made: ResolvedConstructor): void {
  const abstract = made.kind === 'extern' ? made.declaration.methods.filter((method) => method.isAbstract) : [];
  const [first] = declaration.initializer ?? [];
  if (declaration.initializer === undefined) {
    const [missing] = abstract;
    if (missing === undefined) return;
    const message = `the instance has to implement the abstract method "${missing.name.text}"`;
    c.error('abstract-method', declaration.span, message, { message: 'declared here', span: missing.name.span });
  } else if (made.kind !== 'extern') {
    const message = 'only instances of externs have implementations of methods';
    c.error('abstract-method', first?.span ?? declaration.span, message);
  } else if (first !== undefined) {
    const message = 'implementations of abstract methods are not supported by v1model';
    c.report('target', 'unsupported-abstract', first.span, message);
  }
}
