import type { ParserInstance, Table } from '../ir/program.js';
import { runtimeBounds } from './bmv2-limits.js';
import type { Findings } from './findings.js';
import type { Flow } from './flow.js';

/** Warnings that need no knowledge of values. `isWhole`: the analysis was complete. */
export function findInStructure(
  { program, parsers, applied, metersRead, ...flow }: Flow,
  findings: Findings,
  isWhole: boolean,
): void {
  for (const table of program.tables) checkKeys(table, findings);
  for (const parser of parsers) checkStates(parser, findings);
  for (const table of program.tables) {
    for (const { action } of table.actions) {
      const call = flow.calledByControls.get(action);
      if (call === undefined || action.parameters.every(({ direction }) => direction !== 'none')) continue;
      const message = `action ${action.name} is called here and by the table ${table.name}: p4c makes two actions of it, which the control plane cannot tell apart`;
      findings.add('duplicate', call, message);
    }
  }
  if (!isWhole) return;
  for (const table of program.tables) {
    if (!applied.has(table)) findings.add('unreachable', table.span, `table ${table.name} is never applied`);
  }
  for (const each of program.externs) {
    if (each.type === 'direct_meter' && !metersRead.has(each)) {
      findings.add('unused', each.span, `direct meter ${each.name} is never read`);
    }
  }
}

function checkKeys({ name, keys, span }: Table, findings: Findings): void {
  const prefixes = keys.filter(({ matchKind }) => matchKind === 'lpm');
  if (prefixes.length > 1) {
    const at = prefixes[1]!.expression.span;
    findings.add('unsupported', at, `table ${name} has ${prefixes.length} lpm keys: BMv2 takes one`);
  }
  const names = new Set<string>();
  for (const key of keys) {
    const at = key.expression.span.file === span.file ? key.expression.span : span;
    if (names.has(key.name)) findings.add('duplicate', at, `two keys of table ${name} have the name ${key.name}`);
    names.add(key.name);
  }
}

/** Reports states that no packet reaches, parsers that accept no packet, and ranges that p4c refuses. */
function checkStates({ name, states, start, span }: ParserInstance, findings: Findings): void {
  const reached = new Set<number>([start]);
  let accepts = false;
  for (const at of reached) {
    const { transition } = states[at]!;
    const targets = transition.kind === 'goto' ? [transition.target] : transition.cases.map(({ target }) => target);
    for (const each of targets) {
      if (typeof each === 'number') reached.add(each);
      else if (each === 'accept') accepts = true;
    }
    for (const { span: bound } of runtimeBounds(transition)) {
      findings.add('unsupported', bound, 'the bounds of a range in a select must be constants for BMv2');
    }
  }
  for (const [at, state] of states.entries()) {
    if (!reached.has(at))
      findings.add('unreachable', state.span, `state ${state.name} of parser ${name} is never reached`);
  }
  if (!accepts) findings.add('unreachable', span, `parser ${name} never accepts: no way leads to accept`);
}
