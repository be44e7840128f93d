import type { Memory } from '../budget/memory.js';
import type { ActionProfile } from '../externs/action-profile.js';
import type { CounterValue, DirectCounter } from '../externs/counter.js';
import type { DirectMeter, MeterRate } from '../externs/meter.js';
import type { KeyMatch, Table } from '../ir/program.js';
import { entryBytes } from '../ir/state-bytes.js';
import type { PacketEnvironment, RuntimeValue } from '../machine/runtime.js';
import { refuse } from './control-error.js';
import { toWords, widthOf } from './data-width.js';
import { EntryColumns } from './entry-columns.js';
import { HandleSlots, SLOT_MASK } from './handle-slots.js';
import { type KeyShape, shapeOf } from './key-match.js';
import { KeyWords } from './key-words.js';
import { LookupResult } from './lookup-result.js';
import { createMatchIndex, hasPriorities, type MatchIndex } from './match-index.js';
import { BitPacker } from './selector-bytes.js';
import type { BoundAction, TableRuntime } from './table.js';
import { canonicalKeys, checkCall, dataTypes, type EntryTarget, type TableEntry } from './table-entry.js';
import { createLookup, createWordLookup, type LookupParts } from './table-lookup.js';

export type { EntryTarget, TableEntry } from './table-entry.js';

/** Default size of a table in entries. */
export const DEFAULT_TABLE_SIZE = 1024;

const NO_WORDS = /* @__PURE__ */ new Int32Array(0);

/** Extern objects that belong to a table. */
export interface TableAttachments {
  readonly profile: ActionProfile | undefined;
  readonly counter: DirectCounter | undefined;
  readonly meter: DirectMeter | undefined;
  /** Memory for entries; unlimited if absent. */
  readonly memory: Memory | undefined;
}

/** A match-action table: entries, default action, lookup. */
export class MatchTable implements TableRuntime {
  /** One value per key, selector keys included. */
  readonly lookup: (...keys: readonly RuntimeValue[]) => BoundAction;
  /** As `lookup`, keys in 32-bit words; undefined for tables with selector keys. See `TableRuntime`. */
  readonly lookupWords: ((...words: readonly number[]) => BoundAction) | undefined;
  /** Keys that are matched, in order: all but the selector keys. */
  readonly shapes: readonly KeyShape[];
  /** Largest number of entries. */
  readonly size: number;
  /** Whether entries have priorities. The smallest priority wins. */
  readonly hasPriorities: boolean;
  readonly profile: ActionProfile | undefined;
  readonly counter: DirectCounter | undefined;
  readonly meter: DirectMeter | undefined;
  readonly #environment: PacketEnvironment;
  readonly #memory: Memory | undefined;
  readonly #index: MatchIndex;
  readonly #slots = new HandleSlots();
  readonly #entries: EntryColumns;
  /** Bytes of memory that an entry takes, whatever its action. */
  readonly #entryBytes: number;
  readonly #positions = new Map<number, number>();
  /** Of hits. */
  readonly #result: LookupResult;
  /** Of members and groups. */
  readonly #selected: LookupResult;
  /** Of misses. */
  readonly #default: LookupResult;
  /** See `TableRuntime`. */
  empty: BoundAction | undefined;
  /** See `TableRuntime`. */
  isEmpty = true;
  readonly #packer: BitPacker;
  readonly #selectorValues: RuntimeValue[] = [];
  #defaultTarget: EntryTarget | undefined;
  #generation = 0;

