import { RECORD_KINDS, type RecordCounts, type RecordKind, type Sink, type SinkTotals } from '../stage.js';

/** The kinds that a sink takes. */
export function takesOf({
  records = RECORD_KINDS,
  writeEvents,
  writeFlows,
}: Sink): Readonly<Record<RecordKind, boolean>> {
  return {
    reports: records.includes('reports'),
    events: writeEvents !== undefined && records.includes('events'),
    flows: writeFlows !== undefined && records.includes('flows'),
  };
}

interface Counters {
  offered: number;
  delivered: number;
  /** By reason, in the order of first occurrence. */
  readonly dropped: Map<string, number>;
}

/** The counters of a sink, by kind. Records neither delivered nor dropped are pending. */
export class SinkAccount {
  readonly #kinds = Object.fromEntries(
    RECORD_KINDS.map((kind) => [kind, { offered: 0, delivered: 0, dropped: new Map() }]),
  ) as Record<RecordKind, Counters>;

  offer(kind: RecordKind, records: number): void {
    this.#kinds[kind].offered += records;
  }

  deliver(kind: RecordKind, records: number): void {
    this.#kinds[kind].delivered += records;
  }

  drop(kind: RecordKind, reason: string, records: number): void {
    const { dropped } = this.#kinds[kind];
    if (records > 0) dropped.set(reason, (dropped.get(reason) ?? 0) + records);
  }

  fail(kind: RecordKind, records: number): void {
    this.drop(kind, 'failed', records);
  }

  counts(kind: RecordKind): RecordCounts {
    const { offered, delivered, dropped } = this.#kinds[kind];
    let pending = offered - delivered;
    for (const records of dropped.values()) pending -= records;
    return { offered, delivered, pending, dropped: Object.fromEntries(dropped) };
  }

  /** @param takes kinds to tell of */
  totals(takes: Readonly<Record<RecordKind, boolean>>): SinkTotals {
    return Object.fromEntries(RECORD_KINDS.filter((kind) => takes[kind]).map((kind) => [kind, this.counts(kind)]));
  }
}
