import type { Expression, IrTransition, ParserInstance, Statement } from '../ir/program.js';

/** Calls `visit` for the parts of an expression, not for itself. */
function forEachOperand(expression: Expression, visit: (part: Expression) => void): void {
  switch (expression.kind) {
    case 'constant':
    case 'string':
    case 'variable':
    case 'default':
    case 'apply-table':
      return;
    case 'member':
    case 'stack-next':
    case 'stack-last':
    case 'stack-last-index':
    case 'slice':
      visit(expression.base);
      return;
    case 'element':
      visit(expression.base);
      visit(expression.index);
      return;
    case 'dynamic-slice':
      visit(expression.base);
      visit(expression.low);
      return;
    case 'unary':
    case 'cast':
      visit(expression.operand);
      return;
    case 'binary':
      visit(expression.left);
      visit(expression.right);
      return;
    case 'conditional':
      visit(expression.condition);
      visit(expression.whenTrue);
      visit(expression.whenFalse);
      return;
    case 'aggregate':
      expression.elements.forEach(visit);
      return;
    case 'is-valid':
    case 'set-validity':
      visit(expression.header);
      return;
    case 'push-pop':
      visit(expression.stack);
      return;
    case 'call-function':
    case 'call-action':
    case 'apply-instance':
    case 'call-extern':
    case 'call-packet':
    case 'call-method':
      for (const argument of expression.arguments) if (argument.value !== undefined) visit(argument.value);
  }
}

/** Calls `visit` for an expression and all its parts. */
export function forEachExpression(expression: Expression, visit: (each: Expression) => void): void {
  visit(expression);
  forEachOperand(expression, (part) => forEachExpression(part, visit));
}

export interface StatementVisitor {
  /** Each expression directly in a statement. */
  expression?(expression: Expression): void;
  /** Each statement, before what is in it. */
  statement?(statement: Statement): void;
}

/** Visits a statement, the statements in it, and their expressions. */
export function walkStatement(statement: Statement, visitor: StatementVisitor): void {
  const each = (inner: Statement): void => walkStatement(inner, visitor);
  const value = (expression: Expression): void => visitor.expression?.(expression);
  visitor.statement?.(statement);
  switch (statement.kind) {
    case 'block':
      statement.statements.forEach(each);
      return;
    case 'declare':
    case 'return':
      if (statement.value !== undefined) value(statement.value);
      return;
    case 'assign':
      value(statement.target);
      value(statement.value);
      return;
    case 'evaluate':
      value(statement.expression);
      return;
    case 'if':
      value(statement.condition);
      each(statement.whenTrue);
      if (statement.whenFalse !== undefined) each(statement.whenFalse);
      return;
    case 'switch-action':
      for (const { body } of statement.cases) each(body);
      if (statement.otherwise !== undefined) each(statement.otherwise);
      return;
    case 'switch-value':
      value(statement.subject);
      for (const { values, body } of statement.cases) {
        values.forEach(value);
        each(body);
      }
      if (statement.otherwise !== undefined) each(statement.otherwise);
      return;
    case 'for':
      statement.initial.forEach(each);
      value(statement.condition);
      statement.update.forEach(each);
      each(statement.body);
      return;
    case 'for-range':
      value(statement.variable);
      value(statement.low);
      value(statement.high);
      each(statement.body);
      return;
    case 'for-elements':
      value(statement.variable);
      value(statement.collection);
      each(statement.body);
      return;
    case 'exit':
    case 'break':
    case 'continue':
  }
}

function walkTransition(transition: IrTransition, visit: (expression: Expression) => void): void {
  if (transition.kind === 'goto') return;
  transition.keys.forEach(visit);
  for (const { labels } of transition.cases) {
    for (const label of labels) {
      if (label.kind === 'value') visit(label.value);
      else if (label.kind === 'mask') {
        visit(label.value);
        visit(label.mask);
      } else if (label.kind === 'range') {
        visit(label.low);
        visit(label.high);
      }
    }
  }
}

/** Visits all statements and expressions of a parser's states. */
export function walkStates(parser: ParserInstance, visitor: StatementVisitor): void {
  for (const state of parser.states) {
    for (const statement of state.body) walkStatement(statement, visitor);
    walkTransition(state.transition, (expression) => visitor.expression?.(expression));
  }
}
