import type { MetricName } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { DEFAULT_METRICS, FlowCache, type ThresholdOptions, Thresholds } from '../../../src/index.js';
import { THRESHOLDS } from '../../../src/layout.js';
import { SEED } from '../../seed.js';

const limit = fc.oneof(
  fc.constant(null),
  fc.nat(0xffffffff),
  fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0xfffffffe),
);
const limits = fc.record({ level: limit, change: limit }, { requiredKeys: [] });

describe('a table of thresholds', () => {
  test('says never of all there is, at first', () => {
    const thresholds = new Thresholds(DEFAULT_METRICS);
    for (const name of [...DEFAULT_METRICS, 'endToEnd'] as const) {
      expect(thresholds.get(name)).toEqual({ level: null, change: null });
    }
    expect(thresholds.pathChange).toBe(false);
    expect(thresholds.words.length).toBe(THRESHOLDS.WORDS);
    expect(thresholds.words.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  test('has its words where the layout says', () => {
    const { words } = new Thresholds(['queueOccupancy', 'hopLatency'], {
      metrics: { hopLatency: { level: 3, change: 4 }, queueOccupancy: { level: 1, change: 2 } },
      endToEnd: { level: 5, change: 0xfffffffe },
      pathChange: true,
    });
    const expected = new Int32Array(THRESHOLDS.WORDS).fill(-1);
    expected.set([1, 2, 3, 4]);
    expected.set([5, -2, 1], 16);
    expect([...words]).toEqual([...expected]);
  });

  test('gives back what was set, and leaves what was not named', () => {
    const names = [...DEFAULT_METRICS, 'endToEnd'] as const;
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.tuple(fc.constantFrom(...names), limits), fc.boolean()), { maxLength: 20 }),
        (changes) => {
          const thresholds = new Thresholds(DEFAULT_METRICS);
          const expected = new Map(names.map((name) => [name, { level: null, change: null } as object]));
          let pathChange = false;
          for (const change of changes) {
            if (typeof change === 'boolean') {
              pathChange = change;
              thresholds.pathChange = change;
            } else {
              expected.set(change[0], { ...expected.get(change[0]), ...change[1] });
              thresholds.set(...change);
            }
            expect(thresholds.pathChange).toBe(pathChange);
            for (const name of names) {
              // No value is above 2^32 - 1: it is never.
              const { level, change: other } = expected.get(name) as { level: number | null; change: number | null };
              const orNever = (word: number | null): number | null => (word === 0xffffffff ? null : word);
              expect(thresholds.get(name)).toEqual({ level: orNever(level), change: orNever(other) });
            }
          }
        },
      ),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  test('is one with another table in the same memory', () => {
    const first = new Thresholds(DEFAULT_METRICS, { endToEnd: { level: 7 } });
    const second = new Thresholds(DEFAULT_METRICS, { metrics: { hopLatency: { change: 9 } } }, first.words.buffer);
    // What is there stays, but for what is named.
    expect(second.get('endToEnd')).toEqual({ level: 7, change: null });
    expect(first.get('hopLatency')).toEqual({ level: null, change: 9 });
    second.pathChange = true;
    second.set('queueOccupancy', { level: 0xfffffffe });
    expect(first.pathChange).toBe(true);
    expect(first.get('queueOccupancy')).toEqual({ level: 0xfffffffe, change: null });
    first.set('queueOccupancy', { level: null });
    expect(second.get('queueOccupancy').level).toBeNull();
  });

  test('can be shared by caches', () => {
    const thresholds = new Thresholds(DEFAULT_METRICS);
    const caches = [false, true].map((accelerator) => new FlowCache({ rows: 1, thresholds, accelerator }));
    for (const cache of caches) expect(cache.thresholds).toBe(thresholds);
    // Options make a table of the cache's own.
    const own = new FlowCache({ rows: 1, thresholds: { endToEnd: { level: 5 } } });
    expect(own.thresholds.get('endToEnd')).toEqual({ level: 5, change: null });
  });

  test.each([-1, 1.5, 2 ** 32, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses %s as a limit, and changes nothing',
    (wrong) => {
      const thresholds = new Thresholds(DEFAULT_METRICS, { metrics: { hopLatency: { level: 1, change: 2 } } });
      expect(() => thresholds.set('hopLatency', { level: 5, change: wrong })).toThrow(RangeError);
      expect(() => thresholds.set('hopLatency', { level: wrong, change: 5 })).toThrow(RangeError);
      expect(thresholds.get('hopLatency')).toEqual({ level: 1, change: 2 });
      expect(() => new Thresholds(DEFAULT_METRICS, { endToEnd: { change: wrong } })).toThrow(RangeError);
    },
  );

  test('refuses metrics that it does not have, too many of them, and too small a buffer', () => {
    const thresholds = new Thresholds(DEFAULT_METRICS);
    expect(() => thresholds.set('bufferOccupancy', { level: 1 })).toThrow(RangeError);
    expect(() => thresholds.get('bufferOccupancy')).toThrow(RangeError);
    const unknown = { metrics: { latency: { level: 1 } } } as ThresholdOptions;
    expect(() => new Thresholds(DEFAULT_METRICS, unknown)).toThrow(RangeError);
    const nine = Array.from({ length: 9 }, (_, index) => `reserved${index}`) as MetricName[];
    expect(() => new Thresholds(nine)).toThrow(RangeError);
    expect(() => new Thresholds(DEFAULT_METRICS, {}, new SharedArrayBuffer(124))).toThrow(RangeError);
    expect(new Thresholds(DEFAULT_METRICS, {}, new SharedArrayBuffer(128)).get('endToEnd').level).toBe(0);
  });

  test('must be for the metrics of the cache, in their order', () => {
    for (const metrics of [['hopLatency'], ['queueOccupancy', 'hopLatency']] as const) {
      const thresholds = new Thresholds(metrics);
      expect(() => new FlowCache({ rows: 1, metrics: ['hopLatency', 'queueOccupancy'], thresholds })).toThrow(
        RangeError,
      );
    }
  });
});
