import type { Memory } from '../budget/memory.js';
import type { ActionProfile } from '../externs/action-profile.js';
import type { CounterValue, DirectCounter } from '../externs/counter.js';
import type { DirectMeter, MeterRate } from '../externs/meter.js';
import type { KeyMatch, Table } from '../ir/program.js';
import { entryBytes } from '../ir/state-bytes.js';
import type { PacketEnvironment, RuntimeValue } from '../machine/runtime.js';
import { refuse } from './control-error.js';
import { widthOf } from './data-width.js';
import { HandleSlots, SLOT_MASK } from './handle-slots.js';
import { type KeyShape, shapeOf } from './key-match.js';
import { KeyWords } from './key-words.js';
import { createMatchIndex, hasPriorities, type MatchIndex } from './match-index.js';
import { BitPacker } from './selector-bytes.js';
import type { BoundAction, TableRuntime } from './table.js';
import { bindAction, canonicalKeys, type EntryTarget, type TableEntry } from './table-entry.js';
import { createLookup, createWordLookup, type LookupParts } from './table-lookup.js';

export type { EntryTarget, TableEntry } from './table-entry.js';

/** Default size of a table in entries. */
export const DEFAULT_TABLE_SIZE = 1024;

interface StoredEntry extends TableEntry {
  target: EntryTarget;
  timeoutUs: number;
  lastHitUs: number;
  /** When its timeout began to run, if that is later than the last hit. */
  restartedUs: number;
  /** Undefined for entries that point into an action profile. */
  bound: BoundAction | undefined;
  /** Bytes taken from memory for it; 0 for entries of the program. */
  bytes: number;
}

