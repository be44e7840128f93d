import type { CollectorTotals, Refusal } from '@int/collector';
import { given } from '../given.js';
import { type BridgeTotals, DROP_REASONS, type ForwarderTotals } from './totals.js';

/** The counters of a bridge so far. `received` is `forwarded` plus the sum of `dropped`. */
export function countersJson(totals: BridgeTotals, read: CollectorTotals) {
  const { inbound, returning, kernelDropped, returnKernelDropped, outages } = totals;
  const { received, forwarded, stripped, plain, unstripped, dropped } = inbound;
  const { discard: _, ...returnDropped } = returning.dropped;
  const frames = { received, forwarded, stripped, plain, unstripped, dropped: { ...dropped } };
  const back = { returned: returning.forwarded, returnDropped, kernelDropped, returnKernelDropped, outages };
  return {
    ...frames,
    ...back,
    decoded: read.decoded,
    reports: read.reports,
    ...refusedJson(read),
    errors: read.errors,
  };
}

/** Frames whose INT was not believed, by reason; nothing if neither senders nor switches are known. */
function refusedJson({ dropped }: CollectorTotals): { readonly refused?: Partial<Record<Refusal, number>> } {
  const refused = refusalsOf(dropped);
  return Object.keys(refused).length === 0 ? {} : { refused };
}

/** The counts of refused frames that there are. */
export function refusalsOf(dropped: CollectorTotals['dropped']): Partial<Record<Refusal, number>> {
  return given({ 'unknown-source': dropped['unknown-source'], 'unknown-switch': dropped['unknown-switch'] });
}

/** Frames not forwarded, by reason: `discard 3, tx-full 1`, or `none`. */
export function dropReasons({ dropped }: ForwarderTotals, grouped: (value: number) => string): string {
  const present = DROP_REASONS.filter((reason) => dropped[reason] > 0);
  return present.length === 0 ? 'none' : present.map((reason) => `${reason} ${grouped(dropped[reason])}`).join(', ');
}
