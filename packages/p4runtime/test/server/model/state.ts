/** What a switch has, by the model. */
import type { p4v1 } from '@int/p4runtime';

export interface Count {
  readonly packets: bigint;
  readonly bytes: bigint;
}

/** A table entry, or a default entry. */
export interface Entry {
  readonly tableId: number;
  /** Key, priority, metadata, timeout; without action and direct resources. */
  readonly base: p4v1.TableEntry;
  readonly action: p4v1.TableAction | undefined;
  readonly isConst: boolean;
  readonly count: Count;
  readonly meter: p4v1.MeterConfig | undefined;
}

/** An object with an id of the client. */
export interface Member {
  readonly profile: number;
  readonly id: number;
  readonly action: p4v1.Action;
}

export interface Group {
  readonly profile: number;
  readonly id: number;
  readonly message: p4v1.ActionProfileGroup;
}

/** All state; changes can be taken back. */
export class State {
  /** By table, priority and key. */
  readonly entries = new Map<string, Entry>();
  /** By table. */
  readonly defaults = new Map<number, Entry>();
  /** By profile and id. */
  readonly members = new Map<string, Member>();
  readonly groups = new Map<string, Group>();
  /** By array and index. Absent: 0, or not configured. */
  readonly counters = new Map<string, Count>();
  readonly meters = new Map<string, p4v1.MeterConfig>();
  readonly registers = new Map<string, bigint>();
  readonly valueSets = new Map<number, p4v1.ValueSetEntry>();
  readonly digests = new Map<number, p4v1.DigestEntry>();
  readonly multicast = new Map<number, p4v1.MulticastGroupEntry>();
  readonly sessions = new Map<number, p4v1.CloneSessionEntry>();
  /** Numbers of entries by table, of members and of one-shots by profile: what limits are about. */
  readonly sizes = new Map<string, number>();
  /** The last entries of each table, some of them gone: keys that may meet again. */
  readonly #recent = new Map<number, Entry[]>();
  #journal: (() => void)[] | undefined;

  remember(entry: Entry): void {
    const entries = this.#recent.get(entry.tableId) ?? [];
    entries.unshift(entry);
    this.#recent.set(entry.tableId, entries.slice(0, 32));
  }

  recent(tableId: number, n: number): Entry | undefined {
    return this.#recent.get(tableId)?.[n];
  }

  /** Sets or, without a value, deletes. */
  set<Key, Value>(map: Map<Key, Value>, key: Key, value: Value | undefined): void {
    const before = map.get(key);
    this.#journal?.push(() => put(map, key, before));
    put(map, key, value);
  }

  grow(name: string, by: number): void {
    this.set(this.sizes, name, this.size(name) + by);
  }

  size(name: string): number {
    return this.sizes.get(name) ?? 0;
  }

  begin(): void {
    this.#journal = [];
  }

  /** Takes back what was changed since {@link begin}. */
  rollBack(): void {
    for (const undo of (this.#journal ?? []).reverse()) undo();
    this.#journal = undefined;
  }

  keep(): void {
    this.#journal = undefined;
  }
}

function put<Key, Value>(map: Map<Key, Value>, key: Key, value: Value | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** An update, what the state allows as its answer, and what it then changes. */
export interface Made {
  readonly kind: string;
  readonly update: p4v1.Update;
  /** Id of the object that it is about, 0 for the packet replication engine: what roles are about. */
  readonly object: number;
  /** The codes that may be answered: one per fault, whichever the switch finds first; none: it must be done. */
  faults(state: State): readonly number[];
  /** Codes with which the switch may refuse although there is no fault, such as a lack of room. */
  mayRefuse?(state: State): readonly number[];
  commit(state: State): void;
}

/** Picks faults that are there. */
export function faultsOf(...faults: readonly (readonly [is: boolean, code: number])[]): number[] {
  return faults.filter(([is]) => is).map(([, code]) => code);
}
