import type { Data } from '../entities/data.js';
import type { ReadTableEntry } from '../entities/entity.js';

/** A packet that the program sent to the controller. */
export interface PacketIn {
  readonly payload: Uint8Array;
  /** Values of the header's fields by name. */
  readonly metadata: Readonly<Record<string, bigint | string>>;
}

/** Data that the program has sent with `digest`. */
export interface DigestList {
  readonly digest: string;
  readonly listId: bigint;
  readonly timestampNs: bigint;
  readonly data: readonly Data[];
}

/** Entries that were not hit for their time. */
export interface IdleTimeouts {
  readonly timestampNs: bigint;
  readonly entries: readonly ReadTableEntry[];
}
