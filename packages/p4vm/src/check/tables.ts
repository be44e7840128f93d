import type {
  ActionReference,
  Argument,
  CallExpression,
  PathExpression,
  TableDeclaration,
  TableKey,
} from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import { UNKNOWN } from '../types/primitives.js';
import { checkArguments, inferArguments } from './arguments.js';
import { actionSignature } from './calls.js';
import type { CheckedActionCall, CheckedActionReference, CheckedTable } from './checked-program.js';
import type { Checker } from './checker.js';
import { isKnownOrReport } from './constants.js';
import { checkEntries } from './entries.js';
import { infer } from './expressions.js';
import { keyName } from './key-names.js';
import { annotation } from './parameters.js';
import { sameSyntax } from './same-syntax.js';
import type { ActionEntry } from './scope.js';
import { isMatchable, isNumeric } from './sets.js';
import { checkProperties } from './table-properties.js';

function checkKey(c: Checker, key: TableKey): CheckedTable['keys'][number] {
  let type = infer(c, key.expression);
  if (!isMatchable(type)) {
    const plain = type.kind === 'integer' ? ': write its width, as in 8w1' : '';
    c.error('key-type', key.expression.span, `${describeType(type)} cannot be a key of a table${plain}`);
    type = UNKNOWN;
  }
  const matchKind = key.matchKind.text;
  if (!c.matchKinds.has(matchKind)) {
    const hint = c.hint(key.matchKind, c.matchKinds.keys());
    c.error('unknown-match-kind', key.matchKind.span, `no match kind "${matchKind}" is declared${hint}`);
  }
  if ((matchKind === 'lpm' || matchKind === 'range') && type.kind !== 'unknown' && !isNumeric(type)) {
    c.error('key-type', key.expression.span, `a key of ${describeType(type)} cannot be matched by "${matchKind}"`);
  }
  const name = type.kind === 'unknown' ? '' : keyName(c, key);
  return { type, matchKind, name };
}

/** The action a reference names, and its arguments. */
function actionOf(
  c: Checker,
  expression: PathExpression | CallExpression,
): { readonly entry: ActionEntry; readonly path: PathExpression; readonly args: readonly Argument[] } | undefined {
  const path = expression.kind === 'call' ? expression.callee : expression;
  const args = expression.kind === 'call' ? expression.arguments : [];
  if (path.kind !== 'path') return c.error('not-an-action', path.span, 'the name of an action is needed here');
  const entry = c.lookup(path.name, path.isAbsolute, 'action');
  if (entry === undefined) return inferArguments(c, args);
  if (entry.kind !== 'action') {
    c.error('not-an-action', path.span, `"${path.name.text}" is not an action`, {
      message: 'declared here',
      span: entry.name.span,
    });
    return inferArguments(c, args);
  }
  c.found.references.set(path, { kind: 'action', declaration: entry.declaration });
  return { entry, path, args };
}

function checkReference(c: Checker, reference: ActionReference): CheckedActionReference | undefined {
  const action = actionOf(c, reference.expression);
  if (action === undefined) return undefined;
  const { declaration } = action.entry;
  const all = action.entry.parameters;
  const positions = declaration.parameters.flatMap((parameter, i) => (parameter.direction === 'none' ? [] : [i]));
  const checked = checkArguments(
    c,
    {
      what: `action "${declaration.name.text}" in the list of a table`,
      parameters: positions.map((i) => declaration.parameters[i]!),
      types: positions.map((i) => all[i]!),
      variables: [],
    },
    { typeArguments: [], arguments: action.args, span: reference.span },
  );
  if (checked === undefined) return undefined;
  declaration.parameters.forEach((parameter, i) => {
    if (parameter.direction !== 'none' || isMatchable(all[i]!.type)) return;
    const data = `"${parameter.name.text}" of action "${declaration.name.text}", of ${describeType(all[i]!.type)}`;
    const related = { message: 'the parameter', span: parameter.span };
    c.report('target', 'action-data-type', reference.span, `the control plane cannot give ${data}`, related);
  });
  return {
    reference,
    action: declaration,
    bound: checked.bound,
    isTableOnly: annotation(reference.annotations, 'tableonly') !== undefined,
    isDefaultOnly: annotation(reference.annotations, 'defaultonly') !== undefined,
  };
}

function checkActions(c: Checker, declaration: TableDeclaration): CheckedActionReference[] {
  const references: CheckedActionReference[] = [];
  const names = new Map<string, ActionReference>();
  for (const reference of declaration.actions ?? []) {
    const checked = checkReference(c, reference);
    if (checked === undefined) continue;
    const name = checked.action.name.text;
    const previous = names.get(name);
    if (previous !== undefined) {
      c.error('duplicate-action', reference.span, `action "${name}" is in the list already`, {
        message: 'the first',
        span: previous.span,
      });
      continue;
    }
    names.set(name, reference);
    references.push(checked);
  }
  return references;
}

/** Checks the action of an entry, or the default action: the table must list it, with the same arguments bound. */
export function checkActionCall(
  c: Checker,
  expression: PathExpression | CallExpression,
  actions: readonly CheckedActionReference[],
  table: string,
): { readonly call: CheckedActionCall; readonly reference: CheckedActionReference } | undefined {
  const action = actionOf(c, expression);
  if (action === undefined) return undefined;
  const { declaration } = action.entry;
  const name = declaration.name.text;
  c.spend(actions.length >> 4, expression.span);
  const reference = actions.find((each) => each.action === declaration);
  if (reference === undefined) {
    c.error('action-not-listed', action.path.span, `action "${name}" is not in the list of table "${table}"`);
    inferArguments(c, action.args);
    return undefined;
  }
  const given = { typeArguments: [], arguments: action.args, span: expression.span };
  const checked = checkArguments(c, actionSignature(action.entry), given);
  if (checked === undefined) return undefined;
  for (const { parameter, argument } of checked.bound) {
    if (argument === undefined) continue;
    if (parameter.direction === 'none') {
      isKnownOrReport(c, argument.value, `data for action "${name}"`);
      continue;
    }
    const listed = reference.bound.find((each) => each.parameter === parameter)?.argument;
    if (listed !== undefined && !sameSyntax(listed.value, argument.value)) {
      const message = `"${parameter.name.text}" is bound to something else in the list of actions`;
      c.error('action-binding', argument.span, message, { message: 'bound here', span: listed.span });
    }
  }
  const data = checked.bound.filter((each) => each.parameter.direction === 'none');
  return { call: { action: declaration, data }, reference };
}

/** A table: keys, actions, default action, entries, properties. */
export function declareTable(c: Checker, declaration: TableDeclaration): void {
  const { name } = declaration;
  c.within(c.scope, { ...c.place, kind: 'table' }, () => {
    const keys = (declaration.key ?? []).map((key) =>
      c.within(c.scope, { ...c.place, kind: 'key' }, () => checkKey(c, key)),
    );
    if (declaration.actions === undefined) {
      c.error('missing-actions', name.span, `table "${name.text}" has no list of actions`);
    }
    const actions = checkActions(c, declaration);
    const properties = checkProperties(c, declaration, actions);
    const entries = checkEntries(c, declaration, keys, actions, properties);
    c.found.tables.set(declaration, {
      keys,
      actions,
      defaultAction: properties.defaultAction,
      isDefaultConst: properties.isDefaultConst,
      entries,
      areEntriesConst: declaration.entries?.isConst ?? false,
    });
  });
  c.declareValue({ kind: 'table', declaration }, { kind: 'table', name: name.text });
}
