import type { Expression } from '../ir/program.js';
import { branch } from './branches.js';
import { call } from './calls.js';
import type { Flow } from './flow.js';
import { isScalar, placesOf, staticPlace } from './lookups.js';
import type { Place, ScalarPlace } from './places.js';
import { joined, NO, type State, type States, YES } from './state.js';

/** Evaluates an expression in all states: checks its reads and runs its calls. */
export function read(flow: Flow, expression: Expression, states: States): States {
  if (states.length === 0) return states;
  switch (expression.kind) {
    case 'constant':
    case 'string':
    case 'default':
      return states;
    case 'variable':
    case 'member':
    case 'element':
    case 'stack-next':
    case 'stack-last': {
      const after = readIndices(flow, expression, states);
      look(flow, expression, after, false);
      return after;
    }
    case 'slice':
    case 'stack-last-index':
      return expression.kind === 'slice' ? read(flow, expression.base, states) : states;
    case 'dynamic-slice':
      return read(flow, expression.low, read(flow, expression.base, states));
    case 'unary':
    case 'cast':
      return read(flow, expression.operand, states);
    case 'binary': {
      const { operator, left, right } = expression;
      if (operator !== '&&' && operator !== '||') return read(flow, right, read(flow, left, states));
      const { yes, no } = branch(flow, expression, states);
      return joined(flow.space, yes, no);
    }
    case 'conditional': {
      const { yes, no } = branch(flow, expression.condition, states);
      return joined(flow.space, read(flow, expression.whenTrue, yes), read(flow, expression.whenFalse, no));
    }
    case 'aggregate':
      return expression.elements.reduce((before, each) => read(flow, each, before), states);
    case 'is-valid':
      return readIndices(flow, expression.header, states);
    default:
      return call(flow, expression, states);
  }
}

/** Evaluates the indices of an expression that denotes a place, and its root if that is no place. */
export function readIndices(flow: Flow, expression: Expression, states: States): States {
  switch (expression.kind) {
    case 'variable':
      return states;
    case 'member':
    case 'slice':
    case 'stack-next':
    case 'stack-last':
      return readIndices(flow, expression.base, states);
    case 'element':
      return read(flow, expression.index, readIndices(flow, expression.base, states));
    default:
      return read(flow, expression, states);
  }
}

/** Checks an access to a place: whether its header is valid and, for a read, whether it was written. */
export function look(flow: Flow, expression: Expression, states: States, isWritten: boolean): void {
  const headers: Expression[] = [];
  for (let each: Expression = expression; ; each = each.base) {
    if (each.kind !== 'member' && each.kind !== 'element' && each.kind !== 'slice') break;
    if (each.kind === 'member' && each.base.type.kind === 'header') headers.push(each.base);
  }
  const isRead = !isWritten && isScalar(expression.type);
  if (headers.length === 0 && !isRead) return;
  const value = isRead ? staticPlace(flow, expression) : undefined;
  const fixed = headers.map((header) => staticPlace(flow, header));
  for (const state of states) {
    const areThere = headers.map((header, at) => lookAtHeader(flow, header, state, fixed[at]));
    if (!isRead || areThere.includes(false)) continue;
    const places = value === undefined ? placesOf(flow, expression, state) : [value];
    noteWritten(flow, expression, places, state);
  }
}

/**
 * Notes whether a header is valid, and returns whether it may be. `known` is its place if it is the same in all states.
 */
export function lookAtHeader(flow: Flow, header: Expression, state: State, known?: Place): boolean {
  const places = known === undefined ? placesOf(flow, header, state) : [known];
  const all = places.map((each) => (each.kind === 'header' ? state.validity(each) : YES));
  if (all.length === 0) return true;
  const validity = oneOf(all);
  flow.note('invalid_header', header.span, nameOf(header, places), validity, state);
  return validity !== NO;
}

/** With an unknown index, assume a correct place if there is one. */
function oneOf(all: readonly number[]): number {
  return all.length === 1 ? all[0]! : all.some((each) => each !== NO) ? YES : NO;
}

function noteWritten(flow: Flow, expression: Expression, places: readonly Place[], state: State): void {
  const scalars = places.filter((each): each is ScalarPlace => each.kind === 'scalar');
  const [first] = scalars;
  if (first === undefined) return;
  const written = oneOf(scalars.map((each) => state.isWritten(each)));
  const kind = flow.metadataValues.has(first.id) ? 'uninitialized_metadata' : 'uninitialized_use';
  flow.note(kind, expression.span, nameOf(expression, places), written, state);
}

function nameOf(expression: Expression, places: readonly Place[]): string {
  if (places.length === 1) return places[0]!.name;
  const { file, start, end } = expression.span;
  return file.text.slice(start, Math.min(end, start + 80));
}

/** Checks all values in a place that is read as a whole; fields of headers only if the header is valid. */
export function lookAtAll(flow: Flow, expression: Expression, place: Place, state: State): void {
  if (place.kind === 'scalar') noteWritten(flow, expression, [place], state);
  else if (place.kind !== 'stack' && !(place.kind === 'header' && state.validity(place) === NO)) {
    for (const each of place.fields.values()) lookAtAll(flow, expression, each, state);
  }
}
