import type { Expression, IrSelectCase, ParserInstance, SelectLabel, State, StateTarget } from '../ir/program.js';
import { steps } from './costs.js';
import { decided } from './definedness.js';
import { expressionValue } from './expressions.js';
import { plainWord } from './names.js';
import { asBits, combine, compare, convert } from './operators.js';
import type { Routine } from './routine.js';
import { equality, writeStatement } from './statements.js';
import { traceEvent } from './trace.js';
import { shortName } from './unit.js';
import { numberOf, type Value } from './value.js';

/** Most states per packet in a parser with cycles. A packet has fewer bytes. */
const STATE_LIMIT = 1 << 17;
/** Most states nested in each other's code: engines parse code recursively. */
const MAX_INLINED = 24;

function targetsOf(state: State): readonly StateTarget[] {
  return state.transition.kind === 'goto'
    ? [state.transition.target]
    : state.transition.cases.map((each) => each.target);
}

/** The graph of a parser's states. */
class Graph {
  /** Number of transitions into each state from reachable states. */
  readonly incoming: readonly number[];
  readonly hasCycle: boolean;
  /** Nesting level of each inlined state. */
  readonly #levels: ReadonlyMap<number, number>;

  constructor(readonly parser: ParserInstance) {
    const incoming = parser.states.map(() => 0);
    const open = new Set<number>();
    const levels = new Map<number, number>([[parser.start, 0]]);
    let hasCycle = false;
    // An explicit stack, because a chain of states may be too long for recursion.
    const path: { readonly index: number; readonly targets: Iterator<StateTarget> }[] = [];
    const enter = (index: number): void => {
      open.add(index);
      const state = parser.states[index];
      path.push({ index, targets: (state === undefined ? [] : targetsOf(state))[Symbol.iterator]() });
    };
    incoming[parser.start] = 1;
    enter(parser.start);
    for (let last = path.at(-1); last !== undefined; last = path.at(-1)) {
      const { value: target, done } = last.targets.next();
      if (done) {
        open.delete(last.index);
        path.pop();
      } else if (typeof target === 'number') {
        incoming[target] = (incoming[target] ?? 0) + 1;
        if (open.has(target)) hasCycle = true;
        if (levels.has(target)) continue;
        const level = (levels.get(last.index) ?? 0) + 1;
        levels.set(target, level % MAX_INLINED);
        enter(target);
      }
    }
    this.incoming = incoming;
    this.hasCycle = hasCycle;
    this.#levels = levels;
  }

  /** Whether a state is written at its only predecessor's transition. Not if that is nested too deep. */
  isInlined(index: number): boolean {
    return index !== this.parser.start && this.incoming[index] === 1 && this.#levels.get(index) !== 0;
  }

  /** States that transitions reach by number. */
  get numbered(): readonly number[] {
    return this.incoming.flatMap((count, index) =>
      count > 0 && !this.isInlined(index) && (index !== this.parser.start || count > 1) ? [index] : [],
    );
  }
}

/** Writes the states of a parser: a state with one predecessor inside it, the others as cases of a loop. */
export function writeStates(routine: Routine, parser: ParserInstance): void {
  const { code, unit } = routine;
  const graph = new Graph(parser);
  const { numbered } = graph;
  if (numbered.length === 0) {
    writeState(routine, graph, parser.start, '');
    return;
  }
  const state = unit.names.take('state');
  const first = numbered.includes(parser.start) ? numbered : [parser.start, ...numbered];
  code.line(`let ${state} = ${parser.start};`);
  if (graph.hasCycle) {
    const cost = parser.states.reduce((most, each) => Math.max(most, unit.costs.state(each)), 1);
    code.open(`for (let states = 0; states < ${STATE_LIMIT} && (work.left -= ${steps(cost)}) >= 0; states++) {`);
  } else code.open('for (;;) {');
  code.open(`switch (${state}) {`);
  for (const index of first) {
    code.open(`case ${index}: {`);
    writeState(routine, graph, index, state);
    code.close();
  }
  code.close();
  code.close();
  if (graph.hasCycle) {
    code.line('faults.parserLoop++;');
    code.line(routine.fail?.(unit.errorOf('ParserTimeout')) ?? 'return -1;');
  }
}

