import type { ChangePlan } from '../change/change.js';
import type { DesiredState } from '../change/desired-state.js';
import type { BlockIntent, LimitIntent } from '../intents/intent.js';
import type { NetworkModel } from '../model/network-model.js';

/** A flow of the minute before: what the collector's reports say of it. */
export interface ObservedFlow {
  /** Address, as text. */
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly packets: number;
  /** Bytes of its packets from the Ethernet header on, as they entered the network: without INT. */
  readonly bytes: number;
  /** Ids of switches as reported, from the first to the last. The first is where it enters; empty: nobody knows. */
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
  /** Flows that were delivered may be lost only if an entry of one of these drops them, and they match it. */
  readonly mayDrop: readonly (BlockIntent | LimitIntent)[];
}

/** Why a change is refused. */
export interface Violation {
  readonly kind: 'loop' | 'black-hole' | 'drop' | 'overload' | 'wrong-port' | 'resources' | 'refused-entry';
  /** Index of the step after which it shows; the last one is the final state. -1: before the first. */
  readonly step: number;
  /** A switch (`leaf-1`), or a port of one (`101:3`). */
  readonly where: string;
  /** How many flows it harms. */
  readonly flows: number;
  readonly message: string;
}

/** Bits a second of a link. */
export interface LinkLoad {
  readonly beforeBps: number;
  readonly afterBps: number;
  /** `null`: the topology does not say. */
  readonly capacityBps: number | null;
}

/** A flow that loses packets in the end. */
export interface DroppedFlow {
  readonly flow: ObservedFlow;
  /** Share of its packets, above 0 and at most 1. */
  readonly share: number;
  /** Ids of the intents whose entries drop it; empty: nobody meant it. */
  readonly intents: readonly string[];
  /** The switch that drops it, and the tables whose entries it hits there. */
  readonly switchId: number;
  readonly tables: readonly string[];
}

/** The network after a step. */
export interface RehearsedStep {
  readonly changes: number;
  /** Flows that may see the step, and were walked again. */
  readonly walked: number;
  /** Flows all of whose packets arrive, and those that lose some or all. */
  readonly delivered: number;
  readonly lost: number;
  /** Highest load of a link whose capacity is known, as a share of it. */
  readonly linkLoad: number;
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
  /** By link `<switch id>:<port>`, in the direction in which the port sends. Links that carry nothing are not in it. */
  readonly loads: ReadonlyMap<string, LinkLoad>;
  readonly dropped: readonly DroppedFlow[];
  readonly steps: readonly RehearsedStep[];
  /** By switch id and table: entries before, after, and room. Tables that are empty before and after are not in it. */
  readonly tables: readonly {
    readonly switchId: number;
    readonly table: string;
    readonly before: number;
    readonly after: number;
    readonly size: number;
  }[];
  /** Flows that are not rehearsed: nobody knows where they enter the network, or their addresses are not readable. */
  readonly unplaced: number;
  /** Flows that took another path than the twin's tables say: the network is not as it is known. */
  readonly astray: number;
}

/** Rehearses a change on a twin of the network. @param before all entities that the switches have, as far as they are known */
export type Rehearse = (
  network: NetworkModel,
  before: DesiredState,
  plan: ChangePlan,
  minute: Minute,
  invariants: Invariants,
) => Rehearsal;
