import type { Flow } from '@int/codec';

/** Statistics of values: count, sum, minimum, maximum. */
export interface Summary {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

/** The statistics of a flow at one switch in a window. Values are in the device's units. */
export interface FlowHop {
  /** `null` if the hop has no node id. */
  readonly nodeId: number | null;
  /** `null` if no report contains it. */
  readonly latency: Summary | null;
  readonly queueOccupancy: Summary | null;
  /**
   * Reports in which the switch signals congestion: a congestion status other than 0 (v0.5, IntMon), or the switch's
   * own report with the queue congestion flag.
   */
  readonly congested: number;
}

/** The fields of all windows. */
interface WindowBase {
  /** Made from the subject and the start. The same window computed again, or corrected, has the same id. */
  readonly id: string;
  /** How often the window was emitted before. Of windows with the same id, the one with the largest number is valid. */
  readonly revision: number;
  readonly startNs: string;
  readonly endNs: string;
  /**
   * Whether nothing is known to be missing: all sources of reports of this time have confirmed that these have come. A
   * {@link WindowCorrection} withdraws this.
   */
  readonly complete: boolean;
}

/** The statistics of one flow in one window of time. A JSON object as it stands. */
export interface FlowWindow extends WindowBase {
  readonly type: 'flowWindow';
  readonly flow: Flow;
  /**
   * The flow side that made the window. A flow that moves to another side within a window has a window from each, with
   * the same id. Their sum is the flow's.
   */
  readonly side: number;
  /** Individual reports about the flow. */
  readonly reports: number;
  /** Of these, reports about dropped packets. */
  readonly drops: number;
  /**
   * Late reports about the flow. They came since its previous window, for earlier windows that could no longer be
   * corrected. No window counts them in `reports`.
   */
  readonly late: number;
  /**
   * The path of the latest packet in the window whose report gave a whole path. Without one, the flow's previous path;
   * `null` if no path is known.
   */
  readonly path: readonly (number | null)[] | null;
  /** The number of path changes in this window. */
  readonly pathChanges: number;
  /** The switches, in the order in which they were first seen in the window. */
  readonly hops: readonly FlowHop[];
  /** The number of hop records of further switches, for which there was no room. */
  readonly hopsBeyond: number;
  /** End-to-end latency: the sum of the hop latencies of a whole path. */
  readonly endToEnd: Summary | null;
}

/** The statistics of one queue of a switch in one window. */
export interface QueueWindow {
  readonly queueId: number;
  readonly occupancy: Summary | null;
  /** Reports in which the switch signals congestion. */
  readonly congested: number;
  /**
   * `above`: above its threshold in this window. `persistent`: an event of persistent congestion has begun and not
   * ended.
   */
  readonly status: 'clear' | 'above' | 'persistent';
}

/** The statistics of one switch in one window of time. A JSON object as it stands. */
export interface SwitchWindow extends WindowBase {
  readonly type: 'switchWindow';
  readonly nodeId: number;
  /** Hop records of the switch, and reports that it sent without a hop record of its own. */
  readonly reports: number;
  /** Late ones. They came since its previous window, for earlier windows that could no longer be corrected. */
  readonly late: number;
  readonly lastSeenNs: string;
  /** Quantiles are within 12.5 %. `null` if no report contains a latency. */
  readonly latency: (Summary & { readonly p50: number; readonly p90: number; readonly p99: number }) | null;
  /** Ordered by queue id. */
  readonly queues: readonly QueueWindow[];
}

/** The statistics of one link in one window of time. */
export interface LinkWindow extends WindowBase {
  readonly type: 'linkWindow';
  /** Node ids: from, to. */
  readonly link: readonly [number, number];
  /** Packets that crossed the link, according to the reports. */
  readonly packets: number;
  /** Late packets, of earlier windows that could no longer be corrected. */
  readonly late: number;
  /** The largest number of different flows in one slice of the window, counted up to 8. */
  readonly flows: number;
  readonly lastSeenNs: string;
}

export type NetworkWindow = SwitchWindow | LinkWindow;

/** The fields of all corrections. */
interface CorrectionBase {
  readonly type: 'windowCorrection';
  /** Id of the window. The window itself may never have been emitted, if all its reports were late. */
  readonly id: string;
  /**
   * Number of the correction. It increases with each correction of a window, so that a correction read twice counts
   * once.
   */
  readonly number: number;
  readonly startNs: string;
  readonly endNs: string;
  readonly complete: false;
  /**
   * What came too late for the window since its previous correction: reports of a flow, hop records of a switch, or
   * packets of a link. The next window also has it in its own `late`, if there is room.
   */
  readonly late: number;
}

/**
 * Names a window that lacks something that came later. No revision of the window is complete then. A JSON object as it
 * stands.
 */
export type WindowCorrection = CorrectionBase &
  (
    | { readonly of: 'flowWindow'; readonly flow: Flow; readonly side: number }
    | { readonly of: 'switchWindow'; readonly nodeId: number }
    | { readonly of: 'linkWindow'; readonly link: readonly [number, number] }
  );
