import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { frameTimeMs } from '../frames.js';
import { DEGRADED, type DegradedState } from '../health/degraded-state.js';
import { DegradedStates } from '../health/degraded-states.js';
import type { Stage } from '../stage.js';
import { BusiestKeys, NO_ROW } from './busiest-keys.js';
import { type CongestedPath, CongestionLog } from './congestion-log.js';
import { SlidingHistograms } from './histogram.js';
import { move } from './rows.js';

export interface LiveStatisticsOptions {
  /** Switches with statistics of their own: the busiest. The others are counted together as `other`. Default 256. */
  readonly switches?: number;
  /** Length of a time slice in milliseconds: one point of the history. Default 1000. */
  readonly sliceMs?: number;
  /** Slices in the sliding window, the one being filled included. Default 10. */
  readonly windowSlices?: number;
  /** Points of history. A switch that was silent for as long gives its place away. Default 60. */
  readonly historySlices?: number;
  /**
   * Queue occupancy from which a hop counts as congested, in the device's unit. Reports that carry the congestion flag
   * count in any case. Default 500.
   */
  readonly congestedOccupancy?: number;
  /** Congested paths to remember. Default 32. */
  readonly congestedPaths?: number;
}

/** Statistics of one switch, over the sliding window unless said otherwise. Values are in the device's units. */
export interface SwitchStatistics {
  /** `null`: all switches beyond the limit, and hops that did not name themselves. */
  readonly nodeId: number | null;
  /** Reports that carry something from this switch, per second. */
  readonly reportsPerSecond: number;
  /** Quantiles are off by at most 1.6 %; `null` without values. */
  readonly hopLatency: { readonly p50: number | null; readonly p99: number | null; readonly count: number };
  /** The last value and the largest in the window; `null` without values. */
  readonly queueOccupancy: { readonly now: number | null; readonly peak: number | null };
  readonly egressUtilization: { readonly now: number | null; readonly peak: number | null };
  /** Reports of this switch about packets it dropped, since it has its place. */
  readonly dropReports: number;
  /** The same per second, in the window. */
  readonly dropReportsPerSecond: number;
  /** The 99th percentile of hop latency of each past slice, oldest first; `null` for slices without values. */
  readonly history: readonly (number | null)[];
}

/** What {@link LiveStatistics.snapshot} gives. */
export interface StatisticsSnapshot {
  /** The time the statistics stand at, milliseconds since the epoch; `null` before the first frame. */
  readonly timeMs: number | null;
  /** By node id. */
  readonly switches: readonly SwitchStatistics[];
  /** Everything that has no row of its own; `null` if there is nothing. */
  readonly other: SwitchStatistics | null;
  /** Most recent first. */
  readonly congested: readonly CongestedPath[];
}

/** No value in the last-value and peak columns: no 24-bit occupancy and no 32-bit utilization is this. */
const NONE = NOT_AVAILABLE;

