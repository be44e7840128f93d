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

/** What all immediate events have. An event is its own JSON object: times are decimal strings of nanoseconds. */
interface EventBase {
  readonly type: 'immediate';
  /**
   * From the kind, the subject and the time it began: whoever computes the same event again gives it the same id, so that a
   * reader can drop repeats by it. The id of an end is that of its beginning and `/end`.
   */
  readonly id: string;
  /**
   * The time that shows it, in the time of the reports: that of the report, or up to which there was silence. Nanoseconds since
   * the epoch; computed in whole microseconds.
   */
  readonly timeNs: string;
  /** When what it tells of began. */
  readonly sinceNs: string;
  /** There and true: what began at `sinceNs` is over at `timeNs`. */
  readonly ended?: true;
}

/** A switch appears twice in one packet's path. Raised once while the flow goes on to loop there. */
export interface LoopEvent extends EventBase {
  readonly kind: 'loop';
  /** `null` if the report does not tell the flow. */
  readonly flow: Flow | null;
  /** The first switch that appears again. */
  readonly nodeId: number;
  /** The path as reported; `null` is a hop that did not name itself. */
  readonly path: readonly (number | null)[];
}

/** A flow's packets take another path than before. */
export interface PathChangeEvent extends EventBase {
  readonly kind: 'pathChange';
  readonly flow: Flow | null;
  readonly path: readonly (number | null)[];
  readonly previous: readonly (number | null)[];
}

/** A watched flow is seen upstream, but not at its sink any more. */
export interface BlackHoleEvent extends EventBase {
  readonly kind: 'blackHole';
  readonly flow: Flow | null;
  /** The sink, where it is missing. */
  readonly nodeId: number;
  /** The node that has seen it last. */
  readonly seenBy: number;
  /** When the sink saw it last; `null` if never. */
  readonly lastSinkNs: string | null;
}

/** A link that carried flows is silent, while both its ends report. */
export interface LinkFailureEvent extends EventBase {
  readonly kind: 'linkFailure';
  /** From and to. */
  readonly link: readonly [number, number];
  /** Flows it carried when it fell silent, counted up to 8. */
  readonly flows: number;
}

/** A queue is above its threshold in window after window. */
export interface PersistentCongestionEvent extends EventBase {
  readonly kind: 'persistentCongestion';
  readonly nodeId: number;
  readonly queueId: number;
  /** What was compared, of the window at which it was raised or ended: mean or maximum, in the device's unit. */
  readonly occupancy: number;
  readonly threshold: number;
  /** Windows in a row above the threshold; at the end, not above it. */
  readonly windows: number;
}

/** Reports that did not arrive: gaps in a node's sequence numbers that stayed open. */
export interface ReportLossEvent extends EventBase {
  readonly kind: 'reportLoss';
  readonly nodeId: number;
  readonly hwId: number;
  /** Numbers missing. */
  readonly lost: number;
  /** The first and the last number missing; not all between them need be. */
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** An event that is told as soon as it is known. */
export type ImmediateEvent =
  | LoopEvent
  | PathChangeEvent
  | BlackHoleEvent
  | LinkFailureEvent
  | PersistentCongestionEvent
  | ReportLossEvent;
