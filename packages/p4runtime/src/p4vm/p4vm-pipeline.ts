import type { DataType, Digest, V1Switch } from '@int/p4vm';
import { dataParameters, type ExternRuntime, widthOf } from '@int/p4vm/internals';
import type { ActionSchema, MeterSchema, PipelineSchema } from '../server/schema.js';
import {
  type TargetCloneSession,
  type TargetCounter,
  TargetError,
  type TargetEvents,
  type TargetMeter,
  type TargetPipeline,
  type TargetProfile,
  type TargetRegister,
  type TargetReplica,
  type TargetValueSet,
} from '../server/target.js';
import { controlled } from './control-errors.js';
import { meterSetting } from './meter-setting.js';
import { P4vmProfile } from './p4vm-profile.js';
import { type ActionIds, P4vmTable } from './p4vm-table.js';

type Replication = V1Switch['replication'];

function missing(message: string): TargetError {
  return new TargetError('ERR_TARGET_INVALID', message);
}

function wrong(message: string): never {
  throw missing(message);
}

/** The objects of a machine by the ids of P4Info. They are found by their names, and must have the same shapes. */
export class P4vmPipeline implements TargetPipeline {
  readonly #tables = new Map<number, P4vmTable>();
  readonly #profiles = new Map<number, P4vmProfile>();
  readonly #counters = new Map<number, TargetCounter>();
  readonly #meters = new Map<number, TargetMeter>();
  readonly #registers = new Map<number, TargetRegister>();
  readonly #valueSets = new Map<number, TargetValueSet>();
  readonly #digests = new Map<string, number>();
  readonly #replication: Replication;

