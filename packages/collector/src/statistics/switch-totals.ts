import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import type { Stage } from '../stage.js';
import { NO_ROW, NodeTable } from './node-table.js';

/** Bounds in ns, a factor of two to 2.5 apart: from what a packet takes through an idle switch to a queue that stands. */
const LATENCY_BOUNDS = [
  500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
  100_000_000, 1_000_000_000,
] as const;
/** In cells, packets or whatever else the device counts: from an empty queue to a full one. */
const OCCUPANCY_BOUNDS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000] as const;
const MAX_BOUNDS = 64;
/** The half of an interface pair that is not known. */
const NO_INTERFACE = 0xffff;

export interface SwitchTotalsOptions {
  /** Switches with counters of their own, 1 to 65,536; the others are counted together. Default 1024. */
  readonly switches?: number;
  /** Queues, over all switches, 1 to 65,536. Default 8192. */
  readonly queues?: number;
  /** Egress interfaces, over all switches, 1 to 65,536. Default 8192. */
  readonly interfaces?: number;
  /**
   * Upper bounds of the hop latency's buckets, in the device's unit, ascending, at most 64. A value equal to a bound is below
   * it. Default: 500 ns to 1 s.
   */
  readonly latencyBounds?: readonly number[];
  /** The same for the queue occupancy. Default: 0 to 100,000. */
  readonly occupancyBounds?: readonly number[];
}

/** How often a value fell between which bounds. */
export interface Buckets {
  readonly count: number;
  readonly sum: number;
  /** Values in each bucket, those above the last bound at the end: not cumulative. */
  readonly buckets: readonly number[];
}

/** Counters of one switch since the start, or of all that have none of their own. Values are in the device's units. */
export interface SwitchCounters {
  /** `null`: switches beyond the limit, and hops that did not name themselves. */
  readonly nodeId: number | null;
  /** Times that it was a hop of a report. */
  readonly hops: number;
  /** Its reports about packets that it dropped. */
  readonly dropReports: number;
  readonly hopLatency: Buckets;
  /** Of all its queues. */
  readonly queueOccupancy: Buckets;
}

/** A queue as it was last heard of. */
export interface QueueGauge {
  readonly nodeId: number;
  readonly queueId: number;
  readonly occupancy: number;
}

/** An egress interface as it was last heard of. */
export interface InterfaceGauge {
  readonly nodeId: number;
  /** Level 1 interface, 16 bits. */
  readonly egressInterface: number;
  readonly utilization: number;
}

/** What {@link SwitchTotals.snapshot} gives. */
export interface SwitchTotalsSnapshot {
  readonly latencyBounds: readonly number[];
  readonly occupancyBounds: readonly number[];
  /** By node id. */
  readonly switches: readonly SwitchCounters[];
  /** Everything that has no row of its own. */
  readonly other: SwitchCounters;
  readonly queues: readonly QueueGauge[];
  readonly interfaces: readonly InterfaceGauge[];
  /** Values of queues and interfaces for which there was no room. */
  readonly refused: { readonly queues: number; readonly interfaces: number };
}

/** Counts of values between bounds, for a number of rows. */
class BucketCounts {
  readonly bounds: Float64Array;
  /** Per row. */
  readonly #sum: Float64Array;
  /** Per row and bucket. */
  readonly #counts: Float64Array;

  constructor(name: string, bounds: readonly number[], rows: number) {
    const isAscending = bounds.every((bound, index) => index === 0 || bound > bounds[index - 1]!);
    if (bounds.length < 1 || bounds.length > MAX_BOUNDS || !isAscending) {
      throw new RangeError(`${name} must be 1 to ${MAX_BOUNDS} numbers in ascending order`);
    }
    this.bounds = Float64Array.from(bounds);
    this.#sum = new Float64Array(rows);
    this.#counts = new Float64Array(rows * (bounds.length + 1));
  }

