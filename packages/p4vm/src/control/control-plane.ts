import { ActionProfile } from '../externs/action-profile.js';
import type { Calculation } from '../externs/calculations.js';
import { Counter, DirectCounter } from '../externs/counter.js';
import type { Digest } from '../externs/digest.js';
import type { ExternRuntime } from '../externs/extern.js';
import { DirectMeter, Meter } from '../externs/meter.js';
import { Register } from '../externs/register.js';
import type { Action, IrProgram } from '../ir/program.js';
import type { MirrorSession, Replication } from '../switch/replication.js';
import { refuse } from '../tables/control-error.js';
import type { MatchTable } from '../tables/match-table.js';
import type { ProgramState } from '../tables/program-state.js';
import type { ParserValueSet } from '../tables/value-set.js';
import { NameIndex } from './names.js';
import { type ParameterInput, readParameters, TableControl } from './table-control.js';
import { type MatchInput, parseMatch, type ValueNames, valueNames } from './value-input.js';

/** A member of a multicast group. */
export interface ReplicaInput {
  readonly ports: readonly number[];
  /** Replication id, read as `egress_rid`; 0 if absent. */
  readonly replicationId?: number;
}

function ofType<T extends ExternRuntime>(state: ProgramState, kind: (each: ExternRuntime) => each is T): NameIndex<T> {
  return new NameIndex(state.externs.filter(kind), (each) => each.declaration.name);
}

/**
 * Access to the tables and extern objects of a running program by name. A name is a full name such as
 * `MyIngress.ipv4_lpm`, or its end after a dot, such as `ipv4_lpm`, if no other object of the kind has the same end.
 */
export class ControlPlane {
  /** Names that may stand for values. */
  readonly names: ValueNames;
  readonly tables: NameIndex<TableControl>;
  readonly actions: NameIndex<Action>;
  readonly registers: NameIndex<Register>;
  readonly counters: NameIndex<Counter | DirectCounter>;
  readonly meters: NameIndex<Meter | DirectMeter>;
  readonly profiles: NameIndex<ActionProfile>;
  readonly valueSets: NameIndex<ParserValueSet>;
  readonly #owners = new Map<object, MatchTable>();
  readonly #profileTables = new Map<ActionProfile, MatchTable[]>();
  readonly #profileActions = new Map<ActionProfile, NameIndex<Action>>();

  /** @param replication mirror sessions, multicast groups and the rates of queues */
  constructor(
    readonly program: IrProgram,
    readonly state: ProgramState,
    readonly replication: Replication,
  ) {
    this.names = valueNames(program);
    const controls = state.tables.map((table) => new TableControl(table, this.names));
    this.tables = new NameIndex(controls, (table) => table.name);
    this.actions = new NameIndex(program.actions, (action) => action.name);
    this.registers = ofType(state, (each) => each instanceof Register);
    this.counters = ofType(state, (each) => each instanceof Counter || each instanceof DirectCounter);
    this.meters = ofType(state, (each) => each instanceof Meter || each instanceof DirectMeter);
    this.profiles = ofType(state, (each) => each instanceof ActionProfile);
    this.valueSets = new NameIndex(state.valueSets, (each) => each.declaration.name);
    for (const table of state.tables) {
      const { counter, meter, profile } = table;
      for (const each of [counter, meter]) if (each !== undefined) this.#owners.set(each, table);
      if (profile === undefined) continue;
      const tables = this.#profileTables.get(profile);
      if (tables === undefined) this.#profileTables.set(profile, [table]);
      else tables.push(table);
    }
  }

  /** @throws ControlError `ERR_CONTROL_UNKNOWN_TABLE` */
  table(name: string): TableControl {
    return this.tables.get(name, 'ERR_CONTROL_UNKNOWN_TABLE', 'table');
  }

  /** @throws ControlError `ERR_CONTROL_UNKNOWN_EXTERN` */
  register(name: string): Register {
    return this.registers.get(name, 'ERR_CONTROL_UNKNOWN_EXTERN', 'register');
  }

  /** A counter array. @throws ControlError `ERR_CONTROL_UNKNOWN_EXTERN`, `ERR_CONTROL_WRONG_KIND` for a direct counter (see {@link TableControl.counter}) */
  counter(name: string): Counter {
    const counter = this.counters.get(name, 'ERR_CONTROL_UNKNOWN_EXTERN', 'counter');
    if (counter instanceof Counter) return counter;
    return refuse('ERR_CONTROL_WRONG_KIND', `counter ${name} is that of a table's entries`);
  }

  /** A meter array. @throws ControlError `ERR_CONTROL_UNKNOWN_EXTERN`, `ERR_CONTROL_WRONG_KIND` for a direct meter */
  meter(name: string): Meter {
    const meter = this.meters.get(name, 'ERR_CONTROL_UNKNOWN_EXTERN', 'meter');
    if (meter instanceof Meter) return meter;
    return refuse('ERR_CONTROL_WRONG_KIND', `meter ${name} is that of a table's entries`);
  }

