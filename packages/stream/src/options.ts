import type { Flow } from '@int/codec';

/** Both sides must have the same of these. */
export interface TimeOptions {
  /** Length of a window of statistics in milliseconds, a multiple of `sliceMs`. Windows begin at multiples of it since the epoch. Default 1000. */
  readonly windowMs?: number;
  /** Length of a slice: how often a flow side tells the network side what it has seen. Default 250. */
  readonly sliceMs?: number;
}

/** Options of a {@link FlowSide}. Its memory is fixed by them. */
export interface FlowSideOptions extends TimeOptions {
  /** Who it is, in its partials: 0 to 2^32 - 1. Default 0. */
  readonly side?: number;
  /**
   * How long a report may come behind later ones and still be counted in the window it belongs to, in milliseconds, at most
   * `windowMs`. It is also how much later than its end a window is given out. Default 250.
   */
  readonly graceMs?: number;
  /**
   * What moves time, and with it closes windows and slices. `reports`: the latest report seen; for reports that come from one
   * place, in order but for `graceMs`. `told`: `advance` alone, which is to be told up to when all reports have come; for
   * reports of several places, any of which may be behind. Default `reports`.
   */
  readonly clock?: 'reports' | 'told';
  /**
   * How long a window is kept after it was given out: a report that comes for it within that time has it given out again,
   * corrected, with the next `revision`. What comes later is counted as `late`. Default 0.
   */
  readonly latenessMs?: number;
  /** Flows with a state of their own. Default 16,384. */
  readonly flows?: number;
  /**
   * Windows of flows that are open or kept, of all flows together; at least 2. If there is no room for another one, those kept
   * are let go; then the earliest open ones are closed early, as not `complete`. Default twice `flows`.
   */
  readonly windows?: number;
  /** Switches a flow has statistics of, and nodes of a path that are kept; 2 to 63. Default 12. */
  readonly hops?: number;
  /** A flow not seen for so long is forgotten; no sooner than its windows can be corrected no more. Default 60,000. */
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
  /** Whether a flow is watched for black holes; asked once for each flow. Default: all are. */
  readonly watch?: (flow: Flow) => boolean;
  /** The sink of a flow, if that is known before a report tells it; asked once for each flow. Default: it is not. */
  readonly sinkOf?: (flow: Flow) => number | null;
  /** The shortest time for which a flow has to be missing at its sink. Default 1000. */
  readonly blackHoleMs?: number;
  /** In how many of its median packet gaps. Default 10. */
  readonly blackHoleGaps?: number;
  /** A loop is over when the flow has not looped for so long. Default 1000. */
  readonly loopQuietMs?: number;
}

/** Options of a {@link NetworkSide}. */
export interface NetworkSideOptions extends TimeOptions {
  /** How many flow sides there are at least: before so many are heard, a slice waits for them. Default 1. */
  readonly sides?: number;
  /** How long a slice waits for a side that is behind the others; then it is taken as incomplete. Default 10,000. */
  readonly waitMs?: number;
  /** A side not heard for so long, in the time of the others, is forgotten. Default 60,000, at least `waitMs`. */
  readonly forgetMs?: number;
  /**
   * How long windows are kept after they were given out, to be corrected, as `latenessMs` of {@link FlowSideOptions}. Default 0.
   */
  readonly latenessMs?: number;
  /** Windows of switches, links and queues kept for that at most; of more, the oldest are let go. Default 16,384. */
  readonly kept?: number;
  /** Partials kept until their slice is complete. Default 4096. */
  readonly pending?: number;
  /** Switches, links, queues, reporters with a state of their own. Defaults 4096, 16,384, 16,384, 4096. */
  readonly switches?: number;
  readonly links?: number;
  readonly queues?: number;
  readonly reporters?: number;
  /** For how long a link has to be silent while both its ends report. Default 1000. */
  readonly linkSilenceMs?: number;
  /** How many flows a link must have carried in the last `linkSilenceMs` before it fell silent; 1 to 8. Default 3. */
  readonly linkFlows?: number;
  /** Occupancy above which a queue is congested, in the device's unit; for all queues, or by queue. Default 500. */
  readonly queueThreshold?: number | ((nodeId: number, queueId: number) => number);
  /** What of a window is compared with the threshold. Default `mean`. */
  readonly queueStatistic?: 'mean' | 'max';
  /** Windows in a row above the threshold that are persistent congestion, and not above it that end it. Default 3. */
  readonly congestedWindows?: number;
  /** How long a missing sequence number may still come: the reordering window. Default 1000. */
  readonly reorderMs?: number;
  /** A link, switch, queue or reporter not heard of for so long is forgotten. Default 300,000. */
  readonly idleMs?: number;
}

/** Options of a {@link StreamProcessor}: the times of both sides, and what else each of them takes. */
export interface StreamProcessorOptions extends TimeOptions {
  readonly flowSide?: Omit<FlowSideOptions, keyof TimeOptions>;
  readonly networkSide?: Omit<NetworkSideOptions, keyof TimeOptions>;
}
