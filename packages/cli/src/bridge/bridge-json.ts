import type { CollectorTotals } from '@int/collector';
import { type BridgeTotals, DROP_REASONS, type ForwarderTotals } from './totals.js';

/** The counters of a bridge so far. `received` is `forwarded` plus the sum of `dropped`. */
export function countersJson(totals: BridgeTotals, read: CollectorTotals) {
  const { inbound, returning, kernelDropped, returnKernelDropped, outages } = totals;
  const { received, forwarded, stripped, plain, unstripped, dropped } = inbound;
  const { discard: _, ...returnDropped } = returning.dropped;
  const frames = { received, forwarded, stripped, plain, unstripped, dropped: { ...dropped } };
  const back = { returned: returning.forwarded, returnDropped, kernelDropped, returnKernelDropped, outages };
  return { ...frames, ...back, decoded: read.decoded, reports: read.reports, errors: read.errors };
}

/** Frames not forwarded, by reason: `discard 3, tx-full 1`, or `none`. */
export function dropReasons({ dropped }: ForwarderTotals, grouped: (value: number) => string): string {
  const present = DROP_REASONS.filter((reason) => dropped[reason] > 0);
  return present.length === 0 ? 'none' : present.map((reason) => `${reason} ${grouped(dropped[reason])}`).join(', ');
}
