import { type LinkLayer, ReportCopier, TelemetryBatch } from '@int/codec';
import { type ReportAt, timeNsOf } from '../biography/report-at.js';

const ROWS = 512;
const HOPS = 8192;
/** Room for many frames, and for the largest there is. */
const BYTES = 1 << 20;

/** Reports in the order of their times; those of one time stay in their order. */
export function inTimeOrder(reports: Iterable<ReportAt>): ReportAt[] {
  const timed = Array.from(reports, (report) => ({ report, timeNs: timeNsOf(report) }));
  timed.sort((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
  return timed.map(({ report }) => report);
}

/** Some reports of a range, as a pipeline would have them. */
export interface Portion {
  /** Valid until the next portion. */
  readonly batch: TelemetryBatch;
  /** Ids by row. */
  readonly ids: readonly string[];
}

/** Copies reports, in their order, into batches. One that is larger than a batch is left out. */
export function* inBatches(reports: readonly ReportAt[]): Generator<Portion, void, undefined> {
  const batch = new TelemetryBatch({ frames: ROWS, reports: ROWS, hops: HOPS, bytes: BYTES });
  const copier = new ReportCopier();
  const rows = new Uint32Array(ROWS);
  let ids: string[] = [];
  let linkType: LinkLayer | null = null;
  for (let at = 0; at < reports.length; ) {
    const run = runFrom(reports, at, rows);
    const source = reports[at]!.batch;
    const isOther = ids.length > 0 && source.linkType !== linkType;
    const copied = isOther ? 0 : copier.append(source, batch, rows, 0, run);
    linkType = source.linkType;
    for (const { id } of reports.slice(at, at + copied)) ids.push(id);
    at += copied;
    if (copied === run) continue;
    if (ids.length === 0) {
      at++;
      continue;
    }
    yield { batch, ids };
    batch.clear();
    ids = [];
  }
  if (ids.length > 0) yield { batch, ids };
}

/** Fills in the rows, ascending ones of one batch, that follow one another from a place on. @returns how many */
function runFrom(reports: readonly ReportAt[], from: number, rows: Uint32Array): number {
  const { batch } = reports[from]!;
  let count = 0;
  let last = -1;
  for (let at = from; at < reports.length && count < rows.length; at++) {
    const each = reports[at]!;
    if (each.batch !== batch || each.row <= last) break;
    last = each.row;
    rows[count++] = last;
  }
  return count;
}
