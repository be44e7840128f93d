import { METRIC_NAMES, type MetricName } from '@int/codec';
import { flowCrc32Ipv4 } from '@int/hash';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { DEFAULT_METRICS, geometryOf, HASHES, LAYOUTS, THRESHOLDS } from '../../../src/layout.js';
import { portsWithCrc } from '../../accelerator/crc-flows.js';
import { fillRandom, Random, type Traffic } from '../../accelerator/random-batch.js';
import { withTimes } from '../../cache/times.js';
import { SEED } from '../../seed.js';
import { EnginePair, HOST_KINDS } from './engines.js';

const MOST_WORDS = 200_000;

const metrics: fc.Arbitrary<MetricName[]> = fc.oneof(
  fc.constant<MetricName[]>([...DEFAULT_METRICS]),
  fc.constant<MetricName[]>(['hopLatency', 'queueOccupancy', 'egressUtilization', 'bufferOccupancy']),
  fc.constant<MetricName[]>(['l2IngressInterface', 'l2EgressInterface', 'queueId']),
  fc.uniqueArray(fc.constantFrom(...METRIC_NAMES), { minLength: 1, maxLength: 8 }),
);

const geometries = fc
  .record({
    layout: fc.constantFrom(...LAYOUTS),
    rows: fc.oneof(fc.constantFrom(1, 2, 8, 16), fc.integer({ min: 1, max: 40 })),
    buckets: fc.oneof(fc.constantFrom(4, 8, 12, 16), fc.integer({ min: 1, max: 17 }), fc.integer({ min: 1, max: 64 })),
    hops: fc.oneof(fc.constant(5), fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 64 })),
    metrics,
  })
  .map((dimensions) => {
    const { words, rows } = geometryOf(dimensions);
    return geometryOf({ ...dimensions, rows: Math.max(1, Math.min(rows, Math.floor((rows * MOST_WORDS) / words))) });
  });

const traffic: fc.Arbitrary<Traffic> = fc.record({
  flows: fc.constantFrom(5, 60, 2000),
  ipv6: fc.constantFrom(0, 0.5, 1),
  odd: fc.constantFrom(0, 0.2),
  missing: fc.constantFrom(0, 0.15, 0.6),
  detour: fc.constantFrom(0, 0.05, 0.4),
  hops: fc.constantFrom(1, 5, 9),
  scattered: fc.constantFrom(false, false, true),
  shuffledFrames: fc.boolean(),
});

/** IPv4, nothing odd. */
const PLAIN: Traffic = {
  flows: 5,
  ipv6: 0,
  odd: 0,
  missing: 0.1,
  detour: 0.1,
  hops: 5,
  scattered: false,
  shuffledFrames: false,
};

const limits = fc.constantFrom(0xffffffff, 0, 10, 900, 0x80000000);

describe('the accelerator', () => {
  it('leaves the same words as the loop in TypeScript, whatever the cache and the batch', () => {
    fc.assert(
      fc.property(
        geometries,
        traffic,
        fc.record({
          hash: fc.constantFrom(...HASHES),
          seed: fc.nat(0xffffffff),
          kind: fc.constantFrom(...HOST_KINDS),
          thresholds: fc.oneof(
            fc.constant(new Array<number>(THRESHOLDS.WORDS).fill(0xffffffff)),
            fc.array(limits, { minLength: THRESHOLDS.WORDS, maxLength: THRESHOLDS.WORDS }),
          ),
          random: fc.integer(),
        }),
        (geometry, shape, { hash, seed, kind, thresholds, random: state }) => {
          const random = new Random(state);
          const pair = new EnginePair(geometry, hash, seed, kind);
          const perReport = geometry.hops * geometry.metrics.length + 2;
          const inside = { high: pair.words(3000), low: pair.words(3000) };
          for (let turn = 0; turn < 6; turn++) {
            const isInside = random.chance(0.5);
            const batch = isInside ? pair.inside : pair.outside;
            const wanted = random.chance(0.5) ? random.below(40) : random.below(batch.capacity.reports);
            const reports = fillRandom(batch, wanted, shape, random);
            const { high, low } = random.chance(0.5)
              ? inside
              : { high: new Uint32Array(3000), low: new Uint32Array(3000) };
            for (let frame = 0; frame < 3000; frame++) {
              high[frame] = random.below(2);
              low[frame] = random.word();
            }
            // Some frames may have no time.
            const first = random.chance(0.2) ? 3000 - random.below(20) : random.below(3) * 700;
            withTimes(batch, random.chance(0.3) ? undefined : { timestampsHigh: high, timestampsLow: low, first });
            pair.limit(thresholds);
            pair.fillPackets([random.below(1000), random.below(1000)]);
            let row = 0;
            while (row < reports) {
              const { entries, events } = pair.plain;
              const isTiny = random.chance(0.3);
              pair.occupy(
                isTiny ? entries.capacity - random.below(3) : 0,
                isTiny ? Math.max(0, events.capacity - perReport - random.below(20)) : 0,
              );
              const to = random.chance(0.5) ? reports : row + 1 + random.below(reports - row);
              row = pair.run(batch, row, to);
            }
          }
        },
      ),
      { seed: SEED, numRuns: runs(120) },
    );
  }, 60_000);

  it('keeps flows of one hash apart, and those of hash 0 from empty buckets', () => {
    const random = new Random(SEED);
    for (const layout of LAYOUTS) {
      const geometry = geometryOf({ layout, rows: 3, buckets: 6 });
      const pair = new EnginePair(geometry, 'crc32', 0, 'own');
      const batch = pair.outside;
      for (let turn = 0; turn < 20; turn++) {
        const reports = fillRandom(batch, 300, { ...PLAIN, flows: 12 }, random);
        for (let row = 0; row < reports; row++) {
          const flow = random.below(12);
          const crc = flow < 4 ? 0 : 0x12345678;
          batch.source0[row] = flow;
          batch.destination0[row] = 1;
          batch.protocol[row] = 17;
          batch.ports[row] = portsWithCrc(flow, 1, 17, crc);
          expect(flowCrc32Ipv4(flow, 1, 17, batch.ports[row]!)).toBe(crc);
        }
        pair.occupy(0, 0);
        let row = 0;
        while (row < reports) {
          row = pair.run(batch, row, reports);
          pair.occupy(0, 0);
        }
      }
    }
  });
});
