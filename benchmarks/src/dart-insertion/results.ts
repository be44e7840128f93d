/** What was measured of inserting a report, and its chart. */
import { type Chart, groupedBars } from '@int/harness';

/** Bytes of a report. */
export const SIZES = [64, 128] as const;

/** By name in results; of Kafka both, and their sum. */
export const TITLES = {
  rows: 'decoded report -> DartStore, 2 copies',
  frames: 'packet in memory -> SoftRnic',
  udp: 'plain UDP receive',
  'udp-dart': 'UDP receive -> SoftRnic',
  'kafka-producer': 'Kafka, producer',
  'kafka-broker': 'Kafka, broker',
  kafka: 'Kafka, producer and broker',
} as const;
export type Name = keyof typeof TITLES;

export interface Measured {
  readonly title: string;
  /** Nanoseconds of processor time per report: median, least and most of the rounds. */
  readonly cpu: number;
  readonly min: number;
  readonly max: number;
  /** Median by the clock on the wall. */
  readonly wall: number;
  readonly cycles: number;
  /** To a plain UDP receive of the same size: median of the ratios within the rounds. */
  readonly ratioToUdp: number | null;
  /** Least share of the reports that were stored. */
  readonly stored: number;
}

/** By bytes of a report. */
export type Insertions = Readonly<Record<string, Partial<Record<Name, Measured>>>>;

export function insertionChart(results: Insertions): Chart {
  const groups = (Object.keys(TITLES) as Name[]).map((name) => ({
    name: TITLES[name],
    values: SIZES.map((size) => results[size]?.[name]?.cycles ?? null),
  }));
  return groupedBars({
    title: 'Cost of inserting a report',
    description:
      'Processor cycles per report of 64 and of 128 bytes, on a logarithmic scale, by the way it is inserted.',
    unit: 'processor cycles per report',
    series: SIZES.map((size) => `${size} bytes`),
    groups: groups.filter(({ values }) => values.some((value) => value !== null)),
  });
}
