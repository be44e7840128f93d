import { LocalProgram } from '@int/p4runtime/internals';
import type { IrProgram } from '@int/p4vm';
import type { Change, ChangePlan } from '../change/change.js';
import type { DesiredState } from '../change/desired-state.js';
import type { ModelSwitch, NetworkModel } from '../model/network-model.js';
import { dropsOfFlow } from './drops.js';
import { FlowState } from './flow-state.js';
import { capacityOf, type Loads, linkText, loadsOf } from './link-loads.js';
import { measureMeters } from './meters.js';
import type { DroppedFlow, Invariants, Minute, Rehearsal, RehearsedStep } from './rehearsal.js';
import { representativeOf } from './representative.js';
import { TwinSwitch } from './twin-switch.js';
import { Violations } from './violations.js';
import { entranceOf, type Ground } from './walk.js';

/** RESOURCE_EXHAUSTED of gRPC. */
const EXHAUSTED = 8;
/** A load that is larger by so little is the same. */
const SAME_LOAD = 1.001;
/** A share of packets that is larger by so little is the same. */
const SAME_SHARE = 0.02;

type TwinPrograms = Readonly<Partial<Record<ModelSwitch['program'], IrProgram>>>;

/**
 * A twin of the network: a machine with the real program for each switch. A packet of each flow goes through them, with the
 * tables of before, after each step of a change, and in the end.
 */
export class Twin {
  readonly #programs: TwinPrograms;
  readonly #local = new WeakMap<ModelSwitch['p4info'], LocalProgram>();

  /** @param programs the programs of the switches, by their names in the model */
  constructor(programs: TwinPrograms) {
    this.#programs = programs;
  }

  /**
   * Says what a change would do to the traffic of the last minute. Nothing outside of it is touched, and the same arguments give
   * the same answer.
   *
   * @param before all entities that the switches have, as far as they are known
   * @throws RangeError if the minute has no length, or the twin was not given the program of a switch
   * @throws TargetError if the P4Info of a switch is not that of its program
   */
  rehearse(
    network: NetworkModel,
    before: DesiredState,
    plan: ChangePlan,
    minute: Minute,
    invariants: Invariants,
  ): Rehearsal {
    const { seconds } = minute;
    if (!(seconds > 0 && Number.isFinite(seconds))) throw new RangeError(`a minute of ${seconds} seconds`);
    const { topology, failedLinks } = network;
    const violations = new Violations();
    const switches = this.#build(network, before, violations);
    const ground: Ground = { topology, switches, failedLinks };
    const tablesBefore = tablesOf(switches);

    const flows = statesOf(ground, minute);
    measureMeters(ground, flows, new Set(), seconds);
    for (const state of flows) state.keepMetered();
    const loadsBefore = loadsOf(flows, seconds, 'before');
    const steps: RehearsedStep[] = [];
    let loads = loadsBefore;
    let dropped: readonly DroppedFlow[] = dropsOf(ground, flows, invariants, steps.length, new Violations());
    plan.forEach((changes, step) => {
      const changed = new Set(changes.map(({ switchId }) => switchId));
      for (const change of changes) install(network, switches, change, step, violations);
      let walked = 0;
      for (const state of flows) {
        if (!state.passes(changed)) continue;
        state.rewalk(ground);
        walked++;
      }
      measureMeters(ground, flows, changed, seconds);
      loads = loadsOf(flows, seconds, 'now');
      checkEnds(flows, step, violations);
      checkLoads(network, loadsBefore, loads, invariants, step, violations);
      dropped = dropsOf(ground, flows, invariants, step, violations);
      const lost = flows.filter((state) => !isDelivered(state)).length;
      steps.push({
        changes: changes.length,
        walked,
        delivered: flows.length - lost,
        lost,
        linkLoad: highest(network, loads),
      });
    });

    const list = violations.list();
    return {
      isSafe: list.length === 0,
      violations: list,
      moved: flows
        .filter(({ before: from, now: to }) => from.path.join() !== to.path.join())
        .map(({ flow, before: from, now: to }) => ({ flow, from: from.path, to: to.path })),
      loads: new Map(
        [...new Set([...loadsBefore.keys(), ...loads.keys()])].sort().map((link) => [
          link,
          {
            beforeBps: loadsBefore.get(link) ?? 0,
            afterBps: loads.get(link) ?? 0,
            capacityBps: capacityOf(topology, link),
          },
        ]),
      ),
      dropped,
      steps,
      tables: compareTables(tablesBefore, tablesOf(switches)),
      unplaced: minute.flows.length - flows.length,
      astray: flows.filter(
        ({ flow, before: { path, end } }) =>
          end.kind === 'delivered' && flow.path.length > 0 && flow.path.join() !== path.join(),
      ).length,
    };
  }

