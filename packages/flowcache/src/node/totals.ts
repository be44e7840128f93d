/** The counters of all shards as one. */
import { type FlowCacheTotals, totalsOf } from '../cache/reader.js';
import { COUNTERS } from '../layout.js';

/**
 * The counters of all shards together, and what never reached one. In every state
 *
 * - `dispatched` is `offered + lostReports.full + lostReports.failed`;
 * - `offered` is what it is for one cache: the packets in live entries, in entries handed on or lost, and reports that
 *   could not be cached, by reason, less the packets restored.
 */
export interface ShardedTotals extends FlowCacheTotals {
  /** Rows that `dispatch` has handled. */
  readonly dispatched: number;
  /** Reports that are in no cache and were never handed on, by reason. */
  readonly lostReports: {
    /** With `whenFull: 'lose'`: all slots of their shard were full. */
    readonly full: number;
    /** In the cache of a worker that has ended by itself, on the way to it, or meant for it afterwards. */
    readonly failed: number;
  };
  /** The counters of each shard. */
  readonly shards: readonly FlowCacheTotals[];
}

/** What the main thread has counted. */
export interface Dispatched {
  /** Rows that went to no shard. */
  readonly notOk: number;
  readonly noFlow: number;
  readonly shards: readonly {
    /** Reports put into slots. */
    readonly placed: number;
    readonly lostFull: number;
    readonly lostFailed: number;
  }[];
}

/** What became of the reports in a shard's slots. */
export interface ShardFigures {
  readonly totals: FlowCacheTotals;
  /** Reports that went down with the worker. */
  readonly failed: number;
}

const NOTHING: FlowCacheTotals = /* @__PURE__ */ Object.fromEntries(
  COUNTERS.map((name) => [name, 0]),
) as FlowCacheTotals;

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * The figures of a shard whose worker has ended by itself. What it had handed on counts; all else is lost.
 *
 * @param placed reports put into its slots
 * @param header of its cache; `null` if it had none yet
 */
export function figuresOfFailed(placed: number, header: Int32Array | null): ShardFigures {
  const totals = header === null ? NOTHING : totalsOf(header);
  const { evictedPackets, agedPackets, retiredPackets, removedPackets, lostPackets } = totals;
  const { notOk, noFlow, unsupportedIpv6, restoredPackets } = totals;
  const gone = evictedPackets + agedPackets + retiredPackets + removedPackets + lostPackets;
  const offered = gone + notOk + noFlow + unsupportedIpv6 - restoredPackets;
  return { totals: { ...totals, offered, live: 0 }, failed: placed - offered };
}

/** Adds up. */
export function mergeTotals({ notOk, noFlow, shards }: Dispatched, figures: readonly ShardFigures[]): ShardedTotals {
  const merged = Object.fromEntries(
    COUNTERS.map((name) => [name, sum(figures.map(({ totals }) => totals[name]))]),
  ) as FlowCacheTotals;
  return {
    ...merged,
    notOk: merged.notOk + notOk,
    noFlow: merged.noFlow + noFlow,
    offered: merged.offered + notOk + noFlow,
    dispatched: notOk + noFlow + sum(shards.map((shard) => shard.placed + shard.lostFull + shard.lostFailed)),
    lostReports: {
      full: sum(shards.map(({ lostFull }) => lostFull)),
      failed: sum(shards.map(({ lostFailed }) => lostFailed)) + sum(figures.map(({ failed }) => failed)),
    },
    shards: figures.map(({ totals }) => totals),
  };
}
