import type { RecordCounts, RecordKind, SinkTotals } from '../stage.js';

/** What two stages have counted together. */
export function addCounters(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** What two sinks have counted together. */
export function addTotals(a: SinkTotals, b: SinkTotals): SinkTotals {
  const sum: Partial<Record<RecordKind, RecordCounts>> = { ...a };
  for (const [kind, counts] of Object.entries(b) as [RecordKind, RecordCounts][]) {
    const { offered, delivered, pending, dropped } = sum[kind] ?? { offered: 0, delivered: 0, pending: 0, dropped: {} };
    sum[kind] = {
      offered: offered + counts.offered,
      delivered: delivered + counts.delivered,
      pending: pending + counts.pending,
      dropped: addCounters(dropped, counts.dropped),
    };
  }
  return sum;
}

/** Adds counters by name to others. */
export function addByName<T extends object>(
  into: Record<string, T>,
  more: Readonly<Record<string, T>>,
  add: (a: T, b: T) => T,
): void {
  for (const [name, one] of Object.entries(more)) into[name] = add(into[name] ?? ({} as T), one);
}
