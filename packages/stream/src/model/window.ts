import type { Flow } from '@int/codec';

/** Some values: how many, their sum, the smallest and the largest. */
export interface Summary {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

/** What a flow met at one switch in a window. Values are in the device's units. */
export interface FlowHop {
  /** `null` if the hop did not name itself. */
  readonly nodeId: number | null;
  /** `null`: no report said it. */
  readonly latency: Summary | null;
  readonly queueOccupancy: Summary | null;
  /**
   * Reports in which the switch said that it was congested: a congestion status other than 0 (v0.5, IntMon), or its own
   * report with the flag for queue congestion.
   */
  readonly congested: number;
}

/** What windows of all kinds say of themselves. */
interface WindowBase {
  /** From the subject and the time: the same window computed again, or corrected, has the same id. */
  readonly id: string;
  /** How often it has been given out before: of windows with the same id, the one with the largest number counts. */
  readonly revision: number;
  readonly startNs: string;
  readonly endNs: string;
  /**
   * Nothing is known to be missing: all who may have reports of this time have said that these have come. A
   * {@link WindowCorrection} takes that back.
   */
  readonly complete: boolean;
}

/** What is known of one flow in one window of time. A JSON object as it stands. */
export interface FlowWindow extends WindowBase {
  readonly type: 'flowWindow';
  readonly flow: Flow;
  /**
   * The flow side that has seen what is in it. A flow that moves to another side within a window has one from each, with the same
   * id: together they are the flow's.
   */
  readonly side: number;
  /** Individual reports about the flow. */
  readonly reports: number;
  /** Of these, reports about packets that were dropped. */
  readonly drops: number;
  /**
   * Reports about the flow that came since its window before, for earlier windows that could not be corrected any more. They
   * are in no window's `reports`.
   */
  readonly late: number;
  /** The path of the window's latest packet whose report gave a whole one, or else the one before; `null`: none is known. */
  readonly path: readonly (number | null)[] | null;
  /** How often the path changed in this window. */
  readonly pathChanges: number;
  /** In the order in which they were first seen in the window. */
  readonly hops: readonly FlowHop[];
  /** Hop rows of further switches, for which there was no room. */
  readonly hopsBeyond: number;
  /** Sums of the hop latencies over whole paths. */
  readonly endToEnd: Summary | null;
}

/** One queue of a switch in one window. */
export interface QueueWindow {
  readonly queueId: number;
  readonly occupancy: Summary | null;
  /** Reports in which the switch said that it was congested. */
  readonly congested: number;
  /** `above`: over its threshold in this window; `persistent`: and so often in a row that it is an event. */
  readonly status: 'clear' | 'above' | 'persistent';
}

/** What is known of one switch in one window of time. A JSON object as it stands. */
export interface SwitchWindow extends WindowBase {
  readonly type: 'switchWindow';
  readonly nodeId: number;
  /** Hop records of the switch, and reports that it sent without values of its own. */
  readonly reports: number;
  /** Such that came since its window before, for earlier windows that could not be corrected any more. */
  readonly late: number;
  readonly lastSeenNs: string;
  /** Quantiles are within 12.5 %; `null`: no report said it. */
  readonly latency: (Summary & { readonly p50: number; readonly p90: number; readonly p99: number }) | null;
  /** By queue id. */
  readonly queues: readonly QueueWindow[];
}

/** What is known of one link in one window of time. */
export interface LinkWindow extends WindowBase {
  readonly type: 'linkWindow';
  /** From and to. */
  readonly link: readonly [number, number];
  /** Packets reported to have crossed it. */
  readonly packets: number;
  /** Such of earlier windows that could not be corrected any more. */
  readonly late: number;
  /** Different flows in one slice of time, at most; counted up to 8. */
  readonly flows: number;
  readonly lastSeenNs: string;
}

export type NetworkWindow = SwitchWindow | LinkWindow;

/** What corrections of all kinds say. */
interface CorrectionBase {
  readonly type: 'windowCorrection';
  /** That of the window. It may never have been given out, if none of its reports came in time. */
  readonly id: string;
  /** Of corrections of the same window each has a larger one: a correction that is met twice counts once. */
  readonly number: number;
  readonly startNs: string;
  readonly endNs: string;
  readonly complete: false;
  /**
   * How much has come for the window since it could not be corrected any more, and since the correction before: reports of a flow,
   * hop records of a switch, packets of a link. The window that comes next has them in its own `late`, too, if there is room.
   */
  readonly late: number;
}

/**
 * Says of a window that it lacks something that has come since: whichever of its revisions is the last, it is not complete. A
 * JSON object as it stands.
 */
export type WindowCorrection = CorrectionBase &
  (
    | { readonly of: 'flowWindow'; readonly flow: Flow; readonly side: number }
    | { readonly of: 'switchWindow'; readonly nodeId: number }
    | { readonly of: 'linkWindow'; readonly link: readonly [number, number] }
  );
