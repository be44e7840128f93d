import type { Expression, IrSelectCase, IrTransition, ParserInstance, StateTarget } from '../ir/program.js';
import { type Branches, equals } from './branches.js';
import type { Flow } from './flow.js';
import { read } from './reads.js';
import { joined, type State, StateSet } from './state.js';
import { runAll } from './statements.js';

/**
 * Runs a parser: each of its states as often as new states of the analysis reach it. Returns the accepted states;
 * rejected ones go to `flow.rejected`.
 */
export function runParser(flow: Flow, parser: ParserInstance, states: readonly State[]): readonly State[] {
  flow.parsers.add(parser);
  const heads = parser.states.map(() => new StateSet(flow.space));
  const waiting = parser.states.map(() => new Set<State>());
  const accepted = new StateSet(flow.space);
  const queue: number[] = [];
  const go = (target: StateTarget, through: readonly State[]): void => {
    if (target === 'accept') for (const state of through) accepted.add(state);
    else if (target === 'reject') flow.rejected.push(...through);
    else {
      for (const state of through) for (const each of heads[target]!.add(state)) waiting[target]!.add(each);
      if (waiting[target]!.size > 0 && !queue.includes(target)) queue.push(target);
    }
  };
  go(parser.start, states);
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    const state = parser.states[at]!;
    const current = new Set(heads[at]!.states);
    const changed = [...waiting[at]!].filter((each) => current.has(each)).map((each) => each.copy());
    waiting[at]!.clear();
    follow(flow, state.transition, runAll(flow, state.body, changed), go);
  }
  return accepted.states;
}

function follow(
  flow: Flow,
  transition: IrTransition,
  states: readonly State[],
  go: (target: StateTarget, states: readonly State[]) => void,
): void {
  if (transition.kind === 'goto') {
    go(transition.target, states);
    return;
  }
  let rest = transition.keys.reduce((before, each) => read(flow, each, before), states);
  const taken = new Map<StateTarget, (readonly State[])[]>();
  for (const each of transition.cases) {
    const { yes, no } = matches(flow, transition.keys, each, rest);
    taken.set(each.target, [...(taken.get(each.target) ?? []), yes]);
    rest = no;
  }
  for (const [target, through] of taken) go(target, joined(flow.space, ...through));
  go('reject', rest);
}

function matches(flow: Flow, keys: readonly Expression[], each: IrSelectCase, states: readonly State[]): Branches {
  const { labels } = each;
  if (labels.every((label) => label.kind === 'any')) return { yes: states, no: [] };
  let yes: readonly State[] = states.map((state) => state.copy());
  // With a single significant label, a mismatch means that the key has another value.
  const telling = labels.filter((label) => label.kind !== 'any');
  let no = states;
  for (const [at, label] of labels.entries()) {
    const key = keys[at];
    if (label.kind !== 'value' || label.value.kind !== 'constant' || key === undefined) continue;
    const { value } = label.value;
    yes = equals(flow, key, value, yes).yes;
    if (telling.length === 1) no = equals(flow, key, value, no).no;
  }
  return { yes, no };
}
