import { randomInt } from 'node:crypto';
import { FLAG, type TelemetryBatch } from '@int/codec';
import { flowXxh32Columns } from '@int/hash';
import {
  FLOW_KIND,
  type FlowTableColumns,
  flowColumnsOf,
  headerOf,
  NUMBER,
  type SharedRetention,
  SIGNAL,
} from './geometry.js';

/** A flow that was silent for as long gives its row to another one, if there are none. */
const SILENT_MS = 10_000;
/** Rows looked at for silent flows at a time. */
const SWEEP = 256;
/** Steps to look for a key: the table is at most half full. */
const FREE = -1;

/**
 * The flows that were seen last, with exact counts, in shared memory. A flow's row numbers its share of the sample. It runs in
 * the pipeline's thread and allocates nothing per report.
 */
export class FlowTable {
  /** Row for reports of flows without one, and without a flow. */
  readonly other: number;
  readonly #columns: FlowTableColumns;
  readonly #signals: Int32Array;
  readonly #numbers: Float64Array;
  readonly #seed = randomInt(2 ** 32);
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #hashes: Uint32Array;
  /** Rows that are in no use, the next one last. */
  readonly #free: Int32Array;
  #freeCount: number;
  /** Hashes of the batch at hand. */
  #batch = new Uint32Array(0);
  #hand = 0;
  #isFull = false;

  constructor(shared: SharedRetention) {
    const { flows } = shared.geometry;
    const { signals, numbers } = headerOf(shared);
    this.other = flows;
    this.#columns = flowColumnsOf(shared);
    this.#signals = signals;
    this.#numbers = numbers;
    const size = 2 ** Math.ceil(Math.log2(flows * 2));
    this.#slots = new Int32Array(size).fill(FREE);
    this.#mask = size - 1;
    this.#hashes = new Uint32Array(flows);
    this.#free = Int32Array.from({ length: flows }, (_, row) => flows - 1 - row);
    this.#freeCount = flows;
  }

  /** Flows with a row. */
  get size(): number {
    return this.other - this.#freeCount;
  }

  /** Reads the keys of a batch, for {@link rowOf}. */
  hash(batch: TelemetryBatch): void {
    if (this.#batch.length < batch.reports) this.#batch = new Uint32Array(batch.capacity.reports);
    flowXxh32Columns(batch, 0, batch.reports, this.#batch, this.#seed);
  }

  /** Counts a report of its flow. @returns the flow's row, or {@link other} */
  note(batch: TelemetryBatch, row: number, timeMs: number): number {
    const flow = this.rowOf(batch, row);
    if (flow === this.other) {
      if ((batch.flags[row]! & FLAG.FLOW) !== 0) this.#numbers[NUMBER.UNTRACKED_FLOWS]!++;
      return flow;
    }
    const { words, firstMs, lastMs } = this.#columns;
    if (words.reports[flow]!++ === 0) firstMs[flow] = timeMs;
    lastMs[flow] = timeMs;
    return flow;
  }

  /** Counts events of a flow. */
  noteEvents(flow: number, events: number): void {
    if (flow !== this.other) this.#columns.words.events[flow]! += events;
  }

  /** The row of a report's flow; {@link other} if it has none. Call {@link hash} first. */
  rowOf(batch: TelemetryBatch, row: number): number {
    const flags = batch.flags[row]!;
    if ((flags & FLAG.FLOW) === 0) return this.other;
    const hash = this.#batch[row]!;
    let slot = hash & this.#mask;
    for (let flow = this.#slots[slot]!; flow !== FREE; flow = this.#slots[slot]!) {
      if (this.#hashes[flow] === hash && this.#isOf(flow, batch, row)) return flow;
      slot = (slot + 1) & this.#mask;
    }
    if (this.#freeCount === 0) {
      this.#isFull = true;
      return this.other;
    }
    return this.#insert(slot, hash, batch, row);
  }

  /** Gives up flows that are silent, if others found no row. */
  sweep(timeMs: number): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    const { words, lastMs } = this.#columns;
    let freed = 0;
    for (let step = 0; step < SWEEP; step++) {
      const flow = this.#hand;
      this.#hand = (flow + 1) % this.other;
      if (words.protocol[flow]! === 0 || Math.abs(timeMs - lastMs[flow]!) < SILENT_MS) continue;
      if (freed++ === 0) Atomics.add(this.#signals, SIGNAL.FLOWS, 1);
      words.protocol[flow] = 0;
      this.#free[this.#freeCount++] = flow;
    }
    if (freed === 0) {
      // The rest is looked at next time.
      this.#isFull = true;
      return;
    }
    Atomics.add(this.#signals, SIGNAL.FLOWS, 1);
    this.#layOut();
  }

  #insert(slot: number, hash: number, batch: TelemetryBatch, row: number): number {
    const flow = this.#free[--this.#freeCount]!;
    const { words } = this.#columns;
    const isIpv6 = (batch.flags[row]! & FLAG.IPV6) !== 0;
    Atomics.add(this.#signals, SIGNAL.FLOWS, 1);
    words.source0[flow] = batch.source0[row]!;
    words.destination0[flow] = batch.destination0[row]!;
    for (const name of ['source1', 'source2', 'source3', 'destination1', 'destination2', 'destination3'] as const) {
      words[name][flow] = isIpv6 ? batch[name][row]! : 0;
    }
    words.ports[flow] = batch.ports[row]!;
    words.protocol[flow] = batch.protocol[row]! | ((isIpv6 ? FLOW_KIND.IPV6 : FLOW_KIND.IPV4) << 8);
    words.reports[flow] = 0;
    words.events[flow] = 0;
    words.generation[flow]!++;
    Atomics.add(this.#signals, SIGNAL.FLOWS, 1);
    this.#hashes[flow] = hash;
    this.#slots[slot] = flow;
    return flow;
  }

  #isOf(flow: number, batch: TelemetryBatch, row: number): boolean {
    const { words } = this.#columns;
    const isIpv6 = (batch.flags[row]! & FLAG.IPV6) !== 0;
    return (
      words.ports[flow] === batch.ports[row] &&
      words.source0[flow] === batch.source0[row] &&
      words.destination0[flow] === batch.destination0[row] &&
      words.protocol[flow] === (batch.protocol[row]! | ((isIpv6 ? FLOW_KIND.IPV6 : FLOW_KIND.IPV4) << 8)) &&
      (!isIpv6 ||
        (words.source1[flow] === batch.source1[row] &&
          words.source2[flow] === batch.source2[row] &&
          words.source3[flow] === batch.source3[row] &&
          words.destination1[flow] === batch.destination1[row] &&
          words.destination2[flow] === batch.destination2[row] &&
          words.destination3[flow] === batch.destination3[row]))
    );
  }

  /** Fills the table anew: entries behind a removed one would no longer be found. */
  #layOut(): void {
    const slots = this.#slots.fill(FREE);
    const { protocol } = this.#columns.words;
    for (let flow = 0; flow < this.other; flow++) {
      if (protocol[flow] === 0) continue;
      let slot = this.#hashes[flow]! & this.#mask;
      while (slots[slot] !== FREE) slot = (slot + 1) & this.#mask;
      slots[slot] = flow;
    }
  }
}
