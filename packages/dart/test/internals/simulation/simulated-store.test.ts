import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { simulatedKey } from '../../../src/simulation/keys.js';
import { type SimulateOptions, simulate } from '../../../src/simulation/simulate.js';
import { OUTCOME, SimulatedStore } from '../../../src/simulation/simulated-store.js';
import { SlotTable } from '../../../src/simulation/slot-table.js';
import { DartStore } from '../../../src/store/dart-store.js';
import type { Policy } from '../../../src/store/policy.js';

const SEED = Number(process.env.INT_SEED ?? 20210801);

function valueFor(id: number): Uint8Array {
  const value = new Uint8Array(4);
  new DataView(value.buffer).setUint32(0, id);
  return value;
}

/** The outcome of every key, asked of a real store. */
function outcomesOf(store: DartStore, keys: number, seed: number, policy: Policy): number[] {
  return Array.from({ length: keys }, (_, id) => {
    const { status, value } = store.query(simulatedKey(id, seed), policy);
    if (status === 'absent') return OUTCOME.ABSENT;
    if (status !== 'value') return OUTCOME.CONFLICT;
    return new DataView(value!.buffer).getUint32(0) === id ? OUTCOME.SUCCESS : OUTCOME.WRONG;
  });
}

const parameters = fc.record({
  keys: fc.integer({ min: 1, max: 300 }),
  slots: fc.integer({ min: 1, max: 400 }),
  copies: fc.integer({ min: 1, max: 8 }),
  checksumBits: fc.integer({ min: 8, max: 32 }),
  hash: fc.constantFrom('xxhash' as const, 'crc' as const),
  seed: fc.nat(),
  policy: fc.constantFrom<Policy>('single', 'plurality', { consensus: 2 }, { consensus: 3 }),
});

describe('a simulated store', () => {
  it('answers every key as a real store does', () => {
    fc.assert(
      fc.property(parameters, ({ keys, policy, ...options }) => {
        const store = new DartStore({ ...options, valueBytes: 4, engine: 'plain' });
        for (let id = 0; id < keys; id++) store.write(simulatedKey(id, options.seed), valueFor(id));
        const simulated = new SimulatedStore({ ...options, keys });
        simulated.write();
        const outcomes: number[] = [];
        simulated.query({ ...options, policy }, (block, _, count) => outcomes.push(...block.subarray(0, count)));
        expect(outcomes).toEqual(outcomesOf(store, keys, options.seed, policy));
      }),
      { seed: SEED, numRuns: runs(30) },
    );
  });

  it('keeps slots in several arrays as in one', () => {
    const [one, several] = [new SlotTable(1000), new SlotTable(1000, 6)];
    const random = new Random(SEED);
    const places = Uint32Array.from({ length: 900 }, () => random.integer(1000));
    for (const table of [one, several]) expect(table.scatter(places, 300, 3, 1)).toBe(900);
    const found = [one, several].map((table) => {
      const out = new Uint32Array(900);
      table.gather(places, 900, out);
      return out;
    });
    expect(found[0]).toEqual(found[1]);
    expect(several.get(places[899]!)).toBe(300);
  });
});

describe('simulate', () => {
  const base: SimulateOptions = { keys: 10_000, bytesPerFlow: 30, seed: 4 };

  it('is deterministic by its seed', () => {
    expect(simulate(base)).toEqual(simulate(base));
    expect(simulate(base).success).not.toBe(simulate({ ...base, seed: 5 }).success);
  });

  it('adds up: shares to one, ages to all keys, age ranges to their mean', () => {
    const result = simulate({ ...base, checksumBits: 8, ageRanges: 7 });
    expect(result.success + result.empty + result.wrong).toBeCloseTo(1, 12);
    expect(result.ages.reduce((sum, { keys }) => sum + keys, 0)).toBe(10_000);
    expect(result.ages.reduce((sum, { keys, success }) => sum + keys * success, 0) / 10_000).toBeCloseTo(
      result.success,
      12,
    );
    expect(result.ages[0]).toMatchObject({ from: 0 });
    expect(result.ages[6]).toMatchObject({ to: 1 });
    expect(result.ages[0]!.success).toBeGreaterThan(result.ages[6]!.success);
    expect(result.oldest.keys).toBe(100);
  });

  it('takes as many slots as fit into the memory', () => {
    expect(simulate({ ...base, keys: 1000 })).toMatchObject({ slots: 1250, bytes: 30_000, load: 0.8, copies: 2 });
    expect(simulate({ keys: 1000, bytesPerFlow: 30, checksumBits: 9, valueBytes: 1 }).slots).toBe(10_000);
  });

  it('reports progress up to the end', () => {
    const seen: number[] = [];
    simulate({ ...base, onProgress: (done) => seen.push(done) });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(1);
  });

  it('refuses what it cannot simulate', () => {
    expect(() => simulate({ keys: 10 })).toThrow(RangeError);
    expect(() => simulate({ ...base, keys: 0 })).toThrow(RangeError);
    expect(() => simulate({ ...base, copies: 9 })).toThrow(RangeError);
    expect(() => simulate({ ...base, policy: { consensus: 0 } })).toThrow(RangeError);
    expect(() => simulate({ ...base, ageRanges: 0 })).toThrow(RangeError);
  });
});
