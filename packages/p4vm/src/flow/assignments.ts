import type { Expression, LValue } from '../ir/program.js';
import { branch } from './branches.js';
import { capture, restore, setDefault, setPerhapsWritten, setValid, setWritten } from './contents.js';
import type { Flow } from './flow.js';
import { ANY } from './known-values.js';
import { isScalar, knownOf, placesOf, staticPlace } from './lookups.js';
import { type Place, partsOf } from './places.js';
import { look, read, readIndices } from './reads.js';
import { joined, type State, type States, YES } from './state.js';

/** `target = value` in all states. */
export function assign(flow: Flow, target: LValue, value: Expression, states: States): States {
  const before = readIndices(flow, target, states);
  look(flow, target, before, true);
  const fixed = staticPlace(flow, target);
  return store(flow, value, before, (state) => {
    if (target.kind === 'slice') return 'part';
    return fixed === undefined ? placesOf(flow, target, state) : [fixed];
  });
}

/** Evaluates a value and stores it at `where`. A `part` of a value is not tracked. */
export function store(
  flow: Flow,
  value: Expression,
  states: States,
  where: (state: State) => readonly Place[] | 'part',
): States {
  if (states.length === 0) return states;
  if (value.kind === 'conditional') {
    const { yes, no } = branch(flow, value.condition, states);
    return joined(flow.space, store(flow, value.whenTrue, yes, where), store(flow, value.whenFalse, no, where));
  }
  if (isCondition(value)) {
    const { yes, no } = branch(flow, value, states);
    for (const [way, known] of [
      [yes, 1n],
      [no, 0n],
    ] as const) {
      for (const state of way) putScalar(state, where(state), flow.known.one(known));
    }
    return joined(flow.space, yes, no);
  }
  const after = readPlaces(flow, value, states);
  for (const state of after) {
    if (isScalar(value.type)) putScalar(state, where(state), knownOf(flow, value, state));
    else {
      const put = putter(flow, value, state);
      const places = where(state);
      if (places === 'part') continue;
      if (places.length === 1) put(places[0]!);
      else setPerhapsWritten(state, places);
    }
  }
  return after;
}

/** Whether a condition's two outcomes are worth separate states. */
function isCondition(value: Expression): boolean {
  if (value.kind === 'cast') return value.operand.type.kind === 'bool' && isCondition(value.operand);
  if (value.type.kind !== 'bool') return false;
  return value.kind === 'binary' || value.kind === 'is-valid' || value.kind === 'unary' || value.kind === 'apply-table';
}

function putScalar(state: State, places: readonly Place[] | 'part', value: number): void {
  if (places === 'part') return;
  if (places.length !== 1) setPerhapsWritten(state, places);
  else if (places[0]!.kind === 'scalar') state.set(places[0]!, YES, value);
}

/** Reads a value. A value copied as a whole may be partly unwritten. */
function readPlaces(flow: Flow, value: Expression, states: States): States {
  if (value.kind === 'aggregate')
    return value.elements.reduce((before, each) => readPlaces(flow, each, before), states);
  return read(flow, value, states);
}

/** A function that puts a value into a place, even if the state changes before that. */
function putter(flow: Flow, value: Expression, state: State): (place: Place) => void {
  if (isScalar(value.type)) {
    const known = knownOf(flow, value, state);
    return (place) => place.kind === 'scalar' && state.set(place, YES, known);
  }
  if (value.kind === 'default') return (place) => setDefault(state, place, flow.known);
  if (value.kind === 'aggregate') {
    const parts = value.elements.map((each) => putter(flow, each, state));
    return (place) => {
      for (const [at, part] of partsOf(place).entries()) parts[at]?.(part);
      if (place.kind === 'header') setValid(state, place);
      if (place.kind === 'stack') state.set(place.next, YES, ANY);
    };
  }
  const result = value.kind === 'call-function' ? flow.results.get(value.target.id) : undefined;
  const places = result === undefined ? placesOf(flow, value, state) : [result];
  if (places.length !== 1) return (place) => setWritten(state, place);
  const held = capture(state, places[0]!);
  return (place) => restore(state, place, held);
}