function positive(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} must be a positive integer, not ${value}`);
  return value;
}

/**
 * Statistics for a live view: per switch, over a sliding window, and the most recent congested paths.
 *
 * A stage of the pipeline. Its memory is fixed by the options; nothing is allocated per report. Time is that of the
 * frames (arrival or capture time) and of {@link advance}. When there are more switches than rows, the busiest have
 * them. When a switch loses its row, its counts are added to `other`.
 */
export class LiveStatistics implements Stage {
  readonly name = 'statistics';
  readonly #sliceMs: number;
  readonly #windowSlices: number;
  readonly #historySlices: number;
  readonly #congestedOccupancy: number;
  readonly #nodes: BusiestKeys;
  /** The row of all switches without one. */
  readonly #other: number;
  readonly #latency: SlidingHistograms;
  readonly #congestion: CongestionLog;
  /** Per row and slice of the window. */
  readonly #reports: Float64Array;
  readonly #drops: Float64Array;
  readonly #queuePeak: Uint32Array;
  readonly #utilizationPeak: Uint32Array;
  /** Per row. */
  readonly #queueNow: Uint32Array;
  readonly #utilizationNow: Uint32Array;
  readonly #dropReports: Float64Array;
  readonly #lastSlice: Float64Array;
  /** The report that was counted last for a row, so that a report with two hops of one switch counts once. */
  readonly #lastReport: Float64Array;
  /** Per row and slice of the history; NaN without values. */
  readonly #history: Float64Array;
  readonly #states = new DegradedStates();
  /** Times that a switch without a row was part of a report. */
  #untracked = 0;
  #reportNumber = 0;
  /** Something was counted in the row `other`. */
  #hasOther = false;
  /** Number of the current slice since the epoch. */
  #slice = 0;
  /** Slices begun since the first frame or the last jump of the clock, this one included. */
  #begun = 0;
  #timeMs = 0;
  #startMs = 0;
  #sliceEndMs = 0;

  /** @throws RangeError for an option out of range */
  constructor(options: LiveStatisticsOptions = {}) {
    this.#sliceMs = positive('sliceMs', options.sliceMs ?? 1000);
    this.#windowSlices = positive('windowSlices', options.windowSlices ?? 10);
    this.#historySlices = positive('historySlices', options.historySlices ?? 60);
    this.#congestedOccupancy = positive('congestedOccupancy', options.congestedOccupancy ?? 500);
    const switches = positive('switches', options.switches ?? 256);
    const rows = switches + 1;
    this.#nodes = new BusiestKeys(switches);
    this.#other = switches;
    this.#latency = new SlidingHistograms(rows, this.#windowSlices);
    this.#congestion = new CongestionLog(options.congestedPaths ?? 32);
    this.#reports = new Float64Array(rows * this.#windowSlices);
    this.#drops = new Float64Array(rows * this.#windowSlices);
    this.#queuePeak = new Uint32Array(rows * this.#windowSlices).fill(NONE);
    this.#utilizationPeak = new Uint32Array(rows * this.#windowSlices).fill(NONE);
    this.#queueNow = new Uint32Array(rows).fill(NONE);
    this.#utilizationNow = new Uint32Array(rows).fill(NONE);
    this.#dropReports = new Float64Array(rows);
    this.#lastSlice = new Float64Array(rows);
    this.#lastReport = new Float64Array(rows);
    this.#history = new Float64Array(rows * this.#historySlices).fill(Number.NaN);
    this.#states.watch(
      DEGRADED.UNTRACKED,
      () => this.#untracked,
      (times) =>
        `${times} hops of switches beyond the ${switches} with statistics of their own: ids are forged, or 'switches' is too low`,
    );
  }

  /** Bytes of the histograms, by far the largest part. */
  get byteLength(): number {
    return this.#latency.byteLength;
  }

  process(batch: TelemetryBatch): void {
    const { nodeId, hopLatency, queueOccupancy, egressUtilization } = batch.hop;
    for (let row = 0; row < batch.reports; row++) {
      if (batch.code[row] !== 0) continue;
      this.#reportNumber++;
      const timeMs = frameTimeMs(batch, batch.frame[row]!);
      this.advance(timeMs);
      const start = batch.hopStart[row]!;
      const count = batch.hopCount[row]!;
      const flags = batch.flags[row]!;
      let deepest = -1;
      let depth = NONE;
      for (let hop = 0; hop < count; hop++) {
        const at = start + hop;
        const place = this.#touch(nodeId[at]!);
        const latency = hopLatency[at]!;
        if (latency !== NOT_AVAILABLE) this.#latency.record(place, latency);
        const occupancy = queueOccupancy[at]!;
        if (occupancy !== NOT_AVAILABLE) {
          this.#queueNow[place] = occupancy;
          this.#raise(this.#queuePeak, place, occupancy);
          if (deepest < 0 || occupancy > depth) {
            deepest = hop;
            depth = occupancy;
          }
        }
        const utilization = egressUtilization[at]!;
        if (utilization !== NOT_AVAILABLE) {
          this.#utilizationNow[place] = utilization;
          this.#raise(this.#utilizationPeak, place, utilization);
        }
      }
      if (count === 0 && batch.nodeId[row] !== NOT_AVAILABLE) this.#touch(batch.nodeId[row]!);
      if ((flags & FLAG.DROPPED) !== 0) {
        const place = this.#touch(batch.nodeId[row]!);
        this.#dropReports[place]!++;
        this.#drops[place * this.#windowSlices + (this.#slice % this.#windowSlices)]!++;
      }
      const isFlagged = (flags & FLAG.QUEUE_CONGESTED) !== 0;
      if (deepest >= 0 && (isFlagged || depth >= this.#congestedOccupancy)) {
        this.#congestion.add(batch, row, deepest, depth, timeMs);
      } else if (isFlagged && count > 0) {
        // Flagged by the reporting node, which is the last of the path, without saying how deep.
        this.#congestion.add(batch, row, count - 1, NONE, timeMs);
      }
    }
  }

  /**
   * Moves time on: slices that have passed become history. A step back within the window is taken as now; a longer one
   * (a capture replayed again) starts the window anew.
   */
  advance(timeMs: number): void {
    if (timeMs >= this.#timeMs && timeMs < this.#sliceEndMs) {
      this.#timeMs = timeMs;
      return;
    }
    const slice = Math.floor(timeMs / this.#sliceMs);
    if (this.#begun === 0) this.#begin(slice, timeMs);
    else if (slice > this.#slice) {
      const steps = Math.min(slice - this.#slice, this.#historySlices + this.#windowSlices);
      // Older slices are all forgotten. Skip them.
      this.#slice = slice - steps;
      for (let step = 0; step < steps; step++) this.#rotate();
    } else if (slice < this.#slice - this.#windowSlices) {
      for (let step = 0; step < this.#windowSlices; step++) this.#rotate();
      this.#lastSlice.fill(slice);
      this.#history.fill(Number.NaN);
      this.#begin(slice, timeMs);
    } else return;
    this.#timeMs = timeMs;
    this.#sliceEndMs = (slice + 1) * this.#sliceMs;
  }

  /** Rows, and how often there were too few. */
  counters(): Readonly<Record<string, number>> {
    const { size, replaced } = this.#nodes;
    return { switches: size, replaced, untracked: this.#untracked };
  }

  /** `untracked`, while switches are counted as `other` for want of a row. */
  degraded(): readonly DegradedState[] {
    return this.#states.list();
  }

  /** The statistics as they stand. Allocates: for a view a few times a second. */
  snapshot(): StatisticsSnapshot {
    const switches: SwitchStatistics[] = [];
    for (let row = 0; row < this.#nodes.capacity; row++) {
      if (this.#nodes.used[row] === 1) switches.push(this.#read(row, this.#nodes.first[row]!));
    }
    switches.sort((a, b) => a.nodeId! - b.nodeId!);
    return {
      timeMs: this.#begun === 0 ? null : this.#timeMs,
      switches,
      other: this.#hasOther ? this.#read(this.#other, null) : null,
      congested: this.#congestion.entries(),
    };
  }

  #begin(slice: number, timeMs: number): void {
    this.#slice = slice;
    this.#begun = 1;
    this.#startMs = timeMs;
  }

  /** The row of a node, counted as part of the current report. */
  #touch(nodeId: number): number {
    let place = nodeId === NOT_AVAILABLE ? this.#other : this.#nodes.note(nodeId);
    if (place === NO_ROW) {
      place = this.#other;
      this.#untracked++;
    }
    this.#hasOther ||= place === this.#other;
    if (this.#lastReport[place] !== this.#reportNumber) {
      this.#lastReport[place] = this.#reportNumber;
      this.#lastSlice[place] = this.#slice;
      this.#reports[place * this.#windowSlices + (this.#slice % this.#windowSlices)]!++;
    }
    return place;
  }

  #raise(peaks: Uint32Array, place: number, value: number): void {
    const cell = place * this.#windowSlices + (this.#slice % this.#windowSlices);
    const peak = peaks[cell]!;
    if (peak === NONE || value > peak) peaks[cell] = value;
  }

  #rotate(): void {
    const rows = this.#nodes.capacity + 1;
    for (let row = 0; row < rows; row++) {
      const p99 = this.#latency.sliceQuantile(row, 0.99);
      this.#history[row * this.#historySlices + (this.#slice % this.#historySlices)] = p99 ?? Number.NaN;
    }
    this.#slice++;
    this.#begun++;
    this.#latency.rotate();
    const column = this.#slice % this.#windowSlices;
    for (let row = 0; row < rows; row++) {
      const cell = row * this.#windowSlices + column;
      this.#reports[cell] = 0;
      this.#drops[cell] = 0;
      this.#queuePeak[cell] = NONE;
      this.#utilizationPeak[cell] = NONE;
    }
    this.#nodes.release((row) => {
      if (this.#slice - this.#lastSlice[row]! < this.#historySlices) return false;
      this.#leave(row);
      return true;
    });
    this.#nodes.elect(this.#slice * this.#sliceMs, (row) => this.#leave(row));
  }

  /** Adds the counts of a row to `other`, and clears it. */
  #leave(row: number): void {
    const other = this.#other;
    this.#hasOther ||= this.#dropReports[row]! > 0 || this.#sumOf(this.#reports, row) > 0;
    this.#latency.move(row, other);
    for (let slice = 0; slice < this.#windowSlices; slice++) {
      const [from, to] = [row * this.#windowSlices + slice, other * this.#windowSlices + slice];
      move(this.#reports, from, to);
      move(this.#drops, from, to);
      for (const peaks of [this.#queuePeak, this.#utilizationPeak]) {
        if (peaks[from] !== NONE && (peaks[to] === NONE || peaks[from]! > peaks[to]!)) peaks[to] = peaks[from]!;
        peaks[from] = NONE;
      }
    }
    move(this.#dropReports, row, other);
    this.#lastReport[row] = 0;
    this.#lastSlice[row] = this.#slice;
    this.#queueNow[row] = NONE;
    this.#utilizationNow[row] = NONE;
    this.#history.fill(Number.NaN, row * this.#historySlices, (row + 1) * this.#historySlices);
  }

  /** The cells of a row in the window. */
  #window<Cells extends Float64Array | Uint32Array>(cells: Cells, row: number): Cells {
    return cells.subarray(row * this.#windowSlices, (row + 1) * this.#windowSlices) as Cells;
  }

  #peakOf(peaks: Uint32Array, row: number): number | null {
    const known = this.#window(peaks, row).filter((peak) => peak !== NONE);
    return known.length === 0 ? null : Math.max(...known);
  }

  /** In the window. */
  #sumOf(counts: Float64Array, row: number): number {
    return this.#window(counts, row).reduce((sum, count) => sum + count, 0);
  }

  #read(row: number, nodeId: number | null): SwitchStatistics {
    const known = (value: number): number | null => (value === NONE ? null : value);
    const slices = Math.min(this.#begun, this.#windowSlices);
    // Of the current slice, and of the first one, only a part has passed.
    const windowMs = (slices - 1) * this.#sliceMs + (this.#timeMs - this.#slice * this.#sliceMs);
    const seconds = Math.min(windowMs, this.#timeMs - this.#startMs) / 1000;
    const points = Math.min(this.#begun - 1, this.#historySlices);
    const history = Array.from({ length: points }, (_, point) => {
      const slice = this.#slice - points + point;
      const value = this.#history[row * this.#historySlices + (slice % this.#historySlices)]!;
      return Number.isNaN(value) ? null : value;
    });
    return {
      nodeId,
      reportsPerSecond: seconds > 0 ? this.#sumOf(this.#reports, row) / seconds : 0,
      hopLatency: {
        p50: this.#latency.quantile(row, 0.5),
        p99: this.#latency.quantile(row, 0.99),
        count: this.#latency.count(row),
      },
      queueOccupancy: { now: known(this.#queueNow[row]!), peak: this.#peakOf(this.#queuePeak, row) },
      egressUtilization: { now: known(this.#utilizationNow[row]!), peak: this.#peakOf(this.#utilizationPeak, row) },
      dropReports: this.#dropReports[row]!,
      dropReportsPerSecond: seconds > 0 ? this.#sumOf(this.#drops, row) / seconds : 0,
      history,
    };
  }
}
