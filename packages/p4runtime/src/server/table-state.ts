import { Code } from '@connectrpc/connect';
import {
  type DirectCounterEntry,
  type DirectMeterEntry,
  type MeterConfig,
  type TableEntry,
  Update_Type,
} from '../generated/p4/v1/p4runtime_pb.js';
import { readCount } from './count.js';
import { EntryActions, type Reference } from './entry-actions.js';
import { EntryExtras, type Extra, extraOf, isBare, NOTHING } from './entry-extras.js';
import { keyOf, needDefaultKey, type Place, placeOf } from './entry-place.js';
import { readMeterConfig, refuseColours } from './meter-config.js';
import type { OneShot, ProfileState } from './profile-state.js';
import { invalid, refuse } from './refusal.js';
import type { TableSchema } from './schema.js';
import { TableReader } from './table-reader.js';
import { DEFAULT_ENTRY, type TargetCount, type TargetEntry, type TargetMatch, type TargetTable } from './target.js';
import type { UndoLog } from './undo.js';

/** All of an entry, to make it again. */
interface Snapshot {
  readonly keys: readonly TargetMatch[];
  readonly priority: number;
  readonly reference: Reference | undefined;
  readonly extra: Extra;
  readonly count: TargetCount | undefined;
}

/** The entries of one table, with what the target does not keep. */
export class TableState {
  /** Reads the entries. */
  readonly reader: TableReader;
  readonly #extras: EntryExtras;
  readonly #actions: EntryActions;

