import { RECORD_KINDS, type RecordCounts, type SinkTotals } from '@int/collector';
import { grouped } from './numbers.js';

const droppedOf = ({ dropped }: RecordCounts): number => Object.values(dropped).reduce((sum, count) => sum + count, 0);

export function sinkDrops(sinks: Readonly<Record<string, SinkTotals>>): number {
  let records = 0;
  for (const totals of Object.values(sinks)) for (const counts of Object.values(totals)) records += droppedOf(counts);
  return records;
}

/** `reports 1,200 delivered, 30 pending, 5 dropped (overflow 5)`. */
function kindText(kind: string, counts: RecordCounts): string {
  const { delivered, pending, dropped } = counts;
  const reasons = Object.entries(dropped).filter(([, count]) => count > 0);
  const why = reasons.map(([reason, count]) => `${reason} ${grouped(count)}`).join(', ');
  return (
    `${kind} ${grouped(delivered)} delivered, ${grouped(pending)} pending, ${grouped(droppedOf(counts))} dropped` +
    (why === '' ? '' : ` (${why})`)
  );
}

export function sinkLines(sinks: Readonly<Record<string, SinkTotals>>): string[] {
  return Object.entries(sinks).map(([name, totals]) => {
    const kinds = RECORD_KINDS.flatMap((kind) => (totals[kind] === undefined ? [] : [kindText(kind, totals[kind])]));
    return `${name}: ${kinds.join('; ')}`;
  });
}

/** A short text of all sinks for a log; '' without sinks. */
export function sinksText(sinks: Readonly<Record<string, SinkTotals>>): string {
  const all = Object.values(sinks).flatMap((totals) => Object.values(totals));
  if (all.length === 0) return '';
  const sum = (of: (counts: RecordCounts) => number): number => all.reduce((total, counts) => total + of(counts), 0);
  const delivered = sum((counts) => counts.delivered);
  const pending = sum((counts) => counts.pending);
  return `sinks ${grouped(delivered)} delivered ${grouped(pending)} pending ${grouped(sum(droppedOf))} dropped`;
}