/** Nothing to do. */
const NO_ACTION: BoundAction = { action: -1, data: [], words: [], isHit: false, handle: -1 };

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
  readonly #entries: (StoredEntry | undefined)[] = [];
  readonly #positions = new Map<number, number>();
  readonly #result: { -readonly [K in keyof BoundAction]: BoundAction[K] } = { ...NO_ACTION };
  readonly #packer: BitPacker;
  readonly #selectorValues: RuntimeValue[] = [];
  #default = NO_ACTION;
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
    return this.#entries.length;
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
    const entry = this.#stored(handle);
    this.#needChangeable(entry);
    if (target.kind === 'action') entry.bound = bindAction(this.declaration, target.call, true, handle);
    else this.profile?.check(target);
    this.#use(entry.target, -1);
    this.#use(target, 1);
    entry.target = target;
  }

  /** @throws ControlError `ERR_CONTROL_CONST_TABLE`, `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE` */
  delete(handle: number): void {
    this.#needMutable();
    const entry = this.#stored(handle);
    this.#needChangeable(entry);
    const slot = handle & SLOT_MASK;
    this.#index.remove(entry.keys, entry.priority, slot);
    this.#use(entry.target, -1);
    this.#memory?.giveBack(entry.bytes);
    this.#entries[slot] = undefined;
    this.#slots.release(slot);
  }

  /**
   * Removes all entries except constant ones, and resets the handles.
   *
   * @throws ControlError `ERR_CONTROL_CONST_TABLE`
   */
  clear(): void {
    this.#needMutable();
    this.#clear((entry) => entry.isConst);
  }

  /** Entries in order of their slots. */
  entries(): readonly TableEntry[] {
    return this.#entries.filter((entry) => entry !== undefined).map((entry) => this.#seen(entry));
  }

  /** The entry in a slot, as a live view; undefined if the slot is free. */
  entryAt(slot: number): TableEntry | undefined {
    return this.#entries[slot];
  }

  /** @throws ControlError `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE` */
  entry(handle: number): TableEntry {
    return this.#seen(this.#stored(handle));
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
    this.#clear(() => false);
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
    const entry = this.#stored(handle);
    entry.timeoutUs = timeoutUs;
    entry.lastHitUs = nowUs;
  }

  /**
   * Sets when an entry counts as last hit.
   *
   * @throws ControlError `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE`
   */
  setLastHit(handle: number, timeUs: number): void {
    this.#stored(handle).lastHitUs = timeUs;
  }

  /**
   * Lets an entry's timeout run anew from a time on. The last hit stays.
   *
   * @throws ControlError `ERR_CONTROL_BAD_HANDLE`, `ERR_CONTROL_EXPIRED_HANDLE`
   */
  restartTimeout(handle: number, nowUs: number): void {
    this.#stored(handle).restartedUs = nowUs;
  }

  /** When the entry in a slot is idle for its timeout unless it is hit before; Infinity without an entry or a timeout. */
  expiryUs(slot: number): number {
    const entry = this.#entries[slot];
    if (entry === undefined || entry.timeoutUs <= 0) return Number.POSITIVE_INFINITY;
    return Math.max(entry.lastHitUs, entry.restartedUs) + entry.timeoutUs;
  }

  /** Handles of the entries without a hit for at least their timeout, by default at the time of the last packet. */
  expired(nowUs: number = this.#environment.nowUs): readonly number[] {
    return this.#entries
      .filter((entry, slot) => entry !== undefined && nowUs >= this.expiryUs(slot))
      .map((entry) => entry!.handle);
  }

  /** Microseconds since an entry was hit, made, or got its timeout, by default at the time of the last packet. */
  idleUs(handle: number, nowUs: number = this.#environment.nowUs): number {
    return Math.max(0, nowUs - this.#stored(handle).lastHitUs);
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
    if (slot < 0) return this.#missed();
    const entry = this.#entries[slot]!;
    if (this.counter !== undefined) this.counter.countSlot(slot, this.#environment.packetLength);
    if (this.meter !== undefined) {
      const { packetLength, nowUs } = this.#environment;
      this.meter.color = this.meter.run(slot, packetLength, nowUs);
    }
    if (this.declaration.supportsTimeout) entry.lastHitUs = this.#environment.nowUs;
    return entry.bound ?? this.#resolve(entry.target, true, entry.handle);
  }

  #missed(): BoundAction {
    const { counter, meter } = this;
    if (counter !== undefined) counter.countMiss(this.#environment.packetLength);
    if (meter !== undefined) meter.runMiss(this.#environment.packetLength, this.#environment.nowUs);
    const target = this.#defaultTarget;
    return target === undefined || target.kind === 'action' ? this.#default : this.#resolve(target, false, -1);
  }

  #resolve(target: EntryTarget, isHit: boolean, handle: number): BoundAction {
    const result = this.#result;
    result.isHit = isHit;
    result.handle = handle;
    result.action = -1;
    result.data = NO_ACTION.data;
    result.words = NO_ACTION.words;
    if (target.kind === 'action' || this.profile === undefined) return result;
    const packer = this.#packer;
    if (target.kind === 'group') packer.pack(this.#selectorValues);
    const member = this.profile.select(target, packer.bytes, packer.bytes.length);
    if (member !== undefined) {
      result.action = this.positionOf(member.action.id);
      result.data = member.data;
      result.words = member.words;
    }
    return result;
  }

  // Entries

  #add(keys: readonly KeyMatch[], target: EntryTarget, priority: number, isConst: boolean, isProgram = false): number {
    if (this.shapes.length === 0) refuse('ERR_CONTROL_NO_KEY', `table ${this.#name} has no key`);
    if (!Number.isSafeInteger(priority)) refuse('ERR_CONTROL_BAD_PRIORITY', `${priority} is no priority`);
    // Throws if the action or its data are wrong, before anything changes.
    const draft = target.kind === 'action' ? bindAction(this.declaration, target.call, true, 0) : undefined;
    const canonical = canonicalKeys(this.declaration, this.shapes, this.hasPriorities, keys);
    const rank = this.hasPriorities ? priority : 0;
    if (this.#index.equal(canonical, rank) >= 0)
      refuse('ERR_CONTROL_DUPLICATE_ENTRY', `table ${this.#name} has an entry with these keys`);
    if (this.#slots.count >= this.size)
      refuse('ERR_CONTROL_TABLE_FULL', `table ${this.#name} holds ${this.size} entries`);
    const data = target.kind === 'action' ? target.call.data.length : 0;
    const bytes = isProgram ? 0 : entryBytes(this.declaration.keys, data);
    if (this.#memory?.take(bytes) === false)
      refuse('ERR_CONTROL_NO_ROOM', `there is no memory left for entries of table ${this.#name}`);
    const slot = this.#slots.take();
    const handle = this.#slots.handleOf(slot);
    this.#entries[slot] = {
      handle,
      keys: canonical,
      target,
      priority: rank,
      isConst,
      timeoutUs: 0,
      lastHitUs: this.#environment.nowUs,
      restartedUs: 0,
      bound: draft === undefined ? undefined : { ...draft, handle },
      bytes,
    };
    this.#index.add(canonical, rank, slot);
    this.counter?.prepare(slot);
    this.meter?.clearRates(slot);
    return handle;
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
    this.#default = target?.kind === 'action' ? bindAction(this.declaration, target.call, false, -1) : NO_ACTION;
    this.#use(this.#defaultTarget, -1);
    this.#use(target, 1);
    this.#defaultTarget = target;
  }

  #clear(keeps: (entry: StoredEntry) => boolean): void {
    const kept: StoredEntry[] = [];
    for (const entry of this.#entries) {
      if (entry === undefined) continue;
      if (keeps(entry)) {
        kept.push(entry);
        continue;
      }
      this.#use(entry.target, -1);
      this.#memory?.giveBack(entry.bytes);
    }
    this.#generation++;
    this.#entries.length = 0;
    this.#slots.clear();
    this.#index.clear();
    for (const entry of kept) this.#add(entry.keys, entry.target, entry.priority, true, true);
  }

  #seen(entry: StoredEntry): TableEntry {
    const { handle, keys, target, priority, isConst, timeoutUs } = entry;
    return { handle, keys, target, priority, isConst, timeoutUs };
  }

  #stored(handle: number): StoredEntry {
    const entry = this.#entries[this.#slots.slotOf(handle)];
    if (entry === undefined) refuse('ERR_CONTROL_BAD_HANDLE', `there is no entry with handle ${handle}`);
    return entry;
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

  #needChangeable(entry: StoredEntry): void {
    if (entry.isConst) refuse('ERR_CONTROL_CONST_TABLE', `entry ${entry.handle} is constant`);
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