  #build(
    { switches, topology }: NetworkModel,
    before: DesiredState,
    violations: Violations,
  ): ReadonlyMap<number, TwinSwitch> {
    const built = new Map<number, TwinSwitch>();
    for (const [id, { program, p4info }] of switches) {
      let local = this.#local.get(p4info);
      if (local === undefined) {
        const ir = this.#programs[program];
        if (ir === undefined) throw new RangeError(`the twin has no program '${program}', which switch ${id} runs`);
        local = new LocalProgram(ir, p4info);
        this.#local.set(p4info, local);
      }
      const machine = new TwinSwitch(id, local);
      for (const { entity, refused } of machine.install(before.get(id) ?? [])) {
        const message = `${entity.kind}: ${refused.grpcName}: ${refused.message}`;
        violations.add('refused-entry', -1, topology.switchText(id), message);
      }
      built.set(id, machine);
    }
    return built;
  }
}

function statesOf(ground: Ground, { flows, seconds }: Minute): FlowState[] {
  return flows.flatMap((flow) => {
    const representative = representativeOf(flow);
    const entrance = representative && entranceOf(ground, flow, representative);
    return representative === null || entrance === null
      ? []
      : [new FlowState(ground, flow, representative, entrance, seconds)];
  });
}

function install(
  { topology, switches: known }: NetworkModel,
  switches: ReadonlyMap<number, TwinSwitch>,
  { switchId, type, before, after, intents }: Change,
  step: number,
  violations: Violations,
): void {
  const where = topology.switchText(switchId);
  const machine = switches.get(switchId);
  const entity = type === 'delete' ? before : after;
  if (machine === undefined || known.get(switchId)?.isUp !== true || entity === null) {
    const why = entity === null ? 'the change has no entity' : 'there is no session with the switch';
    violations.add('refused-entry', step, where, why);
    return;
  }
  const refused = machine.write(type, entity, intents);
  if (refused === undefined) return;
  const kind = refused.grpcCode === EXHAUSTED ? 'resources' : 'refused-entry';
  violations.add(kind, step, where, `${refused.grpcName}: ${refused.message}`);
}

/** Whether all packets of a flow arrive. */
function isDelivered({ now, metered }: FlowState): boolean {
  return now.end.kind === 'delivered' && [...metered.values()].every((share) => share === 1);
}

/** Flows that were delivered before, or at least did not loop, and are not any more. */
function checkEnds(flows: readonly FlowState[], step: number, violations: Violations): void {
  for (const { flow, before, now } of flows) {
    const { kind, where, message } = now.end;
    if (kind === 'delivered' || kind === 'drop') continue;
    const isNew = before.end.kind === 'delivered' || (kind === 'loop' && before.end.kind !== 'loop');
    if (isNew) violations.add(kind, step, where, message, flow);
  }
}

/** All that switches drop now. What was delivered before, and is not meant to be dropped, is a violation. */
function dropsOf(
  ground: Ground,
  flows: readonly FlowState[],
  invariants: Invariants,
  step: number,
  violations: Violations,
): DroppedFlow[] {
  return flows.flatMap((state) =>
    dropsOfFlow(ground, state, invariants).map(({ isMeant, ...dropped }) => {
      const { switchId, tables, share } = dropped;
      const { path, end } = state.before;
      // What meters hold back may vary a little with those who share them.
      const isNew = end.kind === 'delivered' && state.passing(path, 'before') - (1 - share) > SAME_SHARE;
      if (!isMeant && isNew) {
        const where = ground.topology.switchText(switchId);
        // Without an entry nobody decided: the packet finds no way on.
        const kind = tables.length === 0 ? 'black-hole' : 'drop';
        violations.add(kind, step, where, `${where} drops ${share === 1 ? 'it' : 'some of it'}`, state.flow);
      }
      return dropped;
    }),
  );
}

function checkLoads(
  { topology }: NetworkModel,
  before: Loads,
  now: Loads,
  { linkLoad }: Invariants,
  step: number,
  violations: Violations,
): void {
  for (const [link, bps] of now) {
    const capacity = capacityOf(topology, link);
    if (capacity === null || bps <= linkLoad * capacity || bps <= (before.get(link) ?? 0) * SAME_LOAD) continue;
    const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
    const message = `load of ${percent(bps / capacity)}, above ${percent(linkLoad)}`;
    violations.add('overload', step, linkText(topology, link), message);
  }
}

function highest({ topology }: NetworkModel, loads: Loads): number {
  let most = 0;
  for (const [link, bps] of loads) {
    const capacity = capacityOf(topology, link);
    if (capacity !== null && capacity > 0) most = Math.max(most, bps / capacity);
  }
  return most;
}

type Tables = ReadonlyMap<number, ReturnType<TwinSwitch['tables']>>;

function tablesOf(switches: ReadonlyMap<number, TwinSwitch>): Tables {
  return new Map([...switches].map(([id, machine]) => [id, machine.tables()]));
}

function compareTables(before: Tables, after: Tables): Rehearsal['tables'] {
  return [...after].flatMap(([switchId, tables]) =>
    tables.flatMap(({ table, entries, size }, at) => {
      const earlier = before.get(switchId)?.[at]?.entries ?? 0;
      return entries === 0 && earlier === 0 ? [] : [{ switchId, table, before: earlier, after: entries, size }];
    }),
  );
}
