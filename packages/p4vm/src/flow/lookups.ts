import type { DataType, Expression } from '../ir/program.js';
import type { Flow } from './flow.js';
import { ANY } from './known-values.js';
import type { HeaderPlace, Place } from './places.js';
import { NO, type State, YES } from './state.js';

/** The places that an expression may denote: one, several if an index is unknown, none if it denotes no place. */
export function placesOf(flow: Flow, expression: Expression, state: State): readonly Place[] {
  switch (expression.kind) {
    case 'variable':
      return [flow.places.of(expression.variable)];
    case 'member':
      return placesOf(flow, expression.base, state).flatMap((base) => memberOf(base, expression.field) ?? []);
    case 'slice':
      return placesOf(flow, expression.base, state);
    case 'element':
      return elements(flow, expression.base, flow.known.single(knownOf(flow, expression.index, state)), 0n, state);
    case 'stack-next':
    case 'stack-last': {
      const [stack] = placesOf(flow, expression.base, state);
      const next = stack?.kind === 'stack' ? flow.known.single(state.value(stack.next)) : undefined;
      return elements(flow, expression.base, next, expression.kind === 'stack-last' ? 1n : 0n, state);
    }
    default:
      return [];
  }
}

function elements(
  flow: Flow,
  base: Expression,
  index: bigint | undefined,
  less: bigint,
  state: State,
): readonly Place[] {
  return placesOf(flow, base, state).flatMap((stack) => {
    if (stack.kind !== 'stack') return [];
    return index === undefined ? stack.elements : (stack.elements[Number(index - less)] ?? []);
  });
}

function memberOf(place: Place, field: string): Place | undefined {
  return place.kind === 'scalar' || place.kind === 'stack' ? undefined : place.fields.get(field);
}

/** The place of an expression that denotes the same place in all packets. */
export function staticPlace(flow: Flow, expression: Expression): Place | undefined {
  switch (expression.kind) {
    case 'variable':
      return flow.places.of(expression.variable);
    case 'member': {
      const base = staticPlace(flow, expression.base);
      return base && memberOf(base, expression.field);
    }
    case 'element': {
      const base = staticPlace(flow, expression.base);
      const { index } = expression;
      return base?.kind === 'stack' && index.kind === 'constant' ? base.elements[Number(index.value)] : undefined;
    }
    default:
      return undefined;
  }
}

export function isScalar(type: DataType): boolean {
  switch (type.kind) {
    case 'struct':
    case 'header':
    case 'union':
    case 'stack':
    case 'void':
      return false;
    default:
      return true;
  }
}

/** Width of a type whose values are tracked, in bits. */
export function bitsOf(type: DataType): number | undefined {
  if (type.kind === 'bool') return 1;
  return type.kind === 'bits' ? type.width : undefined;
}

/** Whether a header, or a union, is valid. */
export function validityOf(place: Place, state: State): number | undefined {
  if (place.kind === 'header') return state.validity(place);
  if (place.kind !== 'union') return undefined;
  const members = [...place.fields.values()].filter((each): each is HeaderPlace => each.kind === 'header');
  const all = members.map((each) => state.validity(each));
  if (all.includes(YES)) return YES;
  return all.every((each) => each === NO) ? NO : undefined;
}

/** The known values of an expression, as a number of `KnownValues`. Its calls have been evaluated before. */
export function knownOf(flow: Flow, expression: Expression, state: State): number {
  const { known } = flow;
  switch (expression.kind) {
    case 'constant':
      return known.one(expression.value);
    case 'variable':
    case 'member':
    case 'element':
    case 'stack-next':
    case 'stack-last': {
      const [place, ...others] = placesOf(flow, expression, state);
      return place?.kind === 'scalar' && others.length === 0 ? state.value(place) : ANY;
    }
    case 'cast':
      return castValue(flow, expression, state);
    case 'stack-last-index': {
      const [stack] = placesOf(flow, expression.base, state);
      const next = stack?.kind === 'stack' ? known.single(state.value(stack.next)) : undefined;
      return next === undefined ? ANY : known.one(BigInt.asUintN(32, next - 1n));
    }
    case 'is-valid': {
      const [place, ...others] = placesOf(flow, expression.header, state);
      const validity = place && others.length === 0 ? validityOf(place, state) : undefined;
      return validity === YES ? known.one(1n) : validity === NO ? known.one(0n) : ANY;
    }
    case 'call-function': {
      const result = flow.results.get(expression.target.id);
      return result?.kind === 'scalar' ? state.value(result) : ANY;
    }
    default:
      return ANY;
  }
}

function castValue(flow: Flow, { type, operand }: Expression<'cast'>, state: State): number {
  const [to, from] = [bitsOf(type), bitsOf(operand.type)];
  if (to === undefined || from === undefined || isSigned(type) || isSigned(operand.type)) return ANY;
  const value = knownOf(flow, operand, state);
  if (to >= from) return value;
  const only = flow.known.single(value);
  return only === undefined ? ANY : flow.known.one(BigInt.asUintN(to, only));
}

export function isSigned(type: DataType): boolean {
  return type.kind === 'bits' && type.isSigned;
}
