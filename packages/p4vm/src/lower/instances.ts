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
import type { CallExpression, ControlDeclaration, ParserDeclaration, VariableDeclaration } from '../syntax/ast.js';
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
  const instance = lowering.callable(handle.span, () =>
    lowerInstance(lowering, handle, bindParameters(lowering, handle.scope, handle.declaration.parameters, objects)),
  );
  handle.lowered = { instance, objects };
  return instance;
}

/** What the locals of a parser or control have become: variables, the statements that initialise them, actions and tables. */
class Locals {
  readonly variables: Variable[] = [];
  readonly initial: Statement[] = [];
  readonly actions: Action[] = [];
  readonly tables: Table[] = [];

  constructor(
    readonly lowering: Lowering,
    readonly scope: Scope,
    declarations: readonly (ControlDeclaration | ParserDeclaration)['locals'][number][],
  ) {
    for (const each of declarations) lowering.attempt(() => this.#add(each), undefined);
  }

  #add(local: (ControlDeclaration | ParserDeclaration)['locals'][number]): void {
    const { lowering, scope } = this;
    switch (local.kind) {
      case 'variable':
        this.#declare(local);
        break;
      case 'instance':
        // Extern objects exist even if unused. Parsers and controls count only where they are applied.
        if (lowering.checked.instances.get(local)?.kind === 'extern') instanceFor(lowering, scope, local);
        break;
      case 'action':
        this.actions.push(actionFor(lowering, scope, local));
        break;
      case 'table':
        this.tables.push(tableFor(lowering, scope, local));
        break;
      case 'value-set':
        valueSetFor(lowering, scope, local);
        break;
      case 'constant':
        break;
    }
  }

  #declare(declaration: VariableDeclaration): void {
    const { lowering, scope } = this;
    const { value, span } = declaration;
    const variable = lowering.variable(declaration.name.text, lowering.dataTypeOfNode(declaration.type));
    scope.variables.set(declaration, variable);
    this.variables.push(variable);
    if (value === undefined) return;
    const target = { kind: 'variable', type: variable.type, variable, span: declaration.name.span } as const;
    this.initial.push({ kind: 'assign', target, value: lowerInitial(lowering, scope, value, variable.type), span });
  }
}

function lowerInstance(
  lowering: Lowering,
  { name, scope, declaration }: InstanceHandle,
  parameters: readonly IrParameter[],
): ControlInstance | ParserInstance {
  const { variables, initial, actions, tables } = new Locals(lowering, scope, declaration.locals);
  const { span } = declaration;
  const common = { name, typeName: declaration.name.text, parameters, locals: variables, initial, span };
  return declaration.kind === 'control'
    ? { kind: 'control', ...common, actions, tables, body: lowerBlock(lowering, scope, declaration.apply) }
    : { kind: 'parser', ...common, ...lowerStates(lowering, scope, declaration) };
}
