/** Datagrams decoded into one cache, or into a cache spread over worker threads: reports per second by the clock on the wall. */
import { fileURLToPath } from 'node:url';
import { BatchDecoder, type Frames, TelemetryBatch } from '@int/codec';
import { FlowCache } from '@int/flowcache';
import { ShardedFlowCache } from '@int/flowcache/node';
import { median } from '../decode/statistics.js';
import { Datagrams } from './datagrams.js';
import { quietThresholds } from './setup.js';
import { MIXES, Workload } from './workload.js';

/** The bundle lies in benchmarks/dist. */
const WORKER = fileURLToPath(new URL('./flowcache-shard.js', import.meta.url));

export interface ShardPoint {
  /** Worker threads; 0: none, the main thread updates. */
  readonly shards: number;
  readonly reportsPerSecond: number;
  readonly min: number;
  readonly max: number;
  /** Share of a processor that all threads used together. */
  readonly processors: number;
}

/** Something that batches are given to. */
interface Sharded {
  give(reports: TelemetryBatch): Promise<void> | undefined;
  /** Resolves when all is done. */
  settle(): Promise<unknown>;
  stop(): Promise<unknown>;
}

function unsharded(rows: number): Sharded {
  const cache = new FlowCache({ rows, thresholds: quietThresholds() });
  return {
    give: (batch) => {
      cache.update(batch);
      return undefined;
    },
    settle: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}

async function sharded(rows: number, shards: number): Promise<Sharded> {
  const cache = await ShardedFlowCache.open({ rows, shards, thresholds: quietThresholds(), worker: WORKER });
  return {
    give: (batch) => cache.dispatch(batch),
    settle: async () => {
      cache.flush();
      const { live } = await cache.totals();
      if (live === 0) throw new Error('no flow arrived');
    },
    stop: () => cache.stop(),
  };
}

/** Decodes, as the main thread of a collector does, and gives the reports on. */
class Feed {
  readonly #decoder = new BatchDecoder({ linkType: 'report' });
  readonly #batch: TelemetryBatch;

  constructor(reports: number, hops: number) {
    this.#batch = new TelemetryBatch({ frames: reports, hops: Math.max(256, hops) });
  }

  async run(target: Sharded | null, incoming: readonly Frames[], turns: number): Promise<void> {
    const batch = this.#batch;
    for (let turn = 0; turn < turns; turn++) {
      for (const frames of incoming) {
        batch.clear();
        const end = this.#decoder.decode(batch, frames);
        if (end !== frames.offsets.length || batch.reports !== end) throw new Error('a datagram was not decoded');
        const full = target?.give(batch);
        if (full !== undefined) await full;
      }
    }
    await target?.settle();
  }
}

/** Inserts all flows, and then gives the same batches in several rounds, of which the first does not count. */
export async function measureShards(
  path: string,
  rows: number,
  shards: number,
  batches: number,
  turns: number,
  rounds: number,
): Promise<ShardPoint> {
  const workload = new Workload(path);
  const target = shards === 0 ? unsharded(rows) : await sharded(rows, shards);
  const filling = workload.makeReports();
  for (let left = workload.flows; left > 0; left -= workload.size) {
    workload.fill(filling, MIXES.each, Math.min(left, workload.size));
    await target.give(filling);
  }
  await target.settle();
  const incoming = Array.from({ length: batches }, (): Frames => {
    const reports = workload.makeReports();
    workload.fill(reports, MIXES.zipf, workload.size);
    const { bytes, offsets, lengths } = new Datagrams(reports);
    return { bytes, offsets, lengths, timestampsHigh: reports.frameTimeHigh, timestampsLow: reports.frameTimeLow };
  });
  const feed = new Feed(workload.size, filling.capacity.hops);
  const rates: number[] = [];
  const used: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const cpu = process.cpuUsage();
    const start = performance.now();
    await feed.run(target, incoming, turns);
    const elapsed = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    if (round < 0) continue;
    rates.push((turns * batches * workload.size * 1000) / elapsed);
    used.push((user + system) / 1000 / elapsed);
  }
  await target.stop();
  return {
    shards,
    reportsPerSecond: median(rates),
    min: Math.min(...rates),
    max: Math.max(...rates),
    processors: median(used),
  };
}
