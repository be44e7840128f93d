/** The load of the accuracy study: what sender and monitor have to agree on. */

/** Switches of the path, the first one nearest to the INT source. */
export const SWITCHES = [1, 2, 3, 4, 5] as const;

/** Metric values are exponential, cut to whole numbers below `limit`; units are those of the device. */
export const METRICS = {
  hopLatency: { mean: 1000, limit: 16_000 },
  queueOccupancy: { mean: 40, limit: 300 },
  egressUtilization: { mean: 12, limit: 100 },
} as const;

/** The greatest sum of hop latencies, and one. */
export const END_TO_END_LIMIT: number = SWITCHES.length * METRICS.hopLatency.limit;

/** What the sender is told. */
export interface SenderOrder {
  readonly host: string;
  readonly port: number;
  /** Reports in a datagram, as individual reports of one group. */
  readonly reportsPerDatagram: number;
  readonly datagrams: number;
  /** Datagrams a second; 0: as fast as it can. */
  readonly rate: number;
  /** Flows, up to 2^24. */
  readonly flows: number;
  readonly seed: number;
  /** Queue occupancy above which a hop's value is to be an event. */
  readonly threshold: number;
}

/** What the sender has sent, counted by itself. */
export interface SenderTruth {
  readonly datagrams: number;
  readonly reports: number;
  /** Values above the threshold, at all switches. */
  readonly events: number;
  readonly seconds: number;
  /** How often each value was sent: the sum of the hop latencies, and the first switch's queue and utilisation. */
  readonly endToEnd: Float64Array;
  readonly queue: Float64Array;
  readonly utilization: Float64Array;
}
