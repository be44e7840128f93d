import type { TelemetryBatch } from '@int/codec';
import { keptReportId, type ReportStore } from '../retention/report-store.js';
import type { Segment } from '../retention/segment.js';
import { WHY } from '../retention/slabs.js';
import type { ReportAt } from './report-at.js';

/** A report of the store. Its id, for which its frame is read, is made when it is asked for. */
export class KeptReport implements ReportAt {
  readonly segment: Segment;
  readonly row: number;

  constructor(segment: Segment, row: number) {
    this.segment = segment;
    this.row = row;
  }

  get batch(): TelemetryBatch {
    return this.segment.batch;
  }

  get id(): string {
    return keptReportId(this);
  }

  get hasEvents(): boolean {
    return (this.segment.why(this.row) & WHY.EVENT) !== 0;
  }
}

/** All retained reports of a range as it is now, newest first. Its memory stays as it is while it is read. */
export function* keptReports(
  store: ReportStore,
  fromMs?: number,
  toMs?: number,
): Generator<KeptReport, void, undefined> {
  for (const segment of [...store.segments(fromMs, toMs)]) {
    for (let row = segment.reports - 1; row >= 0; row--) {
      if (!segment.isReport(row)) continue;
      const timeMs = segment.timeMs(row);
      if ((fromMs === undefined || timeMs >= fromMs) && (toMs === undefined || timeMs < toMs)) {
        yield new KeptReport(segment, row);
      }
    }
  }
}
