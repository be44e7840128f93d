import type { ControlInstance, ParserInstance } from '../ir/program.js';
import { runInstance } from './calls.js';
import { capture, clear, restore } from './contents.js';
import type { Flow } from './flow.js';
import { type Place, scalarsOf } from './places.js';
import { Arrivals, joined, NO, State, type States, YES } from './state.js';

/** Values of `instance_type`: see simple_switch. */
const INSTANCE = {
  normal: 0n,
  ingressClone: 1n,
  egressClone: 2n,
  recirculated: 4n,
  replicated: 5n,
  resubmitted: 6n,
} as const;
/** `egress_spec` of a packet that is dropped. */
const DROP_PORT = 511n;

type Way = keyof Flow['leaves'];

/** Follows packets through the parts of V1Switch until no new state appears. */
export function followPackets(flow: Flow): void {
  const { program, space } = flow;
  const received = new Arrivals(space);
  const clones = new Arrivals(space);
  received.add(receivedState(flow, INSTANCE.normal));
  while (received.isWaiting || clones.isWaiting) {
    flow.rejected = [];
    const accepted = part(flow, program.parser, received.take());
    const parsed = joined(space, accepted, flow.rejected);
    const copies = parsed.map((each) => each.copy());
    const ingress = part(flow, program.ingress, part(flow, program.verifyChecksum, copies));
    goRound(flow, 'resubmit', ingress, received, INSTANCE.resubmitted);
    cloneOfIngress(flow, parsed, ingress, clones);
    const queued = ingress.filter((each) => !isDropped(flow, each)).map((each) => toEgress(flow, each));
    const egress = part(flow, program.egress, joined(space, queued, clones.take()));
    goRound(flow, 'recirculate', egress, received, INSTANCE.recirculated);
    cloneOfEgress(flow, egress, clones);
    const leaving = egress.filter((each) => !isDropped(flow, each));
    part(flow, program.deparser, part(flow, program.computeChecksum, leaving));
  }
}

/** Runs a part of the switch. Its parameters are the packet's headers and metadata. */
function part(flow: Flow, instance: ParserInstance | ControlInstance, states: States): States {
  const { headers, metadata, standard } = flow;
  const all: readonly Place[] = [headers, metadata, standard];
  for (const [at, { variable }] of instance.parameters.entries()) flow.places.bind(variable, all[at]);
  const { ingress, egress } = flow.program;
  flow.part = instance === ingress ? 'ingress' : instance === egress ? 'egress' : undefined;
  flow.frame = { returns: [], exits: [] };
  const { frame } = flow;
  const through = runInstance(flow, instance, states);
  return joined(flow.space, through, frame.returns, frame.exits);
}

/**
 * A packet before the parser. The switch has written the standard metadata; simple_switch sets the user metadata to 0.
 */
function receivedState(flow: Flow, instance: bigint): State {
  const { known } = flow;
  const state = new State(flow.space);
  clear(state, flow.headers, known);
  for (const each of scalarsOf(flow.metadata)) state.set(each, NO, known.one(0n));
  for (const each of scalarsOf(flow.standard)) state.set(each, YES);
  flow.setStandard(state, 'instance_type', instance);
  for (const name of ['egress_spec', 'mcast_grp', 'checksum_error']) flow.setStandard(state, name, 0n);
  flow.setStandard(state, 'parser_error', flow.noError);
  for (const each of [flow.consumed, ...Object.values(flow.leaves)]) state.set(each, YES, known.one(0n));
  return state;
}

function isDropped(flow: Flow, state: State): boolean {
  const [port, group] = ['egress_spec', 'mcast_grp'].map((name) => {
    const place = flow.standardField(name);
    return place && flow.known.single(state.value(place));
  });
  return port === DROP_PORT && group === 0n;
}

/** Applies the switch's changes between the pipelines. */
function toEgress(flow: Flow, state: State): State {
  const { known } = flow;
  const after = state.copy();
  const type = flow.standardField('instance_type');
  const group = flow.standardField('mcast_grp');
  if (type !== undefined && group !== undefined && known.single(state.value(group)) !== 0n) {
    after.set(type, YES, known.union(state.value(type), known.one(INSTANCE.replicated)));
  }
  flow.setStandard(after, 'egress_spec', 0n);
  for (const each of Object.values(flow.leaves)) after.set(each, YES, known.one(0n));
  return after;
}

/** States whose packets take `way` at the end of a pipeline. */
function goers(flow: Flow, way: Way, states: States): States {
  return states.filter((each) => flow.known.has(each.value(flow.leaves[way]), 1n));
}

/** The places of the metadata that a packet keeps on this way. */
function listed(flow: Flow, way: Way): readonly Place[] {
  const numbers = flow.lists.get(way);
  if (numbers === undefined) return [flow.metadata];
  const paths = [...numbers].flatMap((number) => flow.program.fieldLists.get(number) ?? []);
  return paths.flatMap((path) => {
    let place: Place | undefined = flow.metadata;
    for (const field of path) place = place?.kind === 'struct' ? place.fields.get(field) : undefined;
    return place ?? [];
  });
}

/** Gives a packet that enters again the metadata that it keeps, from the states in which it left. */
function takeAlong(flow: Flow, way: Way, from: States, to: State): void {
  for (const each of scalarsOf(flow.metadata)) to.set(each, NO, flow.known.one(0n));
  for (const place of listed(flow, way)) {
    let isFirst = true;
    for (const state of from) {
      const other = to.copy();
      restore(other, place, capture(state, place));
      if (isFirst) restore(to, place, capture(state, place));
      else to.join(other);
      isFirst = false;
    }
  }
}

function goRound(flow: Flow, way: Way, states: States, received: Arrivals, instance: bigint): void {
  const from = goers(flow, way, states);
  if (from.length === 0) return;
  const state = receivedState(flow, instance);
  takeAlong(flow, way, from, state);
  received.add(state);
}

/** A clone of ingress: the packet as it was parsed, with metadata as at the end of ingress. */
function cloneOfIngress(flow: Flow, parsed: States, ingress: States, clones: Arrivals): void {
  const from = goers(flow, 'I2E', ingress);
  if (from.length === 0) return;
  for (const each of parsed) {
    const clone = toEgress(flow, each);
    takeAlong(flow, 'I2E', from, clone);
    flow.setStandard(clone, 'instance_type', INSTANCE.ingressClone);
    clones.add(clone);
  }
}

/** A clone of egress: the packet at the end of egress, with the metadata that it keeps. */
function cloneOfEgress(flow: Flow, egress: States, clones: Arrivals): void {
  for (const each of goers(flow, 'E2E', egress)) {
    const clone = toEgress(flow, each);
    takeAlong(flow, 'E2E', [each], clone);
    flow.setStandard(clone, 'instance_type', INSTANCE.egressClone);
    clones.add(clone);
  }
}