  constructor(
    readonly declaration: Table,
    environment: PacketEnvironment,
    attachments: Partial<TableAttachments> = {},
  ) {
    const { keys, entries, actions } = declaration;
    this.#environment = environment;
    this.#memory = attachments.memory;
    this.profile = attachments.profile;
    this.counter = attachments.counter;
    this.meter = attachments.meter;
    this.shapes = keys.filter((key) => key.matchKind !== 'selector').map(shapeOf);
    this.hasPriorities = hasPriorities(this.shapes.map(({ kind }) => kind));
    this.size = Math.max(
      Math.min(declaration.size > 0 ? declaration.size : DEFAULT_TABLE_SIZE, SLOT_MASK),
      entries.length,
    );
    this.#index = createMatchIndex(this.shapes, environment.work, this.size);
    const words = new KeyWords(this.shapes.map((shape) => shape.width));
    const types = actions.map(({ action }) => dataTypes(action.parameters));
    const isTimed = declaration.supportsTimeout;
    this.#entries = new EntryColumns(this.shapes, types, this.hasPriorities, isTimed);
    this.#entryBytes = entryBytes(keys, Math.max(0, ...types.map(({ length }) => length)));
    const owner = {
      dataTypes: (action: number) => types[action] ?? [],
      handleOf: (slot: number) => this.#slots.handleOf(slot),
    };
    this.#result = new LookupResult(owner, new Int32Array(this.#entries.dataWords));
    this.#selected = new LookupResult(owner, NO_WORDS);
    this.#default = new LookupResult(owner, NO_WORDS);
    this.#result.isHit = true;
    this.#packer = new BitPacker(keys.filter((key) => key.matchKind === 'selector').map((key) => widthOf(key.type)));
    actions.forEach(({ action }, position) => {
      if (!this.#positions.has(action.id)) this.#positions.set(action.id, position);
    });
    const lookup: LookupParts = {
      index: this.#index,
      words,
      isSelector: keys.map((key) => key.matchKind === 'selector'),
      selectorValues: this.#selectorValues,
      found: (slot) => this.#found(slot),
    };
    this.lookup = createLookup(lookup);
    this.lookupWords = createWordLookup(lookup);
    this.#setDefaultTo(this.#initialDefault());
    this.#addProgramEntries();
  }

  get #name(): string {
    return this.declaration.name;
  }

  /** Number of entries. */
  get count(): number {
    return this.#slots.count;
  }

  /** Changes whenever the entries were cleared and handles began anew: a handle of before may then mean another entry. */
  get generation(): number {
    return this.#generation;
  }

  /** Entries lie in slots 0 to this number - 1; some may be free. */
  get slotCount(): number {
    return this.#entries.slotCount;
  }

  /** The target of a miss; undefined: a miss does nothing. */
  get defaultTarget(): EntryTarget | undefined {
    return this.#defaultTarget;
  }

  /**
   * Adds an entry. In a table with an action profile its target is a member or group, in others an action.
   *
   * @param priority the smallest wins; only tables with ternary, range or optional keys use it
   * @returns its handle
   * @throws ControlError `ERR_CONTROL_CONST_TABLE`, `ERR_CONTROL_INDIRECT`, `ERR_CONTROL_NOT_INDIRECT`, `ERR_CONTROL_BAD_MEMBER`,
   *   `ERR_CONTROL_BAD_GROUP`, `ERR_CONTROL_EMPTY_GROUP`, `ERR_CONTROL_NO_KEY`, `ERR_CONTROL_UNKNOWN_ACTION`, `ERR_CONTROL_WRONG_ARITY`,
   *   `ERR_CONTROL_BAD_MATCH`, `ERR_CONTROL_VALUE_TOO_WIDE`, `ERR_CONTROL_DUPLICATE_ENTRY`, `ERR_CONTROL_TABLE_FULL`, `ERR_CONTROL_NO_ROOM`
   */
  add(keys: readonly KeyMatch[], target: EntryTarget, priority = 0): number {
    this.#needMutable();
    this.#checkKind(target, 'entry');
    if (target.kind !== 'action') this.profile?.check(target);
    const handle = this.#add(keys, target, priority, false);
    this.#use(target, 1);
    return handle;
  }

  /** Changes the target of an entry. @throws ControlError `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE`, and as {@link add} */
  modify(handle: number, target: EntryTarget): void {
    this.#needMutable();
    this.#checkKind(target, 'entry');
    const slot = this.#changeable(handle);
    if (target.kind === 'action') checkCall(this.declaration, target.call);
    else this.profile?.check(target);
    this.#release(slot);
    this.#use(target, 1);
    this.#entries.setTarget(slot, target);
  }

  /** @throws ControlError `ERR_CONTROL_CONST_TABLE`, `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE` */
  delete(handle: number): void {
    this.#needMutable();
    const slot = this.#changeable(handle);
    this.#index.remove(this.#entries.keysOf(slot), this.#entries.priorityOf(slot), slot);
    this.#release(slot);
    this.#giveBack(slot);
    this.#entries.remove(slot);
    this.#slots.release(slot);
    this.#renewEmpty();
  }

  /**
   * Removes all entries except constant ones, and resets the handles.
   *
   * @throws ControlError `ERR_CONTROL_CONST_TABLE`
   */
  clear(): void {
    this.#needMutable();
    this.#clear(true);
  }

