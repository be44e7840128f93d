import { AdaptiveCopies, bestCopies, DartStore, outcomesAtLoad } from '@int/dart';
import { type BlockWriter, OUTCOME, SimulatedStore, simulatedKey } from '@int/dart/internals';
import { describe, expect, it } from 'vitest';
import { adaptedCopies, drawsOf, insertion, randomCopies } from '../../src/study/writing.js';
import {
  adaptiveOutcomes,
  arrivingCopies,
  distinctSlots,
  insertionSuccess,
  meanOf,
  writesUpTo,
} from '../../src/study/writing-theory.js';

function valueFor(id: number): Uint8Array {
  const value = new Uint8Array(4);
  new DataView(value.buffer).setUint32(0, id);
  return value;
}

interface Shape {
  readonly keys: number;
  readonly slots: number;
  readonly copies: number;
  readonly seed: number;
  readonly checksumBits?: number;
}

/** The outcome of every key in a simulation, and in a real store that is written key by key. */
function bothOutcomes(
  { keys, ...shape }: Shape,
  writer: BlockWriter,
  write: (store: DartStore, key: Uint8Array, value: Uint8Array) => void,
): { simulated: number[]; real: number[] } {
  const { seed, checksumBits = 32 } = shape;
  const store = new DartStore({ ...shape, valueBytes: 4, engine: 'plain' });
  for (let id = 0; id < keys; id++) write(store, simulatedKey(id, seed), valueFor(id));
  const real = Array.from({ length: keys }, (_, id) => {
    const { status, value } = store.query(simulatedKey(id, seed));
    if (status === 'absent') return OUTCOME.ABSENT;
    if (status !== 'value') return OUTCOME.CONFLICT;
    return new DataView(value!.buffer).getUint32(0) === id ? OUTCOME.SUCCESS : OUTCOME.WRONG;
  });
  const simulation = new SimulatedStore({ keys, ...shape });
  simulation.write(writer);
  const simulated: number[] = [];
  simulation.query({ checksumBits }, (block, _, count) => simulated.push(...block.subarray(0, count)));
  return { simulated, real };
}

describe('a simulated store', () => {
  it('has copies at random written as a real store has that is told which', () => {
    const shape = { keys: 500, slots: 600, copies: 3, seed: 11, checksumBits: 10 };
    const draws = drawsOf(11);
    const { simulated, real } = bothOutcomes(shape, randomCopies(3, 2, 0, 11), (store, key, value) => {
      for (let report = 0; report < 2; report++) store.writeCopy(key, value, draws.below(3));
    });
    expect(simulated).toEqual(real);
  });

  it('has adapted copies written as a real store has whose writer adapts', () => {
    const adaptive = new AdaptiveCopies({ mostCopies: 6 });
    const shape = { keys: 900, slots: 1000, copies: 6, seed: 5 };
    const { simulated, real } = bothOutcomes(shape, adaptedCopies(adaptive, 1000), (store, key, value) => {
      store.write(key, value, adaptive.copiesAt(store.keyWrites / store.geometry.slots));
    });
    expect(simulated).toEqual(real);
  });

  it('has keys inserted as a real store has', () => {
    const shape = { keys: 700, slots: 800, copies: 2, seed: 3 };
    const { simulated, real } = bothOutcomes(shape, insertion, (store, key, value) => store.insert(key, value));
    expect(simulated).toEqual(real);
  });
});

describe('adaptive copies', () => {
  const adaptive = new AdaptiveCopies();

  it('add up to the writes so far', () => {
    let sum = 0;
    const step = 1e-4;
    for (let load = step / 2; load < 1; load += step) sum += adaptive.copiesAt(load) * step;
    expect(writesUpTo(adaptive, 1)).toBeCloseTo(sum, 3);
  });

  it('find more than the best fixed number, from a tenth to three keys per slot', () => {
    for (const load of [0.1, 0.2, 0.4, 0.8, 1.2, 2, 3]) {
      const fixed = outcomesAtLoad({ load, copies: bestCopies(load) }).success;
      expect(adaptiveOutcomes({ load, adaptive }).success).toBeGreaterThan(fixed);
    }
  });

  it('with one copy are plain writes', () => {
    const found = adaptiveOutcomes({ load: 0.7, adaptive: new AdaptiveCopies({ mostCopies: 1 }), checksumBits: 8 });
    const plain = outcomesAtLoad({ load: 0.7, copies: 1, checksumBits: 8 });
    for (const name of ['success', 'absent', 'conflict', 'wrong'] as const)
      expect(found[name]).toBeCloseTo(plain[name], 10);
  });
});

describe('insertion by COMPARE&SWAP', () => {
  it('finds the youngest key always, and the oldest in an empty store in either slot', () => {
    expect(insertionSuccess(1, 0)).toBe(1);
    expect(insertionSuccess(1, 1)).toBeCloseTo(1 - (1 - Math.exp(-1)) ** 2, 14);
    expect(insertionSuccess(1e-9, 0.5)).toBeCloseTo(1, 8);
  });
});

describe('the slots that a key got written', () => {
  it('are, with random copies, those of all sequences of choices', () => {
    const [copies, reports] = [3, 4];
    const counts = new Array<number>(copies + 1).fill(0);
    for (let sequence = 0; sequence < copies ** reports; sequence++) {
      const chosen = new Set(Array.from({ length: reports }, (_, at) => Math.floor(sequence / copies ** at) % copies));
      counts[chosen.size]!++;
    }
    expect(distinctSlots(copies, reports)).toHaveLength(copies + 1);
    for (const [count, chance] of distinctSlots(copies, reports).entries()) {
      expect(chance).toBeCloseTo(counts[count]! / copies ** reports, 14);
    }
    expect(meanOf(distinctSlots(8, 5))).toBeCloseTo(8 * (1 - (7 / 8) ** 5), 12);
  });

  it('are fewer where packets are lost', () => {
    expect(arrivingCopies(2, 0.1).map((chance) => Number(chance.toFixed(12)))).toEqual([0.01, 0.18, 0.81]);
    expect(meanOf(distinctSlots(4, 3, 0.2))).toBeCloseTo(4 * (1 - (1 - 0.2) ** 3), 12);
  });
});
