import type { Expression, IrSelectCase, IrTransition, ParserInstance, StateTarget } from '../ir/program.js';
import { type Branches, equals } from './branches.js';
import type { Flow } from './flow.js';
import { read } from './reads.js';
import { Arrivals, joined, StateSet, type States } from './state.js';
import { runAll } from './statements.js';

/**
 * Runs a parser: each of its states as often as new states of the analysis reach it. Returns the accepted states;
 * rejected ones go to `flow.rejected`.
 */
export function runParser(flow: Flow, parser: ParserInstance, states: States): States {
  flow.parsers.add(parser);
  const arrivals = parser.states.map(() => new Arrivals(flow.space));
  const accepted = new StateSet(flow.space);
  const queue: number[] = [];
  const go = (target: StateTarget, through: States): void => {
    if (target === 'accept') for (const state of through) accepted.add(state);
    else if (target === 'reject') flow.rejected.push(...through);
    else {
      arrivals[target]!.add(...through);
      if (arrivals[target]!.isWaiting && !queue.includes(target)) queue.push(target);
    }
  };
  go(parser.start, states);
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    const state = parser.states[at]!;
    follow(flow, state.transition, runAll(flow, state.body, arrivals[at]!.take()), go);
  }
  return accepted.states;
}

function follow(
  flow: Flow,
  transition: IrTransition,
  states: States,
  go: (target: StateTarget, states: States) => void,
): void {
  if (transition.kind === 'goto') {
    go(transition.target, states);
    return;
  }
  let rest = transition.keys.reduce((before, each) => read(flow, each, before), states);
  const taken = new Map<StateTarget, States[]>();
  for (const each of transition.cases) {
    const { yes, no } = matches(flow, transition.keys, each, rest);
    taken.set(each.target, [...(taken.get(each.target) ?? []), yes]);
    rest = no;
  }
  for (const [target, through] of taken) go(target, joined(flow.space, ...through));
  go('reject', rest);
}

function matches(flow: Flow, keys: readonly Expression[], each: IrSelectCase, states: States): Branches {
  const { labels } = each;
  if (labels.every((label) => label.kind === 'any')) return { yes: states, no: [] };
  let yes: States = states.map((state) => state.copy());
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
