import type { PipelineSchema } from './schema.js';

/*
 * What the server needs of a switch. Objects have the ids of P4Info, values are unsigned bit patterns, and nothing here
 * knows of gRPC or of messages. A target runs on its own clock, which may be virtual. All methods return at once.
 */

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/p4runtime.TargetError') as never;

/** Why a target refuses a request. */
export type TargetErrorCode =
  /** Wrong values, or a pipeline that the target cannot realise. */
  | 'ERR_TARGET_INVALID'
  /** There is no such object. */
  | 'ERR_TARGET_MISSING'
  /** It exists already. */
  | 'ERR_TARGET_EXISTS'
  /** Other objects refer to it. */
  | 'ERR_TARGET_IN_USE'
  /** No room, or the largest number of objects is reached. */
  | 'ERR_TARGET_FULL'
  /** It is constant. */
  | 'ERR_TARGET_CONSTANT'
  /** The target has no such feature. */
  | 'ERR_TARGET_UNSUPPORTED';

/** A request that a target refuses. It changed nothing. */
export class TargetError extends Error {
  override readonly name = 'TargetError';

  constructor(
    readonly code: TargetErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is TargetError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** The match of one key field. */
export type TargetMatch =
  | { readonly kind: 'exact'; readonly value: bigint }
  | { readonly kind: 'mask'; readonly value: bigint; readonly mask: bigint }
  | { readonly kind: 'prefix'; readonly value: bigint; readonly length: number }
  | { readonly kind: 'range'; readonly low: bigint; readonly high: bigint }
  | { readonly kind: 'any' };

/** An action with a value per parameter, in the order of P4Info. */
export interface TargetCall {
  readonly kind: 'action';
  readonly actionId: number;
  readonly values: readonly bigint[];
}

/** What an entry does: an action, or a member or group of the table's action profile by the target's handle. */
export type TargetAction = TargetCall | { readonly kind: 'member' | 'group'; readonly handle: number };

/** An entry as the target has it: one match per key field, in the order of P4Info. */
export interface TargetEntry {
  readonly handle: number;
  readonly keys: readonly TargetMatch[];
  /** As in P4Runtime: the largest wins; 0 for tables without priorities. */
  readonly priority: number;
  readonly action: TargetAction | undefined;
  readonly isConst: boolean;
}

/** Packets and bytes, each from 0 to 2^53 - 1. */
export interface TargetCount {
  readonly packets: number;
  readonly bytes: number;
}

/** Rates in packets or bytes per second, bursts in packets or bytes. */
export type TargetMeterConfig =
  | {
      readonly kind: 'two-rate';
      readonly cir: number;
      readonly cburst: number;
      readonly pir: number;
      readonly pburst: number;
    }
  | { readonly kind: 'single-rate'; readonly cir: number; readonly cburst: number; readonly eburst: number };

/** The handle of a table's default entry, for its counter and its meter. */
export const DEFAULT_ENTRY = -1;

/** A table. Handles are numbers from 0. */
export interface TargetTable {
  /** Changes when handles of before may mean other entries. */
  readonly generation: number;
  /** @throws TargetError `ERR_TARGET_FULL`, ... */
  insert(keys: readonly TargetMatch[], priority: number, action: TargetAction): number;
  modify(handle: number, action: TargetAction): void;
  delete(handle: number): void;
  /** The handle of the entry with these keys and this priority. */
  find(keys: readonly TargetMatch[], priority: number): number | undefined;
  /** Entries lie in slots 0 to this number - 1. */
  readonly slotCount: number;
  entryAt(slot: number): TargetEntry | undefined;
  entry(handle: number): TargetEntry;
  readonly defaultAction: TargetAction | undefined;
  /** @param action undefined: that of the program */
  setDefault(action: TargetCall | undefined): void;
  readCounter(handle: number): TargetCount;
  writeCounter(handle: number, count: TargetCount): void;
  /** @param config undefined: every packet is green */
  setMeter(handle: number, config: TargetMeterConfig | undefined): void;
  /** Nanoseconds after which an entry without a hit is idle, 0: never. The time begins to run anew. */
  setTimeout(handle: number, timeoutNs: number): void;
  /** Nanoseconds since the last hit, or since the entry was made. */
  idleNs(handle: number): number;
  /** Lets the timeout run anew; the last hit stays. */
  restartTimeout(handle: number): void;
  /** Nanoseconds until the entry in a slot is idle for its timeout, 0 or less: it is; Infinity: no entry, no timeout. */
  expiryNs(slot: number): number;
}

/** The share of a member in a group; 0: it is never selected. */
export interface TargetShare {
  readonly member: number;
  readonly weight: number;
}

/** An action profile or selector. Members and groups have handles of the target. */
export interface TargetProfile {
  addMember(call: TargetCall): number;
  modifyMember(handle: number, call: TargetCall): void;
  /** @throws TargetError `ERR_TARGET_IN_USE` */
  deleteMember(handle: number): void;
  addGroup(): number;
  setGroup(handle: number, shares: readonly TargetShare[]): void;
  /** @throws TargetError `ERR_TARGET_IN_USE` */
  deleteGroup(handle: number): void;
}

export interface TargetCounter {
  readonly size: number;
  read(index: number): TargetCount;
  write(index: number, count: TargetCount): void;
}

export interface TargetMeter {
  readonly size: number;
  /** @param config undefined: every packet is green */
  set(index: number, config: TargetMeterConfig | undefined): void;
}

export interface TargetRegister {
  readonly size: number;
  /** The bits of a cell. */
  read(index: number): bigint;
  write(index: number, bits: bigint): void;
}

export interface TargetValueSet {
  members(): readonly (readonly TargetMatch[])[];
  replace(members: readonly (readonly TargetMatch[])[]): void;
}

export interface TargetReplica {
  readonly port: number;
  readonly instance: number;
}

export interface TargetCloneSession {
  readonly replicas: readonly TargetReplica[];
  readonly classOfService: number;
  /** Largest length of a clone in bytes, 0: no limit. */
  readonly maxBytes: number;
}

/** A pipeline with its own forwarding state. It gets packets once it is active. */
export interface TargetPipeline {
  table(id: number): TargetTable;
  profile(id: number): TargetProfile;
  counter(id: number): TargetCounter;
  meter(id: number): TargetMeter;
  register(id: number): TargetRegister;
  valueSet(id: number): TargetValueSet;
  /** Ids of all groups, ascending. */
  multicastGroups(): readonly number[];
  multicastGroup(group: number): readonly TargetReplica[] | undefined;
  /** @param replicas undefined: no such group */
  setMulticastGroup(group: number, replicas: readonly TargetReplica[] | undefined): void;
  /** Ids of all sessions, ascending. */
  cloneSessions(): readonly number[];
  cloneSession(id: number): TargetCloneSession | undefined;
  /** @param session undefined: no such session */
  setCloneSession(id: number, session: TargetCloneSession | undefined): void;
}

/** What the active pipeline tells the server. */
export interface TargetEvents {
  /** A packet for the controller, with the packet_in header in front. The bytes are valid only during the call. */
  packetIn(bytes: Uint8Array): void;
  /** A digest: the values of all scalars in its type, in order. */
  digest(digestId: number, values: readonly bigint[]): void;
  /** A port has come, gone, or changed its state. */
  portsChanged(): void;
}

/** A switch that a server controls. */
export interface P4RuntimeTarget {
  /** Nanoseconds since the Unix epoch. */
  nowNs(): bigint;
  /** Calls back after a delay in nanoseconds. @returns a function that cancels it */
  schedule(delayNs: number, callback: () => void): () => void;
  /**
   * Makes a pipeline that does not get packets yet.
   *
   * @throws TargetError if the target cannot realise it
   */
  prepare(schema: PipelineSchema, deviceConfig: Uint8Array): TargetPipeline;
  /** Sends packets through a prepared pipeline from now on. The one before is not used again. */
  activate(pipeline: TargetPipeline): void;
  /** Whether there is such a port. */
  hasPort(port: number): boolean;
  isPortUp(port: number): boolean;
  /** Runs a packet of the controller through the active pipeline: the packet_out header, then the payload. */
  packetOut(bytes: Uint8Array): void;
  /** Sets the receiver of events; undefined: nobody. */
  listen(events: TargetEvents | undefined): void;
  /** Largest values of multicast group ids, clone session ids, replica instances, classes of service. */
  readonly limits: {
    readonly multicastGroup: number;
    readonly cloneSession: number;
    readonly instance: number;
    readonly classOfService: number;
  };
}
