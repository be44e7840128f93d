/** The results file. */
import type { WorkloadName } from '@int/traffic';
import { type Effort, HOT, type StudyDetector } from './plan.js';
import type { CollectorRate, RateFigures } from './rates.js';
import type { Point, QueueFigures, SurvivorFigures, Window } from './survivors.js';

/** A point with what it is worth: reports a second that enter the network's switches. */
export interface ResultPoint extends Point {
  /** Filter in the switch: the collector's rate without a filter, times the gain. `null` with fewer than 100 events. */
  readonly inSwitch: number | null;
  /** Filter in the collector, as measured; `null` where it was not, or with fewer than 100 events. */
  readonly inCollector: number | null;
}

/** What `results/prefilter.json` holds, its head aside. Rates are reports a second on one core, times nanoseconds a report. */
export interface Results {
  readonly form: 'full' | 'short';
  readonly effort: Effort;
  readonly rates: RateFigures;
  readonly queues: readonly QueueFigures[];
  readonly points: readonly ResultPoint[];
  readonly windows: readonly Window[];
}

/** The collector's figures on a workload: with a detector, or without any (`null`). */
export function collectorRate(
  rates: RateFigures,
  workload: WorkloadName,
  detector: StudyDetector | null,
  thresholdUs: number | null,
): CollectorRate | undefined {
  return rates.collector.find(
    (rate) => rate.workload === workload && rate.detector === detector && rate.thresholdUs === thresholdUs,
  );
}

/** Puts the two parts of the study together. */
export function resultsOf(
  form: Results['form'],
  effort: Effort,
  survivors: SurvivorFigures,
  rates: RateFigures,
): Results {
  return {
    form,
    effort,
    rates,
    queues: survivors.queues,
    points: survivors.points.map((point) => {
      const { workload, detector, thresholdUs, gain, hot } = point;
      const unfiltered = collectorRate(rates, workload, null, null)!.reportsPerSecond;
      const filtered = collectorRate(rates, workload, detector, thresholdUs);
      return {
        ...point,
        inSwitch: gain === null ? null : unfiltered * gain,
        inCollector: gain === null || hot !== HOT ? null : (filtered?.reportsPerSecond ?? null),
      };
    }),
    windows: survivors.windows,
  };
}
