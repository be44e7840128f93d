import { create, fromBinary } from '@bufbuild/protobuf';
import {
  EntitySchema,
  type IdleTimeoutNotification,
  IdleTimeoutNotificationSchema,
  type TableEntry,
} from '../generated/p4/v1/p4runtime_pb.js';
import { EntityWriter } from './entity-writer.js';
import type { PipelineState } from './pipeline-state.js';
import type { TableState } from './table-state.js';
import type { P4RuntimeTarget } from './target.js';

/** Shortest time between two scans: idle entries of that time share a notification. */
const SCAN_NS = 1_000_000;
/** Slots of tables that are looked at in one go. */
const SLOTS = 20_000;
/** Most entries of one notification. */
const MOST_ENTRIES = 1000;

/** Finds entries without a hit for their timeout. It looks again when the next of them may be idle. */
export class IdleTimeouts {
  readonly #tables: readonly TableState[];
  readonly #clock: Pick<P4RuntimeTarget, 'nowNs' | 'schedule'>;
  readonly #send: (tableId: number, notification: IdleTimeoutNotification) => void;
  readonly #writer = new EntityWriter();
  #cancel: (() => void) | undefined;
  /** When the next scan begins. */
  #dueNs = 0n;

  constructor(
    pipeline: PipelineState,
    clock: Pick<P4RuntimeTarget, 'nowNs' | 'schedule'>,
    send: (tableId: number, notification: IdleTimeoutNotification) => void,
  ) {
    this.#tables = [...pipeline.tables.values()].filter(({ schema }) => schema.supportsTimeout);
    this.#clock = clock;
    this.#send = send;
  }

  /** Looks after a time, unless it looks before anyway. */
  within(delayNs: number): void {
    const delay = Math.max(SCAN_NS, Math.ceil(delayNs));
    const due = this.#clock.nowNs() + BigInt(delay);
    if (this.#cancel !== undefined && this.#dueNs <= due) return;
    this.#cancel?.();
    this.#dueNs = due;
    this.#cancel = this.#clock.schedule(delay, () => this.#scan(0, 0, Number.POSITIVE_INFINITY));
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #scan(firstTable: number, firstSlot: number, earliestNs: number): void {
    this.#cancel = undefined;
    let left = SLOTS;
    let nextNs = earliestNs;
    for (let at = firstTable, slot = firstSlot; at < this.#tables.length; at++, slot = 0) {
      const table = this.#tables[at]!;
      const idle: TableEntry[] = [];
      for (; slot < table.target.slotCount && left > 0; slot++, left--) {
        const expiryNs = table.target.expiryNs(slot);
        if (expiryNs > 0) nextNs = Math.min(nextNs, expiryNs);
        else nextNs = Math.min(nextNs, this.#take(table, slot, idle));
      }
      for (let i = 0; i < idle.length; i += MOST_ENTRIES) {
        const timestamp = this.#clock.nowNs();
        const tableEntry = idle.slice(i, i + MOST_ENTRIES);
        this.#send(table.schema.id, create(IdleTimeoutNotificationSchema, { tableEntry, timestamp }));
      }
      if (left === 0 && (slot < table.target.slotCount || at + 1 < this.#tables.length)) {
        this.#dueNs = this.#clock.nowNs();
        this.#cancel = this.#clock.schedule(0, () => this.#scan(at, slot, nextNs));
        return;
      }
    }
    if (nextNs < Number.POSITIVE_INFINITY) this.within(nextNs);
  }

  /** Takes an idle entry. @returns nanoseconds until it may be idle again */
  #take(table: TableState, slot: number, idle: TableEntry[]): number {
    const entry = table.target.entryAt(slot);
    if (entry === undefined) return Number.POSITIVE_INFINITY;
    this.#writer.reset();
    table.reader.writeIdleEntry(this.#writer, 0x12, entry);
    const { entity } = fromBinary(EntitySchema, this.#writer.finish().slice());
    if (entity.case === 'tableEntry') idle.push(entity.value);
    table.target.restartTimeout(entry.handle);
    return table.target.expiryNs(slot);
  }
}
