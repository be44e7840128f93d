import type { Expression, Statement } from '../ir/program.js';
import { applyTable } from './applications.js';
import { assign, store } from './assignments.js';
import { type Branches, branch, equals } from './branches.js';
import { clear, setWrittenAt } from './contents.js';
import type { Flow } from './flow.js';
import { placesOf } from './lookups.js';
import { read, readIndices } from './reads.js';
import { Arrivals, joined, StateSet, type States } from './state.js';

/** Runs a statement in all states. Returns no states if nothing follows it. */
export function run(flow: Flow, statement: Statement, states: States): States {
  if (states.length === 0) return states;
  for (const _ of states) flow.space.spend();
  const { space } = flow;
  switch (statement.kind) {
    case 'block':
      return runAll(flow, statement.statements, states);
    case 'declare': {
      const place = flow.places.of(statement.variable);
      for (const state of states) clear(state, place, flow.known);
      return statement.value === undefined ? states : store(flow, statement.value, states, () => [place]);
    }
    case 'assign':
      return assign(flow, statement.target, statement.value, states);
    case 'evaluate':
      return read(flow, statement.expression, states);
    case 'if': {
      const { yes, no } = branch(flow, statement.condition, states);
      const { whenTrue, whenFalse } = statement;
      return joined(space, run(flow, whenTrue, yes), whenFalse === undefined ? no : run(flow, whenFalse, no));
    }
    case 'return': {
      const { value } = statement;
      const result = flow.result;
      const after = value === undefined ? states : store(flow, value, states, () => (result ? [result] : 'part'));
      flow.frame.returns.push(...after);
      return [];
    }
    case 'exit':
      flow.frame.exits.push(...states);
      return [];
    case 'switch-action':
      return switchAction(flow, statement, states);
    case 'switch-value':
      return switchValue(flow, statement, states);
    case 'for': {
      const before = runAll(flow, statement.initial, states);
      const body = (each: States): States => run(flow, statement.body, each);
      return loop(flow, before, (each) => branch(flow, statement.condition, each), body, statement.update);
    }
    case 'for-range':
    case 'for-elements':
      return forIn(flow, statement, states);
    case 'break':
      flow.loops.at(-1)?.breaks.push(...states);
      return [];
    case 'continue':
      flow.loops.at(-1)?.continues.push(...states);
      return [];
  }
}

export function runAll(flow: Flow, statements: readonly Statement[], states: States): States {
  return statements.reduce((before, each) => run(flow, each, before), states);
}

function switchAction(flow: Flow, statement: Statement<'switch-action'>, states: States): States {
  const { hit, miss } = applyTable(flow, statement.table, states);
  const ends: States[] = [];
  const other: States[] = [];
  for (const position of statement.table.actions.keys()) {
    const ran = [hit.get(position) ?? [], miss.get(position) ?? []];
    const body = statement.cases.find((each) => each.action === position)?.body;
    if (body === undefined) other.push(...ran);
    else ends.push(run(flow, body, joined(flow.space, ...ran)));
  }
  // A miss without a default action.
  other.push(miss.get(-1) ?? []);
  const rest = joined(flow.space, ...other);
  ends.push(statement.otherwise === undefined ? rest : run(flow, statement.otherwise, rest));
  return joined(flow.space, ...ends);
}

function switchValue(flow: Flow, statement: Statement<'switch-value'>, states: States): States {
  const { subject } = statement;
  let rest = read(flow, subject, states);
  const ends: States[] = [];
  for (const { values, body } of statement.cases) {
    const taken: States[] = [];
    for (const value of values) {
      const { yes, no } = isCase(flow, subject, value, rest);
      taken.push(yes);
      rest = no;
    }
    ends.push(run(flow, body, joined(flow.space, ...taken)));
  }
  ends.push(statement.otherwise === undefined ? rest : run(flow, statement.otherwise, rest));
  return joined(flow.space, ...ends);
}

function isCase(flow: Flow, subject: Expression, value: Expression, states: States): Branches {
  if (value.kind === 'constant') return equals(flow, subject, value.value, states);
  return { yes: states.map((each) => each.copy()), no: states };
}

/** A loop: the state at its head holds for all turns. */
function loop(
  flow: Flow,
  before: States,
  test: (states: States) => Branches,
  body: (states: States) => States,
  update: readonly Statement[],
): States {
  const head = new Arrivals(flow.space);
  const ends = new StateSet(flow.space);
  head.add(...before);
  while (head.isWaiting) {
    const { yes, no } = test(head.take());
    const frame = { breaks: [], continues: [] };
    flow.loops.push(frame);
    const through = body(yes);
    flow.loops.pop();
    for (const state of [...no, ...frame.breaks]) ends.add(state);
    head.add(...runAll(flow, update, joined(flow.space, through, frame.continues)));
  }
  return ends.states;
}

function forIn(flow: Flow, statement: Statement<'for-range' | 'for-elements'>, states: States): States {
  const { variable, body } = statement;
  const bounds = statement.kind === 'for-range' ? [statement.low, statement.high] : [];
  let before = bounds.reduce((each, bound) => read(flow, bound, each), readIndices(flow, variable, states));
  if (statement.kind === 'for-elements') before = readIndices(flow, statement.collection, before);
  const turn = (each: States): States => {
    for (const state of each) setWrittenAt(state, placesOf(flow, variable, state));
    return run(flow, body, each);
  };
  // There may be no turn at all.
  return loop(flow, before, (each) => ({ yes: each, no: each.map((state) => state.copy()) }), turn, []);
}
