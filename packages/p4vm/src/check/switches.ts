import type { Span } from '../source/position.js';
import type { ActionDeclaration, SwitchStatement, TableDeclaration } from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import type { Type } from '../types/type.js';
import type { Checker } from './checker.js';
import { check } from './convert.js';
import { infer } from './expressions.js';
import { checkStatement } from './statements.js';
import { valueKey } from './values.js';

/** The table of `t.apply().action_run`, the only expression of this type that `switch` accepts. */
function tableOf(c: Checker, statement: SwitchStatement): TableDeclaration | undefined {
  const { subject } = statement;
  if (subject.kind !== 'member' || subject.base.kind !== 'call') return undefined;
  const call = c.found.calls.get(subject.base);
  return call?.kind === 'apply-table' ? call.table : undefined;
}

function checkActionLabels(c: Checker, statement: SwitchStatement, table: TableDeclaration): void {
  const listed = new Set<ActionDeclaration>(c.found.tables.get(table)?.actions.map((each) => each.action));
  const seen = new Map<ActionDeclaration, Span>();
  for (const { label } of statement.cases) {
    if (label.kind === 'default') continue;
    if (label.kind !== 'path') {
      infer(c, label);
      c.error('switch-label', label.span, `a label has to be the name of an action of table "${table.name.text}"`);
      continue;
    }
    const entry = c.lookup(label.name, label.isAbsolute, 'action');
    if (entry === undefined) continue;
    if (entry.kind !== 'action' || !listed.has(entry.declaration)) {
      c.error('switch-label', label.span, `"${label.name.text}" is not an action of table "${table.name.text}"`);
      continue;
    }
    const first = seen.get(entry.declaration);
    if (first !== undefined) {
      c.error('duplicate-label', label.span, `there is a case for "${label.name.text}" already`, {
        message: 'the first',
        span: first,
      });
    }
    seen.set(entry.declaration, label.span);
    c.found.references.set(label, { kind: 'action', declaration: entry.declaration });
  }
}

function checkValueLabels(c: Checker, statement: SwitchStatement, type: Type): void {
  const seen = new Map<string, Span>();
  for (const { label } of statement.cases) {
    if (label.kind === 'default' || !check(c, label, type)) continue;
    const value = c.found.constants.get(label);
    if (value === undefined) {
      if (!c.isKnown(label)) c.error('not-constant', label.span, 'a label must be known at compile time');
      continue;
    }
    const first = seen.get(valueKey(value));
    if (first === undefined) seen.set(valueKey(value), label.span);
    else {
      c.error('duplicate-label', label.span, 'there is a case for this value already', {
        message: 'the first',
        span: first,
      });
    }
  }
}

/** `switch`, on the action a table ran or on a value. */
export function checkSwitch(c: Checker, statement: SwitchStatement): void {
  const type = infer(c, statement.subject);
  switch (type.kind) {
    case 'action-enum': {
      const table = tableOf(c, statement);
      if (table !== undefined) checkActionLabels(c, statement, table);
      break;
    }
    case 'bits':
    case 'enum':
    case 'serializable-enum':
    case 'error':
    case 'newtype':
      checkValueLabels(c, statement, type);
      break;
    case 'unknown':
      break;
    default:
      c.error('switch-type', statement.subject.span, `${describeType(type)} cannot be switched on`);
  }
  statement.cases.forEach(({ label, body }, i) => {
    if (label.kind === 'default' && i !== statement.cases.length - 1) {
      c.error('default-order', label.span, '"default" must be the last label');
    }
    if (body !== undefined) c.inBlock(() => checkStatement(c, body));
  });
}
