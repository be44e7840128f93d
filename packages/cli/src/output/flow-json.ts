import type { CollectorTotals } from '@int/collector';
import { flowFields } from '@int/collector/internals';
import type { FlowCacheTotals, FlowEntry } from '@int/flowcache';

/** Counts of entries that left the cache, and of their reports. */
interface LeftJson {
  readonly entries: number;
  readonly packets: number;
}

/**
 * Accounts for the reports of a capture: `packets` is the sum over the flows, the entries that left, and the lost
 * reports.
 */
export interface FlowTotalsJson {
  /** Individual reports and INT packets in total. */
  readonly packets: number;
  /** Flows in the cache. */
  readonly flows: number;
  /** Entries evicted to make room for others. */
  readonly evicted: LeftJson;
  /** Entries idle for too long. */
  readonly aged: LeftJson;
  /** Reports that could not enter the cache; only reasons that occurred. `noFlow`: the flow is unknown. */
  readonly lost: { readonly noFlow?: number };
  /** Reports whose path differed from their flow's previous one. */
  readonly pathChanges: number;
  /** Hops beyond those that the cache tracks. */
  readonly hopsBeyond: number;
  /** Individual reports with decoding errors; not part of `packets`. */
  readonly notOk: number;
}

/** The line of a flow. */
export function flowJson(entry: FlowEntry): string {
  return JSON.stringify({ type: 'flow', ...flowFields(entry) });
}

/** The counters of a cache without a consumer of its entries. */
export function flowTotals(totals: FlowCacheTotals): FlowTotalsJson {
  const { offered, notOk, live, noFlow, pathChanges, hopsBeyond } = totals;
  return {
    packets: offered - notOk,
    flows: live,
    // An entry with a full count (2^32 - 1) is evicted by its own flow.
    evicted: {
      entries: totals.evictedEntries + totals.retiredEntries,
      packets: totals.evictedPackets + totals.retiredPackets,
    },
    aged: { entries: totals.agedEntries, packets: totals.agedPackets },
    lost: noFlow > 0 ? { noFlow } : {},
    pathChanges,
    hopsBeyond,
    notOk,
  };
}

/** The last line. */
export function flowTotalsJson(totals: FlowTotalsJson, { received, dropped }: CollectorTotals): string {
  // A capture waits, so nothing is overrun.
  const { overrun: _, ...wrong } = dropped;
  return JSON.stringify({ type: 'total', ...totals, frames: received, dropped: wrong });
}
