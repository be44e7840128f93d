import type { ResolvedCall } from '../check/checked-program.js';
import type {
  Action,
  ControlInstance,
  IrParameter,
  ParserInstance,
  Statement,
  Table,
  Variable,
} from '../ir/program.js';
import type {
  CallExpression,
  ControlDeclaration,
  InstanceDeclaration,
  ParserDeclaration,
  VariableDeclaration,
} from '../syntax/ast.js';
import { actionFor } from './actions.js';
import { lowerInitial } from './expressions.js';
import { bindParameters, sameObjects } from './functions.js';
import type { Lowering } from './lowering.js';
import { lowerStates, valueSetFor } from './parsers.js';
import type { InstanceHandle, Scope, StaticValue } from './scope.js';
import { lowerBlock } from './statements.js';
import { instanceFor, makeInline, staticValue } from './statics.js';
import { tableFor } from './tables.js';

/** The instance that a call of `apply` runs; `objects` are its arguments that are objects. */
export function applyInstance(
  lowering: Lowering,
  scope: Scope,
  call: CallExpression,
  resolved: Extract<ResolvedCall, { readonly kind: 'apply' }>,
  objects: readonly StaticValue[],
): ControlInstance | ParserInstance {
  const object = resolved.isDirect
    ? makeDirect(lowering, scope, call, resolved.target)
    : staticValue(lowering, scope, resolved.object);
  if (object.kind !== 'instance') return lowering.missing(call.span, 'only parsers and controls can be applied');
  const { handle } = object;
  if (handle.lowered !== undefined && !sameObjects(handle.lowered.objects, objects)) {
    lowering.refuse(call.span, `${handle.name} is applied with other extern objects elsewhere`);
  }
  return codeOf(lowering, handle, objects);
}

function makeDirect(
  lowering: Lowering,
  scope: Scope,
  call: CallExpression,
  target: Extract<ResolvedCall, { readonly kind: 'apply' }>['target'],
): StaticValue {
  if (target.kind !== 'parser' && target.kind !== 'control') {
    return lowering.refuse(call.span, `${target.name.text} has no code to apply`);
  }
  const construction = { kind: target.kind, declaration: target, arguments: [] };
  return makeInline(lowering, scope, call, construction, target.name.text);
}

/** The code of an instance for the objects that it is applied with, made on first use. */
export function codeOf(
  lowering: Lowering,
  handle: InstanceHandle,
  objects: readonly StaticValue[],
): ControlInstance | ParserInstance {
  if (handle.lowered !== undefined) return handle.lowered.instance;
  const { declaration, scope } = handle;
  const instance = lowering.callable(handle.span, () => {
    const parameters = bindParameters(lowering, scope, declaration.parameters, objects);
    return declaration.kind === 'control'
      ? lowerControl(lowering, handle, declaration, parameters)
      : lowerParser(lowering, handle, declaration, parameters);
  });
  handle.lowered = { instance, objects };
  return instance;
}

/** The locals of a parser or control: variables, and the statements that initialise them. */
class Locals {
  readonly variables: Variable[] = [];
  readonly initial: Statement[] = [];

  constructor(
    readonly lowering: Lowering,
    readonly scope: Scope,
  ) {}

  declare(declaration: VariableDeclaration): void {
    const { lowering, scope } = this;
    const { value, span } = declaration;
    const variable = lowering.variable(declaration.name.text, lowering.dataTypeOfNode(declaration.type));
    scope.variables.set(declaration, variable);
    this.variables.push(variable);
    if (value === undefined) return;
    const target = { kind: 'variable', type: variable.type, variable, span: declaration.name.span } as const;
    this.initial.push({ kind: 'assign', target, value: lowerInitial(lowering, scope, value, variable.type), span });
  }

  /** Extern objects exist even if unused. Parsers and controls count only where they are applied. */
  object(declaration: InstanceDeclaration): void {
    if (this.lowering.checked.instances.get(declaration)?.kind === 'extern') {
      instanceFor(this.lowering, this.scope, declaration);
    }
  }
}

function lowerControl(
  lowering: Lowering,
  { name, scope }: InstanceHandle,
  declaration: ControlDeclaration,
  parameters: readonly IrParameter[],
): ControlInstance {
  const locals = new Locals(lowering, scope);
  const actions: Action[] = [];
  const tables: Table[] = [];
  for (const local of declaration.locals) {
    lowering.attempt(() => {
      switch (local.kind) {
        case 'variable':
          locals.declare(local);
          break;
        case 'instance':
          locals.object(local);
          break;
        case 'action':
          actions.push(actionFor(lowering, scope, local));
          break;
        case 'table':
          tables.push(tableFor(lowering, scope, local));
          break;
        case 'constant':
          break;
      }
    }, undefined);
  }
  return {
    kind: 'control',
    name,
    typeName: declaration.name.text,
    parameters,
    locals: locals.variables,
    initial: locals.initial,
    actions,
    tables,
    body: lowerBlock(lowering, scope, declaration.apply),
    span: declaration.span,
  };
}

function lowerParser(
  lowering: Lowering,
  { name, scope }: InstanceHandle,
  declaration: ParserDeclaration,
  parameters: readonly IrParameter[],
): ParserInstance {
  const locals = new Locals(lowering, scope);
  for (const local of declaration.locals) {
    lowering.attempt(() => {
      switch (local.kind) {
        case 'variable':
          locals.declare(local);
          break;
        case 'instance':
          locals.object(local);
          break;
        case 'value-set':
          valueSetFor(lowering, scope, local);
          break;
        case 'constant':
          break;
      }
    }, undefined);
  }
  return {
    kind: 'parser',
    name,
    typeName: declaration.name.text,
    parameters,
    locals: locals.variables,
    initial: locals.initial,
    ...lowerStates(lowering, scope, declaration),
    span: declaration.span,
  };
}
