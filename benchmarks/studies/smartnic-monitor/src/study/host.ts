/** The monitor's side of the accuracy study: socket, decoder, shards, rings with readers, distributions. */
import type { TelemetryBatch } from '@int/codec';
import { Collector, UdpSource } from '@int/collector';
import type { Distributions } from '@int/flowcache';
import { ShardedFlowCache, type ShardedTotals } from '@int/flowcache/node';
import { METRICS } from './workload.js';

/** A bin for each value: what is compared is every value, not a rounded one. */
const BINS = {
  hopLatency: { kind: 'linear', width: 1, count: METRICS.hopLatency.limit },
  queueOccupancy: { kind: 'linear', width: 1, count: METRICS.queueOccupancy.limit },
  egressUtilization: { kind: 'linear', width: 1, count: METRICS.egressUtilization.limit },
  // More bins than there may be; those of two values each.
  endToEnd: { kind: 'linear', width: 2, count: (5 * METRICS.hopLatency.limit) / 2 },
} as const;

export interface HostResult {
  /** Datagrams that the kernel threw away, and those that the program refused. */
  readonly kernelDropped: number;
  readonly overrun: number;
  readonly received: number;
  readonly reports: number;
  readonly flows: ShardedTotals;
  /** Events read from the rings. */
  readonly eventsRead: number;
  readonly distributions: Distributions;
}

export interface HostOptions {
  readonly shards: number;
  readonly rows: number;
  /** Queue occupancy above which a value is an event. */
  readonly threshold: number;
}

export class Host {
  readonly port: number;
  readonly #cache: ShardedFlowCache;
  readonly #collector: Collector;
  readonly #source: UdpSource;
  readonly #readers: readonly Promise<number>[];
  readonly #flushing: NodeJS.Timeout;

  private constructor(cache: ShardedFlowCache, collector: Collector, source: UdpSource) {
    this.#cache = cache;
    this.#collector = collector;
    this.#source = source;
    this.port = source.address.port;
    this.#readers = cache.shards.map(async ({ events }) => {
      let read = 0;
      while ((await events.waitAsync()) !== 'closed') {
        const records = events.readable();
        events.release(records);
        read += records;
      }
      return read;
    });
    // Entries that give way are read as well: they must not be lost.
    for (const { entries } of cache.shards) {
      void (async (): Promise<void> => {
        while ((await entries.waitAsync()) !== 'closed') entries.release(entries.readable());
      })();
    }
    this.#flushing = setInterval(() => cache.flush(), 20);
  }

  static async start({ shards, rows, threshold }: HostOptions): Promise<Host> {
    const cache = await ShardedFlowCache.open({
      shards,
      rows,
      distributions: { bins: BINS, switches: 8 },
      thresholds: { metrics: { queueOccupancy: { level: threshold } } },
    });
    const source = new UdpSource({ address: 'udp://127.0.0.1:0', slabs: 16, dropPollMs: 50 });
    const write = (batch: TelemetryBatch): Promise<void> | undefined => {
      return cache.dispatch(batch);
    };
    const collector = new Collector({
      sources: [source],
      sinks: [{ name: 'shards', write }],
      capacity: { frames: 1024, reports: 16_384, hops: 81_920 },
    });
    await collector.start();
    return new Host(cache, collector, source);
  }

  /** Datagrams received or thrown away so far. */
  get seen(): number {
    return this.#collector.totals().received + (this.#source.kernelDropped ?? 0);
  }

  /** Waits for what is under way, and ends. */
  async stop(): Promise<HostResult> {
    const { received, reports, kernelDropped } = await this.#collector.stop();
    clearInterval(this.#flushing);
    this.#cache.flush();
    const distributions = await this.#cache.distributions();
    const flows = await this.#cache.stop();
    const read = await Promise.all(this.#readers);
    return {
      kernelDropped: kernelDropped ?? 0,
      overrun: this.#source.overrun,
      received,
      reports,
      flows,
      eventsRead: read.reduce((sum, each) => sum + each, 0),
      distributions,
    };
  }
}
