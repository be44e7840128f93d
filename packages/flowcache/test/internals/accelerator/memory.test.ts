import { AcceleratorMemory, TelemetryBatch } from '@int/codec';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  AcceleratorEngine,
  acceleratorBytes,
  flowAcceleratorAvailable,
  makeAcceleratorEngine,
} from '../../../src/accelerator/accelerator-engine.js';
import { initialize } from '../../../src/cache/region.js';
import { geometryOf } from '../../../src/layout.js';

const geometry = geometryOf({ rows: 16 });
const options = { geometry, hash: 'xxh32', seed: 1, shared: false } as const;

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('makeAcceleratorEngine', () => {
  it('puts the cache where a cache line begins, in a memory that is shared if asked for', () => {
    for (const shared of [false, true]) {
      const engine = makeAcceleratorEngine({ ...options, shared })!;
      expect(engine.isAccelerator).toBe(true);
      expect(engine.buffer instanceof SharedArrayBuffer).toBe(shared);
      expect(engine.words.buffer).toBe(engine.buffer);
      expect(engine.words.byteOffset % 64).toBe(0);
      expect(engine.words).toHaveLength(geometry.words);
    }
  });

  it('lets several caches and their batches lie in one memory', () => {
    const memory = new AcceleratorMemory(2 * acceleratorBytes(geometry) + 0x100000);
    const engines = [1, 2].map((seed) => makeAcceleratorEngine({ ...options, seed, memory })!);
    const batch = memory.batch({ frames: 4 });
    expect(batch.buffer).toBe(memory.buffer);
    for (const engine of engines) initialize(engine.words, geometry, 'xxh32', 1);
    batch.code.fill(7);
    for (const [index, engine] of engines.entries()) expect(engine.run(batch, 0, index + 1)).toBe(index + 1);
    // The counter of reports that are none.
    expect(engines.map(({ words }) => words[64 + 2 * 14])).toEqual([1, 2]);
  });

  it('takes no more of a memory than it says', () => {
    const dimensions = [{}, { buckets: 1, hops: 1 }, { layout: 'compact' }, { hops: 64, buckets: 64 }] as const;
    for (const one of dimensions) {
      const each = geometryOf({ rows: 3, ...one });
      const memory = new AcceleratorMemory(acceleratorBytes(each) + 64);
      const before = memory.free;
      expect(makeAcceleratorEngine({ ...options, geometry: each, memory })).toBeInstanceOf(AcceleratorEngine);
      expect(before - memory.free).toBeLessThanOrEqual(acceleratorBytes(each));
    }
  });

  it('has none for a cache beyond 4 GiB', () => {
    expect(makeAcceleratorEngine({ ...options, geometry: geometryOf({ rows: 2 ** 20 }) })).toBeUndefined();
  });

  it('says so if the memory it is given is too small', () => {
    const memory = new AcceleratorMemory(0x10000);
    expect(() => makeAcceleratorEngine({ ...options, memory })).toThrow(RangeError);
  });

  it('looks at all rows that are no report, however many', () => {
    const engine = makeAcceleratorEngine(options)!;
    initialize(engine.words, geometry, 'xxh32', 1);
    const batch = new TelemetryBatch({ frames: 1000 });
    batch.code.fill(3);
    expect(engine.run(batch, 100, 1000)).toBe(1000);
    expect(engine.words[64]).toBe(900);
    expect(engine.run(batch, 1000, 1000)).toBe(1000);
  });
});

describe('without WebAssembly', () => {
  it('there is no accelerator', () => {
    vi.stubGlobal('WebAssembly', undefined);
    expect(flowAcceleratorAvailable()).toBe(false);
    expect(makeAcceleratorEngine(options)).toBeUndefined();
  });

  it('there is no memory for one', () => {
    vi.stubGlobal('WebAssembly', undefined);
    expect(() => new AcceleratorMemory(1)).toThrow(/WebAssembly/);
  });

  it('a length that is none is refused', () => {
    for (const length of [0, -1, Number.NaN, 2 ** 32 + 1])
      expect(() => new AcceleratorMemory(length)).toThrow(RangeError);
  });
});
