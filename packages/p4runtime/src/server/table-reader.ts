import type { TableEntry } from '../generated/p4/v1/p4runtime_pb.js';
import { writeCount } from './count.js';
import type { EntityWriter } from './entity-writer.js';
import type { EntryActions } from './entry-actions.js';
import type { EntryExtras } from './entry-extras.js';
import { needDefaultKey, type Place, writePlace } from './entry-place.js';
import { readKeys, sameMatch } from './keys.js';
import { writeMeterConfig } from './meter-config.js';
import { invalid } from './refusal.js';
import type { TableSchema } from './schema.js';
import { DEFAULT_ENTRY, type TargetEntry, type TargetTable } from './target.js';

/** Reads the entries of one table. */
export class TableReader {
  readonly #actions: EntryActions;
  readonly #extras: EntryExtras;

  constructor(
    readonly schema: TableSchema,
    readonly target: TargetTable,
    actions: EntryActions,
    extras: EntryExtras,
  ) {
    this.#actions = actions;
    this.#extras = extras;
  }

  /** The entries that a filter selects. @throws Refusal */
  *select(filter: TableEntry): Generator<Place> {
    this.#extras.renew();
    const { target, schema } = this;
    if (filter.isDefaultAction) {
      needDefaultKey(filter);
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
      const { metadata, controllerMetadata } = this.#extras.of(entry.handle);
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
    const extra = this.#extras.of(handle);
    const start = writer.open(tag);
    writePlace(writer, schema, place);
    this.#actions.write(writer, isDefault ? target.defaultAction : entry?.action, extra);
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
    writePlace(writer, this.schema, place);
    writer.close(key);
    writeCount(writer, 0x12, this.target.readCounter(place.handle));
    writer.close(start);
  }

  /** Writes a DirectMeterEntry message. */
  writeMeterEntry(writer: EntityWriter, tag: number, place: Place): void {
    const start = writer.open(tag);
    const key = writer.open(0x0a);
    writePlace(writer, this.schema, place);
    writer.close(key);
    const { meter } = this.#extras.of(place.handle);
    if (meter !== undefined) writeMeterConfig(writer, 0x12, meter);
    writer.close(start);
  }

  /** Writes the parts of an idle entry that a notification has. */
  writeIdleEntry(writer: EntityWriter, tag: number, entry: TargetEntry): void {
    const extra = this.#extras.of(entry.handle);
    const start = writer.open(tag);
    writePlace(writer, this.schema, entry);
    if (extra.controllerMetadata !== 0n) writer.long(0x28, extra.controllerMetadata);
    if (extra.timeoutNs !== 0n) writer.long(0x48, extra.timeoutNs);
    if (extra.metadata.length > 0) writer.bytes(0x5a, extra.metadata);
    writer.close(start);
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
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}
