import type { Expression } from '../ir/program.js';
import type { BinaryOperator } from '../syntax/ast.js';
import { applyTable } from './applications.js';
import { setValid } from './contents.js';
import type { Flow } from './flow.js';
import { bitsOf, isSigned, knownOf, placesOf, validityOf } from './lookups.js';
import type { Place } from './places.js';
import { headersOf } from './places.js';
import { read } from './reads.js';
import { joined, NO, type State, type States, YES } from './state.js';

/** The states in which a condition holds, and in which it does not. */
export interface Branches {
  readonly yes: States;
  readonly no: States;
}

/** Evaluates a condition. The states after it know what it tests about validity and values. */
export function branch(flow: Flow, condition: Expression, states: States): Branches {
  if (states.length === 0) return { yes: [], no: [] };
  switch (condition.kind) {
    case 'unary': {
      if (condition.operator !== '!') break;
      const { yes, no } = branch(flow, condition.operand, states);
      return { yes: no, no: yes };
    }
    case 'binary':
      return binary(flow, condition, states);
    case 'is-valid':
    case 'variable':
    case 'member':
    case 'element':
    case 'constant':
      return equals(flow, condition, 1n, read(flow, condition, states));
    case 'cast':
      if (bitsOf(condition.operand.type) === 1) return equals(flow, condition, 1n, read(flow, condition, states));
      break;
    case 'apply-table': {
      if (condition.result === 'none') break;
      const { hit, miss } = applyTable(flow, condition.table, states);
      const [hits, misses] = [joined(flow.space, ...hit.values()), joined(flow.space, ...miss.values())];
      return condition.result === 'hit' ? { yes: hits, no: misses } : { yes: misses, no: hits };
    }
  }
  const after = read(flow, condition, states);
  return { yes: after.map((each) => each.copy()), no: after };
}

function binary(flow: Flow, condition: Expression<'binary'>, states: States): Branches {
  const { operator, left, right } = condition;
  if (operator === '&&' || operator === '||') {
    const first = branch(flow, left, states);
    const isAnd = operator === '&&';
    const second = branch(flow, right, isAnd ? first.yes : first.no);
    return isAnd
      ? { yes: second.yes, no: joined(flow.space, first.no, second.no) }
      : { yes: joined(flow.space, first.yes, second.yes), no: second.no };
  }
  const after = read(flow, right, read(flow, left, states));
  const [yes, no]: State[][] = [[], []];
  for (const state of after) {
    const compared = comparison(flow, condition, state);
    const way = compared === undefined ? both(state) : equals(flow, compared.place, compared.value, [state]);
    const isSwapped = compared?.isNot === true;
    yes!.push(...(isSwapped ? way.no : way.yes));
    no!.push(...(isSwapped ? way.yes : way.no));
  }
  return { yes: yes!, no: no! };
}

function both(state: State): Branches {
  return { yes: [state.copy()], no: [state] };
}

/** A comparison as one of equality with a value that is known, if it is one. */
function comparison(
  flow: Flow,
  { operator, left, right }: Expression<'binary'>,
  state: State,
): { readonly place: Expression; readonly value: bigint; readonly isNot: boolean } | undefined {
  const [leftValue, rightValue] = [left, right].map((each) => flow.known.single(knownOf(flow, each, state)));
  const value = rightValue ?? leftValue;
  if (value === undefined) return undefined;
  const [place, compared] = rightValue === undefined ? [right, MIRRORED[operator] ?? operator] : [left, operator];
  if (operator === '==' || operator === '!=') return { place, value, isNot: operator === '!=' };
  if (bitsOf(left.type) === undefined || isSigned(left.type)) return undefined;
  // `x > 0` and the like, either way round.
  if (compared === (value === 0n ? '>' : '>=') && value <= 1n) return { place, value: 0n, isNot: true };
  if (compared === (value === 0n ? '<=' : '<') && value <= 1n) return { place, value: 0n, isNot: false };
  return undefined;
}

/** Comparisons with their sides exchanged. */
const MIRRORED: Readonly<Record<string, BinaryOperator>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/** Splits states by whether an expression, already read, has a value. */
export function equals(flow: Flow, expression: Expression, value: bigint, states: States): Branches {
  const [yes, no]: State[][] = [[], []];
  for (const state of states) {
    const way = equalsIn(flow, expression, value, state);
    if (way.yes !== undefined) yes!.push(way.yes);
    if (way.no !== undefined) no!.push(way.no);
  }
  return { yes: yes!, no: no! };
}

interface Way {
  readonly yes?: State | undefined;
  readonly no?: State | undefined;
}

function equalsIn(flow: Flow, expression: Expression, value: bigint, state: State): Way {
  const { known } = flow;
  if (expression.kind === 'cast') {
    const [to, from] = [bitsOf(expression.type), bitsOf(expression.operand.type)];
    if (to !== undefined && from !== undefined && to >= from && !isSigned(expression.operand.type)) {
      return value >> BigInt(from) === 0n ? equalsIn(flow, expression.operand, value, state) : { no: state };
    }
  }
  if (expression.kind === 'unary' && expression.operator === '!') {
    return equalsIn(flow, expression.operand, 1n - value, state);
  }
  if (expression.kind === 'is-valid') {
    const [place, ...others] = placesOf(flow, expression.header, state);
    if (place === undefined || others.length > 0) return { yes: state.copy(), no: state };
    const way = validIn(place, state);
    return value === 1n ? way : { yes: way.no, no: way.yes };
  }
  const before = knownOf(flow, expression, state);
  if (!known.has(before, value)) return { no: state };
  if (known.single(before) === value) return { yes: state };
  const [place, ...others] = placesOf(flow, expression, state);
  const yes = state.copy();
  if (place?.kind !== 'scalar' || others.length > 0 || expression.kind === 'slice') return { yes, no: state };
  yes.set(place, state.isWritten(place), known.one(value));
  const rest = known.without(before, value, bitsOf(expression.type));
  if (rest === undefined) return { yes };
  state.set(place, state.isWritten(place), rest);
  return { yes, no: state };
}

function validIn(place: Place, state: State): Way {
  const validity = validityOf(place, state);
  if (validity === YES) return { yes: state };
  if (validity === NO) return { no: state };
  const yes = state.copy();
  if (place.kind === 'header') {
    setValid(yes, place);
    state.setValidity(place, NO);
  } else for (const each of headersOf(place)) state.setValidity(each, NO);
  return { yes, no: state };
}
