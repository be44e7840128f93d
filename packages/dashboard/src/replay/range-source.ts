import type { LeftOutReports } from '../protocol/http.js';
import type { Segment } from '../retention/segment.js';

/** Where a replay has its reports and events from. */
export interface RangeSource {
  /** How much is read at a time, in milliseconds of the telemetry. */
  readonly portionMs: number;
  /**
   * What came in a range. Called with ranges that follow one another; the next call comes when the last one has answered.
   * @throws ApiError (rejects) if it cannot be read; the signal's reason
   */
  read(fromMs: number, toMs: number, signal: AbortSignal): Portion | Promise<Portion>;
  close?(): void;
}

export interface Portion {
  readonly segments: readonly Segment[];
  /** Reports that are not among them, since the last portion. Those that come too late are among them. */
  readonly leftOut: LeftOutReports;
  /** Nothing comes behind this portion; `failure` says so if that is because the rest cannot be read. */
  readonly isLast?: boolean;
  readonly failure?: string;
}

/** What is retained of a range, as it is now: segments stay as they are, also when they are no longer retained. */
export class RetainedRange implements RangeSource {
  readonly portionMs: number;
  readonly #segments: readonly Segment[];

  constructor(segments: readonly Segment[], fromMs: number, toMs: number) {
    this.#segments = segments;
    this.portionMs = toMs - fromMs;
  }

  read(): Portion {
    return { segments: this.#segments, leftOut: {} };
  }
}
