import type { Flow } from '@int/codec';
import { FlowCache } from '@int/flowcache';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { recordOf } from '../cache/reports.js';
import { SEED } from '../seed.js';

const flowOf = (port: number): Flow => ({
  source: '10.0.0.1',
  destination: '10.0.0.2',
  protocol: 17,
  sourcePort: port,
  destinationPort: 53,
});

describe.each(['exact', 'compact'] as const)('going through a cache, %s', (layout) => {
  test('gives each flow that stays exactly once, whatever happens meanwhile', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer(),
        (rows, buckets, seed) => {
          const random = new Random(seed);
          const cache = new FlowCache({ rows, buckets, hops: 1, layout, accelerator: false });
          const held = new Set<number>();
          const ever = new Set<number>();
          const note = (): void => {
            held.clear();
            for (const { flow } of cache) held.add(flow.sourcePort);
          };
          const observe = (port: number): void => {
            ever.add(port);
            cache.observe(recordOf({ isOk: true, flow: flowOf(port), nodeId: null, hops: [], timeNs: 1n }));
          };
          for (let port = 0; port < rows * buckets; port++) observe(random.integer(100));
          note();
          const stayed = new Set(held);
          const seen: number[] = [];
          for (const { flow, packets } of cache) {
            seen.push(flow.sourcePort);
            expect(packets).toBe(cache.get(flow)!.packets);
            const choice = random.integer(8);
            if (choice < 3) observe(random.integer(100));
            else if (choice === 3) cache.remove(flowOf(random.integer(100)));
            else if (choice === 4) cache.drain(random.integer(3));
            note();
            for (const port of stayed) if (!held.has(port)) stayed.delete(port);
          }
          for (const port of stayed) expect(seen.filter((each) => each === port).length).toBe(1);
          for (const port of seen) expect(ever.has(port)).toBe(true);
        },
      ),
      { seed: SEED, numRuns: runs(150) },
    );
  });

  test('gives an entry as it is when it is reached, and what was given stays as it was', () => {
    const cache = new FlowCache({ rows: 2, buckets: 4, hops: 1, layout });
    const observe = (port: number): void =>
      cache.observe(recordOf({ isOk: true, flow: flowOf(port), nodeId: null, hops: [], timeNs: 1n }));
    for (const port of [1, 2, 3]) observe(port);
    const entries = cache.entries();
    const first = entries.next().value!;
    const copy = structuredClone(first);
    for (const port of [1, 2, 3]) observe(port);
    expect(first).toEqual(copy);
    expect([...entries].map(({ packets }) => packets)).toEqual([2, 2]);
  });

  test('of nothing gives nothing', () => {
    expect([...new FlowCache({ rows: 5, layout })]).toEqual([]);
  });
});
