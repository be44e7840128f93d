import type {
  Action,
  Call,
  ControlInstance,
  Expression,
  IrArgument,
  IrFunction,
  ParserInstance,
} from '../ir/program.js';
import { applied } from './applications.js';
import { store } from './assignments.js';
import {
  capture,
  clear,
  makeInvalid,
  makeValid,
  restore,
  setPerhapsWritten,
  setWritten,
  setWrittenAt,
} from './contents.js';
import { callExtern, callMethod } from './externs.js';
import type { Flow, Frame } from './flow.js';
import { ANY } from './known-values.js';
import { isScalar, placesOf, staticPlace } from './lookups.js';
import { callPacket } from './packets.js';
import { runParser } from './parsers.js';
import { headersOf, type Place, scalarsOf } from './places.js';
import { look, read, readIndices } from './reads.js';
import { joined, MAYBE, NO, type State, type States, YES } from './state.js';
import { run, runAll } from './statements.js';

/** Evaluates a call in all states. */
export function call(flow: Flow, expression: Call, states: States): States {
  switch (expression.kind) {
    case 'set-validity':
      return setValidity(flow, expression, states);
    case 'push-pop':
      return pushPop(flow, expression, states);
    case 'call-function': {
      const { target } = expression;
      let result = flow.results.get(target.id);
      if (result === undefined) {
        result = flow.places.make(target.returnType, target.name, false);
        flow.results.set(target.id, result);
      }
      const outer = flow.result;
      flow.result = result;
      const after = invoke(flow, target, expression.arguments, states, (each) => run(flow, target.body, each));
      flow.result = outer;
      return after;
    }
    case 'call-action': {
      const { target } = expression;
      if (!flow.isInAction && !flow.calledByControls.has(target)) flow.calledByControls.set(target, expression.span);
      return invokeAction(flow, target, expression.arguments, states);
    }
    case 'apply-instance':
      return invoke(flow, expression.target, expression.arguments, states, (each) =>
        runInstance(flow, expression.target, each),
      );
    case 'apply-table':
      return applied(flow, expression.table, states);
    case 'call-extern':
      return callExtern(flow, expression, states);
    case 'call-packet':
      return callPacket(flow, expression, states);
    case 'call-method':
      return callMethod(flow, expression, states);
  }
}

/** Runs a parser or control whose parameters have their values. */
export function runInstance(flow: Flow, instance: ControlInstance | ParserInstance, states: States): States {
  for (const variable of instance.locals) {
    const place = flow.places.of(variable);
    for (const state of states) clear(state, place, flow.known);
  }
  const before = runAll(flow, instance.initial, states);
  return instance.kind === 'control' ? run(flow, instance.body, before) : runParser(flow, instance, before);
}

/** Runs an action, called or chosen by a table. */
export function invokeAction(flow: Flow, action: Action, args: readonly IrArgument[], states: States): States {
  const { isInAction } = flow;
  flow.isInAction = true;
  const after = invoke(flow, action, args, states, (each) => run(flow, action.body, each));
  flow.isInAction = isInAction;
  return after;
}

type Callee = Pick<IrFunction, 'name' | 'parameters' | 'span'>;

/**
 * Makes a call: passes the arguments, runs `body`, and stores the results at the caller's places, after `exit` as well.
 */
