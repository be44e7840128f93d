/** Where every datagram and record went. */
import { RECORD_KINDS } from '@int/collector';
import type { Sample } from './collector.js';

/** An equation of the accounts. */
export interface Check {
  readonly what: string;
  readonly left: number;
  readonly right: number;
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, count) => total + count, 0);

/**
 * The equations that hold at the end.
 * @param found records that the brokers, or the files, have, by sink
 */
export function checksOf(sent: number, { totals, events }: Sample, found: Readonly<Record<string, number>>): Check[] {
  const { received, decoded, reports, dropped, kernelDropped, sinks } = totals;
  const checks: Check[] = [
    { what: 'sent = received + dropped by the kernel', left: sent, right: received + (kernelDropped ?? 0) },
    { what: 'received = decoded + dropped', left: received, right: decoded + sum(dropped) },
  ];
  for (const [name, sink] of Object.entries(sinks)) {
    for (const kind of RECORD_KINDS) {
      const counts = sink[kind];
      if (counts === undefined) continue;
      const { offered, delivered, pending } = counts;
      checks.push({
        what: `${name}, ${kind}: offered = delivered + pending + dropped`,
        left: offered,
        right: delivered + pending + sum(counts.dropped),
      });
      checks.push({ what: `${name}, ${kind}: nothing pending`, left: pending, right: 0 });
    }
    checks.push({ what: `${name}: offered reports = reports`, left: sink.reports?.offered ?? 0, right: reports });
    if (sink.events !== undefined) {
      checks.push({ what: `${name}: offered events = events`, left: sink.events.offered, right: events });
    }
    const delivered = RECORD_KINDS.reduce((total, kind) => total + (sink[kind]?.delivered ?? 0), 0);
    if (found[name] !== undefined) {
      checks.push({ what: `${name}: records there = delivered`, left: found[name], right: delivered });
    }
  }
  return checks;
}
