/** What a repetition measures, and what comes of many. */
import type { Cell } from './matrix.js';
import { type Estimate, estimate } from './statistics.js';

export const MEASURES = [
  /** Seconds from the first probe sent to the last arrival, mean of the rounds. */
  'elapsed',
  /** Rounds that did not collect all, percent: with recovery, a switch is missing; without, a probe did not come home. */
  'failedSessions',
  /** Probes sent that did not come home complete, percent. */
  'failedProbes',
  /** Probes that recovery added, percent of the others: 100 |P_R| / |P| (section V-B3). */
  'recoveryRatio',
  /** Background packets lost while rounds ran, percent of those sent. */
  'backgroundLoss',
  /** Probes sent in a round, those of recovery included. */
  'probes',
  /** Share of the time in which the busiest switch was serving packets, percent. */
  'busiest',
  /** The same, mean of all switches. */
  'utilisation',
  /** Visits of the longest probe. */
  'longest',
] as const;

export type Measure = (typeof MEASURES)[number];

/** Means of a repetition. */
export type Measured = Readonly<Record<Measure, number>>;

export interface RepetitionResult {
  readonly measured: Measured;
  /** Virtual time, seconds. */
  readonly virtualSeconds: number;
  /** Computing time, seconds; the only number that is not the same for the same seed. */
  readonly seconds: number;
}

export interface CellResult {
  readonly cell: Cell;
  readonly estimates: Readonly<Record<Measure, Estimate>>;
}

/** Every measure over all repetitions, which are independent. */
export function summarise(cell: Cell, repetitions: readonly RepetitionResult[]): CellResult {
  const entries = MEASURES.map((measure) => [measure, estimate(repetitions.map(({ measured }) => measured[measure]))]);
  return { cell, estimates: Object.fromEntries(entries) as Record<Measure, Estimate> };
}
