import type { Expression, IrArgument } from '../ir/program.js';
import { branch } from './branches.js';
import { passArguments, writeAny } from './calls.js';
import type { Flow } from './flow.js';
import { isScalar, placesOf } from './lookups.js';
import { headersOf } from './places.js';
import { look, lookAtAll, lookAtHeader, read, readIndices } from './reads.js';
import { joined, type State, type States, YES } from './state.js';

type ExternCall = Expression<'call-extern'>;

/** Effects of the functions of core.p4 and v1model.p4 on values and validity. */
export function callExtern(flow: Flow, expression: ExternCall, states: States): States {
  const { name, arguments: args } = expression;
  switch (name) {
    case 'verify': {
      const [condition, error] = args.map(({ value }) => value);
      if (condition === undefined) return states;
      const { yes, no } = branch(flow, condition, states);
      const place = flow.standardField('parser_error');
      for (const state of no) {
        const value = error?.kind === 'constant' ? flow.known.one(error.value) : flow.known.not(flow.noError);
        if (place !== undefined) state.set(place, YES, value);
        flow.rejected.push(state);
      }
      return yes;
    }
    case 'assert':
    case 'assume': {
      const [condition] = args;
      return condition?.value === undefined ? states : branch(flow, condition.value, states).yes;
    }
    case 'mark_to_drop': {
      for (const state of states) {
        flow.setStandard(state, 'egress_spec', 511n);
        flow.setStandard(state, 'mcast_grp', 0n);
      }
      return states;
    }
    case 'update_checksum':
    case 'update_checksum_with_payload':
    case 'verify_checksum':
    case 'verify_checksum_with_payload':
      return checksum(flow, args, states);
    default:
      return leaving(flow, expression, passArguments(flow, args, lookIntoWholes(flow, args, states)));
  }
}

/** A struct given to `digest` or a header given to `hash` is read as a whole. */
function lookIntoWholes(flow: Flow, args: readonly IrArgument[], states: States): States {
  const lookInto = (value: Expression, state: State): void => {
    if (value.kind === 'aggregate') for (const each of value.elements) lookInto(each, state);
    else if (!isScalar(value.type)) {
      const [place, ...others] = placesOf(flow, value, state);
      if (place === undefined || others.length > 0) return;
      if (place.kind === 'header' && !lookAtHeader(flow, value, state)) return;
      lookAtAll(flow, value, place, state);
    }
  };
  for (const { value, direction } of args) {
    if (value !== undefined && direction === 'in') for (const state of states) lookInto(value, state);
  }
  return states;
}

/** A checksum leaves out fields of invalid headers. */
function checksum(flow: Flow, args: readonly IrArgument[], states: States): States {
  const [condition, data, sum, algorithm] = args.map(({ value }) => value);
  if (condition === undefined || data === undefined || sum === undefined) return states;
  const { yes, no } = branch(flow, condition, states);
  const summed = readValid(flow, data, yes);
  const isUpdate = args[2]?.direction !== 'in';
  const after = isUpdate ? writeAny(flow, sum, summed) : read(flow, sum, summed);
  return joined(flow.space, algorithm === undefined ? after : read(flow, algorithm, after), no);
}

function readValid(flow: Flow, value: Expression, states: States): States {
  if (value.kind === 'aggregate') return value.elements.reduce((before, each) => readValid(flow, each, before), states);
  if (value.kind !== 'member' || value.base.type.kind !== 'header') return read(flow, value, states);
  const { base } = value;
  const after = readIndices(flow, value, states);
  for (const state of after) {
    const headers = placesOf(flow, base, state).flatMap(headersOf);
    if (headers.every((each) => state.validity(each) === YES)) look(flow, value, [state], false);
  }
  return after;
}

/** Notes packets that will be cloned, resubmitted or recirculated. */
function leaving(flow: Flow, { name, arguments: args, span }: ExternCall, states: States): States {
  const [call] = /^(clone|resubmit|recirculate)/.exec(name) ?? [];
  if (call === undefined) return states;
  const way = call === 'resubmit' || call === 'recirculate' ? call : cloneOf(args[0]);
  const home = call === 'resubmit' ? 'ingress' : call === 'recirculate' ? 'egress' : undefined;
  if (home !== undefined && flow.part !== home) {
    flow.findings.note('unsupported', span, `${name} outside of ${home}`, { right: false, wrong: true, isCut: false });
  }
  const number = args.at(-1)?.value;
  if (name.endsWith('_preserving_field_list') && number?.kind === 'constant') {
    const known = flow.lists.has(way) ? flow.lists.get(way) : new Set<number>();
    known?.add(Number(number.value));
    flow.lists.set(way, known);
  } else if (args.length > (call === 'clone' ? 2 : 0)) {
    // The older forms carry values.
    flow.lists.set(way, undefined);
  } else if (!flow.lists.has(way)) flow.lists.set(way, new Set());
  for (const state of states) state.set(flow.leaves[way], YES, flow.known.one(1n));
  return states;
}

/** The way of a clone, by the first argument of the call. */
function cloneOf(argument: IrArgument | undefined): 'I2E' | 'E2E' {
  const value = argument?.value;
  if (value?.kind !== 'constant' || value.type.kind !== 'enum') return 'I2E';
  return value.type.members[Number(value.value)] === 'E2E' ? 'E2E' : 'I2E';
}

/** Methods of extern objects: their results are written, with unknown values. */
export function callMethod(
  flow: Flow,
  { instance, method, arguments: args }: Expression<'call-method'>,
  states: States,
): States {
  if (method === 'read') flow.metersRead.add(instance);
  return passArguments(flow, args, states);
}
