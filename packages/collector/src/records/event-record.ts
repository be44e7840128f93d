import type { Event, EventBatch } from '@int/detect';
import { reportPath } from './report-record.js';

/** The fields of an event, in the order of the `int` command's JSON. */
export type EventFields = Event;

/** An event of a detector, as sinks write it. */
export interface EventRecord extends EventFields {
  readonly type: 'event';
  /** `<instance>-<n>`: a reader that has seen the id has seen the record. */
  readonly id: string;
  /** Time of the report, nanoseconds since the epoch, decimal. */
  readonly timeNs: string;
  /** Of the report, as `ReportRecord.path`. */
  readonly path: readonly (number | null)[];
}

/** Row `row` of an event batch as an object. */
export function eventRecord(events: EventBatch, row: number, id: string): EventRecord {
  const { batch } = events;
  const report = events.report[row]!;
  return {
    type: 'event',
    id,
    timeNs: String(batch.timeNs(report)),
    ...events.event(row),
    path: reportPath(batch, report),
  };
}
