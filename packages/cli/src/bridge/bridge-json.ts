import type { CodeName } from '@int/codec';
import type { CollectorTotals } from '@int/collector';
import type { FlowTotalsJson } from '../output/flow-json.js';
import { type BridgeDrop, type BridgeTotals, DROP_REASONS, type ForwarderTotals } from './totals.js';

/** The counters of a bridge so far. `received` is `forwarded` plus the sum of `dropped`. */
export interface BridgeCountersJson {
  /** Frames that arrived at IN. */
  readonly received: number;
  /** Frames that left by OUT: `stripped`, `plain` and `unstripped` together. */
  readonly forwarded: number;
  readonly stripped: number;
  readonly plain: number;
  readonly unstripped: number;
  readonly dropped: Readonly<Record<BridgeDrop, number>>;
  /** Frames from OUT that left by IN. */
  readonly returned: number;
  /** Frames from OUT that did not leave by IN. */
  readonly returnDropped: Readonly<Record<Exclude<BridgeDrop, 'discard'>, number>>;
  /** Frames that the kernel dropped before they were received; not part of `received`. */
  readonly kernelDropped: number;
  readonly returnKernelDropped: number;
  /** Number of outages of each interface, including a present one. */
  readonly outages: BridgeTotals['outages'];
  /** Packets whose INT was decoded without errors. */
  readonly decoded: number;
  readonly reports: number;
  /** Errors in the others, by decoder code. */
  readonly errors: Readonly<Partial<Record<CodeName, number>>>;
}

/** The last line of `int bridge --json`. */
export interface BridgeTotalJson extends BridgeCountersJson {
  readonly type: 'total';
  /** Like the last line of `int flows --json`. */
  readonly flows: FlowTotalsJson;
}

export function countersJson(totals: BridgeTotals, read: CollectorTotals): BridgeCountersJson {
  const { inbound, returning, kernelDropped, returnKernelDropped, outages } = totals;
  const { received, forwarded, stripped, plain, unstripped, dropped } = inbound;
  const { discard: _, ...returnDropped } = returning.dropped;
  return {
    received,
    forwarded,
    stripped,
    plain,
    unstripped,
    dropped: { ...dropped },
    returned: returning.forwarded,
    returnDropped,
    kernelDropped,
    returnKernelDropped,
    outages,
    decoded: read.decoded,
    reports: read.reports,
    errors: read.errors,
  };
}

export function bridgeTotalJson(totals: BridgeTotals, read: CollectorTotals, flows: FlowTotalsJson): BridgeTotalJson {
  return { type: 'total', ...countersJson(totals, read), flows };
}

/** Frames not forwarded, by reason: `discard 3, tx-full 1`, or `none`. */
export function dropReasons({ dropped }: ForwarderTotals, grouped: (value: number) => string): string {
  const present = DROP_REASONS.filter((reason) => dropped[reason] > 0);
  return present.length === 0 ? 'none' : present.map((reason) => `${reason} ${grouped(dropped[reason])}`).join(', ');
}
