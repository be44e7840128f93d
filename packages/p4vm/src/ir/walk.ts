import type { Call, Expression, IrTransition, LValue, ParserInstance, Statement } from './program.js';

function present<T>(part: T | undefined): readonly T[] {
  return part === undefined ? [] : [part];
}

/** The operands of an expression, in the order of their evaluation. */
export function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'constant':
    case 'string':
    case 'variable':
    case 'default':
    case 'apply-table':
      return [];
    case 'member':
    case 'stack-next':
    case 'stack-last':
    case 'stack-last-index':
    case 'slice':
      return [expression.base];
    case 'element':
      return [expression.base, expression.index];
    case 'dynamic-slice':
      return [expression.base, expression.low];
    case 'unary':
    case 'cast':
      return [expression.operand];
    case 'binary':
      return [expression.left, expression.right];
    case 'conditional':
      return [expression.condition, expression.whenTrue, expression.whenFalse];
    case 'aggregate':
      return expression.elements;
    case 'is-valid':
    case 'set-validity':
      return [expression.header];
    case 'push-pop':
      return [expression.stack];
    default:
      return expression.arguments.flatMap(({ value }) => present(value));
  }
}

/** The expressions and statements directly in a statement, in the order of the text. Expressions have a `type`. */
export function partsOf(statement: Statement): readonly (Expression | Statement)[] {
  switch (statement.kind) {
    case 'block':
      return statement.statements;
    case 'declare':
    case 'return':
      return present(statement.value);
    case 'assign':
      return [statement.target, statement.value];
    case 'evaluate':
      return [statement.expression];
    case 'if':
      return [statement.condition, statement.whenTrue, ...present(statement.whenFalse)];
    case 'switch-action':
      return [...statement.cases.map(({ body }) => body), ...present(statement.otherwise)];
    case 'switch-value': {
      const cases = statement.cases.flatMap(({ values, body }) => [...values, body]);
      return [statement.subject, ...cases, ...present(statement.otherwise)];
    }
    case 'for':
      return [...statement.initial, statement.condition, ...statement.update, statement.body];
    case 'for-range':
      return [statement.variable, statement.low, statement.high, statement.body];
    case 'for-elements':
      return [statement.variable, statement.collection, statement.body];
    default:
      return [];
  }
}

/** The expressions of a transition, in the order of their evaluation. */
export function transitionExpressions(transition: IrTransition): readonly Expression[] {
  if (transition.kind === 'goto') return [];
  const labels = transition.cases.flatMap((each) => each.labels);
  const inLabels = labels.flatMap((label) => {
    if (label.kind === 'value') return [label.value];
    if (label.kind === 'mask') return [label.value, label.mask];
    return label.kind === 'range' ? [label.low, label.high] : [];
  });
  return [...transition.keys, ...inLabels];
}

/** Calls `visit` for an expression and all its operands. */
export function forEachExpression(expression: Expression, visit: (each: Expression) => void): void {
  visit(expression);
  for (const each of operandsOf(expression)) forEachExpression(each, visit);
}

/** Whether an expression, or one of its operands, passes a test. */
export function someExpression(expression: Expression, test: (each: Expression) => boolean): boolean {
  return test(expression) || operandsOf(expression).some((each) => someExpression(each, test));
}

export interface StatementVisitor {
  /** Each expression directly in a statement. */
  expression(expression: Expression): void;
  /** Each statement, before what is in it. */
  statement(statement: Statement): void;
}

/** Visits a statement, the statements in it, and their expressions. */
export function walkStatement(statement: Statement, visitor: StatementVisitor): void {
  visitor.statement(statement);
  for (const each of partsOf(statement)) {
    if ('type' in each) visitor.expression(each);
    else walkStatement(each, visitor);
  }
}

/** Visits all statements and expressions of a parser's states. */
export function walkStates(parser: ParserInstance, visitor: StatementVisitor): void {
  for (const { body, transition } of parser.states) {
    for (const each of body) walkStatement(each, visitor);
    for (const each of transitionExpressions(transition)) visitor.expression(each);
  }
}

/** Whether an expression can be assigned to. */
export function isLValue(expression: Expression): expression is LValue {
  switch (expression.kind) {
    case 'variable':
    case 'member':
    case 'element':
    case 'stack-next':
    case 'stack-last':
    case 'slice':
      return true;
    default:
      return false;
  }
}

/** Whether an expression is a call, which may change something. */
export function isCall(expression: Expression): expression is Call {
  return /^(call|apply|set|push)-/.test(expression.kind);
}
