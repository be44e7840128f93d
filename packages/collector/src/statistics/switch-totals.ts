import { FIELDS, type Field, FLAG, NOT_AVAILABLE, STATE, type TelemetryBatch } from '@int/codec';
import { DeviceProfile } from '@int/network';
import { frameTimeMs } from '../frames.js';
import { DEGRADED, type DegradedState } from '../health/degraded-state.js';
import { DegradedStates } from '../health/degraded-states.js';
import type { Stage } from '../stage.js';
import { BusiestKeys, NO_ROW } from './busiest-keys.js';
import { type GaugeColumns, Gauges } from './gauges.js';
import { move, rowsOf } from './rows.js';
import { type BoundsByBase, type BucketColumns, UnitHistograms } from './unit-histograms.js';

/** In ns, or in device units, a factor of 2 to 2.5 apart: from the latency of an idle switch to that of a blocked queue. */
const LATENCY_BOUNDS = [
  500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
  100_000_000, 1_000_000_000,
] as const;
/** In cells, packets or whatever else the device counts: from an empty queue to a full one. */
const OCCUPANCY_BOUNDS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000] as const;

const SECONDS: readonly number[] = /* @__PURE__ */ LATENCY_BOUNDS.map((bound) => bound / 1e9);
const LATENCY: BoundsByBase = { seconds: SECONDS, deviceUnits: LATENCY_BOUNDS };
const OCCUPANCY: BoundsByBase = {
  seconds: SECONDS,
  bytes: /* @__PURE__ */ OCCUPANCY_BOUNDS.map((bound) => bound * 1000),
  deviceUnits: OCCUPANCY_BOUNDS,
};

/** Metrics that are counted in a way of their own. */
const COUNTED: readonly string[] = ['hopLatency', 'queueOccupancy', 'egressUtilization'];
/** The other measures, with the last value per switch. */
const OTHERS: readonly Field[] = /* @__PURE__ */ FIELDS.filter(
  ({ name, metric, unit }) => metric !== undefined && unit !== undefined && !COUNTED.includes(name),
);
/** Their bits among the columns that a batch has written. */
const OTHERS_MASK = /* @__PURE__ */ OTHERS.reduce((mask, { column }) => mask | (1 << column), 0);

export interface SwitchTotalsOptions {
  /** Switches with counters of their own, the busiest, 1 to 65,536; the others are counted together. Default 1024. */
  readonly switches?: number;
  /** Queues, over all switches, the busiest, 1 to 65,536. Default 8192. */
  readonly queues?: number;
  /** Egress interfaces, over all switches, the busiest, 1 to 65,536. Default 8192. */
  readonly interfaces?: number;
  /** Units of the switches' numbers. Default: nobody said. */
  readonly device?: DeviceProfile;
  /**
   * Upper bounds of the hop latency's buckets, in the unit of most switches' device, ascending, at most 64. A value equal to a
   * bound is below it. Default: 500 ns to 1 s; 500 to 10^9 where nobody said what a unit is.
   */
  readonly latencyBounds?: readonly number[];
  /** The same for the queue occupancy. Default: 0 to 100,000; of bytes: 0 to 100 MB. */
  readonly occupancyBounds?: readonly number[];
}

/** Values of queues and interfaces for which there was no room. */
export interface RefusedGauges {
  readonly queues: number;
  readonly interfaces: number;
}

/** What {@link SwitchTotals.columns} gives: copies, the reader's own. */
export interface SwitchColumns {
  /** A cell for each switch. `hops` and `dropReports` have a row more, that of everything without a row of its own. */
  readonly nodeId: Uint32Array;
  readonly hops: Float64Array;
  readonly dropReports: Float64Array;
  /** One for each thing that the switches' numbers are in: mostly one. */
  readonly hopLatency: readonly BucketColumns[];
  readonly queueOccupancy: readonly BucketColumns[];
  /** Values of gauges are in device units. */
  readonly queues: GaugeColumns;
  readonly interfaces: GaugeColumns;
  /** `number` is that of the metric. */
  readonly measures: GaugeColumns;
  readonly refused: RefusedGauges;
  /** Hops and drop reports of switches for which there was no row. */
  readonly untracked: number;
  /** How often a switch has taken the row of another one. */
  readonly replaced: number;
}

/**
 * Counters per switch, and the last value of each queue and egress interface, for monitoring systems that poll. For a
 * live view over a sliding window use `LiveStatistics`.
 *
 * A stage of the pipeline. Its memory is fixed by the options; nothing is allocated per report. When there are more
 * switches than rows, the busiest have them, see `BusiestKeys`; all others are counted together as `other`.
 *
 * The rule for counters: a switch counts from 0 when it gets a row. When it loses the row, its counts are added to
 * `other` at once. So a switch's counter may vanish and begin again at 0, as after a restart. The counters of `other`,
 * and the sum over all switches and `other`, never decrease: the sum covers everything since the start.
 */
export class SwitchTotals implements Stage {
  readonly name = 'switch totals';
  /** Units of the switches' numbers. */
  readonly device: DeviceProfile;
  readonly #nodes: BusiestKeys;
  /** The row of all switches without one. */
  readonly #other: number;
  /** Per row. */
  readonly #hops: Float64Array;
  readonly #dropReports: Float64Array;
  readonly #latency: UnitHistograms;
  readonly #occupancy: UnitHistograms;
  readonly #queues: Gauges;
  readonly #interfaces: Gauges;
  /** By switch and number of the metric. */
  readonly #measures: Gauges;
  readonly #states = new DegradedStates();
  /** Hops and drop reports of switches that have no row. */
  #untracked = 0;

