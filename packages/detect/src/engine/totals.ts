/** Reports a rule decided, and events it raised. */
export interface RuleTotals {
  readonly reports: number;
  readonly events: number;
}

/** The counters of a detector. Every report handed in is in exactly one of `reports` and `notOk`. */
export interface DetectorTotals {
  /** Reports looked at. */
  readonly reports: number;
  /** Reports with at least one event: what a pre-filter lets through. */
  readonly survivors: number;
  readonly events: number;
  /** Rows that the codec could not decode to their end. The detector skips them. */
  readonly notOk: number;
  /** Reports that no rule matched, under `default: drop`. */
  readonly unmatched: number;
  /** Reports that the sampling of their rule skipped. */
  readonly unsampled: number;
  /** Reports of unknown flow whose rule keeps state by flow. */
  readonly withoutFlow: number;
  /** Hops at positions that a change detector does not follow. */
  readonly beyondPositions: number;
  /** Exact state: flows and switches forgotten because they were idle, or to make room. */
  readonly aged: number;
  readonly evicted: number;
  /** Watches: reports of keys for which there was no room, and findings that nobody had read when there were too many. */
  readonly untracked: number;
  readonly untold: number;
  /** The rules in force. */
  readonly byRule: ReadonlyMap<string, RuleTotals>;
  /** Reports that no rule matched, under `default: report`. */
  readonly byDefault: RuleTotals;
}
