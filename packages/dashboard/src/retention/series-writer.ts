import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { frameTimeMs } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import { BUCKET_MS } from '../protocol/entities.js';
import { BINS, binOf, rankOf } from './bins.js';
import { EntityRows, NO_ROW } from './entity-rows.js';
import { CELL, epochOf, headerOf, KIND, keysOf, NUMBER, ROW, type SharedRetention, SIGNAL } from './geometry.js';
import { NO_HOP, WaitingEvents } from './waiting-events.js';

const WORDS = CELL.WORDS;
const SHIFT = 3;
/** Where a report's bucket is. */
const OPEN = 0;
const LATE = 1;

/** Rows of other entities by kind. */
const OTHER: readonly number[] = [0, ROW.OTHER_SWITCH, ROW.OTHER_QUEUE, ROW.OTHER_LINK];

/**
 * Adds reports up in buckets of 100 ms, for each switch, queue and link. It runs in the pipeline's thread and allocates nothing
 * per report. The bucket that fills is in arrays of its own; when time passes its end, it goes into the shared ring.
 *
 * Time is that of the frames. A report of an earlier bucket is added to that bucket's counts and maxima, but its quantiles stay.
 * Time that jumps ahead leaves a gap. Time that goes back further than is retained starts the ring anew.
 */
export class SeriesWriter {
  readonly #buckets: number;
  readonly #readable: number;
  readonly #cells: Uint32Array;
  readonly #signals: Int32Array;
  readonly #numbers: Float64Array;
  readonly #since: Float64Array;
  readonly #kind: Uint32Array;
  readonly #rows: EntityRows;
  /** The open bucket: a cell per row, a histogram per row, and the bins in use of it. */
  /** Events of the batch that comes, and those of no report. */
  readonly #waiting = new WaitingEvents();
  readonly #apart = new WaitingEvents();
  readonly #open: Uint32Array;
  readonly #histograms: Uint32Array;
  readonly #low: Uint16Array;
  readonly #high: Uint16Array;
  /** Count of buckets in which the row was touched last: in the open one, or not. */
  readonly #stamps: Int32Array;
  readonly #touched: Int32Array;
  #touchedCount = 0;
  /** Count of buckets opened, from 1. */
  #count = 0;
  /** The open bucket, and its times. */
  #bucket = -1;
  #startMs = Number.POSITIVE_INFINITY;
  #endMs = Number.NEGATIVE_INFINITY;
  #generation = 0;
  #lateBucket = 0;

  constructor(shared: SharedRetention) {
    const { buckets, readable, rows } = shared.geometry;
    const { signals, numbers } = headerOf(shared);
    const keys = keysOf(shared);
    this.#buckets = buckets;
    this.#readable = readable;
    this.#cells = new Uint32Array(shared.cells);
    this.#signals = signals;
    this.#numbers = numbers;
    this.#since = keys.since;
    this.#kind = keys.kind;
    this.#rows = new EntityRows(keys, signals);
    this.#open = new Uint32Array(rows * WORDS);
    this.#histograms = new Uint32Array(rows * BINS);
    this.#low = new Uint16Array(rows);
    this.#high = new Uint16Array(rows);
    this.#stamps = new Int32Array(rows);
    this.#touched = new Int32Array(rows);
    numbers[NUMBER.CLOSED] = -1;
    numbers[NUMBER.FIRST] = -1;
    numbers[NUMBER.TIME] = Number.NaN;
  }

  /** The open bucket; -1 before the first report. */
  get bucket(): number {
    return this.#bucket;
  }

