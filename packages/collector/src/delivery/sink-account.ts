import { RECORD_KINDS, type RecordCounts, type RecordKind, type SinkTotals } from '../stage.js';

interface Counters {
  offered: number;
  delivered: number;
  /** By reason, in the order of first occurrence. */
  readonly dropped: Map<string, number>;
}

/** The counters of a sink, by kind. Records neither delivered nor dropped are pending. */
export class SinkAccount {
  readonly #kinds: Readonly<Record<RecordKind, Counters>> = {
    reports: { offered: 0, delivered: 0, dropped: new Map() },
    events: { offered: 0, delivered: 0, dropped: new Map() },
    flows: { offered: 0, delivered: 0, dropped: new Map() },
  };

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
