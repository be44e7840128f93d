import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { Draws, simulatedKey } from '../../../src/simulation/keys.js';
import { type SimulateOptions, simulate } from '../../../src/simulation/simulate.js';
import { OUTCOME, SimulatedStore } from '../../../src/simulation/simulated-store.js';
import { SlotTable } from '../../../src/simulation/slot-table.js';
import { DartStore } from '../../../src/store/dart-store.js';
import { cutChecksum } from '../../../src/store/hashes.js';
import type { Policy } from '../../../src/store/policy.js';
import { AdaptiveCopies } from '../../../src/theory/adaptive-copies.js';

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
        const outcomes = new Uint8Array(keys);
        simulate({ ...options, keys, policy, outcomes });
        expect([...outcomes]).toEqual(outcomesOf(store, keys, options.seed, policy));
      }),
      { seed: SEED, numRuns: runs(30) },
    );
  });

  it('has the slots and the checksums of a real store', () => {
    for (const hash of ['xxhash', 'crc'] as const) {
      const options = { slots: 1_000_003, copies: 8, hash, seed: 7 };
      const real = new DartStore({ ...options, checksumBits: 13, valueBytes: 1, engine: 'plain' });
      const simulated = new SimulatedStore({ ...options, keys: 1 });
      for (const id of [0, 1, 2, 77, 123_456, 2 ** 31, 2 ** 32 - 3]) {
        const key = simulatedKey(id, 7);
        expect(cutChecksum(simulated.checksumHashOf(id), 13)).toBe(real.checksumOf(key));
        for (let copy = 0; copy < 8; copy++) expect(simulated.slotOf(id, copy)).toBe(real.slotOf(key, copy));
      }
    }
  });

  it('writes a copy at random as a real store does that is told which', () => {
    const [keys, seed, copies] = [500, 11, 3];
    const options = { slots: 600, copies, seed, checksumBits: 10 };
    const store = new DartStore({ ...options, valueBytes: 4, engine: 'plain' });
    const draws = new Draws(seed ^ 0x2545f491);
    for (let id = 0; id < keys; id++) {
      for (let report = 0; report < 2; report++)
        store.writeCopy(simulatedKey(id, seed), valueFor(id), draws.below(copies));
    }
    const outcomes = new Uint8Array(keys);
    simulate({ ...options, keys, writing: 'random', reports: 2, outcomes });
    expect([...outcomes]).toEqual(outcomesOf(store, keys, seed, 'plurality'));
  });

  it('adapts the copies as a real store does whose writer adapts', () => {
    const [keys, seed] = [900, 5];
    const options = { slots: 1000, copies: 6, seed };
    const adaptive = new AdaptiveCopies({ mostCopies: 6 });
    const store = new DartStore({ ...options, valueBytes: 4, engine: 'plain' });
    for (let id = 0; id < keys; id++) {
      const copies = adaptive.copiesAt(store.keyWrites / store.geometry.slots);
      store.write(simulatedKey(id, seed), valueFor(id), copies);
    }
    const outcomes = new Uint8Array(keys);
    simulate({ ...options, keys, writing: 'adaptive', adaptive, outcomes });
    expect([...outcomes]).toEqual(outcomesOf(store, keys, seed, 'plurality'));
  });

  it('inserts as a real store does', () => {
    const [keys, seed] = [700, 3];
    const store = new DartStore({ slots: 800, copies: 2, seed, valueBytes: 4, engine: 'plain' });
    for (let id = 0; id < keys; id++) store.insert(simulatedKey(id, seed), valueFor(id));
    const outcomes = new Uint8Array(keys);
    simulate({ slots: 800, copies: 2, seed, keys, valueBytes: 4, writing: 'insert', outcomes });
    expect([...outcomes]).toEqual(outcomesOf(store, keys, seed, 'plurality'));
  });

  it('keeps slots in several arrays as in one', () => {
    const [one, several] = [new SlotTable(1000), new SlotTable(1000, 6)];
    const draws = new Draws(SEED);
    const places = Uint32Array.from({ length: 900 }, () => draws.below(1000));
    for (const table of [one, several]) table.scatter(places, 300, 3, 1);
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
    expect(simulate({ keys: 1000, memoryBytes: 30_000, checksumBits: 9, valueBytes: 1 }).slots).toBe(10_000);
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
    expect(() => simulate({ ...base, loss: 1.5 })).toThrow(RangeError);
    expect(() => simulate({ ...base, writing: 'insert', copies: 1 })).toThrow(RangeError);
    expect(() => simulate({ ...base, outcomes: new Uint8Array(9) })).toThrow(RangeError);
    expect(() => simulate({ ...base, policy: { consensus: 0 } })).toThrow(RangeError);
    expect(() => simulate({ ...base, ageRanges: 0 })).toThrow(RangeError);
    expect(() => simulate({ ...base, oldestFraction: 0 })).toThrow(RangeError);
  });
});
