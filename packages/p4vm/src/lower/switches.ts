import type { Block, Statement } from '../ir/program.js';
import type { Expression, SwitchCase, SwitchStatement, Block as SyntaxBlock, TableDeclaration } from '../syntax/ast.js';
import { lowerExpression } from './expressions.js';
import type { Lowering } from './lowering.js';
import type { Scope } from './scope.js';
import { lowerBlock } from './statements.js';
import { tableFor } from './tables.js';

/** A group of labels and their block: their own, or that of the next case with one. */
interface Group {
  readonly labels: readonly Expression[];
  readonly body: SyntaxBlock | undefined;
  readonly hasDefault: boolean;
}

function grouped(cases: readonly SwitchCase[]): Group[] {
  const groups: Group[] = [];
  let labels: Expression[] = [];
  for (const each of cases) {
    labels.push(each.label);
    if (each.body === undefined && each !== cases.at(-1)) continue;
    const hasDefault = labels.some((label) => label.kind === 'default');
    groups.push({ labels: labels.filter((label) => label.kind !== 'default'), body: each.body, hasDefault });
    labels = [];
  }
  return groups;
}

/** A switch over the action that a table ran, or over a value; labels that fall through are resolved. */
export function lowerSwitch(lowering: Lowering, scope: Scope, statement: SwitchStatement): Statement {
  const { subject, span } = statement;
  const groups = grouped(statement.cases);
  const bodyOf = ({ body }: Group): Block =>
    body === undefined ? { kind: 'block', statements: [], span } : lowerBlock(lowering, scope, body);
  const last = groups.find((group) => group.hasDefault);
  const applied = appliedTable(lowering, subject);
  if (applied === undefined) {
    const value = lowerExpression(lowering, scope, subject);
    const cases = groups
      .filter((group) => group.labels.length > 0)
      .map((group) => ({
        values: group.labels.map((label) => lowerExpression(lowering, scope, label)),
        body: bodyOf(group),
      }));
    return { kind: 'switch-value', subject: value, cases, otherwise: last && bodyOf(last), span };
  }
  const table = lowering.called(tableFor(lowering, scope, applied), span);
  const actions = lowering.checked.tables.get(applied)?.actions ?? [];
  const cases = groups.flatMap((group) =>
    group.labels.map((label) => {
      const symbol = label.kind === 'path' ? lowering.checked.references.get(label) : undefined;
      const name = label.kind === 'path' ? label.name.text : '';
      const action = actions.findIndex((each) =>
        symbol?.kind === 'action' ? each.action === symbol.declaration : each.action.name.text === name,
      );
      if (action === -1) return lowering.missing(label.span, `${name} is not an action of the table`);
      // Lower the body anew for each label: no node may be in two places.
      return { action, body: bodyOf(group) };
    }),
  );
  return { kind: 'switch-action', table, cases, otherwise: last && bodyOf(last), span };
}

/** The table of `t.apply().action_run`. */
function appliedTable(lowering: Lowering, subject: Expression): TableDeclaration | undefined {
  if (subject.kind !== 'member' || subject.base.kind !== 'call') return undefined;
  const member = lowering.checked.members.get(subject);
  if (member?.kind !== 'table-result' || member.property !== 'action_run') return undefined;
  const resolved = lowering.checked.calls.get(subject.base);
  return resolved?.kind === 'apply-table' ? resolved.table : undefined;
}
