/** Part of the study that is the same on every machine: which share of the reports survives. */
import { WORKLOADS, type WorkloadName } from '@int/traffic';
import {
  DETECTORS,
  type Effort,
  HOT,
  LEAST_EVENTS,
  OTHER_HOT,
  type StudyDetector,
  THRESHOLDS_US,
  WINDOW,
  WORKLOAD_NAMES,
} from './plan.js';
import { expectation } from './theory.js';
import { runTrace, type TraceResult } from './trace.js';

/** What a detector with one threshold makes of one workload. */
export interface Point {
  readonly workload: WorkloadName;
  /** Arrival rate of a hot slot, in line rates. */
  readonly hot: number;
  readonly detector: StudyDetector;
  readonly thresholdUs: number;
  readonly slots: number;
  readonly packets: number;
  /** Reports that survive. */
  readonly events: number;
  /** A hash of which reports these are. */
  readonly checksum: number;
  /** The share that exact computation expects over so many slots; `null` where it was not computed. */
  readonly expectedFraction: number | null;
  /** How many times the reports survivors stand for; `null` with fewer than 100 events. */
  readonly gain: number | null;
}

/** A workload's queue. */
export interface QueueFigures {
  readonly workload: WorkloadName;
  readonly hot: number;
  readonly slots: number;
  readonly packets: number;
  /** Mean of what the packets find, in microseconds: in the trace, and as computed. */
  readonly meanQueueUs: number;
  readonly expectedMeanQueueUs: number;
}

/** Between which thresholds a detector lets one report in 10 to one in 15 through. */
export interface Window {
  readonly workload: WorkloadName;
  readonly detector: StudyDetector;
  /** Lowest and highest threshold looked at whose gain is within; `null` if there is none. */
  readonly fromUs: number | null;
  readonly toUs: number | null;
  /** The gain at threshold 0. */
  readonly gainAtZero: number;
}

type Wanted = readonly (readonly [StudyDetector, number])[];

function pointsOf(
  workload: WorkloadName,
  hot: number,
  slots: number,
  { packets, survivors }: TraceResult,
  effort: Effort,
): Point[] {
  const exactUs = hot > HOT ? effort.exactUsAbove : effort.exactUs;
  return survivors.map(({ detector, thresholdUs, events, checksum }) => ({
    workload,
    hot,
    detector,
    thresholdUs,
    slots,
    packets,
    events,
    checksum,
    expectedFraction:
      detector === 'movingAverage' || thresholdUs > exactUs
        ? null
        : expectation(WORKLOADS[workload], hot, thresholdUs, slots).fraction,
    gain: events < LEAST_EVENTS ? null : packets / events,
  }));
}

/** perFlow and perHop must have let the same reports through. */
function requireSame(points: readonly Point[]): void {
  for (const point of points.filter(({ detector }) => detector === 'perHop')) {
    const twin = points.find(
      ({ detector, workload, hot, thresholdUs }) =>
        detector === 'perFlow' && workload === point.workload && hot === point.hot && thresholdUs === point.thresholdUs,
    );
    if (twin?.events !== point.events || twin.checksum !== point.checksum || twin.packets !== point.packets) {
      throw new Error(`perHop and perFlow differ: ${point.workload}, ${point.thresholdUs} us`);
    }
  }
}

/** All points of one workload: those with too few events over more slots, from the same beginning. */
export function measurePoints(
  workload: WorkloadName,
  hot: number,
  effort: Effort,
): { points: Point[]; queue: QueueFigures } {
  const { seed, slots } = effort;
  const most = hot === HOT ? effort.mostSlots : effort.mostSlotsOtherHot;
  // That perHop does as perFlow is shown at the usual rate.
  const detectors = hot === HOT ? DETECTORS : (['perFlow', 'movingAverage'] as const);
  const wanted: Wanted = detectors.flatMap((detector) =>
    THRESHOLDS_US.map((threshold) => [detector, threshold] as const),
  );
  const first = runTrace({ workload, hot, slots, seed }, wanted);
  const points = pointsOf(workload, hot, slots, first, effort);
  const rare = points.filter(({ events }) => events < LEAST_EVENTS);
  if (rare.length > 0 && most > slots) {
    const again: Wanted = rare.map(({ detector, thresholdUs }) => [detector, thresholdUs]);
    const longer = pointsOf(workload, hot, most, runTrace({ workload, hot, slots: most, seed }, again), effort);
    for (const [k, point] of rare.entries()) points[points.indexOf(point)] = longer[k]!;
  }
  requireSame(points);
  return {
    points,
    queue: {
      workload,
      hot,
      slots,
      packets: first.packets,
      meanQueueUs: first.meanQueueUs,
      expectedMeanQueueUs: expectation(WORKLOADS[workload], hot, 0, slots).meanQueueUs,
    },
  };
}

/** Looks for the thresholds that let one report in 10 to one in 15 through. */
export function measureWindows(workload: WorkloadName, effort: Effort): Window[] {
  const { seed, windowSlots, windowStepUs, windowMostUs } = effort;
  const thresholds = Array.from({ length: windowMostUs / windowStepUs + 1 }, (_, k) => k * windowStepUs);
  const detectors = ['perFlow', 'movingAverage'] as const;
  const wanted: Wanted = detectors.flatMap((detector) => thresholds.map((threshold) => [detector, threshold] as const));
  const { packets, survivors } = runTrace({ workload, hot: HOT, slots: windowSlots, seed }, wanted);
  return detectors.map((detector) => {
    const own = survivors.filter((each) => each.detector === detector);
    const within = own
      .filter(({ events }) => packets / events >= WINDOW.from && packets / events <= WINDOW.to)
      .map(({ thresholdUs }) => thresholdUs);
    return {
      workload,
      detector,
      fromUs: within.length === 0 ? null : Math.min(...within),
      toUs: within.length === 0 ? null : Math.max(...within),
      gainAtZero: packets / own[0]!.events,
    };
  });
}

/** Everything of the study that does not depend on the machine. */
export interface SurvivorFigures {
  readonly queues: readonly QueueFigures[];
  readonly points: readonly Point[];
  readonly windows: readonly Window[];
}

/** @param say told what is being done */
export function measureSurvivors(effort: Effort, say: (text: string) => void): SurvivorFigures {
  const queues: QueueFigures[] = [];
  const points: Point[] = [];
  const windows: Window[] = [];
  for (const hot of [HOT, ...OTHER_HOT]) {
    for (const workload of WORKLOAD_NAMES) {
      say(`survivors: ${workload}, hot slots at ${hot} times line rate`);
      const measured = measurePoints(workload, hot, effort);
      queues.push(measured.queue);
      points.push(...measured.points);
    }
  }
  for (const workload of WORKLOAD_NAMES) {
    say(`thresholds for ${WINDOW.from} to ${WINDOW.to} times: ${workload}`);
    windows.push(...measureWindows(workload, effort));
  }
  return { queues, points, windows };
}