  /** Adds the reports of a batch. */
  add(batch: TelemetryBatch): void {
    const { reports, code, frame, flags } = batch;
    const numbers = this.#numbers;
    let last = -1;
    let place = OPEN;
    let count = 0;
    let drops = 0;
    const waiting = this.#waiting;
    let event = 0;
    for (let row = 0; row < reports; row++) {
      if (code[row] !== 0) continue;
      const own = frame[row]!;
      if (own !== last) {
        last = own;
        const timeMs = frameTimeMs(batch, own);
        if (timeMs >= this.#startMs && timeMs < this.#endMs) place = OPEN;
        else place = this.#moveTo(timeMs);
        if (timeMs > numbers[NUMBER.TIME]! || Number.isNaN(numbers[NUMBER.TIME]!)) numbers[NUMBER.TIME] = timeMs;
      }
      count++;
      this.#bump(place, ROW.ALL, CELL.REPORTS);
      if (place === LATE) numbers[NUMBER.LATE]!++;
      this.#hops(batch, row, place);
      if ((flags[row]! & FLAG.DROPPED) !== 0) {
        drops++;
        this.#drop(batch, row, place);
      }
      while (event < waiting.count && waiting.report[event] === row) this.#eventOf(batch, row, event++, place);
    }
    numbers[NUMBER.REPORTS]! += count;
    numbers[NUMBER.DROPS]! += drops;
    this.#countWaiting(event);
  }

  /** Counts an event of a report, in the bucket of the report. */
  #eventOf(batch: TelemetryBatch, row: number, event: number, place: number): void {
    const at = this.#waiting.hop[event]!;
    this.#bump(place, ROW.ALL, CELL.EVENTS);
    if (at === NO_HOP) return;
    const hops = batch.hopCount[row]!;
    if (at >= hops) {
      this.#countAt(place, this.#waiting.nodeId[event]!, NOT_AVAILABLE, CELL.EVENTS);
      return;
    }
    const cell = batch.hopStart[row]! + at;
    this.#countAt(place, batch.hop.nodeId[cell]!, batch.hop.queueId[cell]!, CELL.EVENTS);
    if (at + 1 < hops) this.#bump(place, this.#link(batch, cell, place), CELL.EVENTS);
  }

