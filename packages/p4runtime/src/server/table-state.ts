import { clone, toBinary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import {
  ActionProfileActionSetSchema,
  type DirectCounterEntry,
  type DirectMeterEntry,
  type MeterConfig,
  type TableAction,
  type TableEntry,
  Update_Type,
} from '../generated/p4/v1/p4runtime_pb.js';
import { readCall, writeCall } from './actions.js';
import { readCount, writeCount } from './count.js';
import type { EntityWriter } from './entity-writer.js';
import { readKeys, sameMatch, writeMatch } from './keys.js';
import { readMeterConfig, refuseColours, writeMeterConfig } from './meter-config.js';
import type { OneShot, ProfileState } from './profile-state.js';
import { invalid, refuse } from './refusal.js';
import type { TableSchema } from './schema.js';
import {
  DEFAULT_ENTRY,
  type TargetAction,
  type TargetCall,
  type TargetCount,
  type TargetEntry,
  type TargetMatch,
  type TargetTable,
} from './target.js';
import type { UndoLog } from './undo.js';

/** What an entry has beside what the target keeps. Entries without any of it have none. */
interface Extra {
  readonly metadata: Uint8Array;
  readonly controllerMetadata: bigint;
  readonly timeoutNs: bigint;
  readonly meter: MeterConfig | undefined;
  readonly oneShot: OneShot | undefined;
}

const NOTHING: Extra = {
  metadata: new Uint8Array(0),
  controllerMetadata: 0n,
  timeoutNs: 0n,
  meter: undefined,
  oneShot: undefined,
};

/** What an entry does, with ids instead of handles, which may change. */
type Reference =
  | TargetCall
  | { readonly kind: 'member' | 'group'; readonly id: number }
  | { readonly kind: 'set'; readonly set: OneShot['set'] };

/** All of an entry, to make it again. */
interface Snapshot {
  readonly keys: readonly TargetMatch[];
  readonly priority: number;
  readonly reference: Reference | undefined;
  readonly extra: Extra;
  readonly count: TargetCount | undefined;
}

/** A place of an entry: its key, and its handle. */
interface Place {
  readonly keys: readonly TargetMatch[];
  readonly priority: number;
  readonly handle: number;
}

/** The entries of one table, with what the target does not keep. */
export class TableState {
  readonly #extras = new Map<number, Extra>();
  #generation: number;

  constructor(
    readonly schema: TableSchema,
    readonly target: TargetTable,
    readonly profile: ProfileState | undefined,
    /** Called when an entry gets a timeout. */
    readonly onTimeout: (table: TableState, timeoutNs: number) => void,
  ) {
    this.#generation = target.generation;
  }

  /** @throws Refusal, TargetError */
  write(type: Update_Type, entry: TableEntry, undo: UndoLog): void {
    this.#renew();
    if (type === Update_Type.UNSPECIFIED) invalid('Update type is not set');
    if (entry.isConst) invalid('is_const must not be set in updates');
    if (entry.isDefaultAction) {
      this.#writeDefault(type, entry, undo);
      return;
    }
    switch (type) {
      case Update_Type.INSERT:
        this.#insert(entry, undo);
        return;
      case Update_Type.MODIFY:
        this.#modify(entry, undo);
        return;
      case Update_Type.DELETE:
        this.#delete(entry, undo);
        return;
      default:
        invalid(`Invalid update type: ${type}`);
    }
  }

  /** @throws Refusal, TargetError */
  writeCounter(type: Update_Type, { data }: DirectCounterEntry, entry: TableEntry, undo: UndoLog): void {
    this.#needModify(type, 'direct counters');
    if (this.schema.counter === undefined) invalid(`Table has no direct counters: ${this.schema.name}`);
    const place = this.#placeOf(entry);
    if (data === undefined) return;
    this.#count(place, readCount(data), undo);
  }

  /** @throws Refusal, TargetError */
  writeMeter(type: Update_Type, message: DirectMeterEntry, entry: TableEntry, undo: UndoLog): void {
    this.#needModify(type, 'direct meters');
    if (this.schema.meter === undefined) invalid(`Table has no direct meters: ${this.schema.name}`);
    refuseColours(message.counterData);
    const place = this.#placeOf(entry);
    const before = this.#extraOf(place.handle);
    this.#setMeter(place.handle, message.config);
    this.#setExtra(place.handle, { ...before, meter: message.config });
    undo?.push(() => {
      const handle = this.#handleOf(place);
      this.#setMeter(handle, before.meter);
      this.#setExtra(handle, { ...this.#extraOf(handle), meter: before.meter });
    });
  }

  /** The entries that a filter selects. @throws Refusal */
  *select(filter: TableEntry): Generator<Place> {
    this.#renew();
    const { target, schema } = this;
    if (filter.isDefaultAction) {
      this.#needDefaultKey(filter);
      if (filter.timeSinceLastHit !== undefined) {
        invalid(
          "Default table entries do not support entry ageing, do not set 'time_since_last_hit' in your ReadRequest",
        );
      }
      yield { keys: [], priority: 0, handle: DEFAULT_ENTRY };
      return;
    }
    if (filter.priority !== 0 && !schema.hasPriorities) invalid(`entries of table ${schema.name} have no priority`);
    if (filter.priority < 0) invalid('the priority is negative');
    const actionId = this.#filteredAction(filter);
    const keys = filter.match.length === 0 ? undefined : readKeys(schema.fields, filter.match);
    const matches = (entry: TargetEntry): boolean => {
      if (filter.priority !== 0 && entry.priority !== filter.priority) return false;
      if (keys !== undefined && !schema.fields.every((field, i) => sameMatch(field, keys[i]!, entry.keys[i]!)))
        return false;
      if (actionId !== 0 && (entry.action?.kind !== 'action' || entry.action.actionId !== actionId)) return false;
      if (filter.controllerMetadata === 0n && filter.metadata.length === 0) return true;
      const { metadata, controllerMetadata } = this.#extraOf(entry.handle);
      if (filter.controllerMetadata !== 0n && controllerMetadata !== filter.controllerMetadata) return false;
      return filter.metadata.length === 0 || sameBytes(metadata, filter.metadata);
    };
    if (keys !== undefined && (filter.priority !== 0 || !schema.hasPriorities)) {
      const handle = target.find(keys, filter.priority);
      if (handle === undefined) return;
      const entry = target.entry(handle);
      if (matches(entry)) yield entry;
      return;
    }
    for (let slot = 0; slot < target.slotCount; slot++) {
      const entry = target.entryAt(slot);
      if (entry !== undefined && matches(entry)) yield entry;
    }
  }

  /** Writes a TableEntry message for an entry that {@link select} gave. @param filter says which parts are asked for */
  writeEntry(writer: EntityWriter, tag: number, place: Place, filter: TableEntry): void {
    const { schema, target } = this;
    const { handle } = place;
    const isDefault = handle === DEFAULT_ENTRY;
    const entry = isDefault ? undefined : 'action' in place ? (place as TargetEntry) : target.entry(handle);
    const extra = this.#extraOf(handle);
    const start = writer.open(tag);
    this.#writeKey(writer, place);
    this.#writeAction(writer, isDefault ? target.defaultAction : entry?.action, extra);
    if (extra.controllerMetadata !== 0n) writer.long(0x28, extra.controllerMetadata);
    if (filter.meterConfig !== undefined && extra.meter !== undefined) writeMeterConfig(writer, 0x32, extra.meter);
    if (filter.counterData !== undefined && schema.counter !== undefined) {
      writeCount(writer, 0x3a, target.readCounter(handle));
    }
    if (extra.timeoutNs !== 0n) writer.long(0x48, extra.timeoutNs);
    if (filter.timeSinceLastHit !== undefined && schema.supportsTimeout && !isDefault) {
      const idle = writer.open(0x52);
      const elapsed = target.idleNs(handle);
      if (elapsed > 0) writer.number(0x08, elapsed);
      writer.close(idle);
    }
    if (extra.metadata.length > 0) writer.bytes(0x5a, extra.metadata);
    if (entry?.isConst === true) writer.number(0x68, 1);
    writer.close(start);
  }

  /** Writes a DirectCounterEntry message. */
  writeCounterEntry(writer: EntityWriter, tag: number, place: Place): void {
    const start = writer.open(tag);
    const key = writer.open(0x0a);
    this.#writeKey(writer, place);
    writer.close(key);
    writeCount(writer, 0x12, this.target.readCounter(place.handle));
    writer.close(start);
  }

  /** Writes a DirectMeterEntry message. */
  writeMeterEntry(writer: EntityWriter, tag: number, place: Place): void {
    const start = writer.open(tag);
    const key = writer.open(0x0a);
    this.#writeKey(writer, place);
    writer.close(key);
    const { meter } = this.#extraOf(place.handle);
    if (meter !== undefined) writeMeterConfig(writer, 0x12, meter);
    writer.close(start);
  }

  /** Writes the parts of an idle entry that a notification has. */
  writeIdleEntry(writer: EntityWriter, tag: number, entry: TargetEntry): void {
    const extra = this.#extraOf(entry.handle);
    const start = writer.open(tag);
    this.#writeKey(writer, entry);
    if (extra.controllerMetadata !== 0n) writer.long(0x28, extra.controllerMetadata);
    if (extra.timeoutNs !== 0n) writer.long(0x48, extra.timeoutNs);
    if (extra.metadata.length > 0) writer.bytes(0x5a, extra.metadata);
    writer.close(start);
  }

  // Updates

  #insert(entry: TableEntry, undo: UndoLog): void {
    const { schema, target } = this;
    if (schema.isConst) refuse(Code.PermissionDenied, `the entries of table ${schema.name} are constant`);
    if (schema.fields.length === 0) invalid(`table ${schema.name} has no key, so it has no entries to insert`);
    const { keys, priority } = this.#keyOf(entry);
    this.#checkParts(entry);
    if (entry.action === undefined) invalid("'action' field must be set");
    const reference = this.#readAction(entry.action);
    if (target.find(keys, priority) !== undefined) {
      refuse(Code.AlreadyExists, `Match entry exists, use MODIFY if you wish to change action: table ${schema.name}`);
    }
    const count = entry.counterData === undefined ? undefined : readCount(entry.counterData);
    const place = this.#add({ keys, priority, reference, extra: extraOf(entry), count });
    undo?.push(() => this.#remove(place));
  }

  #modify(entry: TableEntry, undo: UndoLog): void {
    const { schema, target } = this;
    const place = this.#placeOf(entry);
    this.#checkParts(entry);
    const stored = target.entry(place.handle);
    if (schema.isConst || stored.isConst) {
      if (entry.action !== undefined || entry.idleTimeoutNs !== 0n) {
        refuse(Code.PermissionDenied, 'the entry is constant: only its direct counter and meter can change');
      }
    }
    const reference = entry.action === undefined ? undefined : this.#readAction(entry.action);
    const before = this.#extraOf(place.handle);
    const snapshot = undo && this.#snapshot(stored);
    const isNothing =
      reference === undefined && schema.meter === undefined && entry.counterData === undefined && isBare(entry);
    if (isNothing) return;
    const extra = { ...extraOf(entry), oneShot: before.oneShot };
    if (reference !== undefined) extra.oneShot = this.#retarget(place.handle, reference, before.oneShot);
    // From here on nothing can fail: all values were checked.
    if (schema.meter !== undefined) this.#setMeter(place.handle, entry.meterConfig);
    if (entry.counterData !== undefined) target.writeCounter(place.handle, readCount(entry.counterData));
    if (extra.timeoutNs !== 0n || before.timeoutNs !== 0n) this.#setTimeout(place.handle, extra.timeoutNs);
    this.#setExtra(place.handle, extra);
    if (snapshot !== undefined) undo?.push(() => this.#restore(snapshot, entry.counterData !== undefined));
  }

  #delete(entry: TableEntry, undo: UndoLog): void {
    const { schema, target } = this;
    if (schema.isConst) refuse(Code.PermissionDenied, `the entries of table ${schema.name} are constant`);
    const place = this.#placeOf(entry);
    const stored = target.entry(place.handle);
    if (stored.isConst) refuse(Code.PermissionDenied, 'the entry is constant');
    const snapshot = undo && this.#snapshot(stored);
    this.#remove(place);
    if (snapshot !== undefined) undo?.push(() => this.#add(snapshot));
  }

  #writeDefault(type: Update_Type, entry: TableEntry, undo: UndoLog): void {
    const { schema, target } = this;
    if (type !== Update_Type.MODIFY)
      invalid(`Cannot use ${Update_Type[type]} for default entry: it always exists and can only be modified`);
    this.#needDefaultKey(entry);
    if (entry.idleTimeoutNs !== 0n || entry.timeSinceLastHit !== undefined) invalid('the default entry has no timeout');
    this.#checkParts(entry);
    if (schema.profile !== undefined) invalid(`Cannot set / reset default action for indirect table ${schema.name}`);
    if (schema.isDefaultConst) {
      refuse(
        Code.PermissionDenied,
        `Cannot set / reset default action for table ${schema.name} which has a const default action`,
      );
    }
    const call = entry.action === undefined ? undefined : this.#readCall(entry.action, true);
    const before = target.defaultAction;
    const extra = this.#extraOf(DEFAULT_ENTRY);
    const count = schema.counter === undefined ? undefined : target.readCounter(DEFAULT_ENTRY);
    target.setDefault(call);
    if (schema.meter !== undefined) this.#setMeter(DEFAULT_ENTRY, entry.meterConfig);
    if (schema.counter !== undefined) {
      if (entry.counterData !== undefined) target.writeCounter(DEFAULT_ENTRY, readCount(entry.counterData));
      else if (call === undefined) target.writeCounter(DEFAULT_ENTRY, { packets: 0, bytes: 0 });
    }
    this.#setExtra(DEFAULT_ENTRY, call === undefined ? NOTHING : extraOf(entry));
    undo?.push(() => {
      target.setDefault(before?.kind === 'action' ? before : undefined);
      if (schema.meter !== undefined) this.#setMeter(DEFAULT_ENTRY, extra.meter);
      if (count !== undefined) target.writeCounter(DEFAULT_ENTRY, count);
      this.#setExtra(DEFAULT_ENTRY, extra);
    });
  }

  // Keys

  #keyOf(entry: TableEntry): Omit<Place, 'handle'> {
    const { schema } = this;
    const keys = readKeys(schema.fields, entry.match);
    const { priority } = entry;
    if (schema.hasPriorities ? priority <= 0 : priority !== 0) {
      invalid(
        schema.hasPriorities
          ? `Zero priority for ternary match: entries of table ${schema.name} need one above 0, not ${priority}`
          : `Non-zero priority for non-ternary match: entries of table ${schema.name} have none`,
      );
    }
    return { keys, priority };
  }

  /** @throws Refusal NOT_FOUND */
  #placeOf(entry: TableEntry): Place {
    this.#renew();
    if (entry.isDefaultAction) {
      this.#needDefaultKey(entry);
      return { keys: [], priority: 0, handle: DEFAULT_ENTRY };
    }
    if (this.schema.fields.length === 0)
      invalid(`table ${this.schema.name} has no key, so it has only a default entry`);
    const { keys, priority } = this.#keyOf(entry);
    const handle = this.target.find(keys, priority);
    if (handle === undefined) {
      return refuse(
        Code.NotFound,
        `Cannot find match entry: table ${this.schema.name} has none with this match and priority`,
      );
    }
    return { keys, priority, handle };
  }

  #needDefaultKey({ match, priority }: TableEntry): void {
    if (match.length > 0) invalid('Non-empty key for default entry');
    if (priority !== 0) invalid('Non-zero priority for default entry');
  }

  /** Handles may have changed since. */
  #handleOf({ keys, priority, handle }: Place): number {
    return handle === DEFAULT_ENTRY ? handle : this.target.find(keys, priority)!;
  }

  #filteredAction({ action }: TableEntry): number {
    if (action?.type.case === undefined) return 0;
    if (action.type.case !== 'action') return invalid('entries can be selected by action only');
    const { actionId } = action.type.value;
    if (actionId !== 0 && !this.schema.actions.has(actionId)) {
      invalid(`table ${this.schema.name} has no action ${actionId}`);
    }
    return actionId;
  }

  // Parts of entries

  /** Checks what an entry has beside its key and its action. */
  #checkParts(entry: TableEntry): void {
    const { schema } = this;
    if (entry.timeSinceLastHit !== undefined) invalid('has_time_since_last_hit must not be set in WriteRequest');
    if (entry.idleTimeoutNs !== 0n) {
      if (!schema.supportsTimeout) {
        invalid(
          `idle_timeout_ns must be set to 0 for tables which do not support idle timeout, such as ${schema.name}`,
        );
      }
      if (entry.idleTimeoutNs < 0n) invalid('idle_timeout_ns must be a positive value');
    }
    if (entry.counterData !== undefined) {
      if (schema.counter === undefined) invalid(`Table has no direct counters: ${schema.name}`);
      readCount(entry.counterData);
    }
    if (entry.meterCounterData !== undefined) {
      if (schema.meter === undefined) invalid(`Table has no direct meters: ${schema.name}`);
      refuseColours(entry.meterCounterData);
    }
    if (entry.meterConfig !== undefined) {
      if (schema.meter === undefined) invalid(`Table has no direct meters: ${schema.name}`);
      readMeterConfig(schema.meter, entry.meterConfig);
    }
  }

  #readAction({ type }: TableAction): Reference {
    const { schema, profile } = this;
    switch (type.case) {
      case 'action': {
        if (profile !== undefined) invalid(`Cannot provide direct action for indirect table ${schema.name}`);
        return this.#readCall({ type } as TableAction, false);
      }
      case 'actionProfileMemberId':
      case 'actionProfileGroupId': {
        if (profile === undefined) return invalid(`Cannot provide indirect action for direct table ${schema.name}`);
        const kind = type.case === 'actionProfileMemberId' ? 'member' : 'group';
        if (kind === 'group' && !profile.schema.hasSelector) {
          invalid(`action profile ${profile.schema.name} has no selector, so it has no groups`);
        }
        profile.needMembersMode();
        if (kind === 'member') profile.memberHandle(type.value);
        else profile.groupHandle(type.value);
        return { kind, id: type.value };
      }
      case 'actionProfileActionSet':
        if (profile === undefined) return invalid(`Cannot provide indirect action for direct table ${schema.name}`);
        // A copy: what came by the network shares the memory of the whole request.
        return { kind: 'set', set: clone(ActionProfileActionSetSchema, type.value) };
      default:
        return invalid('Invalid table action type: it is not set');
    }
  }

  #readCall({ type }: TableAction, isDefault: boolean): TargetCall {
    const { schema } = this;
    if (type.case !== 'action') return invalid(`Cannot provide indirect action for direct table ${schema.name}`);
    const use = schema.actions.get(type.value.actionId);
    if (use === undefined) {
      return invalid(`Invalid action for table: ${schema.name} has no ${type.value.actionId}`);
    }
    if (!(isDefault ? use.mayBeDefault : use.mayBeEntry)) {
      refuse(
        Code.PermissionDenied,
        isDefault
          ? `Cannot use TABLE_ONLY action as default action: ${use.action.name} in table ${schema.name}`
          : `Cannot use DEFAULT_ONLY action in table entry: ${use.action.name} in table ${schema.name}`,
      );
    }
    return readCall(use.action, type.value);
  }

  #resolve(reference: Reference): { readonly action: TargetAction; readonly oneShot: OneShot | undefined } {
    const { profile } = this;
    if (reference.kind === 'action' || profile === undefined) {
      return { action: reference as TargetCall, oneShot: undefined };
    }
    if (reference.kind === 'set') {
      const oneShot = profile.addOneShot(reference.set);
      return { action: { kind: 'group', handle: oneShot.group }, oneShot };
    }
    const { kind, id } = reference;
    const handle = kind === 'member' ? profile.memberHandle(id) : profile.groupHandle(id);
    return { action: { kind, handle }, oneShot: undefined };
  }

  // Changes

  #add({ keys, priority, reference, extra, count }: Snapshot): Place {
    const { target, schema } = this;
    const { action, oneShot } = this.#resolve(reference!);
    let handle: number;
    try {
      handle = target.insert(keys, priority, action);
    } catch (error) {
      if (oneShot !== undefined) this.profile?.removeOneShot(oneShot);
      throw error;
    }
    if (count !== undefined) target.writeCounter(handle, count);
    if (extra.meter !== undefined) this.#setMeter(handle, extra.meter);
    if (extra.timeoutNs !== 0n && schema.supportsTimeout) this.#setTimeout(handle, extra.timeoutNs);
    this.#setExtra(handle, oneShot === extra.oneShot ? extra : { ...extra, oneShot });
    return { keys, priority, handle };
  }

  #remove(place: Place): void {
    const handle = this.#handleOf(place);
    const { oneShot } = this.#extraOf(handle);
    this.target.delete(handle);
    this.#extras.delete(handle);
    if (oneShot !== undefined) this.profile?.removeOneShot(oneShot);
  }

  /** Changes what an entry does. @returns its new one-shot group */
  #retarget(handle: number, reference: Reference, before: OneShot | undefined): OneShot | undefined {
    const { action, oneShot } = this.#resolve(reference);
    try {
      this.target.modify(handle, action);
    } catch (error) {
      if (oneShot !== undefined) this.profile?.removeOneShot(oneShot);
      throw error;
    }
    if (before !== undefined) this.profile?.removeOneShot(before);
    return oneShot;
  }

  #snapshot(entry: TargetEntry): Snapshot {
    const { keys, priority, handle } = entry;
    const extra = this.#extraOf(handle);
    const count = this.schema.counter === undefined ? undefined : this.target.readCounter(handle);
    return { keys, priority, reference: this.#reference(entry.action, extra), extra, count };
  }

  #reference(action: TargetAction | undefined, { oneShot }: Extra): Reference | undefined {
    if (action === undefined || action.kind === 'action') return action;
    if (oneShot !== undefined) return { kind: 'set', set: oneShot.set };
    const { kind, handle } = action;
    return { kind, id: (kind === 'member' ? this.profile?.memberId(handle) : this.profile?.groupId(handle)) ?? 0 };
  }

  #restore({ keys, priority, reference, extra, count }: Snapshot, withCount: boolean): void {
    const handle = this.#handleOf({ keys, priority, handle: 0 });
    const now = this.#extraOf(handle);
    let { oneShot } = now;
    if (reference !== undefined && !this.target.entry(handle).isConst) {
      oneShot = this.#retarget(handle, reference, now.oneShot);
    }
    if (this.schema.meter !== undefined) this.#setMeter(handle, extra.meter);
    if (withCount && count !== undefined) this.target.writeCounter(handle, count);
    if (now.timeoutNs !== extra.timeoutNs) this.#setTimeout(handle, extra.timeoutNs);
    this.#setExtra(handle, { ...extra, oneShot });
  }

  #count(place: Place, count: TargetCount, undo: UndoLog): void {
    const before = this.target.readCounter(place.handle);
    this.target.writeCounter(place.handle, count);
    undo?.push(() => this.target.writeCounter(this.#handleOf(place), before));
  }

  #setMeter(handle: number, config: MeterConfig | undefined): void {
    const { meter } = this.schema;
    if (meter !== undefined) this.target.setMeter(handle, config && readMeterConfig(meter, config));
  }

  #setTimeout(handle: number, timeoutNs: bigint): void {
    const ns = Number(timeoutNs);
    this.target.setTimeout(handle, ns);
    if (ns > 0) this.onTimeout(this, ns);
  }

  #extraOf(handle: number): Extra {
    return this.#extras.get(handle) ?? NOTHING;
  }

  #setExtra(handle: number, extra: Extra): void {
    const isNothing =
      extra.metadata.length === 0 &&
      extra.controllerMetadata === 0n &&
      extra.timeoutNs === 0n &&
      extra.meter === undefined &&
      extra.oneShot === undefined;
    if (isNothing) this.#extras.delete(handle);
    else this.#extras.set(handle, extra);
  }

  /** Forgets what belongs to entries that the target has cleared. */
  #renew(): void {
    if (this.#generation === this.target.generation) return;
    this.#generation = this.target.generation;
    this.#extras.clear();
  }

  #needModify(type: Update_Type, what: string): void {
    if (type === Update_Type.UNSPECIFIED) invalid('Update type is not set');
    if (type !== Update_Type.MODIFY) {
      invalid(`${Update_Type[type] ?? type} update type not supported for ${what}: they can only be modified`);
    }
  }

  // Messages

  #writeKey(writer: EntityWriter, { keys, priority, handle }: Place): void {
    const { schema } = this;
    writer.number(0x08, schema.id);
    if (handle === DEFAULT_ENTRY) {
      writer.number(0x40, 1);
      return;
    }
    for (let i = 0; i < schema.fields.length; i++) writeMatch(writer, 0x12, schema.fields[i]!, keys[i]!);
    if (priority !== 0) writer.number(0x20, priority);
  }

  #writeAction(writer: EntityWriter, action: TargetAction | undefined, { oneShot }: Extra): void {
    if (action === undefined) return;
    const start = writer.open(0x1a);
    if (oneShot !== undefined) writer.bytes(0x22, toBinary(ActionProfileActionSetSchema, oneShot.set));
    else if (action.kind === 'member') writer.number(0x10, this.profile?.memberId(action.handle) ?? 0);
    else if (action.kind === 'group') writer.number(0x18, this.profile?.groupId(action.handle) ?? 0);
    else if (action.kind === 'action') {
      const use = this.schema.actions.get(action.actionId);
      if (use !== undefined) writeCall(writer, 0x0a, use.action, action);
    }
    writer.close(start);
  }
}

/** Most bytes of an entry's metadata. */
const MOST_METADATA = 4096;

/** A copy of an entry's metadata. @throws Refusal RESOURCE_EXHAUSTED */
export function keptMetadata(metadata: Uint8Array): Uint8Array {
  if (metadata.length > MOST_METADATA) refuse(Code.ResourceExhausted, `metadata have at most ${MOST_METADATA} bytes`);
  return metadata.length === 0 ? NOTHING.metadata : metadata.slice();
}

function extraOf({ metadata, controllerMetadata, idleTimeoutNs, meterConfig }: TableEntry): Extra {
  return {
    metadata: keptMetadata(metadata),
    controllerMetadata,
    timeoutNs: idleTimeoutNs,
    meter: meterConfig,
    oneShot: undefined,
  };
}

/** Whether an entry has nothing but its key. */
function isBare({ metadata, controllerMetadata, idleTimeoutNs, meterConfig }: TableEntry): boolean {
  return metadata.length === 0 && controllerMetadata === 0n && idleTimeoutNs === 0n && meterConfig === undefined;
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}