  /** @throws RangeError for an option out of range, or bounds that do not ascend */
  constructor(options: SwitchTotalsOptions = {}) {
    const { switches = 1024, queues = 8192, interfaces = 8192, device = DeviceProfile.NONE } = options;
    const rows = switches + 1;
    this.device = device;
    this.#nodes = new BusiestKeys(switches);
    this.#other = switches;
    this.#hops = new Float64Array(rows);
    this.#dropReports = new Float64Array(rows);
    const { latencyBounds, occupancyBounds } = options;
    this.#latency = new UnitHistograms('latencyBounds', 'hopLatency', device, latencyBounds, LATENCY, rows);
    this.#occupancy = new UnitHistograms('occupancyBounds', 'queueOccupancy', device, occupancyBounds, OCCUPANCY, rows);
    this.#queues = new Gauges(queues);
    this.#interfaces = new Gauges(interfaces);
    this.#measures = new Gauges(switches * Math.max(1, OTHERS.length));
    this.#states.watch(
      DEGRADED.UNTRACKED,
      () => this.#untracked,
      (hops) =>
        `${hops} hops of switches beyond the ${switches} that are counted one by one: ids are forged, or 'switches' is too low`,
    );
  }

  process(batch: TelemetryBatch): void {
    const { nodeId, hopLatency, queueId, queueOccupancy, egressUtilization, l1EgressInterface } = batch.hop;
    if (batch.frames > 0) this.#elect(frameTimeMs(batch, 0));
    const hasOthers = (batch.state[STATE.WRITTEN]! & OTHERS_MASK) !== 0;
    for (let report = 0; report < batch.reports; report++) {
      if (batch.code[report] !== 0) continue;
      const start = batch.hopStart[report]!;
      const end = start + batch.hopCount[report]!;
      for (let at = start; at < end; at++) {
        const node = nodeId[at]!;
        const row = this.#rowOf(node);
        const latency = hopLatency[at]!;
        const occupancy = queueOccupancy[at]!;
        this.#hops[row]!++;
        if (latency !== NOT_AVAILABLE) this.#latency.add(row, node, latency);
        if (occupancy !== NOT_AVAILABLE) this.#occupancy.add(row, node, occupancy);
        if (row === this.#other) continue;
        if (hasOthers) this.#measure(batch, node, at);
        // A switch that names no queues has one.
        const queue = queueId[at]!;
        if (occupancy !== NOT_AVAILABLE) this.#queues.set(node, queue === NOT_AVAILABLE ? 0 : queue, occupancy);
        const utilization = egressUtilization[at]!;
        const egress = l1EgressInterface[at]!;
        if (utilization !== NOT_AVAILABLE && egress !== NOT_AVAILABLE) this.#interfaces.set(node, egress, utilization);
      }
      if ((batch.flags[report]! & FLAG.DROPPED) !== 0) this.#dropReports[this.#rowOf(batch.nodeId[report]!)]!++;
    }
  }

  #measure({ hopWords, hopStride }: TelemetryBatch, node: number, at: number): void {
    for (let k = 0; k < OTHERS.length; k++) {
      const { column, metric } = OTHERS[k]!;
      const value = hopWords[column * hopStride + at]!;
      if (value !== NOT_AVAILABLE) this.#measures.set(node, metric!, value);
    }
  }

  /** Rows, and how often there were too few. */
  counters(): Readonly<Record<string, number>> {
    const { size, replaced } = this.#nodes;
    return {
      switches: size,
      replaced,
      untracked: this.#untracked,
      queuesRefused: this.#queues.refused,
      interfacesRefused: this.#interfaces.refused,
    };
  }

  /** `untracked`, while hops are counted as `other` for want of a row. */
  degraded(): readonly DegradedState[] {
    return this.#states.list();
  }

  /** The current counters as columns, in the order of the rows: a copy of some hundred kilobytes, for a page of metrics. */
  columns(): SwitchColumns {
    const rows = this.#nodes.size;
    const other = this.#other;
    const nodeId = this.#nodes.first.slice(0, rows);
    return {
      nodeId,
      hops: rowsOf(this.#hops, rows, other),
      dropReports: rowsOf(this.#dropReports, rows, other),
      hopLatency: this.#latency.columns(nodeId, other),
      queueOccupancy: this.#occupancy.columns(nodeId, other),
      queues: this.#queues.columns(),
      interfaces: this.#interfaces.columns(),
      measures: this.#measures.columns(),
      refused: { queues: this.#queues.refused, interfaces: this.#interfaces.refused },
      untracked: this.#untracked,
      replaced: this.#nodes.replaced,
    };
  }

  #elect(timeMs: number): void {
    const { replaced } = this.#nodes;
    this.#nodes.elect(timeMs, (row) => this.#leave(row));
    const gauges = [this.#queues, this.#interfaces, this.#measures];
    for (const each of gauges) each.elect(timeMs);
    if (this.#nodes.replaced === replaced) return;
    // A switch without a row has no gauges either.
    const isGone = (nodeId: number): boolean => this.#nodes.find(nodeId) === NO_ROW;
    for (const each of gauges) each.release(isGone);
  }

  #leave(row: number): void {
    move(this.#hops, row, this.#other);
    move(this.#dropReports, row, this.#other);
    this.#latency.move(row, this.#other);
    this.#occupancy.move(row, this.#other);
  }

  #rowOf(nodeId: number): number {
    if (nodeId === NOT_AVAILABLE) return this.#other;
    const row = this.#nodes.note(nodeId);
    if (row !== NO_ROW) return row;
    this.#untracked++;
    return this.#other;
  }
}