  /** Counts the events that belong to no report that was added, at their own times. @param from the first of those of reports */
  #countWaiting(from = 0): void {
    this.#countAtTheirTimes(this.#waiting, from);
    this.#countAtTheirTimes(this.#apart, 0);
  }

  #countAtTheirTimes(events: WaitingEvents, from: number): void {
    for (let event = from; event < events.count; event++) {
      const timeMs = events.timeMs[event]!;
      const place = timeMs >= this.#startMs && timeMs < this.#endMs ? OPEN : this.#moveTo(timeMs);
      this.#bump(place, ROW.ALL, CELL.EVENTS);
      if (events.hop[event] !== NO_HOP) this.#countAt(place, events.nodeId[event]!, NOT_AVAILABLE, CELL.EVENTS);
    }
    events.clear();
  }

  /** Adds events: those of a batch before the batch. They are counted with their reports, or when time passes. */
  addEvents(events: EventBatch): void {
    (events.isApart ? this.#apart : this.#waiting).add(events);
    this.#numbers[NUMBER.EVENTS]! += events.count;
  }

  /** Lets time pass: buckets that are over are complete, also those without reports. */
  advance(timeMs: number): void {
    this.#countWaiting();
    if (this.#bucket < 0 || timeMs < this.#endMs) return;
    this.#close();
    this.#begin(Math.floor(timeMs / BUCKET_MS));
  }

  /** Completes the open bucket, at the end. */
  finish(): void {
    this.#countWaiting();
    if (this.#bucket < 0) return;
    this.#close();
    this.#begin(this.#bucket + 1);
  }

  #hops(batch: TelemetryBatch, row: number, place: number): void {
    const start = batch.hopStart[row]!;
    const count = batch.hopCount[row]!;
    if (count === 0) {
      // It tells of its reporter only.
      this.#bump(place, this.#switch(batch.nodeId[row]!, place), CELL.REPORTS);
      return;
    }
    const { nodeId, queueId, hopLatency, queueOccupancy, egressUtilization } = batch.hop;
    this.#numbers[NUMBER.HOPS]! += count;
    for (let at = start; at < start + count; at++) {
      const node = nodeId[at]!;
      const queue = queueId[at]!;
      const latency = hopLatency[at]!;
      const occupancy = queueOccupancy[at]!;
      const utilization = egressUtilization[at]!;
      this.#value(place, this.#switch(node, place), latency, occupancy, utilization);
      // Those of the open bucket are summed up at its end.
      if (place === LATE) this.#raise(this.#cells, this.#lateCell(ROW.ALL), latency, occupancy, utilization);
      if (queue !== NOT_AVAILABLE) this.#value(place, this.#queue(node, queue, place), latency, occupancy, utilization);
      if (at + 1 < start + count) this.#value(place, this.#link(batch, at, place), latency, occupancy, utilization);
    }
  }

  #drop(batch: TelemetryBatch, row: number, place: number): void {
    this.#bump(place, ROW.ALL, CELL.DROPS);
    const drop = batch.drop[row]!;
    this.#countAt(place, batch.nodeId[row]!, drop === NOT_AVAILABLE ? NOT_AVAILABLE : drop >>> 24, CELL.DROPS);
  }

  /** Counts something of a switch, and of its queue if that is known. */
  #countAt(place: number, node: number, queue: number, word: number): void {
    this.#bump(place, this.#switch(node, place), word);
    if (queue !== NOT_AVAILABLE) this.#bump(place, this.#queue(node, queue, place), word);
  }

  #switch(node: number, place: number): number {
    const row = node === NOT_AVAILABLE ? NO_ROW : this.#rows.switchRow(node);
    return row === NO_ROW || this.#isBefore(place, row) ? this.#other(ROW.OTHER_SWITCH, NUMBER.OTHER_SWITCHES) : row;
  }

  #queue(node: number, queue: number, place: number): number {
    const row = node === NOT_AVAILABLE ? NO_ROW : this.#rows.queueRow(node, queue);
    return row === NO_ROW || this.#isBefore(place, row) ? this.#other(ROW.OTHER_QUEUE, NUMBER.OTHER_QUEUES) : row;
  }

  /** The link from a hop to the one behind it. */
  #link(batch: TelemetryBatch, at: number, place: number): number {
    const { nodeId, l1IngressInterface, l1EgressInterface } = batch.hop;
    const from = nodeId[at]!;
    const to = nodeId[at + 1]!;
    const row =
      from === NOT_AVAILABLE || to === NOT_AVAILABLE
        ? NO_ROW
        : this.#rows.linkRow(from, l1EgressInterface[at]!, to, l1IngressInterface[at + 1]!);
    return row === NO_ROW || this.#isBefore(place, row) ? this.#other(ROW.OTHER_LINK, NUMBER.OTHER_LINKS) : row;
  }

  /** Whether the row belonged to another entity in the bucket of a late report. */
  #isBefore(place: number, row: number): boolean {
    return place === LATE && this.#lateBucket < this.#since[row]!;
  }

  #other(row: number, counter: number): number {
    this.#numbers[counter]!++;
    return row;
  }

  #bump(place: number, row: number, word: number): void {
    if (place === OPEN) {
      if (this.#stamps[row] !== this.#count) this.#touch(row);
      this.#open[(row << SHIFT) + word]!++;
    } else this.#cells[this.#lateCell(row) + word]!++;
  }

  #value(place: number, row: number, latency: number, occupancy: number, utilization: number): void {
    let cells = this.#open;
    let at = row << SHIFT;
    if (place === OPEN) {
      if (this.#stamps[row] !== this.#count) this.#touch(row);
      if (latency !== NOT_AVAILABLE) {
        const bin = binOf(latency);
        this.#histograms[row * BINS + bin]!++;
        if (bin < this.#low[row]!) this.#low[row] = bin;
        if (bin > this.#high[row]!) this.#high[row] = bin;
      }
    } else {
      cells = this.#cells;
      at = this.#lateCell(row);
    }
    cells[at + CELL.REPORTS]!++;
    this.#raise(cells, at, latency, occupancy, utilization);
  }

  /** A maximum is stored plus one. */
  #raise(cells: Uint32Array, at: number, latency: number, occupancy: number, utilization: number): void {
    if (latency !== NOT_AVAILABLE && latency >= cells[at + CELL.LATENCY_MAX]!)
      cells[at + CELL.LATENCY_MAX] = latency + 1;
    if (occupancy !== NOT_AVAILABLE && occupancy >= cells[at + CELL.OCCUPANCY]!)
      cells[at + CELL.OCCUPANCY] = occupancy + 1;
    if (utilization !== NOT_AVAILABLE && utilization >= cells[at + CELL.UTILIZATION]!)
      cells[at + CELL.UTILIZATION] = utilization + 1;
  }

  #touch(row: number): void {
    this.#stamps[row] = this.#count;
    this.#rows.lastSeen[row] = this.#bucket;
    this.#touched[this.#touchedCount++] = row;
    this.#open.fill(0, row << SHIFT, (row + 1) << SHIFT);
    this.#low[row] = BINS;
    this.#high[row] = 0;
  }

  /** The place of a row's cell in the ring, for the late bucket; empty if it was of another time. */
  #lateCell(row: number): number {
    return this.#cellOf(row, this.#lateBucket);
  }

  #cellOf(row: number, bucket: number): number {
    const at = (row * this.#buckets + (bucket % this.#buckets)) * WORDS;
    const epoch = epochOf(this.#generation, bucket);
    if (this.#cells[at] !== epoch) {
      this.#cells.fill(0, at, at + WORDS);
      this.#cells[at] = epoch;
    }
    return at;
  }

  /** Makes the bucket of a time the open one, or finds that it is late. */
  #moveTo(timeMs: number): number {
    const bucket = Math.floor(timeMs / BUCKET_MS);
    const numbers = this.#numbers;
    if (this.#bucket < 0) {
      numbers[NUMBER.FIRST] = bucket;
      this.#begin(bucket);
      return OPEN;
    }
    if (bucket > this.#bucket) {
      this.#close();
      this.#begin(bucket);
      return OPEN;
    }
    if (this.#bucket - bucket < this.#readable) {
      if (bucket < numbers[NUMBER.FIRST]!) numbers[NUMBER.FIRST] = bucket;
      this.#lateBucket = bucket;
      return LATE;
    }
    this.#restart(bucket);
    return OPEN;
  }

  #begin(bucket: number): void {
    this.#bucket = bucket;
    this.#startMs = bucket * BUCKET_MS;
    this.#endMs = (bucket + 1) * BUCKET_MS;
    this.#count++;
    this.#rows.now = bucket;
    const first = bucket - this.#readable;
    if (first > this.#numbers[NUMBER.FIRST]!) this.#numbers[NUMBER.FIRST] = first;
    this.#numbers[NUMBER.CLOSED] = bucket - 1;
    Atomics.add(this.#signals, SIGNAL.BUCKETS, 1);
  }

  /** Time was set back by more than is retained: what there was is of another time line. */
  #restart(bucket: number): void {
    const numbers = this.#numbers;
    this.#close();
    this.#generation++;
    // The generation of a cell has 8 bits: none of 256 generations ago may be left.
    if ((this.#generation & 0xff) === 0) this.#cells.fill(0);
    numbers[NUMBER.GENERATION] = this.#generation;
    numbers[NUMBER.RESTARTS]!++;
    numbers[NUMBER.FORGOTTEN] = numbers[NUMBER.REPORTS]!;
    numbers[NUMBER.FIRST] = bucket;
    numbers[NUMBER.TIME] = bucket * BUCKET_MS;
    // Cells of earlier time lines are of other generations.
    this.#since.fill(0);
    this.#begin(bucket);
  }

  /** Puts the open bucket into the ring. */
  #close(): void {
    this.#sumUp();
    const { length } = this.#touched;
    const cells = this.#cells;
    const open = this.#open;
    const bucket = this.#bucket;
    const epoch = epochOf(this.#generation, bucket);
    const slot = bucket % this.#buckets;
    for (let index = 0; index < this.#touchedCount && index < length; index++) {
      const row = this.#touched[index]!;
      const from = row << SHIFT;
      const to = (row * this.#buckets + slot) * WORDS;
      open[from] = epoch;
      open[from + CELL.QUANTILES] = this.#quantiles(row);
      for (let word = 0; word < WORDS; word++) cells[to + word] = open[from + word]!;
    }
    this.#touchedCount = 0;
    this.#rows.makeRoom((row, kind) => this.#leave(row, OTHER[kind]!));
  }

  /** What all switches have together. */
  #sumUp(): void {
    const touched = this.#touchedCount;
    const open = this.#open;
    const histograms = this.#histograms;
    for (let index = 0; index < touched; index++) {
      const row = this.#touched[index]!;
      if (row !== ROW.OTHER_SWITCH && this.#kind[row] !== KIND.SWITCH) continue;
      if (this.#stamps[ROW.ALL] !== this.#count) this.#touch(ROW.ALL);
      const from = row << SHIFT;
      for (let word: number = CELL.LATENCY_MAX; word <= CELL.UTILIZATION; word++) {
        if (open[from + word]! > open[word]!) open[word] = open[from + word]!;
      }
      const low = this.#low[row]!;
      const high = this.#high[row]!;
      for (let bin = low; bin <= high; bin++) histograms[bin]! += histograms[row * BINS + bin]!;
      if (low < this.#low[ROW.ALL]!) this.#low[ROW.ALL] = low;
      if (low < BINS && high > this.#high[ROW.ALL]!) this.#high[ROW.ALL] = high;
    }
  }

  /** The quantiles of a row's histogram, which is empty then. */
  #quantiles(row: number): number {
    const low = this.#low[row]!;
    if (low === BINS) return 0;
    const high = this.#high[row]!;
    const histograms = this.#histograms;
    const first = row * BINS;
    let count = 0;
    for (let at = first + low; at <= first + high; at++) count += histograms[at]!;
    const half = rankOf(0.5, count);
    const most = rankOf(0.99, count);
    let seen = 0;
    let p50 = -1;
    let p99 = -1;
    for (let bin = low; bin <= high; bin++) {
      seen += histograms[first + bin]!;
      histograms[first + bin] = 0;
      if (p50 < 0 && seen >= half) p50 = bin;
      if (p99 < 0 && seen >= most) p99 = bin;
    }
    return ((p50 + 1) | ((p99 + 1) << 16)) >>> 0;
  }

  /** Adds the history of a row to that of the others, before another entity takes it. */
  #leave(row: number, other: number): void {
    const cells = this.#cells;
    const last = this.#bucket;
    const first = Math.max(last - this.#readable, this.#since[row]!, this.#numbers[NUMBER.FIRST]!);
    for (let bucket = first; bucket <= last; bucket++) {
      const from = (row * this.#buckets + (bucket % this.#buckets)) * WORDS;
      if (cells[from] !== epochOf(this.#generation, bucket)) continue;
      const to = this.#cellOf(other, bucket);
      for (const word of [CELL.REPORTS, CELL.DROPS, CELL.EVENTS]) cells[to + word]! += cells[from + word]!;
      for (let word: number = CELL.LATENCY_MAX; word <= CELL.UTILIZATION; word++) {
        if (cells[from + word]! > cells[to + word]!) cells[to + word] = cells[from + word]!;
      }
    }
  }
}