  constructor(
    readonly schema: TableSchema,
    readonly target: TargetTable,
    readonly profile: ProfileState | undefined,
    /** Called when an entry gets a timeout. */
    readonly onTimeout: (table: TableState, timeoutNs: number) => void,
  ) {
    this.#extras = new EntryExtras(target);
    this.#actions = new EntryActions(schema, profile);
    this.reader = new TableReader(schema, target, this.#actions, this.#extras);
  }

  /** @throws Refusal, TargetError */
  write(type: Update_Type, entry: TableEntry, undo: UndoLog): void {
    this.#extras.renew();
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
    const before = this.#extras.of(place.handle);
    this.#setMeter(place.handle, message.config);
    this.#extras.set(place.handle, { ...before, meter: message.config });
    undo?.push(() => {
      const handle = this.#handleOf(place);
      this.#setMeter(handle, before.meter);
      this.#extras.set(handle, { ...this.#extras.of(handle), meter: before.meter });
    });
  }

  // Updates

  #insert(entry: TableEntry, undo: UndoLog): void {
    const { schema, target } = this;
    if (schema.isConst) refuse(Code.PermissionDenied, `the entries of table ${schema.name} are constant`);
    if (schema.fields.length === 0) invalid(`table ${schema.name} has no key, so it has no entries to insert`);
    const { keys, priority } = keyOf(schema, entry);
    this.#checkParts(entry);
    if (entry.action === undefined) invalid("'action' field must be set");
    const reference = this.#actions.read(entry.action);
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
      const { action, idleTimeoutNs, metadata, controllerMetadata } = entry;
      if (action !== undefined || idleTimeoutNs !== 0n || metadata.length > 0 || controllerMetadata !== 0n) {
        refuse(Code.PermissionDenied, 'the entry is constant: only its direct counter and meter can change');
      }
    }
    const reference = entry.action === undefined ? undefined : this.#actions.read(entry.action);
    const before = this.#extras.of(place.handle);
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
    this.#extras.set(place.handle, extra);
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
    needDefaultKey(entry);
    if (entry.idleTimeoutNs !== 0n || entry.timeSinceLastHit !== undefined) invalid('the default entry has no timeout');
    this.#checkParts(entry);
    if (schema.profile !== undefined) invalid(`Cannot set / reset default action for indirect table ${schema.name}`);
    if (schema.isDefaultConst) {
      refuse(
        Code.PermissionDenied,
        `Cannot set / reset default action for table ${schema.name} which has a const default action`,
      );
    }
    const call = entry.action === undefined ? undefined : this.#actions.readCall(entry.action, true);
    const before = target.defaultAction;
    const extra = this.#extras.of(DEFAULT_ENTRY);
    const count = schema.counter === undefined ? undefined : target.readCounter(DEFAULT_ENTRY);
    target.setDefault(call);
    // Without an action all is as it was at first, whatever else the update says.
    const isReset = call === undefined;
    if (schema.meter !== undefined) this.#setMeter(DEFAULT_ENTRY, isReset ? undefined : entry.meterConfig);
    if (schema.counter !== undefined) {
      if (isReset) target.writeCounter(DEFAULT_ENTRY, { packets: 0, bytes: 0 });
      else if (entry.counterData !== undefined) target.writeCounter(DEFAULT_ENTRY, readCount(entry.counterData));
    }
    this.#extras.set(DEFAULT_ENTRY, isReset ? NOTHING : extraOf(entry));
    undo?.push(() => {
      target.setDefault(before?.kind === 'action' ? before : undefined);
      if (schema.meter !== undefined) this.#setMeter(DEFAULT_ENTRY, extra.meter);
      if (count !== undefined) target.writeCounter(DEFAULT_ENTRY, count);
      this.#extras.set(DEFAULT_ENTRY, extra);
    });
  }

  /** @throws Refusal NOT_FOUND */
  #placeOf(entry: TableEntry): Place {
    this.#extras.renew();
    return placeOf(this.schema, this.target, entry);
  }

  /** Handles may have changed since. */
  #handleOf({ keys, priority, handle }: Place): number {
    return handle === DEFAULT_ENTRY ? handle : this.target.find(keys, priority)!;
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

  // Changes

  #add({ keys, priority, reference, extra, count }: Snapshot): Place {
    const { target, schema } = this;
    const { action, oneShot } = this.#actions.resolve(reference!);
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
    this.#extras.set(handle, oneShot === extra.oneShot ? extra : { ...extra, oneShot });
    return { keys, priority, handle };
  }

  #remove(place: Place): void {
    const handle = this.#handleOf(place);
    const { oneShot } = this.#extras.of(handle);
    this.target.delete(handle);
    this.#extras.delete(handle);
    if (oneShot !== undefined) this.profile?.removeOneShot(oneShot);
  }

  /** Changes what an entry does. @returns its new one-shot group */
  #retarget(handle: number, reference: Reference, before: OneShot | undefined): OneShot | undefined {
    const { action, oneShot } = this.#actions.resolve(reference);
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
    const extra = this.#extras.of(handle);
    const count = this.schema.counter === undefined ? undefined : this.target.readCounter(handle);
    return { keys, priority, reference: this.#actions.referenceOf(entry.action, extra), extra, count };
  }

  #restore({ keys, priority, reference, extra, count }: Snapshot, withCount: boolean): void {
    const handle = this.#handleOf({ keys, priority, handle: 0 });
    const now = this.#extras.of(handle);
    let { oneShot } = now;
    if (reference !== undefined && !this.target.entry(handle).isConst) {
      oneShot = this.#retarget(handle, reference, now.oneShot);
    }
    if (this.schema.meter !== undefined) this.#setMeter(handle, extra.meter);
    if (withCount && count !== undefined) this.target.writeCounter(handle, count);
    if (now.timeoutNs !== extra.timeoutNs) this.#setTimeout(handle, extra.timeoutNs);
    this.#extras.set(handle, { ...extra, oneShot });
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

  #needModify(type: Update_Type, what: string): void {
    if (type === Update_Type.UNSPECIFIED) invalid('Update type is not set');
    if (type !== Update_Type.MODIFY) {
      invalid(`${Update_Type[type] ?? type} update type not supported for ${what}: they can only be modified`);
    }
  }
}
