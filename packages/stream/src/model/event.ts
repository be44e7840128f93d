import type { Flow } from '@int/codec';

/** The kinds of immediate events. */
export const IMMEDIATE_KINDS = [
  'loop',
  'pathChange',
  'blackHole',
  'linkFailure',
  'persistentCongestion',
  'reportLoss',
] as const;
export type ImmediateKind = (typeof IMMEDIATE_KINDS)[number];

/**
 * The fields of all immediate events. An event is a JSON object as it stands. Times are decimal strings of nanoseconds.
 */
interface EventBase {
  readonly type: 'immediate';
  /**
   * Made from the kind, the subject and the begin. The same event computed again has the same id, so readers can drop
   * repeats. The id of an end is the id of its begin plus `/end`.
   */
  readonly id: string;
  /**
   * The time of the event, in the time of the reports: that of a report, or the end of the silence, slice or window
   * that shows it. Nanoseconds since the epoch, computed in whole microseconds.
   */
  readonly timeNs: string;
  /** The begin of the condition, in the same form. */
  readonly sinceNs: string;
  /** Set if the condition that began at `sinceNs` has ended at `timeNs`. */
  readonly ended?: true;
}

/** A switch appears twice in the path of one packet. Raised once while the flow keeps looping. */
export interface LoopEvent extends EventBase {
  readonly kind: 'loop';
  /** `null` if the report does not contain the flow. */
  readonly flow: Flow | null;
  /** The first switch that is repeated in the path. */
  readonly nodeId: number;
  /** The path as reported. `null` is a hop without a node id. */
  readonly path: readonly (number | null)[];
}

/** A flow's packets take another path than before. */
export interface PathChangeEvent extends EventBase {
  readonly kind: 'pathChange';
  readonly flow: Flow | null;
  readonly path: readonly (number | null)[];
  readonly previous: readonly (number | null)[];
}

/** A watched flow is seen upstream, but no longer at its INT sink. */
export interface BlackHoleEvent extends EventBase {
  readonly kind: 'blackHole';
  readonly flow: Flow | null;
  /** The INT sink at which the flow is missing. */
  readonly nodeId: number;
  /** The node upstream that saw the flow last. */
  readonly seenBy: number;
  /** The time at which the sink saw the flow last; `null` if never. */
  readonly lastSinkNs: string | null;
}

/** A link that carried flows is silent, although both its ends report. */
export interface LinkFailureEvent extends EventBase {
  readonly kind: 'linkFailure';
  /** Node ids: from, to. */
  readonly link: readonly [number, number];
  /** The number of flows it carried when it became silent, counted up to 8. */
  readonly flows: number;
}

/** A queue is above its threshold in several consecutive windows. */
export interface PersistentCongestionEvent extends EventBase {
  readonly kind: 'persistentCongestion';
  readonly nodeId: number;
  readonly queueId: number;
  /**
   * The mean or maximum that was compared with the threshold, in the device's unit. It is of the window at which the
   * congestion was raised or ended.
   */
  readonly occupancy: number;
  readonly threshold: number;
  /** The number of consecutive windows above the threshold; at the end, of windows not above it. */
  readonly windows: number;
}

/** Reports that did not arrive: gaps in a node's sequence numbers that were not filled in time. */
export interface ReportLossEvent extends EventBase {
  readonly kind: 'reportLoss';
  readonly nodeId: number;
  readonly hwId: number;
  /** The number of missing sequence numbers. */
  readonly lost: number;
  /** The first and the last missing sequence number. Numbers between them may have arrived. */
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** An event that is emitted as soon as it is detected. */
export type ImmediateEvent =
  | LoopEvent
  | PathChangeEvent
  | BlackHoleEvent
  | LinkFailureEvent
  | PersistentCongestionEvent
  | ReportLossEvent;
