import { END_TO_END_LIMIT, METRICS, type SenderTruth } from './workload.js';

/** Counts of each value, made while values are made: nothing of it is shared with the monitor's code. */
export class Truth {
  readonly endToEnd = new Float64Array(END_TO_END_LIMIT);
  readonly queue = new Float64Array(METRICS.queueOccupancy.limit);
  readonly utilization = new Float64Array(METRICS.egressUtilization.limit);
  reports = 0;
  datagrams = 0;
  events = 0;

  finish(seconds: number): SenderTruth {
    const { endToEnd, queue, utilization, reports, datagrams, events } = this;
    return { endToEnd, queue, utilization, reports, datagrams, events, seconds };
  }
}