  /** Entries in order of their slots. */
  entries(): readonly TableEntry[] {
    const list: TableEntry[] = [];
    for (let slot = 0; slot < this.slotCount; slot++) if (this.#entries.has(slot)) list.push(this.#seen(slot));
    return list;
  }

  /** The entry in a slot as it is now; undefined if the slot is free. */
  entryAt(slot: number): TableEntry | undefined {
    return this.#entries.has(slot) ? this.#seen(slot) : undefined;
  }

  /** @throws ControlError `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE` */
  entry(handle: number): TableEntry {
    return this.#seen(this.#slots.slotOf(handle));
  }

  /** Handle of the entry with these keys (and priority); undefined if there is none. @throws as {@link add} on bad keys */
  find(keys: readonly KeyMatch[], priority: number): number | undefined {
    const slot = this.#index.equal(
      canonicalKeys(this.declaration, this.shapes, this.hasPriorities, keys),
      this.hasPriorities ? priority : 0,
    );
    return slot < 0 ? undefined : this.#slots.handleOf(slot);
  }

  /** Sets the target of a miss. @throws ControlError `ERR_CONTROL_CONST_DEFAULT`, and as {@link add}, but a group may be empty */
  setDefault(target: EntryTarget): void {
    if (this.declaration.isDefaultConst)
      refuse('ERR_CONTROL_CONST_DEFAULT', `the default action of table ${this.#name} is constant`);
    this.#checkKind(target, 'default');
    if (target.kind !== 'action') this.profile?.check(target, true);
    this.#setDefaultTo(target);
  }

  /** Resets the default action to that of the program. */
  resetDefault(): void {
    this.#setDefaultTo(this.#initialDefault());
  }

  /** Restores the state after loading the program. */
  reset(): void {
    this.#clear(false);
    this.resetDefault();
    this.#addProgramEntries();
  }

  /**
   * Sets an entry's timeout, which begins to run anew.
   *
   * @param nowUs the time; by default that of the last packet
   * @throws ControlError `ERR_CONTROL_NO_TIMEOUT`, `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE`
   */
  setTimeout(handle: number, timeoutUs: number, nowUs: number = this.#environment.nowUs): void {
    if (!this.declaration.supportsTimeout)
      refuse('ERR_CONTROL_NO_TIMEOUT', `table ${this.#name} does not support timeouts`);
    if (!Number.isFinite(timeoutUs) || timeoutUs < 0) refuse('ERR_CONTROL_BAD_VALUE', `${timeoutUs} is no timeout`);
    const slot = this.#slots.slotOf(handle);
    this.#entries.setTimeout(slot, timeoutUs);
    this.#entries.setLastHit(slot, nowUs);
  }

  /**
   * Sets when an entry counts as last hit.
   *
   * @throws ControlError `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE`
   */
  setLastHit(handle: number, timeUs: number): void {
    this.#entries.setLastHit(this.#slots.slotOf(handle), timeUs);
  }

  /**
   * Lets an entry's timeout run anew from a time on. The last hit stays.
   *
   * @throws ControlError `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE`
   */
  restartTimeout(handle: number, nowUs: number): void {
    this.#entries.setRestart(this.#slots.slotOf(handle), nowUs);
  }

  /** When the entry in a slot is idle for its timeout unless it is hit before; Infinity without an entry or a timeout. */
  expiryUs(slot: number): number {
    const entries = this.#entries;
    const timeoutUs = entries.has(slot) ? entries.timeoutOf(slot) : 0;
    if (timeoutUs <= 0) return Number.POSITIVE_INFINITY;
    return Math.max(entries.lastHitOf(slot), entries.restartOf(slot)) + timeoutUs;
  }