  add(row: number, value: number): void {
    const { bounds } = this;
    let low = 0;
    let high = bounds.length;
    // The first bucket whose bound is not below the value.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (bounds[middle]! < value) low = middle + 1;
      else high = middle;
    }
    this.#sum[row]! += value;
    this.#counts[row * (bounds.length + 1) + low]!++;
  }

  read(row: number): Buckets {
    const width = this.bounds.length + 1;
    const buckets = [...this.#counts.subarray(row * width, (row + 1) * width)];
    return { count: buckets.reduce((sum, count) => sum + count, 0), sum: this.#sum[row]!, buckets };
  }
}

/** Last values by a key of a switch's row and a number of 16 bits. */
class Gauges {
  readonly table: NodeTable;
  readonly values: Uint32Array;
  refused = 0;

  constructor(capacity: number) {
    this.table = new NodeTable(capacity);
    this.values = new Uint32Array(capacity);
  }

  set(row: number, number: number, value: number): void {
    const place = this.table.rowOf(((row << 16) | number) >>> 0);
    if (place === NO_ROW) this.refused++;
    else this.values[place] = value;
  }
}

/**
 * Counters per switch that only grow, and the last value of each queue and egress interface: what monitoring systems take in
 * at intervals of their own. For a live view over a sliding window there is `LiveStatistics`.
 *
 * A stage of the pipeline. Its memory is fixed by the options; nothing is allocated per report. Rows are never given away: a
 * counter that goes back would be taken for a restart.
 */
export class SwitchTotals implements Stage {
  readonly name = 'switch totals';
  readonly #nodes: NodeTable;
  /** The row of everything that has none. */
  readonly #other: number;
  /** Per row. */
  readonly #hops: Float64Array;
  readonly #dropReports: Float64Array;
  readonly #latency: BucketCounts;
  readonly #occupancy: BucketCounts;
  readonly #queues: Gauges;
  readonly #interfaces: Gauges;

  /** @throws RangeError for an option out of range, or bounds that do not ascend */
  constructor(options: SwitchTotalsOptions = {}) {
    const { switches = 1024, queues = 8192, interfaces = 8192 } = options;
    const rows = switches + 1;
    this.#nodes = new NodeTable(switches);
    this.#other = switches;
    this.#hops = new Float64Array(rows);
    this.#dropReports = new Float64Array(rows);
    this.#latency = new BucketCounts('latencyBounds', options.latencyBounds ?? LATENCY_BOUNDS, rows);
    this.#occupancy = new BucketCounts('occupancyBounds', options.occupancyBounds ?? OCCUPANCY_BOUNDS, rows);
    this.#queues = new Gauges(queues);
    this.#interfaces = new Gauges(interfaces);
  }

  process(batch: TelemetryBatch): void {
    const { nodeId, hopLatency, queue, egressUtilization, l1Interfaces } = batch.hop;
    for (let report = 0; report < batch.reports; report++) {
      if (batch.code[report] !== 0) continue;
      const start = batch.hopStart[report]!;
      const end = start + batch.hopCount[report]!;
      for (let at = start; at < end; at++) {
        const row = this.#rowOf(nodeId[at]!);
        const latency = hopLatency[at]!;
        const queued = queue[at]!;
        this.#hops[row]!++;
        if (latency !== NOT_AVAILABLE) this.#latency.add(row, latency);
        if (queued !== NOT_AVAILABLE) this.#occupancy.add(row, queued & 0xffffff);
        if (row === this.#other) continue;
        if (queued !== NOT_AVAILABLE) this.#queues.set(row, queued >>> 24, queued & 0xffffff);
        const utilization = egressUtilization[at]!;
        const egress = l1Interfaces[at]! & 0xffff;
        if (utilization !== NOT_AVAILABLE && egress !== NO_INTERFACE) this.#interfaces.set(row, egress, utilization);
      }
      if ((batch.flags[report]! & FLAG.DROPPED) !== 0) this.#dropReports[this.#rowOf(batch.nodeId[report]!)]!++;
    }
  }

  /** The counters as they stand. Allocates: for a reader a few times a minute. */
  snapshot(): SwitchTotalsSnapshot {
    const switches = Array.from({ length: this.#nodes.size }, (_, row) => this.#read(row, this.#nodes.ids[row]!));
    return {
      latencyBounds: [...this.#latency.bounds],
      occupancyBounds: [...this.#occupancy.bounds],
      switches: switches.sort((a, b) => a.nodeId! - b.nodeId!),
      other: this.#read(this.#other, null),
      queues: this.#gauges(this.#queues, (nodeId, queueId, occupancy) => ({ nodeId, queueId, occupancy })),
      interfaces: this.#gauges(this.#interfaces, (nodeId, egressInterface, utilization) => ({
        nodeId,
        egressInterface,
        utilization,
      })),
      refused: { queues: this.#queues.refused, interfaces: this.#interfaces.refused },
    };
  }

  #gauges<T>({ table, values }: Gauges, make: (nodeId: number, number: number, value: number) => T): T[] {
    return Array.from({ length: table.size }, (_, place) => {
      const key = table.ids[place]!;
      return make(this.#nodes.ids[key >>> 16]!, key & 0xffff, values[place]!);
    });
  }

  #read(row: number, nodeId: number | null): SwitchCounters {
    return {
      nodeId,
      hops: this.#hops[row]!,
      dropReports: this.#dropReports[row]!,
      hopLatency: this.#latency.read(row),
      queueOccupancy: this.#occupancy.read(row),
    };
  }

  #rowOf(nodeId: number): number {
    if (nodeId === NOT_AVAILABLE) return this.#other;
    const row = this.#nodes.rowOf(nodeId);
    return row === NO_ROW ? this.#other : row;
  }
}
