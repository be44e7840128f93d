import { Code } from '@connectrpc/connect';
import type { MeterConfig, TableEntry } from '../generated/p4/v1/p4runtime_pb.js';
import type { OneShot } from './profile-state.js';
import { refuse } from './refusal.js';
import type { TargetTable } from './target.js';

/** What an entry has beside what the target keeps. Entries without any of it have none. */
export interface Extra {
  readonly metadata: Uint8Array;
  readonly controllerMetadata: bigint;
  readonly timeoutNs: bigint;
  readonly meter: MeterConfig | undefined;
  readonly oneShot: OneShot | undefined;
}

export const NOTHING: Extra = {
  metadata: new Uint8Array(0),
  controllerMetadata: 0n,
  timeoutNs: 0n,
  meter: undefined,
  oneShot: undefined,
};

/** What the entries of a table have beside what the target keeps, by handle. */
export class EntryExtras {
  readonly #extras = new Map<number, Extra>();
  readonly #target: Pick<TargetTable, 'generation'>;
  #generation: number;

  constructor(target: Pick<TargetTable, 'generation'>) {
    this.#target = target;
    this.#generation = target.generation;
  }

  /** Forgets what belongs to entries that the target has cleared. */
  renew(): void {
    if (this.#generation === this.#target.generation) return;
    this.#generation = this.#target.generation;
    this.#extras.clear();
  }

  of(handle: number): Extra {
    return this.#extras.get(handle) ?? NOTHING;
  }

  set(handle: number, extra: Extra): void {
    const isNothing =
      extra.metadata.length === 0 &&
      extra.controllerMetadata === 0n &&
      extra.timeoutNs === 0n &&
      extra.meter === undefined &&
      extra.oneShot === undefined;
    if (isNothing) this.#extras.delete(handle);
    else this.#extras.set(handle, extra);
  }

  delete(handle: number): void {
    this.#extras.delete(handle);
  }
}

/** Most bytes of an entry's metadata. */
const MOST_METADATA = 4096;

/** A copy of an entry's metadata. @throws Refusal RESOURCE_EXHAUSTED */
export function keptMetadata(metadata: Uint8Array): Uint8Array {
  if (metadata.length > MOST_METADATA) refuse(Code.ResourceExhausted, `metadata have at most ${MOST_METADATA} bytes`);
  return metadata.length === 0 ? NOTHING.metadata : metadata.slice();
}

/** What a message says of it. @throws Refusal */
export function extraOf({ metadata, controllerMetadata, idleTimeoutNs, meterConfig }: TableEntry): Extra {
  return {
    metadata: keptMetadata(metadata),
    controllerMetadata,
    timeoutNs: idleTimeoutNs,
    meter: meterConfig,
    oneShot: undefined,
  };
}

/** Whether an entry has nothing but its key. */
export function isBare({ metadata, controllerMetadata, idleTimeoutNs, meterConfig }: TableEntry): boolean {
  return metadata.length === 0 && controllerMetadata === 0n && idleTimeoutNs === 0n && meterConfig === undefined;
}