function writeState(routine: Routine, graph: Graph, index: number, variable: string): void {
  const state = graph.parser.states[index];
  if (state === undefined) throw new TypeError('no such state');
  routine.code.line(`// ${plainWord(state.name)}`);
  const names = `parser: ${JSON.stringify(graph.parser.name)}, state: ${JSON.stringify(state.name)}`;
  traceEvent(routine, `kind: 'state', ${names}`);
  for (const statement of state.body) writeStatement(routine, statement);
  const { transition } = state;
  if (transition.kind === 'goto') {
    goTo(routine, graph, transition.target, variable);
    return;
  }
  const keys = transition.keys.map((each) => routine.keepValue(expressionValue(routine, each)));
  for (const each of transition.cases) {
    const test = caseTest(routine, keys, transition.keys, each);
    if (test === undefined) {
      goTo(routine, graph, each.target, variable);
      return;
    }
    routine.code.open(`if (${test}) {`);
    goTo(routine, graph, each.target, variable);
    routine.code.close();
  }
  const error = routine.unit.options.noMatchError === true ? routine.unit.errorOf('NoMatch') : 0;
  routine.code.line(routine.fail?.(error) ?? 'return -1;');
}

function goTo(routine: Routine, graph: Graph, target: StateTarget, variable: string): void {
  const { code } = routine;
  if (target === 'accept') code.line('return 0;');
  else if (target === 'reject') code.line('return -1;');
  else if (graph.isInlined(target)) writeState(routine, graph, target, variable);
  else {
    code.line(`${variable} = ${target};`);
    code.line('continue;');
  }
}

/** Code of the test of a case; undefined if it always holds. */
function caseTest(
  routine: Routine,
  keys: readonly Value[],
  expressions: readonly Expression[],
  { labels }: IrSelectCase,
): string | undefined {
  const decidedKey = (index: number): Value | undefined => {
    const [key, expression] = [keys[index], expressions[index]];
    return key && expression && decided(routine, 'select', expression, key);
  };
  const [first] = labels;
  if (first?.kind === 'value-set') {
    const { id, name } = first.valueSet;
    const set = routine.unit.constant(`value set ${id}`, `${shortName(name)}_set`, `runtime.valueSets[${id}]`);
    const patterns = keys.map((each, index) => routine.pattern(decidedKey(index) ?? each));
    return `${set}.matches(${patterns.join(', ')})`;
  }
  if (routine.unit.undefinedValues !== undefined) return decidedTest(routine, labels, decidedKey);
  const tests = labels.flatMap((label, index) => {
    const key = keys[index];
    return key === undefined || label.kind === 'any' ? [] : [labelTest(routine, key, label)];
  });
  if (tests.length === 0) return undefined;
  return tests.length === 1 ? tests[0] : tests.map((each) => `(${each})`).join(' && ');
}

/** In poison mode: a key must be defined only if the keys before it match. */
function decidedTest(
  routine: Routine,
  labels: readonly SelectLabel[],
  keyAt: (index: number) => Value | undefined,
): string | undefined {
  if (labels.every((label) => label.kind === 'any')) return undefined;
  const { code } = routine;
  const name = routine.unit.temporary();
  code.line(`let ${name} = true;`);
  for (const [index, label] of labels.entries()) {
    if (label.kind === 'any') continue;
    code.open(`if (${name}) {`);
    const key = keyAt(index);
    if (key !== undefined) code.line(`${name} = ${labelTest(routine, key, label)};`);
    code.close();
  }
  return name;
}

function labelTest(routine: Routine, key: Value, label: Exclude<SelectLabel, { readonly kind: 'any' }>): string {
  switch (label.kind) {
    case 'value':
      return equality(routine, key, expressionValue(routine, label.value));
    case 'mask': {
      const mask = unsignedOf(routine, expressionValue(routine, label.mask));
      const value = combine(routine, '&', unsignedOf(routine, expressionValue(routine, label.value)), mask);
      const masked = combine(routine, '&', unsignedOf(routine, key), mask);
      return compare(routine, '==', asBits(masked), asBits(value));
    }
    case 'range': {
      const bits = asBits(key);
      const low = compare(routine, '>=', bits, asBits(expressionValue(routine, label.low)));
      return `(${low}) && (${compare(routine, '<=', bits, asBits(expressionValue(routine, label.high)))})`;
    }
    case 'value-set':
      throw new TypeError('a value set stands for all keys');
  }
}

function unsignedOf(routine: Routine, value: Value): ReturnType<typeof asBits> {
  if (value.kind === 'boolean') return numberOf(`(${value.code} ? 1 : 0)`, 1);
  const bits = asBits(value);
  return asBits(convert(routine, bits, bits.width, false));
}
