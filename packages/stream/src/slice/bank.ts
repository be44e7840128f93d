import type { PartialReporter, PartialSwitch, SliceContents } from '../model/partial.js';
import { isNone, noRefusals } from '../model/partial.js';
import { BUCKETS, bucketOf } from './buckets.js';
import { NO_ROW, PairTable } from './pair-table.js';
import { RecentFlows } from './recent-flows.js';
import { Summaries } from './summaries.js';

/** Bit in the second word of a reporter's key, beside the hardware id: its sequence numbers have 22 bits. */
const IS_SHORT = 1 << 8;

/** How many entries of each kind a slice holds. */
export interface SliceCapacity {
  readonly switches: number;
  readonly links: number;
  readonly queues: number;
  readonly reporters: number;
  readonly sequenceBlocks: number;
}

/**
 * The observations of one slice of time, by switch, link, queue and reporter. Its size is fixed, and only {@link read}
 * allocates. Times are microseconds from the start of the slice: small integers, which are passed without an object.
 */
export class SliceBank {
  readonly #switches: PairTable;
  readonly #reports: Float64Array;
  readonly #lastSeen: Float64Array;
  readonly #latency: Summaries;
  readonly #buckets: Uint32Array;
  readonly #links: PairTable;
  readonly #packets: Float64Array;
  readonly #linkSeen: Float64Array;
  readonly #flows: RecentFlows;
  readonly #queues: PairTable;
  readonly #occupancy: Summaries;
  readonly #congested: Float64Array;
  readonly #reporters: PairTable;
  readonly #blocks: PairTable;
  readonly #masks: Int32Array;
  #refused = noRefusals();

  constructor({ switches, links, queues, reporters, sequenceBlocks }: SliceCapacity) {
    this.#switches = new PairTable(switches);
    this.#reports = new Float64Array(switches);
    this.#lastSeen = new Float64Array(switches);
    this.#latency = new Summaries(switches);
    this.#buckets = new Uint32Array(switches * BUCKETS);
    this.#links = new PairTable(links);
    this.#packets = new Float64Array(links);
    this.#linkSeen = new Float64Array(links);
    this.#flows = new RecentFlows(links);
    this.#queues = new PairTable(queues);
    this.#occupancy = new Summaries(queues);
    this.#congested = new Float64Array(queues);
    this.#reporters = new PairTable(reporters);
    this.#blocks = new PairTable(sequenceBlocks);
    this.#masks = new Int32Array(sequenceBlocks);
  }

  get isEmpty(): boolean {
    const tables = [this.#switches, this.#links, this.#queues, this.#reporters];
    return tables.every(({ size }) => size === 0) && isNone(this.#refused);
  }

  /**
   * Counts a report of a switch.
   * @returns its row for {@link latency}, or NO_ROW
   */
  seen(nodeId: number, offsetUs: number): number {
    const before = this.#switches.size;
    const row = this.#switches.rowOf(nodeId, 0);
    if (row === NO_ROW) {
      this.#refused.switches++;
    } else if (row === before) {
      this.#reports[row] = 1;
      this.#lastSeen[row] = offsetUs;
      this.#latency.reset(row);
    } else {
      this.#reports[row]!++;
      if (this.#lastSeen[row]! < offsetUs) this.#lastSeen[row] = offsetUs;
    }
    return row;
  }

  latency(row: number, value: number): void {
    if (row === NO_ROW) return;
    this.#latency.add(row, value);
    this.#buckets[row * BUCKETS + bucketOf(value)]!++;
  }

  link(from: number, to: number, offsetUs: number, flowHash: number, hasFlow: boolean): void {
    const row = this.#linkRow(from, to);
    if (row === NO_ROW) {
      this.#refused.links++;
      return;
    }
    this.#packets[row]!++;
    if (this.#linkSeen[row]! < offsetUs) this.#linkSeen[row] = offsetUs;
    if (hasFlow) this.#flows.note(row, flowHash, offsetUs);
  }

  #linkRow(from: number, to: number): number {
    const before = this.#links.size;
    const row = this.#links.rowOf(from, to);
    if (row === before) {
      this.#packets[row] = 0;
      this.#linkSeen[row] = 0;
      this.#flows.counts[row] = 0;
    }
    return row;
  }

  #queueRow(nodeId: number, queueId: number): number {
    const before = this.#queues.size;
    const row = this.#queues.rowOf(nodeId, queueId);
    if (row === before) {
      this.#occupancy.reset(row);
      this.#congested[row] = 0;
    }
    return row;
  }

  occupancy(nodeId: number, queueId: number, value: number): void {
    const row = this.#queueRow(nodeId, queueId);
    if (row === NO_ROW) {
      this.#refused.queues++;
      return;
    }
    this.#occupancy.add(row, value);
  }

  congestion(nodeId: number, queueId: number): void {
    const row = this.#queueRow(nodeId, queueId);
    if (row === NO_ROW) this.#refused.queues++;
    else this.#congested[row]!++;
  }

  /** @param bits 22 or 32 */
  sequence(nodeId: number, hwId: number, bits: number, sequence: number): void {
    const reporter = this.#reporters.rowOf(nodeId, bits === 22 ? hwId | IS_SHORT : hwId);
    const block = reporter === NO_ROW ? NO_ROW : this.#block(reporter, sequence >>> 5);
    if (block === NO_ROW) this.#refused.sequences++;
    else this.#masks[block]! |= 1 << (sequence & 31);
  }

  #block(reporter: number, number: number): number {
    const before = this.#blocks.size;
    const row = this.#blocks.rowOf(reporter, number);
    if (row === before) this.#masks[row] = 0;
    return row;
  }

  late(): void {
    this.#refused.late++;
  }

  clear(): void {
    this.#buckets.fill(0, 0, this.#switches.size * BUCKETS);
    this.#switches.clear();
    this.#links.clear();
    this.#queues.clear();
    this.#reporters.clear();
    this.#blocks.clear();
    this.#refused = noRefusals();
  }

  /** The contents, as those of slice `slice`. Allocates. */
  read(slice: number, sliceUs: number): SliceContents {
    const start = slice * sliceUs;
    const links = this.#links;
    const queues = this.#queues;
    return {
      slice,
      switches: this.#switches.ordered().map((row) => this.#readSwitch(row, start)),
      links: links.ordered().map((row) => ({
        from: links.first[row]!,
        to: links.second[row]!,
        packets: this.#packets[row]!,
        lastSeenUs: start + this.#linkSeen[row]!,
        flows: this.#flows.read(row).map((value, at) => (at % 2 === 0 ? value : start + value)),
      })),
      queues: queues.ordered().map((row) => ({
        nodeId: queues.first[row]!,
        queueId: queues.second[row]!,
        ...this.#occupancy.read(row),
        congested: this.#congested[row]!,
      })),
      reporters: this.#readReporters(),
      refused: { ...this.#refused },
    };
  }

  #readSwitch(row: number, start: number): PartialSwitch {
    const buckets: number[] = [];
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = this.#buckets[row * BUCKETS + bucket]!;
      if (count > 0) buckets.push(bucket, count);
    }
    return {
      nodeId: this.#switches.first[row]!,
      reports: this.#reports[row]!,
      lastSeenUs: start + this.#lastSeen[row]!,
      ...this.#latency.read(row),
      buckets,
    };
  }

