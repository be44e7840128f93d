import type { Event, EventBatch, EventLife, Severity } from '@int/detect';
import { reportPath } from './report-record.js';

/** The fields of an event, in the order of the `int` command's JSON. */
export type EventFields = Event;

/** What records of events of rules with a lifecycle have in addition. Others do not have these fields. */
export interface EventLifeFields {
  /** The event: the same from its beginning to its end, in all sinks. `state` says what is told: `open` or `close`. */
  readonly eventId: string;
  readonly severity: Severity;
  /** What has the beginning and the end: `switch 3`, `switch 3 queue 1`, a flow. */
  readonly key: string;
  /** Whether `open` tells of the beginning; else the event goes on. */
  readonly isFirst: boolean;
  /** Time of the first finding, nanoseconds since the epoch, decimal. */
  readonly beginNs: string;
  /** Findings so far. */
  readonly findings: number;
}

/** An event of a detector, as sinks write it. */
export interface EventRecord extends EventFields, Partial<EventLifeFields> {
  readonly type: 'event';
  /** `<instance>-<n>`: a reader that has seen the id has seen the record. */
  readonly id: string;
  /** Time of the report, nanoseconds since the epoch, decimal; at `close` that of the end. */
  readonly timeNs: string;
  /** Of the report, as `ReportRecord.path`. */
  readonly path: readonly (number | null)[];
}

/** The life of an event as the fields of its record. */
export function lifeFields({ eventId, severity, key, isFirst, beginNs, findings }: EventLife): EventLifeFields {
  return { eventId, severity, key, isFirst, beginNs: String(beginNs), findings };
}

/** Row `row` of an event batch as an object. */
export function eventRecord(events: EventBatch, row: number, id: string): EventRecord {
  const { batch } = events;
  const report = events.report[row]!;
  const life = events.life(row);
  return {
    type: 'event',
    id,
    timeNs: String(batch.timeNs(report)),
    ...(life !== null && lifeFields(life)),
    ...events.event(row),
    path: reportPath(batch, report),
  };
}
