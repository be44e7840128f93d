import { RECORD_KINDS, type RecordCounts, type SinkTotals } from '../stage.js';

function addCounts(a: RecordCounts, b: RecordCounts): RecordCounts {
  const dropped: Record<string, number> = { ...a.dropped };
  for (const [reason, count] of Object.entries(b.dropped)) dropped[reason] = (dropped[reason] ?? 0) + count;
  return {
    offered: a.offered + b.offered,
    delivered: a.delivered + b.delivered,
    pending: a.pending + b.pending,
    dropped,
  };
}

/** What two sinks have counted together. */
export function addTotals(a: SinkTotals, b: SinkTotals): SinkTotals {
  const sum: Partial<Record<(typeof RECORD_KINDS)[number], RecordCounts>> = {};
  for (const kind of RECORD_KINDS) {
    const [left, right] = [a[kind], b[kind]];
    const counts = left === undefined || right === undefined ? (left ?? right) : addCounts(left, right);
    if (counts !== undefined) sum[kind] = counts;
  }
  return sum;
}

/** What two stages have counted together. */
export function addCounters(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): Record<string, number> {
  const sum: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
