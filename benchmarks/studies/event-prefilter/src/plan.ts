/** What the study looks at. */
import type { WorkloadName } from '@int/traffic';

export const WORKLOAD_NAMES: readonly WorkloadName[] = ['web', 'cache', 'hadoop'];

/** The detectors of the study. perFlow and perHop are one with one flow over one switch, and that is checked. */
export const DETECTORS = ['perFlow', 'perHop', 'movingAverage'] as const;
export type StudyDetector = (typeof DETECTORS)[number];

/** Weight of the moving average: a new value counts 2^-3. */
export const WEIGHT = 3;

/** Thresholds in microseconds of queue. */
export const THRESHOLDS_US: readonly number[] = [0, 1, 5, 10, 25, 50, 100];

/**
 * The unit of the switch's queue occupancy: 1 ns of queue. Thresholds in microseconds are whole numbers of it, and the
 * longest queue, 1000 us, is 10^6 of the 24 bits' 16.7 million.
 */
export const UNITS_PER_US = 1000;

/** Arrival rate of a hot slot in line rates: that of the study, and the others for comparison. */
export const HOT = 1.5;
export const OTHER_HOT: readonly number[] = [1.25, 2];

/** A point counts from so many events on. */
export const LEAST_EVENTS = 100;

/** Filtering is said to save from ... to so many times. */
export const WINDOW = { from: 10, to: 15 } as const;

/** How much work a run of the study is. */
export interface Effort {
  readonly seed: number;
  /** Slots of 25 us of each workload. */
  readonly slots: number;
  /** Slots for the points that have too few events with those above; and the same at other hot rates. */
  readonly mostSlots: number;
  readonly mostSlotsOtherHot: number;
  /** Thresholds at which the window is looked for: every so many microseconds, up to so many. */
  readonly windowStepUs: number;
  readonly windowMostUs: number;
  readonly windowSlots: number;
  /**
   * The exact figures are computed for thresholds up to so many microseconds; at hot rates above the usual, where queues
   * are long and it takes minutes, up to so many.
   */
  readonly exactUs: number;
  readonly exactUsAbove: number;
  /** Rounds that count, after one or more that warm up. */
  readonly rounds: number;
  readonly warmUp: number;
  /** Reports that one pass goes through: of each shape, and of each workload. */
  readonly shapeReports: number;
  readonly traceReports: number;
}

/** The study as its results are published. */
export const FULL: Effort = {
  seed: 1,
  slots: 2e6,
  mostSlots: 1e8,
  mostSlotsOtherHot: 2e7,
  windowStepUs: 0.25,
  windowMostUs: 10,
  windowSlots: 1e6,
  exactUs: 100,
  exactUsAbove: 10,
  rounds: 15,
  warmUp: 2,
  shapeReports: 40_000,
  traceReports: 500_000,
};

/** Everything once, in seconds: for tests. */
export const SHORT: Effort = {
  seed: 1,
  slots: 8000,
  mostSlots: 24_000,
  mostSlotsOtherHot: 8000,
  windowStepUs: 1,
  windowMostUs: 10,
  windowSlots: 20_000,
  exactUs: 5,
  exactUsAbove: 1,
  rounds: 2,
  warmUp: 1,
  shapeReports: 250,
  traceReports: 5000,
};
