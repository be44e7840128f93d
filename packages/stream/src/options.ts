import type { Flow } from '@int/codec';

/** Times that must be equal on both sides. */
export interface TimeOptions {
  /**
   * Length of a window of statistics in milliseconds, a multiple of `sliceMs`. Windows are aligned to the epoch.
   * Default 1000.
   */
  readonly windowMs?: number;
  /**
   * Length of a slice in milliseconds: the interval at which a flow side sends partials to the network side.
   * Default 250.
   */
  readonly sliceMs?: number;
}

/** Options of a {@link FlowSide}. They fix its memory. */
export interface FlowSideOptions extends TimeOptions {
  /** Number of the side in its partials: 0 to 2^32 - 1. Default 0. */
  readonly side?: number;
  /**
   * How far a report may lag behind later ones and still count in its window, in milliseconds, at most `windowMs`.
   * Windows are emitted this long after their end. Default 250.
   */
  readonly graceMs?: number;
  /**
   * What advances the time, and so closes windows and slices. `reports`: the latest report. Use it for reports from one
   * place, in order within `graceMs`. `told`: only `advance`, which says up to when all reports have come. Use it for
   * reports from several places, any of which may be behind. Default `reports`.
   */
  readonly clock?: 'reports' | 'told';
  /**
   * How long an emitted window can be corrected, in milliseconds. A report that comes in this time makes the side emit
   * its window again, with the next `revision`. Later reports count as `late`. Default 0.
   */
  readonly latenessMs?: number;
  /** Number of flows with state. Default 16,384. */
  readonly flows?: number;
  /**
   * Number of open and kept windows, over all flows, at least 2. If there is no room for another one, the kept ones are
   * dropped. Then the earliest open ones are closed early, as not `complete`. Default twice `flows`.
   */
  readonly windows?: number;
  /** Number of switches with statistics per flow, and of nodes kept of each path; 2 to 63. Default 12. */
  readonly hops?: number;
  /**
   * A flow not seen for this time is forgotten, in milliseconds; but not while its windows can be corrected.
   * Default 60,000.
   */
  readonly idleMs?: number;
  /** Switches per slice. Default 1024. */
  readonly switches?: number;
  /** Links per slice. Default 4096. */
  readonly links?: number;
  /** Queues per slice. Default 4096. */
  readonly queues?: number;
  /** Reporters (a node and a hardware id) per slice. Default 1024. */
  readonly reporters?: number;
  /** Blocks of 32 sequence numbers per slice. Default 16,384. */
  readonly sequenceBlocks?: number;
  /** Whether to watch a flow for black holes. Called once for each flow. Default: all flows are watched. */
  readonly watch?: (flow: Flow) => boolean;
  /**
   * Node id of a flow's INT sink, if it is known before a report names it. Called once for each flow. Default: not
   * known.
   */
  readonly sinkOf?: (flow: Flow) => number | null;
  /** Shortest time for which a flow must be missing at its sink to be a black hole, in milliseconds. Default 1000. */
  readonly blackHoleMs?: number;
  /** The same limit in median gaps between the flow's packets. The longer limit counts. Default 10. */
  readonly blackHoleGaps?: number;
  /** A loop ends when the flow has not looped for this time, in milliseconds. Default 1000. */
  readonly loopQuietMs?: number;
}

/** Options of a {@link NetworkSide}. */
export interface NetworkSideOptions extends TimeOptions {
  /** Least number of flow sides. Slices wait, for at most `waitMs`, until so many have been heard. Default 1. */
  readonly sides?: number;
  /**
   * How long a slice waits for a side that is behind, in milliseconds. Then it is closed as incomplete. Default 10,000.
   */
  readonly waitMs?: number;
  /**
   * A side not heard for this time, by the time of the others, is forgotten; in milliseconds, at least `waitMs`.
   * Default 60,000, or `waitMs` if that is longer.
   */
  readonly forgetMs?: number;
  /**
   * How long an emitted window can be corrected, in milliseconds, as `latenessMs` of {@link FlowSideOptions}.
   * Default 0.
   */
  readonly latenessMs?: number;
  /**
   * Most windows of switches, links and queues kept for corrections. Beyond it, the oldest are dropped. Default 16,384.
   */
  readonly kept?: number;
  /**
   * Most partials that wait for their slice to be complete. Beyond it, the earliest slice is closed early.
   * Default 4096.
   */
  readonly pending?: number;
  /** Number of switches, links, queues and reporters with state. Defaults 4096, 16,384, 16,384, 4096. */
  readonly switches?: number;
  readonly links?: number;
  readonly queues?: number;
  readonly reporters?: number;
  /** How long a link must be silent, while both its ends report, to have failed; in milliseconds. Default 1000. */
  readonly linkSilenceMs?: number;
  /**
   * Least number of flows that a link must have carried in the `linkSilenceMs` before its silence; 1 to 8. Default 3.
   */
  readonly linkFlows?: number;
  /** Occupancy above which a queue is congested, in the device's unit: for all queues, or by queue. Default 500. */
  readonly queueThreshold?: number | ((nodeId: number, queueId: number) => number);
  /** The statistic of a window that is compared with the threshold. Default `mean`. */
  readonly queueStatistic?: 'mean' | 'max';
  /**
   * Number of consecutive windows above the threshold that make congestion persistent, and not above it that end it.
   * Default 3.
   */
  readonly congestedWindows?: number;
  /** Reordering window: how long a missing sequence number may still come, in milliseconds. Default 1000. */
  readonly reorderMs?: number;
  /** A link, switch, queue or reporter not seen for this time is forgotten, in milliseconds. Default 300,000. */
  readonly idleMs?: number;
}

/** Options of a {@link StreamProcessor}: the times of both sides, and the other options of each. */
export interface StreamProcessorOptions extends TimeOptions {
  readonly flowSide?: Omit<FlowSideOptions, keyof TimeOptions>;
  readonly networkSide?: Omit<NetworkSideOptions, keyof TimeOptions>;
}
