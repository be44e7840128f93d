/** Spreads the reports of a batch over shards by the hash of their flow. Nothing is allocated per report. */
import { FLAG, HOP_COLUMNS, type MetricName, ReportCopier, type TelemetryBatch } from '@int/codec';
import { flowXxh32Columns } from '@int/hash';
import { LATENCY_COLUMN, metricWords, NODE_COLUMN } from '../layout.js';

/** Rows sorted before any is copied. */
export const SCATTER_BLOCK = 256;
/** The product in {@link shardOf} has 32 bits, and a machine has no more cores. */
export const MAX_SHARDS = 256;
/** What a cache reads of a report besides flags and hops. */
const REPORT_COLUMNS = [
  'nodeId',
  'ports',
  'source0',
  'source1',
  'source2',
  'source3',
  'destination0',
  'destination1',
  'destination2',
  'destination3',
] as const;

/**
 * The shard of a flow: `floor(hash * shards / 2^32)`. The upper bits of the hash decide it; the lower ones decide the
 * row in the cache.
 *
 * @param hash xxh32 of the flow, unsigned
 * @param shards 1 to {@link MAX_SHARDS}
 */
export function shardOf(hash: number, shards: number): number {
  return (Math.imul(hash >>> 16, shards) + (Math.imul(hash & 0xffff, shards) >>> 16)) >>> 16;
}

/** Indices of the hop columns that caches of these metrics read, without duplicates. */
export function hopColumnsOf(metrics: readonly MetricName[]): number[] {
  return [...new Set([NODE_COLUMN, LATENCY_COLUMN, ...metricWords(metrics)])];
}

/** Sorts the rows of a block by shard, then copies them to slots. */
export class Scatter {
  readonly shards: number;
  /** Rows of the block per shard. */
  readonly counts: Int32Array;
  /** Of all rows sorted, those that go to no shard: they are no report, or name no flow. */
  notOk = 0;
  noFlow = 0;
  readonly #seed: number;
  readonly #keepsFlowless: boolean;
  /** Rows of each shard in their order, {@link SCATTER_BLOCK} cells for each shard. */
  readonly #rows: Uint32Array;
  readonly #copier: ReportCopier;
  #hashes = new Uint32Array(0);

  /**
   * @param shards 1 to {@link MAX_SHARDS}
   * @param metrics those of the caches
   * @param seed of the flow hash
   * @param keepsFlowless whether reports without a flow go to shard 0, which has a use for them
   */
  constructor(shards: number, metrics: readonly MetricName[], seed: number, keepsFlowless = false) {
    this.shards = shards;
    this.#seed = seed;
    this.#keepsFlowless = keepsFlowless;
    this.counts = new Int32Array(shards);
    this.#rows = new Uint32Array(shards * SCATTER_BLOCK);
    const hop = hopColumnsOf(metrics).map((column) => HOP_COLUMNS[column]!);
    this.#copier = new ReportCopier({ report: REPORT_COLUMNS, hop });
  }

  /** Sorts rows `from` to `to - 1`, at most {@link SCATTER_BLOCK}; {@link counts} then has the number of each shard. */
  sort(source: TelemetryBatch, from: number, to: number): void {
    const { counts, shards } = this;
    const rows = this.#rows;
    const keepsFlowless = this.#keepsFlowless;
    const { code, flags } = source;
    counts.fill(0);
    if (shards > 1) this.#hashRows(source, from, to);
    const hashes = this.#hashes;
    for (let row = from; row < to; row++) {
      if (code[row] !== 0) {
        this.notOk++;
        continue;
      }
      let shard = 0;
      if ((flags[row]! & FLAG.FLOW) === 0) {
        if (!keepsFlowless) {
          this.noFlow++;
          continue;
        }
      } else if (shards > 1) {
        shard = shardOf(hashes[row]!, shards);
      }
      const count = counts[shard]!;
      rows[shard * SCATTER_BLOCK + count] = row;
      counts[shard] = count + 1;
    }
  }

  /**
   * Copies rows of a shard to the end of a slot, as many as have room.
   *
   * @param at how many of the shard's rows were copied before; below its count
   * @returns how many were copied; 0 if the slot is full
   */
  copy(source: TelemetryBatch, shard: number, at: number, slot: TelemetryBatch): number {
    const first = shard * SCATTER_BLOCK;
    return this.#copier.append(source, slot, this.#rows, first + at, first + this.counts[shard]!);
  }

  #hashRows(batch: TelemetryBatch, from: number, to: number): void {
    // As many as the batch may ever have, so that this happens once.
    if (this.#hashes.length < to) this.#hashes = new Uint32Array(batch.capacity.reports);
    flowXxh32Columns(batch, from, to, this.#hashes, this.#seed);
  }
}
