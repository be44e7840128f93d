import type { CollectorTotals } from '@int/collector';
import { flowFields } from '@int/collector/internals';
import type { FlowCacheTotals, FlowEntry } from '@int/flowcache';
import type { KnownNetwork } from '../network/known-network.js';
import { withNames } from '../network/names.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';

/** The line of a flow. */
export function flowJson(entry: FlowEntry, network: KnownNetwork = UNKNOWN_NETWORK): string {
  return JSON.stringify(withNames({ type: 'flow', ...flowFields(entry) }, network.topology));
}

/** See {@link flowTotals}. */
export type FlowTotalsJson = ReturnType<typeof flowTotals>;

/**
 * The counters of a cache without a consumer of its entries. They account for the reports of a capture: `packets` is the
 * sum over the flows, the entries that left, and the lost reports; `notOk` is not part of it.
 */
export function flowTotals(totals: FlowCacheTotals) {
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
    // Only reasons that occurred.
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
