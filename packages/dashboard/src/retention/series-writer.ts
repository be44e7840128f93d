import { FLAG, NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { frameTimeMs } from '@int/collector/internals';
import type { EventBatch } from '@int/detect';
import { BUCKET_MS } from '../protocol/entities.js';
import { BatchEvents } from './batch-events.js';
import { EntityRows, NO_ROW } from './entity-rows.js';
import { CELL, epochOf, headerOf, KIND, keysOf, NUMBER, ROW, type SharedRetention, SIGNAL } from './geometry.js';
import { type HopKey, HopSums, raise, SHIFT } from './hop-sums.js';
import { OpenBucket } from './open-bucket.js';

const WORDS = CELL.WORDS;
/** Sums of hops that are alike, in a bucket. Where there are more, they are added up before its end. */
const SUMS = 4096;
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
  /** The first word of keys: of queues, their switch. */
  readonly #switchOf: Uint32Array;
  readonly #rows: EntityRows;
  readonly #open: OpenBucket;
  /** Times of the open bucket. */
  #startMs = Number.POSITIVE_INFINITY;
  #endMs = Number.NEGATIVE_INFINITY;
  #generation = 0;
  #lateBucket = 0;
  readonly #sums = new HopSums(SUMS);
  readonly #key: HopKey = { nodeId: 0, queueId: 0, isLinked: false, egress: 0, nextId: 0, nextIngress: 0 };
  readonly #events = new BatchEvents();

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
    this.#switchOf = keys.a;
    this.#rows = new EntityRows(keys, signals);
    this.#open = new OpenBucket(rows, this.#rows);
    numbers[NUMBER.CLOSED] = -1;
    numbers[NUMBER.FIRST] = -1;
    numbers[NUMBER.TIME] = Number.NaN;
  }

  /** The open bucket; -1 before the first report. */
  get bucket(): number {
    return this.#open.bucket;
  }

  /** Adds the reports of a batch. */
  add(batch: TelemetryBatch): void {
    const { reports, code, frame, flags, hopCount, frameTimeHigh, frameTimeLow } = batch;
    const numbers = this.#numbers;
    const events = this.#events;
    let high = -1;
    let low = -1;
    let place = OPEN;
    let count = 0;
    let hops = 0;
    // Reports of the open bucket that are not in its cell yet.
    let pending = 0;
    for (let row = 0; row < reports; row++) {
      if (code[row] !== 0) continue;
      const own = frame[row]!;
      if (frameTimeLow[own] !== low || frameTimeHigh[own] !== high) {
        low = frameTimeLow[own]!;
        high = frameTimeHigh[own]!;
        const timeMs = frameTimeMs(batch, own);
        if (timeMs >= this.#startMs && timeMs < this.#endMs) place = OPEN;
        else {
          this.#addReports(pending);
          pending = 0;
          place = this.#moveTo(timeMs);
        }
        // The first comparison fails for the first report, when there is no time yet.
        if (!(timeMs <= numbers[NUMBER.TIME]!)) numbers[NUMBER.TIME] = timeMs;
      }
      count++;
      hops += hopCount[row]!;
      if (place === OPEN) {
        pending++;
        this.#hops(batch, row);
      } else this.#lateHops(batch, row);
      if ((flags[row]! & FLAG.DROPPED) !== 0) this.#drop(batch, row, place);
      if (events.count > 0 && events.first[row] !== 0) this.#countEvents(batch, row, place);
    }
    events.clear(reports);
    if (events.hasApart) this.#countApart();
    this.#addReports(pending);
    numbers[NUMBER.REPORTS]! += count;
    numbers[NUMBER.HOPS]! += hops;
  }

  /**
   * Takes events of a batch, which is added next: they count with their reports, so that time does not move before these come.
   * Events that are apart count in the bucket of their own time.
   */
  addEvents(events: EventBatch): void {
    this.#numbers[NUMBER.EVENTS]! += events.count;
    this.#events.take(events);
    if (events.isApart) this.#countApart();
  }

  /** Lets time pass: buckets that are over are complete, also those without reports. */
  advance(timeMs: number): void {
    if (this.bucket < 0 || timeMs < this.#endMs) return;
    this.#close();
    this.#begin(Math.floor(timeMs / BUCKET_MS));
    this.#countApart();
  }

  /** Completes the open bucket, at the end. */
  finish(): void {
    if (this.bucket < 0) return;
    this.#close();
    this.#begin(this.bucket + 1);
    this.#countApart();
  }

  #hops(batch: TelemetryBatch, row: number): void {
    const start = batch.hopStart[row]!;
    const end = start + batch.hopCount[row]!;
    if (start === end) {
      // It tells of its reporter only.
      this.#bump(OPEN, this.#switch(batch.nodeId[row]!, OPEN), CELL.REPORTS);
      return;
    }
    const { nodeId, queueId, hopLatency, queueOccupancy, egressUtilization } = batch.hop;
    const { l1IngressInterface, l1EgressInterface } = batch.hop;
    const sums = this.#sums;
    for (let at = start; at < end; at++) {
      if (sums.isFull) this.#settle();
      const isLinked = at + 1 < end;
      sums.add(
        nodeId[at]!,
        queueId[at]!,
        isLinked,
        l1EgressInterface[at]!,
        isLinked ? nodeId[at + 1]! : NOT_AVAILABLE,
        isLinked ? l1IngressInterface[at + 1]! : NOT_AVAILABLE,
        hopLatency[at]!,
        queueOccupancy[at]!,
        egressUtilization[at]!,
      );
    }
  }

  /** Adds the sums of hops to their queues, links and switches. */
  #settle(): void {
    const sums = this.#sums;
    const key = this.#key;
    const { words } = sums;
    for (let sum = 0; sum < sums.count; sum++) {
      sums.readKey(sum, key);
      const hops = words[(sum << SHIFT) + CELL.REPORTS]!;
      const queue = key.queueId === NOT_AVAILABLE ? NO_ROW : this.#queue(key.nodeId, key.queueId, OPEN, hops);
      if (queue !== NO_ROW) this.#open.merge(words, sums.histograms, sum, queue);
      // What a queue has is added to its switch at the end of the bucket, and what switches have to the network.
      if (queue <= ROW.OTHER_QUEUE) {
        this.#open.merge(words, sums.histograms, sum, this.#switch(key.nodeId, OPEN, hops));
      }
      if (!key.isLinked) continue;
      const { nodeId, egress, nextId, nextIngress } = key;
      this.#open.merge(words, sums.histograms, sum, this.#link(nodeId, egress, nextId, nextIngress, OPEN, hops));
    }
    sums.clear();
  }

  #lateHops(batch: TelemetryBatch, row: number): void {
    const start = batch.hopStart[row]!;
    const end = start + batch.hopCount[row]!;
    this.#numbers[NUMBER.LATE]!++;
    this.#bump(LATE, ROW.ALL, CELL.REPORTS);
    if (start === end) this.#bump(LATE, this.#switch(batch.nodeId[row]!, LATE), CELL.REPORTS);
    const { nodeId, queueId, hopLatency, queueOccupancy, egressUtilization } = batch.hop;
    for (let at = start; at < end; at++) {
      const latency = hopLatency[at]!;
      const occupancy = queueOccupancy[at]!;
      const utilization = egressUtilization[at]!;
      const queue = queueId[at]!;
      const rows = [this.#switch(nodeId[at]!, LATE)];
      if (queue !== NOT_AVAILABLE) rows.push(this.#queue(nodeId[at]!, queue, LATE));
      if (at + 1 < end) rows.push(this.#linkOf(batch, at, LATE));
      for (const row of rows) this.#lateValue(row, latency, occupancy, utilization);
      raise(this.#cells, this.#lateCell(ROW.ALL), latency, occupancy, utilization);
    }
  }

  /** Counts the events of a report. */
  #countEvents(batch: TelemetryBatch, row: number, place: number): void {
    const { first, next, hop: hops } = this.#events;
    for (let event = first[row]!; event !== 0; event = next[event - 1]!) {
      this.#bump(place, ROW.ALL, CELL.EVENTS);
      const hop = hops[event - 1]!;
      if (hop >= batch.hopCount[row]!) continue;
      const cell = batch.hopStart[row]! + hop;
      this.#countAt(place, batch.hop.nodeId[cell]!, batch.hop.queueId[cell]!, CELL.EVENTS);
      if (hop + 1 < batch.hopCount[row]!) this.#bump(place, this.#linkOf(batch, cell, place), CELL.EVENTS);
    }
  }

  /** Counts events that are apart, of buckets that have come. */
  #countApart(): void {
    if (!this.#events.hasApart) return;
    const now = this.bucket;
    const numbers = this.#numbers;
    const come = this.#events.takeApart(now);
    numbers[NUMBER.EVENTS_AHEAD] = this.#events.beyond;
    for (const { bucket, nodeId } of come) {
      if (now - bucket >= this.#readable) {
        numbers[NUMBER.EVENTS_BEFORE]!++;
        continue;
      }
      const place = bucket === now ? OPEN : LATE;
      this.#lateBucket = bucket;
      this.#bump(place, ROW.ALL, CELL.EVENTS);
      if (nodeId !== null) this.#countAt(place, nodeId, NOT_AVAILABLE, CELL.EVENTS);
    }
  }

  #addReports(count: number): void {
    if (count > 0) this.#open.count(ROW.ALL, CELL.REPORTS, count);
  }

  #drop(batch: TelemetryBatch, row: number, place: number): void {
    this.#numbers[NUMBER.DROPS]!++;
    this.#bump(place, ROW.ALL, CELL.DROPS);
    const drop = batch.drop[row]!;
    this.#countAt(place, batch.nodeId[row]!, drop === NOT_AVAILABLE ? NOT_AVAILABLE : drop >>> 24, CELL.DROPS);
  }

  /** Counts something of a switch, and of its queue if that is known. */
  #countAt(place: number, node: number, queue: number, word: number): void {
    this.#bump(place, this.#switch(node, place), word);
    if (queue !== NOT_AVAILABLE) this.#bump(place, this.#queue(node, queue, place), word);
  }

  /** The row of a switch, or that of others. @param times how many hops or events are counted in it, for the count of others */
  #switch(node: number, place: number, times = 1): number {
    const row = node === NOT_AVAILABLE ? NO_ROW : this.#rows.switchRow(node);
    if (row !== NO_ROW && !this.#isBefore(place, row)) return row;
    return this.#other(ROW.OTHER_SWITCH, NUMBER.OTHER_SWITCHES, times);
  }

  #queue(node: number, queue: number, place: number, times = 1): number {
    const row = node === NOT_AVAILABLE ? NO_ROW : this.#rows.queueRow(node, queue);
    if (row !== NO_ROW && !this.#isBefore(place, row)) return row;
    return this.#other(ROW.OTHER_QUEUE, NUMBER.OTHER_QUEUES, times);
  }

  #link(from: number, egress: number, to: number, ingress: number, place: number, times = 1): number {
    const isKnown = from !== NOT_AVAILABLE && to !== NOT_AVAILABLE;
    const row = isKnown ? this.#rows.linkRow(from, egress, to, ingress) : NO_ROW;
    if (row !== NO_ROW && !this.#isBefore(place, row)) return row;
    return this.#other(ROW.OTHER_LINK, NUMBER.OTHER_LINKS, times);
  }

  /** The link from a hop to the one behind it. */
  #linkOf({ hop }: TelemetryBatch, at: number, place: number): number {
    const { nodeId, l1IngressInterface, l1EgressInterface } = hop;
    return this.#link(nodeId[at]!, l1EgressInterface[at]!, nodeId[at + 1]!, l1IngressInterface[at + 1]!, place);
  }

  /** Whether the row belonged to another entity in the bucket of a late report. */
  #isBefore(place: number, row: number): boolean {
    return place === LATE && this.#lateBucket < this.#since[row]!;
  }

  #other(row: number, counter: number, times: number): number {
    this.#numbers[counter]! += times;
    return row;
  }

  #bump(place: number, row: number, word: number): void {
    if (place === OPEN) this.#open.count(row, word, 1);
    else this.#cells[this.#lateCell(row) + word]!++;
  }

  /** Adds the values of a hop to the counts and maxima of the late bucket. */
  #lateValue(row: number, latency: number, occupancy: number, utilization: number): void {
    const at = this.#lateCell(row);
    this.#cells[at + CELL.REPORTS]!++;
    raise(this.#cells, at, latency, occupancy, utilization);
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
    if (this.bucket < 0) {
      numbers[NUMBER.FIRST] = bucket;
      this.#begin(bucket);
      return OPEN;
    }
    if (bucket > this.bucket) {
      this.#close();
      this.#begin(bucket);
      return OPEN;
    }
    if (this.bucket - bucket < this.#readable) {
      if (bucket < numbers[NUMBER.FIRST]!) numbers[NUMBER.FIRST] = bucket;
      this.#lateBucket = bucket;
      return LATE;
    }
    this.#restart(bucket);
    return OPEN;
  }

  #begin(bucket: number): void {
    this.#open.begin(bucket);
    this.#startMs = bucket * BUCKET_MS;
    this.#endMs = (bucket + 1) * BUCKET_MS;
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
    this.#settle();
    this.#sumUp();
    const cells = this.#cells;
    const { words, touched, bucket } = this.#open;
    const epoch = epochOf(this.#generation, bucket);
    const slot = bucket % this.#buckets;
    for (let index = 0; index < this.#open.touchedCount && index < touched.length; index++) {
      const row = touched[index]!;
      const from = row << SHIFT;
      const to = (row * this.#buckets + slot) * WORDS;
      words[from] = epoch;
      words[from + CELL.QUANTILES] = this.#open.quantiles(row);
      for (let word = 0; word < WORDS; word++) cells[to + word] = words[from + word]!;
    }
    this.#open.touchedCount = 0;
    this.#rows.makeRoom((row, kind) => this.#leave(row, OTHER[kind]!));
  }

  /** Adds what queues have to their switches, and what switches have to the network, whose reports are counted apart. */
  #sumUp(): void {
    const open = this.#open;
    const { words, histograms, touched } = open;
    const queues = open.touchedCount;
    for (let index = 0; index < queues; index++) {
      const row = touched[index]!;
      if (this.#kind[row] !== KIND.QUEUE) continue;
      const to = this.#switch(this.#switchOf[row]!, OPEN, words[(row << SHIFT) + CELL.REPORTS]);
      open.merge(words, histograms, row, to);
    }
    for (let index = 0; index < open.touchedCount; index++) {
      const row = touched[index]!;
      if (row !== ROW.OTHER_SWITCH && this.#kind[row] !== KIND.SWITCH) continue;
      open.touch(ROW.ALL);
      const reports = words[(ROW.ALL << SHIFT) + CELL.REPORTS]!;
      open.merge(words, histograms, row, ROW.ALL);
      words[(ROW.ALL << SHIFT) + CELL.REPORTS] = reports;
    }
  }

  /** Adds the history of a row to that of the others, before another entity takes it. */
  #leave(row: number, other: number): void {
    const cells = this.#cells;
    const last = this.bucket;
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
