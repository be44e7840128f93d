/** What became of every datagram, report, flow and event. */
import type { MonitorTotals } from './monitor.js';

/** A figure that has to be another one. */
interface Balance {
  readonly what: string;
  readonly left: number;
  readonly right: number;
}

/** Everything lost, by where and why. */
export interface Losses {
  readonly [reason: string]: number;
}

/** What is lost or thrown away on the way; names of stages, then of reasons. Only those that occurred. */
export function lossesOf({ frames, flows, written }: MonitorTotals): Losses {
  const redis = written.redis;
  const all: Record<string, number> = {
    'kernel: receive buffer full': frames.kernelDropped ?? 0,
    ...Object.fromEntries(Object.entries(frames.dropped).map(([reason, count]) => [`decoder: ${reason}`, count])),
    'shards: no slot': flows.lostReports.full,
    'shards: worker failed': flows.lostReports.failed,
    'cache: reports without a flow': flows.noFlow,
    'rings: flows': flows.lostEntries,
    'rings: events': flows.lostEvents,
    ...Object.fromEntries(
      Object.entries(redis?.entries.dropped ?? {}).map(([why, count]) => [`redis: flows ${why}`, count]),
    ),
    ...Object.fromEntries(
      Object.entries(redis?.events.dropped ?? {}).map(([why, count]) => [`redis: events ${why}`, count]),
    ),
  };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
}

/** The sums that have to be equal when the monitor has stopped; empty if they all are. */
export function imbalances({ frames, flows, written }: MonitorTotals): Balance[] {
  const out = flows.evictedPackets + flows.agedPackets + flows.retiredPackets + flows.removedPackets;
  const refused = flows.notOk + flows.noFlow + flows.unsupportedIpv6;
  const lost = flows.lostPackets + flows.lostReports.full + flows.lostReports.failed;
  const entries = flows.evictedEntries + flows.agedEntries + flows.retiredEntries + flows.removedEntries;
  const redis = written.redis;
  const dropped = (counts: Readonly<Record<string, number>>): number =>
    Object.values(counts).reduce((sum, count) => sum + count, 0);
  const balances: Balance[] = [
    { what: 'reports decoded = given to the shards', left: frames.reports, right: flows.dispatched - flows.notOk },
    { what: 'reports = packets in flows + refused + lost', left: flows.dispatched, right: out + refused + lost },
    { what: 'flows handed on = flows read', left: entries, right: written.entries },
    { what: 'packets handed on = packets read', left: out, right: written.entryPackets },
    { what: 'events raised = events read', left: flows.events, right: written.events },
  ];
  if (redis !== null) {
    balances.push(
      {
        what: 'flows read = written + dropped',
        left: written.entries,
        right: redis.entries.delivered + dropped(redis.entries.dropped),
      },
      {
        what: 'events read = written + dropped',
        left: written.events,
        right: redis.events.delivered + dropped(redis.events.dropped),
      },
    );
  }
  return balances.filter(({ left, right }) => left !== right);
}

/** The summary in words. */
export function summary(totals: MonitorTotals): string[] {
  const { frames, flows, written } = totals;
  const losses = Object.entries(lossesOf(totals));
  const handedOn = written.redis === null ? 'read' : 'written to Redis';
  const flowsWritten = written.redis?.entries.delivered ?? written.entries;
  const eventsWritten = written.redis?.events.delivered ?? written.events;
  return [
    `${frames.received} datagrams or frames, ${frames.reports} reports, ${flows.inserted} flows, ${flows.events} events`,
    `flows handed on: ${flows.evictedEntries} evicted, ${flows.agedEntries} aged, ${flows.removedEntries} at the end`,
    `${flowsWritten} flows and ${eventsWritten} events ${handedOn}`,
    losses.length === 0 ? 'nothing lost' : `lost: ${losses.map(([why, count]) => `${count} (${why})`).join(', ')}`,
    ...imbalances(totals).map(({ what, left, right }) => `THE ACCOUNTING DOES NOT CLOSE: ${what}: ${left}, ${right}`),
  ];
}