  /** @throws TargetError `ERR_TARGET_INVALID` if P4Info is not that of the machine's program */
  constructor(
    schema: PipelineSchema,
    readonly machine: V1Switch,
  ) {
    this.#replication = machine.replication;
    const { state } = machine;
    const actions = actionIds(schema, machine);
    for (const { id, name, hasSelector } of schema.profiles.values()) {
      const profile = this.#extern(name, 'action_profile');
      if (profile.isSelector !== hasSelector) wrong(`P4Info: action profile ${name} of the program has another kind`);
      this.#profiles.set(id, new P4vmProfile(profile, actions));
    }
    for (const table of schema.tables.values()) {
      const found = state.tables.find(({ declaration }) => declaration.name === table.name);
      if (found === undefined) throw missing(`P4Info: the program has no table ${table.name}`);
      this.#tables.set(table.id, new P4vmTable(table, found, actions, () => machine.clock.nowUs()));
    }
    for (const { id, name, size } of schema.counters.values()) {
      const counter = this.#extern(name, 'counter');
      this.#needSize(name, size, counter.size);
      this.#counters.set(id, {
        size: counter.size,
        read: (index) => controlled(() => counter.read(index)),
        write: (index, count) => controlled(() => counter.write(index, count)),
      });
    }
    for (const meter of schema.meters.values()) this.#addMeter(meter);
    for (const { id, name, size } of schema.registers.values()) {
      const register = this.#extern(name, 'register');
      this.#needSize(name, size, register.size);
      this.#registers.set(id, {
        size: register.size,
        read: (index) => register.pattern(index),
        write: (index, bits) => controlled(() => register.setCut(index, bits)),
      });
    }
    for (const { id, name, fields } of schema.valueSets.values()) {
      const set = state.valueSets.find(({ declaration }) => declaration.name === name);
      if (set === undefined) throw missing(`P4Info: the program has no value set ${name}`);
      const widths = set.shapes.map(({ width, kind }) => `${kind} ${width}`).join();
      if (widths !== fields.map(({ width, kind }) => `${kind} ${width}`).join()) {
        wrong(`P4Info: value set ${name} of the program has other fields`);
      }
      this.#valueSets.set(id, {
        members: () => set.members(),
        replace: (members) =>
          controlled(() => {
            set.clear();
            for (const member of members) set.add(member);
          }),
      });
    }
    for (const { id, name } of schema.digests.values()) this.#digests.set(name, id);
  }

  table(id: number): P4vmTable {
    return this.#tables.get(id) ?? wrong(`no table ${id}`);
  }

  profile(id: number): TargetProfile {
    return this.#profiles.get(id) ?? wrong(`no action profile ${id}`);
  }

  counter(id: number): TargetCounter {
    return this.#counters.get(id) ?? wrong(`no counter ${id}`);
  }

  meter(id: number): TargetMeter {
    return this.#meters.get(id) ?? wrong(`no meter ${id}`);
  }

  register(id: number): TargetRegister {
    return this.#registers.get(id) ?? wrong(`no register ${id}`);
  }

  valueSet(id: number): TargetValueSet {
    return this.#valueSets.get(id) ?? wrong(`no value set ${id}`);
  }

  multicastGroups(): readonly number[] {
    return this.#replication.multicastGroups().map(({ group }) => group);
  }

  multicastGroup(group: number): readonly TargetReplica[] | undefined {
    const nodes = this.#replication.nodesOf(group);
    return nodes?.flatMap(({ replicationId, ports }) => ports.map((port) => ({ port, instance: replicationId })));
  }

  setMulticastGroup(group: number, replicas: readonly TargetReplica[] | undefined): void {
    controlled(() => {
      const replication = this.#replication;
      for (const { handle } of replication.nodesOf(group) ?? []) replication.destroyNode(handle);
      if (replicas === undefined) {
        replication.destroyGroup(group);
        return;
      }
      replication.createGroup(group);
      const instances = new Map<number, number[]>();
      for (const { port, instance } of replicas) {
        const ports = instances.get(instance);
        if (ports === undefined) instances.set(instance, [port]);
        else ports.push(port);
      }
      for (const [instance, ports] of instances) {
        replication.associateNode(group, replication.createNode(instance, ports));
      }
    });
  }

  cloneSessions(): readonly number[] {
    return this.#replication.mirrors().map(([session]) => session);
  }

  cloneSession(id: number): TargetCloneSession | undefined {
    const session = this.#replication.mirror(id);
    if (session === undefined) return undefined;
    const { port, replicas = [], maxBytes = 0, priority = 0 } = session;
    const all = port === undefined ? replicas : [...replicas, { port, replicationId: 0 }];
    return {
      replicas: all.map(({ port: to, replicationId }) => ({ port: to, instance: replicationId })),
      classOfService: priority,
      maxBytes,
    };
  }

  setCloneSession(id: number, session: TargetCloneSession | undefined): void {
    if (session === undefined) {
      this.#replication.deleteMirror(id);
      return;
    }
    const { replicas, classOfService: priority, maxBytes } = session;
    const copies = replicas.map(({ port, instance }) => ({ port, replicationId: instance }));
    controlled(() => this.#replication.setMirror(id, { replicas: copies, priority, maxBytes }));
  }

  /** Passes a digest of the machine on. */
  digest({ name, fields }: Digest, events: TargetEvents | undefined): void {
    const id = this.#digests.get(name);
    if (id !== undefined)
      events?.digest(
        id,
        fields.map(({ value }) => BigInt(value)),
      );
  }

  #addMeter(schema: MeterSchema): void {
    const { id, name, size } = schema;
    const meter = this.#extern(name, 'meter');
    this.#needSize(name, size, meter.size);
    this.#meters.set(id, {
      size: meter.size,
      set: (index, config) => controlled(() => meterSetting(meter, index, config)),
    });
  }

  #extern<Kind extends ExternRuntime['kind']>(name: string, kind: Kind): Extract<ExternRuntime, { kind: Kind }> {
    const found = this.machine.state.externs.find((each) => each.declaration.name === name);
    if (found?.kind !== kind) return wrong(`P4Info: the program has no ${kind.replace('_', ' ')} ${name}`);
    return found as Extract<ExternRuntime, { kind: Kind }>;
  }

  #needSize(name: string, size: number, actual: number): void {
    if (size !== actual) wrong(`P4Info: ${name} has size ${size}, and ${actual} in the program`);
  }
}

/** Actions by id and by place, if they have the same parameters. */
function actionIds(schema: PipelineSchema, { program }: V1Switch): ActionIds {
  const byName = new Map(program.actions.map((action) => [action.name, action]));
  const actions = new Map<number, (typeof program.actions)[number]>();
  const ids = new Map<number, number>();
  for (const { id, name, parameters } of schema.actions.values()) {
    const action = byName.get(name);
    if (action === undefined) return wrong(`P4Info: the program has no action ${name}`);
    const declared = dataParameters(action.parameters).map(({ variable }) => variable);
    const isSame =
      declared.length === parameters.length &&
      declared.every(({ name: given, type }, i) => sameShape(parameters, i, given, type));
    if (!isSame) wrong(`P4Info: action ${name} of the program has other parameters`);
    actions.set(id, action);
    for (const each of program.actions) if (each.name === name) ids.set(each.id, id);
  }
  return { actions, ids };
}

function sameShape(parameters: ActionSchema['parameters'], i: number, name: string, type: DataType): boolean {
  return parameters[i]!.name === name && parameters[i]!.width === widthOf(type);
}