  #readReporters(): PartialReporter[] {
    const { first, second } = this.#reporters;
    const blocksOf: number[][] = Array.from({ length: this.#reporters.size }, () => []);
    for (const row of this.#blocks.ordered()) {
      blocksOf[this.#blocks.first[row]!]!.push(this.#blocks.second[row]!, this.#masks[row]! >>> 0);
    }
    // Leave out reporters whose sequence numbers found no room.
    const rows = this.#reporters.ordered().filter((row) => blocksOf[row]!.length > 0);
    return rows.map((row) => ({
      nodeId: first[row]!,
      hwId: second[row]! & (IS_SHORT - 1),
      bits: (second[row]! & IS_SHORT) === 0 ? 32 : 22,
      blocks: blocksOf[row]!,
    }));
  }

  /**
   * Replaces the contents by a result of {@link read}.
   * @returns whether there was room for everything
   */
  load(partial: SliceContents, sliceUs: number): boolean {
    this.clear();
    const start = partial.slice * sliceUs;
    let fits = true;
    for (const one of partial.switches) {
      const row = this.seen(one.nodeId, one.lastSeenUs - start);
      fits &&= row !== NO_ROW;
      if (row === NO_ROW) continue;
      this.#reports[row] = one.reports;
      this.#latency.load(row, one);
      for (let at = 0; at < one.buckets.length; at += 2) {
        this.#buckets[row * BUCKETS + one.buckets[at]!] = one.buckets[at + 1]!;
      }
    }
    for (const one of partial.links) {
      const row = this.#linkRow(one.from, one.to);
      fits &&= row !== NO_ROW;
      if (row === NO_ROW) continue;
      this.#packets[row] = one.packets;
      this.#linkSeen[row] = one.lastSeenUs - start;
      for (let at = 0; at < one.flows.length; at += 2)
        this.#flows.note(row, one.flows[at]!, one.flows[at + 1]! - start);
    }
    for (const one of partial.queues) {
      const row = this.#queueRow(one.nodeId, one.queueId);
      fits &&= row !== NO_ROW;
      if (row === NO_ROW) continue;
      this.#occupancy.load(row, one);
      this.#congested[row] = one.congested;
    }
    for (const one of partial.reporters) fits = this.#loadReporter(one) && fits;
    this.#refused = { ...partial.refused };
    return fits;
  }

  #loadReporter({ nodeId, hwId, bits, blocks }: PartialReporter): boolean {
    const reporter = this.#reporters.rowOf(nodeId, bits === 22 ? hwId | IS_SHORT : hwId);
    if (reporter === NO_ROW) return false;
    for (let at = 0; at < blocks.length; at += 2) {
      const row = this.#block(reporter, blocks[at]!);
      if (row === NO_ROW) return false;
      this.#masks[row] = blocks[at + 1]! | 0;
    }
    return true;
  }
}
