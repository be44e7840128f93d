import type { Value } from '../values/parse-value.js';
import type { Data } from './data.js';
import type { Match, MatchInput } from './match.js';

/*
 * Entities of P4Runtime by names and values, as a client writes and reads them. Names are full names, aliases, or the last
 * components of a full name; answers have full names and numbers.
 */

/** An action with its parameters by name. */
export interface ActionCall {
  readonly action: string;
  readonly params: Readonly<Record<string, Value>>;
}

/** An action of a one-shot selector, with its share of the packets. */
export interface WeightedAction extends ActionCall {
  readonly weight: number;
  /** A port that must be up for the action to be chosen, as the switch writes its number. */
  readonly watchPort?: Uint8Array | undefined;
}

/** What an entry does: an action, a member or a group of the table's action profile, or a set of actions of its own. */
export type EntryAction =
  | ActionCall
  | { readonly member: number }
  | { readonly group: number }
  | { readonly oneShot: readonly WeightedAction[] };

export interface CounterValue {
  readonly packets: bigint;
  readonly bytes: bigint;
}

/** Rates in packets or bytes a second, bursts in packets or bytes. `eburst` is that of a single rate with three colours. */
export interface MeterRates {
  readonly cir: bigint;
  readonly cburst: bigint;
  readonly pir: bigint;
  readonly pburst: bigint;
  readonly eburst?: bigint;
}

export interface TableEntry<M extends MatchInput = MatchInput> {
  readonly kind: 'table-entry';
  readonly table: string;
  /** By name; fields that match anything are left out. */
  readonly match: Readonly<Record<string, M>>;
  /** Undefined: none, or for a default entry that of the program. */
  readonly action?: EntryAction | undefined;
  /** The largest wins; 0 or none for tables without ternary, range and optional fields. */
  readonly priority?: number | undefined;
  readonly isDefault?: boolean | undefined;
  /** Whether the program made it and nobody may change it; in answers. */
  readonly isConst?: boolean | undefined;
  readonly idleTimeoutNs?: bigint | undefined;
  /** Nanoseconds, in answers to a question that has `timeSinceLastHitNs`. */
  readonly timeSinceLastHitNs?: bigint | undefined;
  readonly metadata?: Uint8Array | undefined;
  readonly counter?: CounterValue | undefined;
  readonly meter?: MeterRates | undefined;
}

export interface ProfileMember {
  readonly kind: 'member';
  readonly profile: string;
  readonly id: number;
  readonly action?: ActionCall | undefined;
}

export interface ProfileGroup {
  readonly kind: 'group';
  readonly profile: string;
  readonly id: number;
  readonly members: readonly {
    readonly id: number;
    readonly weight: number;
    readonly watchPort?: Uint8Array | undefined;
  }[];
  readonly maxSize?: number | undefined;
}

export interface CounterEntry {
  readonly kind: 'counter';
  readonly counter: string;
  /** Undefined: all. */
  readonly index?: number | undefined;
  readonly value?: CounterValue | undefined;
}

export interface MeterEntry {
  readonly kind: 'meter';
  readonly meter: string;
  /** Undefined: all. */
  readonly index?: number | undefined;
  /** Undefined: every packet is green. */
  readonly rates?: MeterRates | undefined;
}

export interface DirectCounterEntry {
  readonly kind: 'direct-counter';
  readonly entry: TableEntry;
  readonly value?: CounterValue | undefined;
}

export interface DirectMeterEntry {
  readonly kind: 'direct-meter';
  readonly entry: TableEntry;
  readonly rates?: MeterRates | undefined;
}

export interface RegisterEntry {
  readonly kind: 'register';
  readonly register: string;
  /** Undefined: all. */
  readonly index?: number | undefined;
  readonly value?: Data | undefined;
}

export interface ValueSetEntry {
  readonly kind: 'value-set';
  readonly valueSet: string;
  /** By name of the field; a set of plain values has the one field ''. */
  readonly members: readonly Readonly<Record<string, MatchInput>>[];
}

/** A copy of a packet: a port and the number that the program sees of the copy. */
export interface Replica {
  readonly port: number;
  readonly instance?: number | undefined;
}

export interface MulticastGroup {
  readonly kind: 'multicast-group';
  readonly id: number;
  readonly replicas: readonly Replica[];
  readonly metadata?: Uint8Array | undefined;
}

export interface CloneSession {
  readonly kind: 'clone-session';
  readonly id: number;
  readonly replicas: readonly Replica[];
  readonly classOfService?: number | undefined;
  /** Bytes of the packet that are cloned, 0 for all. */
  readonly packetLengthBytes?: number | undefined;
}

export interface DigestEntry {
  readonly kind: 'digest';
  readonly digest: string;
  readonly config?:
    | { readonly maxTimeoutNs: bigint; readonly maxListSize: number; readonly ackTimeoutNs: bigint }
    | undefined;
}

export type Entity =
  | TableEntry
  | ProfileMember
  | ProfileGroup
  | CounterEntry
  | MeterEntry
  | DirectCounterEntry
  | DirectMeterEntry
  | RegisterEntry
  | ValueSetEntry
  | MulticastGroup
  | CloneSession
  | DigestEntry;

/** An entity of an answer: table entries with matches that are read, not text. */
export type ReadTableEntry = TableEntry<Match>;

/** Options of an entry beside match and action. */
export type EntryOptions = Omit<TableEntry, 'kind' | 'table' | 'match' | 'action' | 'isConst' | 'timeSinceLastHitNs'>;

/**
 * A table entry by names and values.
 *
 * @param action undefined: none, as for a question
 */
export function entry(
  table: string,
  match: Readonly<Record<string, MatchInput>> = {},
  action?: string | EntryAction,
  params: Readonly<Record<string, Value>> = {},
  options: EntryOptions = {},
): TableEntry {
  const called = typeof action === 'string' ? { action, params } : action;
  return { kind: 'table-entry', table, match, ...(called !== undefined && { action: called }), ...options };
}
