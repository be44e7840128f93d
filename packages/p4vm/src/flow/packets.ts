import type { Expression } from '../ir/program.js';
import { setValid } from './contents.js';
import type { Flow } from './flow.js';
import { ANY } from './known-values.js';
import { placesOf } from './lookups.js';
import { type HeaderPlace, headersOf, type Place } from './places.js';
import { look, read, readIndices } from './reads.js';
import { MAYBE, NO, type State, type States, YES } from './state.js';

type PacketCall = Expression<'call-packet'>;

/** `extract`, `lookahead`, `advance`, `length` and `emit`. */
export function callPacket(flow: Flow, expression: PacketCall, states: States): States {
  const [first, ...others] = expression.arguments.map(({ value }) => value);
  switch (expression.method) {
    case 'length':
      return states;
    case 'extract': {
      const sized = others.reduce((before, each) => (each ? read(flow, each, before) : before), states);
      return first === undefined ? take(flow, sized) : extract(flow, first, readIndices(flow, first, sized));
    }
    case 'advance':
      return take(flow, first === undefined ? states : read(flow, first, states));
    case 'lookahead':
      for (const state of states) mayBeCut(flow, state);
      return states;
    case 'emit': {
      if (first === undefined) return states;
      const after = readIndices(flow, first, states);
      for (const state of after) for (const each of placesOf(flow, first, state)) emit(flow, first, each, state);
      return after;
    }
  }
}

/** The packet may end here. Then the parser stops, and ingress gets the packet as it is. */
function mayBeCut(flow: Flow, state: State): void {
  // No link delivers a packet too short for the parser's first header.
  if (flow.known.single(state.value(flow.consumed)) !== 1n) return;
  const cut = state.copy();
  const error = flow.standardField('parser_error');
  if (error !== undefined) cut.set(error, YES, flow.known.not(flow.noError));
  flow.rejected.push(cut);
}

function take(flow: Flow, states: States): States {
  for (const state of states) {
    mayBeCut(flow, state);
    state.set(flow.consumed, YES, flow.known.one(1n));
  }
  return states;
}

function extract(flow: Flow, target: Expression, states: States): States {
  take(flow, states);
  return states.filter((state) => {
    const places = placesOf(flow, target, state);
    const headers = places.flatMap(headersOf);
    // Beyond the end of a stack.
    if (headers.length === 0) return false;
    if (places.length === 1) fill(state, headers[0]!);
    else for (const each of headers) fillPerhaps(state, each);
    if (target.kind === 'stack-next') advanceStack(flow, target.base, state);
    return true;
  });
}

function fill(state: State, header: HeaderPlace): void {
  setValid(state, header);
  for (const each of header.scalars) state.set(each, YES);
}

function fillPerhaps(state: State, header: HeaderPlace): void {
  if (state.validity(header) === NO) {
    state.setValidity(header, MAYBE);
    for (const each of header.scalars) state.set(each, YES);
  } else for (const each of header.scalars) state.set(each, state.isWritten(each));
}

function advanceStack(flow: Flow, base: Expression, state: State): void {
  const [stack] = placesOf(flow, base, state);
  if (stack?.kind !== 'stack') return;
  const next = flow.known.single(state.value(stack.next));
  state.set(stack.next, YES, next === undefined ? ANY : flow.known.one(next + 1n));
}

/** Emitted fields must be written. A warning points to the place where the header became valid. */
function emit(flow: Flow, expression: Expression, place: Place, state: State): void {
  if (expression.kind === 'member') look(flow, expression, [state], true);
  for (const header of headersOf(place)) {
    if (state.validity(header) === NO) continue;
    const span = flow.madeValid.get(header) ?? expression.span;
    for (const each of header.scalars) flow.note('uninitialized_use', span, each.name, state.isWritten(each), state);
  }
}
