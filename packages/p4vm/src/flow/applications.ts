import type { Action, Table } from '../ir/program.js';
import { invokeAction } from './calls.js';
import type { Flow } from './flow.js';
import { read } from './reads.js';
import { joined, type States } from './state.js';

/** The states after an action of a table, by its position; -1 where none ran. */
type ByAction = ReadonlyMap<number, States>;

/** Looks up a table and runs each action that an entry or the default action may name. */
export function applyTable(
  flow: Flow,
  table: Table,
  states: States,
): { readonly hit: ByAction; readonly miss: ByAction } {
  flow.applied.add(table);
  const looked = table.keys.reduce((before, each) => read(flow, each.expression, before), states);
  const hit = new Map<number, States>();
  const miss = new Map<number, States>();
  const { onHit, onMiss } = actionsOf(table);
  for (const [position, { action, bound }] of table.actions.entries()) {
    if (!onHit.has(position) && !onMiss.has(position)) continue;
    const after = runAction(
      flow,
      action,
      bound,
      looked.map((each) => each.copy()),
    );
    if (onHit.has(position)) hit.set(position, onMiss.has(position) ? after.map((each) => each.copy()) : after);
    if (onMiss.has(position)) miss.set(position, after);
  }
  if (table.defaultAction === undefined) miss.set(-1, looked);
  return { hit, miss };
}

/** The positions of the actions that may run on a hit, and on a miss. */
function actionsOf(table: Table): { onHit: ReadonlySet<number>; onMiss: ReadonlySet<number> } {
  const all = table.actions.map((each, position) => ({ ...each, position }));
  const isFixed = table.areEntriesConst && table.entries.length > 0;
  const onHit = isFixed
    ? table.entries.map(({ call }) => call.action)
    : all.filter((each) => !each.isDefaultOnly && table.keys.length > 0).map(({ position }) => position);
  const given = table.defaultAction?.action;
  // The control plane may set another default action.
  const onMiss = table.isDefaultConst
    ? given === undefined
      ? []
      : [given]
    : all.filter((each) => !each.isTableOnly).map(({ position }) => position);
  return { onHit: new Set(onHit), onMiss: new Set(onMiss) };
}

function runAction(flow: Flow, action: Action, bound: Table['actions'][number]['bound'], states: States): States {
  const directional = action.parameters.filter(({ direction }) => direction !== 'none');
  const args = action.parameters.map((parameter) => ({
    direction: parameter.direction,
    value: bound[directional.indexOf(parameter)],
  }));
  return invokeAction(flow, action, args, states);
}

/** `t.apply()`, where the result is unused. */
export function applied(flow: Flow, table: Table, states: States): States {
  const { hit, miss } = applyTable(flow, table, states);
  return joined(flow.space, ...hit.values(), ...miss.values());
}
