import type { Action, EntryTarget, TableEntry } from '@int/p4vm';
import { type MatchTable, MISS_METER } from '@int/p4vm/internals';
import type { TableSchema } from '../server/schema.js';
import {
  DEFAULT_ENTRY,
  type TargetAction,
  type TargetCall,
  type TargetCount,
  type TargetEntry,
  TargetError,
  type TargetMatch,
  type TargetMeterConfig,
  type TargetTable,
} from '../server/target.js';
import { controlled } from './control-errors.js';
import { meterSetting } from './meter-setting.js';

/** Actions of the program by the ids of P4Info, and the ids by those of the program. */
export interface ActionIds {
  readonly actions: ReadonlyMap<number, Action>;
  readonly ids: ReadonlyMap<number, number>;
}

/** P4Runtime's priority and the machine's sum up to this in tables without entries of the program, as in BMv2. */
const PRIORITY_SUM = 0xff_ffff;

const US_NS = 1000;

/** A table of a machine. */
export class P4vmTable implements TargetTable {
  readonly #table: MatchTable;
  readonly #nowUs: () => number;
  readonly #prioritySum: number;
  /** Places in the table's actions by the ids of P4Info, and back. */
  readonly #positions = new Map<number, number>();
  readonly #ids: readonly number[];

  /** @throws TargetError `ERR_TARGET_INVALID` if the tables differ */
  constructor(schema: TableSchema, table: MatchTable, { actions, ids }: ActionIds, nowUs: () => number) {
    this.#table = table;
    this.#nowUs = nowUs;
    this.#prioritySum = table.declaration.prioritySum ?? PRIORITY_SUM;
    const wrong = (what: string): never => {
      throw new TargetError('ERR_TARGET_INVALID', `P4Info: table ${schema.name} of the program has ${what}`);
    };
    const { shapes } = table;
    const hasFields =
      shapes.length === schema.fields.length &&
      schema.fields.every(({ kind, width }, i) => shapes[i]!.kind === kind && shapes[i]!.width === width);
    if (!hasFields) wrong('another key');
    for (const [id] of schema.actions) {
      const position = table.positionOf(actions.get(id)!.id);
      if (position < 0) wrong(`no action ${actions.get(id)!.name}`);
      this.#positions.set(id, position);
    }
    this.#ids = table.declaration.actions.map(({ action }) => ids.get(action.id) ?? 0);
    if ((schema.profile === undefined) !== (table.profile === undefined)) wrong('another implementation');
    if (schema.profile !== undefined && schema.profile.name !== table.profile?.declaration.name) {
      wrong('another action profile');
    }
    if (schema.counter !== undefined && table.counter === undefined) wrong('no direct counter');
    if (schema.meter !== undefined && table.meter === undefined) wrong('no direct meter');
    if (schema.supportsTimeout && !table.declaration.supportsTimeout) wrong('no timeouts');
  }

  get generation(): number {
    return this.#table.generation;
  }

  get slotCount(): number {
    return this.#table.slotCount;
  }

  get defaultAction(): TargetAction | undefined {
    const target = this.#table.defaultTarget;
    return target && this.#action(target);
  }

  insert(keys: readonly TargetMatch[], priority: number, action: TargetAction): number {
    return controlled(() => {
      const handle = this.#table.add(keys, this.#target(action), this.#prioritySum - priority);
      if (this.#table.declaration.supportsTimeout) this.#table.setLastHit(handle, this.#nowUs());
      return handle;
    });
  }

  modify(handle: number, action: TargetAction): void {
    controlled(() => this.#table.modify(handle, this.#target(action)));
  }

  delete(handle: number): void {
    controlled(() => this.#table.delete(handle));
  }

  find(keys: readonly TargetMatch[], priority: number): number | undefined {
    return this.#table.find(keys, this.#prioritySum - priority);
  }

  entryAt(slot: number): TargetEntry | undefined {
    const entry = this.#table.entryAt(slot);
    return entry && this.#entry(entry);
  }

  entry(handle: number): TargetEntry {
    return this.#entry(this.#table.entry(handle));
  }

  setDefault(action: TargetCall | undefined): void {
    controlled(() => {
      if (action === undefined) this.#table.resetDefault();
      else this.#table.setDefault(this.#target(action));
    });
  }

  readCounter(handle: number): TargetCount {
    return handle === DEFAULT_ENTRY ? this.#table.counter!.readMisses() : this.#table.readCounter(handle);
  }

  writeCounter(handle: number, count: TargetCount): void {
    controlled(() => {
      if (handle === DEFAULT_ENTRY) this.#table.counter!.writeMisses(count);
      else this.#table.writeCounter(handle, count);
    });
  }

  setMeter(handle: number, config: TargetMeterConfig | undefined): void {
    const index = handle === DEFAULT_ENTRY ? MISS_METER : this.#table.slotOf(handle);
    controlled(() => meterSetting(this.#table.meter!, index, config));
  }

  setTimeout(handle: number, timeoutNs: number): void {
    const table = this.#table;
    const nowUs = this.#nowUs();
    const lastHitUs = nowUs - table.idleUs(handle, nowUs);
    controlled(() => table.setTimeout(handle, timeoutNs / US_NS, nowUs));
    table.setLastHit(handle, lastHitUs);
    table.restartTimeout(handle, nowUs);
  }

  idleNs(handle: number): number {
    return Math.floor(this.#table.idleUs(handle, this.#nowUs())) * US_NS;
  }

  restartTimeout(handle: number): void {
    this.#table.restartTimeout(handle, this.#nowUs());
  }

  expiryNs(slot: number): number {
    return (this.#table.expiryUs(slot) - this.#nowUs()) * US_NS;
  }

  #entry({ handle, keys, target, priority, isConst }: TableEntry): TargetEntry {
    const table = this.#table;
    return {
      handle,
      keys,
      priority: table.hasPriorities ? this.#prioritySum - priority : 0,
      action: this.#action(target),
      isConst,
    };
  }

  #action(target: EntryTarget): TargetAction {
    if (target.kind !== 'action') return target;
    const { action, data } = target.call;
    return { kind: 'action', actionId: this.#ids[action] ?? 0, values: data };
  }

  #target(action: TargetAction): EntryTarget {
    if (action.kind !== 'action') return { kind: action.kind, handle: action.handle };
    return { kind: 'action', call: { action: this.#positions.get(action.actionId) ?? -1, data: action.values } };
  }
}