function invoke(
  flow: Flow,
  callee: Callee,
  args: readonly IrArgument[],
  states: States,
  body: (states: States) => States,
): States {
  const { parameters } = callee;
  let before = states;
  const shared = parameters.map(({ variable, direction }, at): Place | undefined => {
    const value = args[at]?.value;
    if (value === undefined || direction === 'out' || isScalar(variable.type)) return undefined;
    return staticPlace(flow, value);
  });
  for (const [at, parameter] of parameters.entries()) {
    const own = flow.places.own(parameter.variable);
    const value = args[at]?.value;
    if (shared[at] !== undefined) continue;
    if (parameter.direction === 'out' || value === undefined) {
      const isOut = parameter.direction === 'out';
      for (const state of before) isOut ? clear(state, own, flow.known) : setWritten(state, own);
      if (value !== undefined) before = readIndices(flow, value, before);
    } else before = store(flow, value, before, () => [own]);
  }
  for (const [at, { variable }] of parameters.entries()) flow.places.bind(variable, shared[at]);
  const frame: Frame = { returns: [], exits: [] };
  const outer = { frame: flow.frame, loops: flow.loops };
  flow.frame = frame;
  flow.loops = [];
  const through = body(before);
  flow.frame = outer.frame;
  flow.loops = outer.loops;
  const after = joined(flow.space, through, frame.returns);
  noteOutParameters(flow, callee, after);
  for (const { variable } of parameters) flow.places.bind(variable, undefined);
  const copyOut = (state: State): void => {
    for (const [at, { variable, direction }] of parameters.entries()) {
      const value = args[at]?.value;
      if (value === undefined || shared[at] !== undefined || (direction !== 'out' && direction !== 'inout')) continue;
      look(flow, value, [state], true);
      if (value.kind === 'slice') continue;
      const places = placesOf(flow, value, state);
      if (places.length === 1) restore(state, places[0]!, capture(state, flow.places.own(variable)));
      else setPerhapsWritten(state, places);
    }
  };
  after.forEach(copyOut);
  frame.exits.forEach(copyOut);
  outer.frame.exits.push(...frame.exits);
  return after;
}

/** Notes unwritten values of out parameters. Headers are exempt, because they may be invalid. */
function noteOutParameters(flow: Flow, { name, parameters, span }: Callee, states: States): void {
  for (const { variable, direction } of parameters) {
    if (direction !== 'out') continue;
    const own = flow.places.own(variable);
    const inHeaders = new Set(headersOf(own).flatMap(({ scalars }) => scalars));
    for (const scalar of scalarsOf(own)) {
      if (inHeaders.has(scalar)) continue;
      for (const state of states) {
        flow.note('uninitialized_out_param', span, `${scalar.name} of ${name}`, state.isWritten(scalar), state);
      }
    }
  }
}

function setValidity(flow: Flow, { header, valid }: Expression<'set-validity'>, states: States): States {
  const after = readIndices(flow, header, states);
  for (const state of after) {
    const places = placesOf(flow, header, state);
    const [place] = places;
    if (places.length !== 1) {
      for (const each of places.flatMap(headersOf)) {
        if (state.validity(each) === (valid ? NO : YES)) state.setValidity(each, MAYBE);
      }
    } else if (!valid) makeInvalid(state, place!);
    else if (place!.kind === 'header') {
      makeValid(state, place!);
      flow.madeValid.set(place!, header.span);
    }
  }
  return after;
}

function pushPop(flow: Flow, { stack, method, count }: Expression<'push-pop'>, states: States): States {
  const after = readIndices(flow, stack, states);
  for (const state of after) {
    const [place, ...others] = placesOf(flow, stack, state);
    if (place?.kind !== 'stack' || others.length > 0) continue;
    const { elements, next } = place;
    const held = elements.map((each) => capture(state, each));
    const by = method === 'push_front' ? -count : count;
    for (const [at, element] of elements.entries()) {
      const from = held[at + by];
      if (from === undefined) clear(state, element, flow.known);
      else restore(state, element, from);
    }
    const known = flow.known.single(state.value(next));
    const moved = known === undefined ? undefined : Number(known) - by;
    const value = moved === undefined ? ANY : flow.known.one(BigInt(Math.max(0, Math.min(moved, elements.length))));
    state.set(next, YES, value);
  }
  return after;
}

/** Writes an unknown value to an argument. */
export function writeAny(flow: Flow, target: Expression, states: States): States {
  const after = readIndices(flow, target, states);
  look(flow, target, after, true);
  for (const state of after) {
    if (target.kind !== 'slice') setWrittenAt(state, placesOf(flow, target, state));
  }
  return after;
}

/** Evaluates the arguments of a callee outside of the program: first those it reads, then those it writes. */
export function passArguments(flow: Flow, args: readonly IrArgument[], states: States): States {
  let after = states;
  for (const { direction, value } of args) {
    if (value !== undefined && direction !== 'out') after = read(flow, value, after);
  }
  for (const { direction, value } of args) {
    if (value !== undefined && (direction === 'out' || direction === 'inout')) after = writeAny(flow, value, after);
  }
  return after;
}
