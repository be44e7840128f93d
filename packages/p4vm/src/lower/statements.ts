import type { Block, LValue, Statement } from '../ir/program.js';
import type {
  AssignmentStatement,
  CallExpression,
  IfStatement,
  Block as SyntaxBlock,
  Expression as SyntaxExpression,
  Statement as SyntaxStatement,
  VariableDeclaration,
} from '../syntax/ast.js';
import { assignSlice, assignWith } from './assignments.js';
import { lowerCall, skippedHeader } from './calls.js';
import { lowerExpression, lowerInitial, lowerPlace } from './expressions.js';
import { lowerFor, lowerForIn } from './loops.js';
import type { Lowering } from './lowering.js';
import type { Scope } from './scope.js';
import { instanceFor } from './statics.js';
import { lowerSwitch } from './switches.js';

/** The statements of a block, in one. */
export function lowerBlock(lowering: Lowering, scope: Scope, block: SyntaxBlock): Block {
  return { kind: 'block', statements: lowerStatements(lowering, scope, block.statements), span: block.span };
}

/** Statements in order. A refused one is left out, so that errors in the others are found as well. */
export function lowerStatements(lowering: Lowering, scope: Scope, statements: readonly SyntaxStatement[]): Statement[] {
  return statements.flatMap((each) => lowering.attempt(() => lowerStatement(lowering, scope, each), []));
}

/** A statement as a single one: a block if it becomes several, or none. */
export function lowerOne(lowering: Lowering, scope: Scope, statement: SyntaxStatement): Statement {
  const statements = lowerStatements(lowering, scope, [statement]);
  const [first] = statements;
  return first !== undefined && statements.length === 1 ? first : { kind: 'block', statements, span: statement.span };
}

function lowerStatement(lowering: Lowering, scope: Scope, statement: SyntaxStatement): Statement[] {
  const { budget } = lowering;
  lowering.spend(1, statement.span);
  budget.enter(statement.span);
  const lowered = lowerKind(lowering, scope, statement);
  budget.leave();
  return lowered;
}

function lowerKind(lowering: Lowering, scope: Scope, statement: SyntaxStatement): Statement[] {
  const { span } = statement;
  switch (statement.kind) {
    case 'block':
      return [lowerBlock(lowering, scope, statement)];
    case 'assign':
      return lowerAssignment(lowering, scope, statement);
    case 'call-statement':
      return lowerCallStatement(lowering, scope, statement.call);
    case 'if':
      return lowerIf(lowering, scope, statement);
    case 'return': {
      const { value } = statement;
      return [{ kind: 'return', value: value && lowerExpression(lowering, scope, value), span }];
    }
    case 'exit':
    case 'break':
    case 'continue':
      return [{ kind: statement.kind, span }];
    case 'switch':
      return [lowerSwitch(lowering, scope, statement)];
    case 'for':
      return [lowerFor(lowering, scope, statement)];
    case 'for-in':
      return [lowerForIn(lowering, scope, statement)];
    case 'variable':
      return [lowerVariable(lowering, scope, statement)];
    case 'instance':
      if (lowering.checked.instances.get(statement)?.kind === 'extern') instanceFor(lowering, scope, statement);
      return [];
    case 'constant':
    case 'empty':
      return [];
  }
}

function lowerVariable(lowering: Lowering, scope: Scope, declaration: VariableDeclaration): Statement {
  const type = lowering.dataTypeOfNode(declaration.type);
  // Lower the value first: it may use an outer variable of the same name.
  const value = declaration.value && lowerInitial(lowering, scope, declaration.value, type);
  const variable = lowering.variable(declaration.name.text, type);
  scope.variables.set(declaration, variable);
  return { kind: 'declare', variable, value, span: declaration.span };
}

function lowerAssignment(lowering: Lowering, scope: Scope, statement: AssignmentStatement): Statement[] {
  const { operator, span } = statement;
  if (operator !== undefined) return assignWith(lowering, scope, statement, operator);
  if (isDynamicSlice(lowering, scope, statement.target)) return assignSlice(lowering, scope, statement);
  const target = lowerPlace(lowering, scope, statement.target);
  return [{ kind: 'assign', target, value: lowerInitial(lowering, scope, statement.value, target.type), span }];
}

function isDynamicSlice(lowering: Lowering, scope: Scope, target: SyntaxExpression): boolean {
  return target.kind === 'slice' && lowerExpression(lowering, scope, target).kind === 'dynamic-slice';
}

function lowerCallStatement(lowering: Lowering, scope: Scope, call: CallExpression): Statement[] {
  const skipped = skippedHeader(lowering, call);
  if (skipped !== undefined) {
    // A place for the skipped header, whose type gives the number of bits.
    const variable = lowering.variable('skipped', lowering.dataType(skipped.type, skipped.span));
    const place: LValue = { kind: 'variable', type: variable.type, variable, span: skipped.span };
    const extract = lowerCall(lowering, scope, call);
    if (extract.kind !== 'call-packet') return lowering.missing(call.span, 'extract of what is no packet');
    const [, ...others] = extract.arguments;
    const expression = { ...extract, arguments: [{ direction: 'out', value: place } as const, ...others] };
    const statements: Statement[] = [
      { kind: 'declare', variable, value: undefined, span: skipped.span },
      { kind: 'evaluate', expression, span: call.span },
    ];
    return [{ kind: 'block', statements, span: call.span }];
  }
  const expression = lowerCall(lowering, scope, call);
  return expression.kind === 'constant' ? [] : [{ kind: 'evaluate', expression, span: call.span }];
}

function lowerIf(lowering: Lowering, scope: Scope, statement: IfStatement): Statement[] {
  const { whenTrue, whenFalse, span } = statement;
  const condition = lowerExpression(lowering, scope, statement.condition);
  if (condition.kind === 'constant') {
    const taken = condition.value === 1n ? whenTrue : whenFalse;
    return taken === undefined ? [] : [lowerOne(lowering, scope, taken)];
  }
  return [
    {
      kind: 'if',
      condition,
      whenTrue: lowerOne(lowering, scope, whenTrue),
      whenFalse: whenFalse && lowerOne(lowering, scope, whenFalse),
      span,
    },
  ];
}
