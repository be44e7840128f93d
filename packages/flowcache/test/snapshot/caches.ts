import { FlowCache, type FlowCacheOptions, type RestoreOptions, SnapshotReader } from '@int/flowcache';
import { Random } from '@int/random';
import { ReportBatch, randomFlows, randomReport } from '../cache/reports.js';
import { SEED } from '../seed.js';

const MOST_HOPS = 6;

/** Random reports, the same for the same seed. */
export class Traffic {
  readonly #random: Random;
  readonly #flows: ReturnType<typeof randomFlows>;
  readonly #reports = new ReportBatch(500, MOST_HOPS);
  #timeNs = 1_700_000_000_000_000_000n;

  constructor(flows: number, ipv6 = 0.4, name = 'traffic') {
    this.#random = new Random(SEED).derive(name);
    this.#flows = randomFlows(this.#random, flows, ipv6);
  }

  /** The same reports to all caches. */
  send(caches: readonly FlowCache[], count: number): void {
    const { metrics } = caches[0]!.geometry;
    for (let left = count; left > 0; left -= 500) {
      const now = Math.min(left, 500);
      this.#reports.fill(
        Array.from({ length: now }, () => {
          this.#timeNs += 1000n;
          return randomReport(this.#random, { flows: this.#flows, hops: MOST_HOPS, metrics }, this.#timeNs);
        }),
      );
      for (const cache of caches) cache.update(this.#reports.batch, 0, now);
    }
  }

  get timeNs(): bigint {
    return this.#timeNs;
  }
}

/** A cache that has had some traffic. */
export function busyCache(options: FlowCacheOptions, flows: number, reports: number): FlowCache {
  const cache = new FlowCache(options);
  new Traffic(flows).send([cache], reports);
  return cache;
}

export function restore(parts: Iterable<Uint8Array>, options?: RestoreOptions): FlowCache {
  const reader = new SnapshotReader(options);
  for (const part of parts) reader.push(part);
  return reader.end();
}
