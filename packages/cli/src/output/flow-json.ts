import type { CollectorTotals } from '@int/collector';
import { flowFields } from '@int/collector/internals';
import type { FlowCacheTotals, FlowEntry } from '@int/flowcache';

/** Entries that left the cache, and the reports in them. */
interface LeftJson {
  readonly entries: number;
  readonly packets: number;
}

/** Where the reports of a capture are: `packets` is what the flows hold, and the packets of all others here. */
export interface FlowTotalsJson {
  /** Individual reports and INT packets. */
  readonly packets: number;
  /** Flows in the cache. */
  readonly flows: number;
  /** Made room for others. */
  readonly evicted: LeftJson;
  /** Were idle for too long. */
  readonly aged: LeftJson;
  /** Reports that could not be put into the cache; only reasons that occurred. `noFlow`: of which flow is not known. */
  readonly lost: { readonly noFlow?: number };
  /** Reports whose path differed from their flow's previous one. */
  readonly pathChanges: number;
  /** Hops of reports that lay beyond those followed. */
  readonly hopsBeyond: number;
  /** Individual reports that could not be decoded to their end; not among `packets`. */
  readonly notOk: number;
}

/** The line of a flow. */
export function flowJson(entry: FlowEntry): string {
  return JSON.stringify({ type: 'flow', ...flowFields(entry) });
}

/** The counters of a cache that nobody takes entries from. */
export function flowTotals(totals: FlowCacheTotals): FlowTotalsJson {
  const { offered, notOk, live, noFlow, pathChanges, hopsBeyond } = totals;
  return {
    packets: offered - notOk,
    flows: live,
    // An entry whose count is full (2^32 - 1) makes room for its own flow.
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
  // A capture waits: nothing of it is overrun.
  const { overrun: _, ...wrong } = dropped;
  return JSON.stringify({ type: 'total', ...totals, frames: received, dropped: wrong });
}
