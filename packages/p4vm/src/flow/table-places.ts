import type { ControlInstance, Statement, Table } from '../ir/program.js';
import { partsOf } from '../ir/walk.js';
import type { Span } from '../source/position.js';

/** The next step: a statement, a table, or the end. Equal if p4c goes to the same node of its graph. */
type Next = Statement | Table | 'end';

/** The first step of a statement: itself, or the table that it applies; null if it is empty. */
function entry(statement: Statement): Next | null {
  switch (statement.kind) {
    case 'block':
      for (const each of statement.statements) {
        const found = entry(each);
        if (found !== null) return found;
      }
      return null;
    case 'exit':
      return 'end';
    case 'evaluate':
      return statement.expression.kind === 'apply-table' ? statement.expression.table : statement;
    case 'if':
      return statement.condition.kind === 'apply-table' ? statement.condition.table : statement;
    case 'switch-action':
      return statement.table;
    default:
      return statement;
  }
}

function isTable(next: Next | null): next is Table {
  return typeof next === 'object' && next !== null && 'keys' in next;
}

/** Applications of a table that p4c cannot merge: their next steps differ from that of the last application. */
export function tablesApart(control: ControlInstance): { readonly table: Table; readonly span: Span }[] {
  const first = new Map<Table, Next>();
  const instances = new Map<ControlInstance, Next>();
  const apart: { table: Table; span: Span }[] = [];

  const place = (table: Table, span: Span, next: Next): void => {
    const known = first.get(table);
    if (known === undefined) first.set(table, next);
    else if (known !== next) apart.push({ table, span });
  };

  // Visit each instance once, or its tables would count again.
  const instance = (target: ControlInstance, span: Span, next: Next): void => {
    const known = instances.get(target);
    if (known === undefined) {
      instances.set(target, next);
      visit(target.body, next);
    } else if (known !== next) apart.push(...target.tables.map((table) => ({ table, span })));
  };

  const visit = (statement: Statement, next: Next): void => {
    switch (statement.kind) {
      case 'block':
        for (let index = statement.statements.length - 1, after = next; index >= 0; index--) {
          const each = statement.statements[index]!;
          visit(each, after);
          after = entry(each) ?? after;
        }
        return;
      case 'evaluate': {
        const { expression } = statement;
        if (expression.kind === 'apply-table') place(expression.table, expression.span, next);
        else if (expression.kind === 'apply-instance' && expression.target.kind === 'control')
          instance(expression.target, expression.span, next);
        return;
      }
      case 'if':
      case 'switch-action':
      case 'switch-value': {
        const { span } = statement.kind === 'if' ? statement.condition : statement;
        const table = entry(statement);
        // With a way for each result it has several next steps, unlike all other places.
        if (isTable(table)) place(table, span, statement);
        for (const each of partsOf(statement)) if (!('type' in each)) visit(each, next);
        return;
      }
      default:
    }
  };
  visit(control.body, 'end');
  return apart;
}