  /** Handles of the entries without a hit for at least their timeout, by default at the time of the last packet. */
  expired(nowUs: number = this.#environment.nowUs): readonly number[] {
    const list: number[] = [];
    for (let slot = 0; slot < this.slotCount; slot++) {
      if (nowUs >= this.expiryUs(slot)) list.push(this.#slots.handleOf(slot));
    }
    return list;
  }

  /** Microseconds since an entry was hit, made, or got its timeout, by default at the time of the last packet. */
  idleUs(handle: number, nowUs: number = this.#environment.nowUs): number {
    return Math.max(0, nowUs - this.#entries.lastHitOf(this.#slots.slotOf(handle)));
  }

  /** Uses the present entry in the handle's slot. @throws ControlError `ERR_CONTROL_NO_COUNTER`, `ERR_CONTROL_BAD_HANDLE` */
  readCounter(handle: number): CounterValue {
    return this.#needCounter().readSlot(this.#usedSlot(handle));
  }

  /** Uses the present entry in the handle's slot. @throws as {@link readCounter}, and `ERR_CONTROL_BAD_VALUE` */
  writeCounter(handle: number, value: CounterValue): void {
    this.#needCounter().writeSlot(this.#usedSlot(handle), value);
  }

  /**
   * Uses the present entry in the handle's slot.
   *
   * @throws ControlError `ERR_CONTROL_NO_METER`, `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_BAD_RATES`
   */
  setMeterRates(handle: number, rates: readonly MeterRate[]): void {
    this.#needMeter().setRates(this.#usedSlot(handle), rates);
  }

  /** Committed and peak rate; undefined if none were set. @throws as {@link setMeterRates} */
  meterRates(handle: number): readonly [MeterRate, MeterRate] | undefined {
    return this.#needMeter().rates(this.#usedSlot(handle));
  }

  /** The slot of an entry. @throws ControlError `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE` */
  slotOf(handle: number): number {
    return this.#slots.slotOf(handle);
  }

  /** Position of an action in `Table.actions`; -1 if it is not there. */
  positionOf(actionId: number): number {
    return this.#positions.get(actionId) ?? -1;
  }

  // Lookup

  #found(slot: number): BoundAction {
    if (slot < 0) return this.miss();
    if (this.counter !== undefined) this.counter.countSlot(slot, this.#environment.packetLength);
    if (this.meter !== undefined) {
      const { packetLength, nowUs } = this.#environment;
      this.meter.color = this.meter.run(slot, packetLength, nowUs);
    }
    if (this.declaration.supportsTimeout) this.#entries.setLastHit(slot, this.#environment.nowUs);
    return this.#entries.load(slot, this.#result) ? this.#result : this.#select(this.#entries.targetOf(slot), slot);
  }

  /** See `TableRuntime`. */
  miss(): BoundAction {
    const { counter, meter } = this;
    if (counter !== undefined) counter.countMiss(this.#environment.packetLength);
    if (meter !== undefined) meter.runMiss(this.#environment.packetLength, this.#environment.nowUs);
    const target = this.#defaultTarget;
    return target === undefined || target.kind === 'action' ? this.#default : this.#select(target, -1);
  }

  /** The member that a target means. */
  #select(target: EntryTarget, slot: number): BoundAction {
    const result = this.#selected;
    result.isHit = slot >= 0;
    result.slot = slot;
    result.action = -1;
    result.words = NO_WORDS;
    if (target.kind === 'action' || this.profile === undefined) return result;
    const packer = this.#packer;
    if (target.kind === 'group') packer.pack(this.#selectorValues);
    const member = this.profile.select(target, packer.bytes, packer.bytes.length);
    if (member !== undefined) {
      result.action = this.positionOf(member.action.id);
      result.words = member.words;
    }
    return result;
  }

  // Entries

  #add(
    keys: readonly KeyMatch[],
    target: EntryTarget,
    priority: number,
    isConst: boolean,
    isOfProgram = false,
  ): number {
    if (this.shapes.length === 0) refuse('ERR_CONTROL_NO_KEY', `table ${this.#name} has no key`);
    if (!Number.isSafeInteger(priority)) refuse('ERR_CONTROL_BAD_PRIORITY', `${priority} is no priority`);
    // Throws if the action or its data are wrong, before anything changes.
    if (target.kind === 'action') checkCall(this.declaration, target.call);
    const canonical = canonicalKeys(this.declaration, this.shapes, this.hasPriorities, keys);
    const rank = this.hasPriorities ? priority : 0;
    if (this.#index.equal(canonical, rank) >= 0)
      refuse('ERR_CONTROL_DUPLICATE_ENTRY', `table ${this.#name} has an entry with these keys`);
    if (this.#slots.count >= this.size)
      refuse('ERR_CONTROL_TABLE_FULL', `table ${this.#name} holds ${this.size} entries`);
    if (!isOfProgram && this.#memory?.take(this.#entryBytes) === false)
      refuse('ERR_CONTROL_NO_ROOM', `there is no memory left for entries of table ${this.#name}`);
    const slot = this.#slots.take();
    const { nowUs } = this.#environment;
    this.#entries.put(slot, { keys: canonical, target, priority: rank, isConst, isOfProgram, nowUs });
    this.#index.add(canonical, rank, slot);
    this.counter?.prepare(slot);
    this.meter?.clearRates(slot);
    this.empty = undefined;
    this.isEmpty = false;
    return this.#slots.handleOf(slot);
  }

  #addProgramEntries(): void {
    for (const entry of this.declaration.entries) {
      this.#add(
        entry.keys,
        { kind: 'action', call: entry.call },
        entry.priority,
        entry.isConst || this.declaration.areEntriesConst,
        true,
      );
    }
  }

  #initialDefault(): EntryTarget | undefined {
    const call = this.declaration.defaultAction;
    return call === undefined ? undefined : { kind: 'action', call };
  }

  #setDefaultTo(target: EntryTarget | undefined): void {
    if (target?.kind === 'action') {
      const types = checkCall(this.declaration, target.call);
      this.#default.action = target.call.action;
      this.#default.words = toWords(types, target.call.data);
    } else {
      this.#default.action = -1;
      this.#default.words = NO_WORDS;
    }
    this.#use(this.#defaultTarget, -1);
    this.#use(target, 1);
    this.#defaultTarget = target;
    this.#renewEmpty();
  }

  #renewEmpty(): void {
    const kind = this.#defaultTarget?.kind ?? 'action';
    // A group selects by keys.
    this.isEmpty = this.#slots.count === 0 && kind !== 'group';
    const isCounted = this.counter !== undefined || this.meter !== undefined;
    this.empty = this.isEmpty && kind === 'action' && !isCounted ? this.#default : undefined;
  }

  /** @param keepsConst whether constant entries stay */
  #clear(keepsConst: boolean): void {
    const entries = this.#entries;
    const kept: TableEntry[] = [];
    for (let slot = 0; slot < entries.slotCount; slot++) {
      if (!entries.has(slot)) continue;
      if (keepsConst && entries.isConst(slot)) {
        kept.push(this.#seen(slot));
        continue;
      }
      this.#release(slot);
      this.#giveBack(slot);
    }
    this.#generation++;
    entries.clear();
    this.#slots.clear();
    this.#index.clear();
    this.#renewEmpty();
    for (const entry of kept) this.#add(entry.keys, entry.target, entry.priority, true, true);
  }

  #seen(slot: number): TableEntry {
    const entries = this.#entries;
    return {
      handle: this.#slots.handleOf(slot),
      keys: entries.keysOf(slot),
      target: entries.targetOf(slot),
      priority: entries.priorityOf(slot),
      isConst: entries.isConst(slot),
      timeoutUs: entries.timeoutOf(slot),
    };
  }