  /** An action profile or selector. @throws ControlError `ERR_CONTROL_UNKNOWN_EXTERN` */
  profile(name: string): ActionProfile {
    return this.profiles.get(name, 'ERR_CONTROL_UNKNOWN_EXTERN', 'action profile');
  }

  /** The table of a direct counter or meter. @throws ControlError `ERR_CONTROL_UNKNOWN_TABLE` */
  tableOf(extern: DirectCounter | DirectMeter): MatchTable {
    return this.#owners.get(extern) ?? refuse('ERR_CONTROL_UNKNOWN_TABLE', `${extern.declaration.name} is of no table`);
  }

  /** Actions allowed for members of a profile: those of the tables that use it. */
  profileActions(profile: ActionProfile): NameIndex<Action> {
    let index = this.#profileActions.get(profile);
    if (index === undefined) {
      const tables = this.#profileTables.get(profile) ?? [];
      const actions = tables.flatMap((table) => table.declaration.actions.map(({ action }) => action));
      index = new NameIndex(actions, (action) => action.name);
      this.#profileActions.set(profile, index);
    }
    return index;
  }

  /** Number of tables that use a profile. */
  usesOf(profile: ActionProfile): number {
    return this.#profileTables.get(profile)?.length ?? 0;
  }

  /** Adds a member to an action profile and returns its handle. @throws ControlError */
  addMember(profile: string, action: string, params?: ParameterInput): number {
    const found = this.profile(profile);
    const target = this.profileActions(found).get(
      action,
      'ERR_CONTROL_UNKNOWN_ACTION',
      `action of action profile ${profile} called`,
    );
    return found.addMember(target, readParameters(target, params, this.names));
  }

  /** @throws ControlError `ERR_CONTROL_UNKNOWN_EXTERN` */
  valueSet(name: string): ParserValueSet {
    return this.valueSets.get(name, 'ERR_CONTROL_UNKNOWN_EXTERN', 'value set');
  }

  /** Adds a member to a value set: one match per key. @throws ControlError */
  addToValueSet(name: string, matches: readonly MatchInput[]): void {
    const set = this.valueSet(name);
    const { shapes, declaration } = set;
    if (matches.length > shapes.length)
      refuse('ERR_CONTROL_WRONG_ARITY', `value set ${declaration.name} has ${shapes.length} keys`);
    set.add(matches.map((each, i) => parseMatch(shapes[i]!, declaration.keys[i]!.type, each, this.names)));
  }

  /** A hash of the program: `calc`, `calc_0`, ... @throws ControlError `ERR_CONTROL_UNKNOWN_EXTERN` */
  calculation(name: string): Calculation {
    const { calculations } = this.state;
    return (
      calculations.list.find((each) => each.name === name) ??
      (/^calc(_\d+)?$/.test(name) ? calculations.find(name) : undefined) ??
      refuse('ERR_CONTROL_UNKNOWN_EXTERN', `no calculation ${name}`)
    );
  }

  /** Takes the digests sent since the last call, oldest first. With a name, only those of this learn list. */
  takeDigests(name?: string): readonly Digest[] {
    return this.state.digests.take(name);
  }

  /** Sends clones of a session to a port or, with `group`, to a multicast group. @throws ControlError `ERR_CONTROL_BAD_SESSION` */
  setMirror(session: number, destination: MirrorSession): void {
    this.replication.setMirror(session, destination);
  }

  /** @throws ControlError `ERR_CONTROL_BAD_SESSION` if there is none */
  deleteMirror(session: number): void {
    if (!this.replication.deleteMirror(session))
      refuse('ERR_CONTROL_BAD_SESSION', `there is no mirror session ${session}`);
  }

  /** Makes a multicast group of these replicas. @throws ControlError `ERR_CONTROL_BAD_MULTICAST`, `ERR_CONTROL_NO_ROOM` */
  addMulticastGroup(group: number, replicas: readonly ReplicaInput[]): void {
    const { replication } = this;
    if (!replication.createGroup(group)) refuse('ERR_CONTROL_BAD_MULTICAST', `group ${group} cannot be made`);
    for (const { ports, replicationId = 0 } of replicas) {
      const node = replication.createNode(replicationId, ports);
      if (!replication.associateNode(group, node))
        refuse('ERR_CONTROL_BAD_MULTICAST', `node ${node} cannot be made part of group ${group}`);
    }
  }

  /**
   * Restores all state to that after loading. Keeps value sets, custom hashes, mirror sessions and multicast groups.
   */
  reset(): void {
    this.state.reset();
  }
}
