import type { ChangePlan } from '../change/change.js';
import type { DesiredState } from '../change/desired-state.js';
import type { NetworkModel } from '../model/network-model.js';

/** A flow of the minute before: what the collector's reports say of it. */
export interface ObservedFlow {
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly packets: number;
  readonly bytes: number;
  /** Ids of switches as reported, from the first to the last. */
  readonly path: readonly number[];
}

/** Traffic that a change is rehearsed with. */
export interface Minute {
  readonly flows: readonly ObservedFlow[];
  readonly seconds: number;
}

/** What a change must not break. */
export interface Invariants {
  /** Highest predicted load of a link, as a share of its capacity. A link that was above it already must not get worse. */
  readonly linkLoad: number;
  /** Flows that were delivered may be lost only if an intent of these kinds says so. */
  readonly mayDrop: readonly ('block' | 'limit')[];
}

/** Why a change is refused. */
export interface Violation {
  readonly kind: 'loop' | 'black-hole' | 'drop' | 'overload' | 'wrong-port' | 'resources' | 'refused-entry';
  /** Index of the step after which it shows; the last one is the final state. */
  readonly step: number;
  readonly where: string;
  readonly flows: number;
  readonly message: string;
}

/** What a change would do. */
export interface Rehearsal {
  readonly isSafe: boolean;
  readonly violations: readonly Violation[];
  readonly moved: readonly {
    readonly flow: ObservedFlow;
    readonly from: readonly number[];
    readonly to: readonly number[];
  }[];
  /** By link `<switch id>:<port>`: share of the capacity before and after; `null`: the capacity is not known. */
  readonly loads: ReadonlyMap<
    string,
    { readonly beforeBps: number; readonly afterBps: number; readonly capacityBps: number | null }
  >;
  readonly dropped: readonly { readonly flow: ObservedFlow; readonly by: readonly string[] }[];
  /** By switch id and table: entries before, after, and room. */
  readonly tables: readonly {
    readonly switchId: number;
    readonly table: string;
    readonly before: number;
    readonly after: number;
    readonly size: number;
  }[];
  readonly elapsedMs: number;
}

/** Rehearses a change on a twin of the network. */
export type Rehearse = (
  network: NetworkModel,
  before: DesiredState,
  plan: ChangePlan,
  minute: Minute,
  invariants: Invariants,
) => Rehearsal;