  /** The slot of an entry that may change. */
  #changeable(handle: number): number {
    const slot = this.#slots.slotOf(handle);
    if (this.#entries.isConst(slot)) refuse('ERR_CONTROL_CONST_TABLE', `entry ${handle} is constant`);
    return slot;
  }

  #giveBack(slot: number): void {
    if (!this.#entries.isOfProgram(slot)) this.#memory?.giveBack(this.#entryBytes);
  }

  /** Ends the use of what an entry points to. */
  #release(slot: number): void {
    if (this.profile !== undefined) this.#use(this.#entries.targetOf(slot), -1);
  }

  /** Counters and meters ignore the version of a handle. */
  #usedSlot(handle: number): number {
    const slot = handle & SLOT_MASK;
    if (!Number.isInteger(handle) || handle < 0 || !this.#slots.isUsed(slot))
      refuse('ERR_CONTROL_BAD_HANDLE', `there is no entry with handle ${handle}`);
    return slot;
  }

  #needMutable(): void {
    if (this.declaration.areEntriesConst)
      refuse('ERR_CONTROL_CONST_TABLE', `the entries of table ${this.#name} are constant`);
  }

  /** Checks that a target is a member or group if the table has an action profile, and otherwise an action. */
  #checkKind({ kind }: EntryTarget, whose: 'entry' | 'default'): void {
    if (kind !== 'action' && this.profile === undefined)
      refuse('ERR_CONTROL_NOT_INDIRECT', `table ${this.#name} has no action profile`);
    if (kind !== 'action' || this.profile === undefined) return;
    if (whose === 'entry')
      refuse('ERR_CONTROL_INDIRECT', `entries of table ${this.#name} point into an action profile`);
    refuse('ERR_CONTROL_INDIRECT', `the default of table ${this.#name} is in an action profile`);
  }

  /** Counts the uses of a target in its action profile. */
  #use(target: EntryTarget | undefined, change: 1 | -1): void {
    if (target !== undefined && target.kind !== 'action') this.profile?.use(target, change);
  }

  #needCounter(): DirectCounter {
    return this.counter ?? refuse('ERR_CONTROL_NO_COUNTER', `table ${this.#name} has no direct counter`);
  }

  #needMeter(): DirectMeter {
    return this.meter ?? refuse('ERR_CONTROL_NO_METER', `table ${this.#name} has no direct meter`);
  }
}
