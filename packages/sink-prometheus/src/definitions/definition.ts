/** A value of a metric, with its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** The values that went into a histogram. */
export interface HistogramSample {
  readonly labels: Sample['labels'];
  /** Upper bounds of the buckets, in the exported unit; inclusive. */
  readonly bounds: readonly number[];
  /** Values in each, and above the last bound at the end. */
  readonly buckets: readonly number[];
  /** Of all values, in the exported unit. */
  readonly sum: number;
}

/**
 * A metric: its name without the prefix, what it says, and where its values are. The pipeline counts by itself: what is
 * exported are its own counters, not others beside them that could differ.
 */
export type MetricDefinition =
  | {
      readonly type: 'counter' | 'gauge';
      readonly name: string;
      readonly help: string;
      /** Read at every collection. */
      readonly samples: () => readonly Sample[];
    }
  | {
      readonly type: 'histogram';
      readonly name: string;
      readonly help: string;
      readonly samples: () => readonly HistogramSample[];
    };

export const one = (value: number, labels: Sample['labels'] = {}): Sample => ({ labels, value });
