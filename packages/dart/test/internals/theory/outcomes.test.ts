import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Candidates } from '../../../src/store/answer.js';
import { type Policy, policyNumber } from '../../../src/store/policy.js';
import { STATUS } from '../../../src/store/rows.js';
import { OutcomeModel, wrongBounds } from '../../../src/theory/outcomes.js';
import {
  checksumKinds,
  overwriteProbability,
  overwriteProbabilityWithModuloBias,
} from '../../../src/theory/overwriting.js';

const SEED = Number(process.env.INT_SEED ?? 20210801);
const POLICIES: readonly Policy[] = ['single', 'plurality', { consensus: 2 }, { consensus: 3 }];

/** 0 success, 1 absent, 2 conflict, 3 wrong: what the store's own rule makes of slots (0: own, -1: nothing, else a value). */
function decide(slots: readonly number[], policy: Policy): number {
  const candidates = new Candidates(8, 1);
  candidates.clear();
  for (const slot of slots) if (slot >= 0) candidates.add(Uint8Array.of(slot), 0);
  const { status, chosen } = candidates.decide(policyNumber(policy));
  if (status === STATUS.ABSENT) return 1;
  if (status === STATUS.CONFLICT) return 2;
  return candidates.values[chosen] === 0 ? 0 : 3;
}

/** Every state of every slot, with false values from `values(slot)`: the sets of outcomes and their probability. */
function enumerate(
  copies: number,
  p: number,
  q: number,
  visit: (state: readonly number[], chance: number) => void,
): void {
  const state: number[] = [];
  const next = (chance: number): void => {
    if (state.length === copies) {
      visit(state, chance);
      return;
    }
    for (const [kind, weight] of [
      [0, 1 - p],
      [-1, p * (1 - q)],
      [1, p * q],
    ] as const) {
      state.push(kind);
      next(chance * weight);
      state.pop();
    }
  };
  next(1);
}

/** The states of `enumerate` with values in place of the 1s: all distinct, or in every way. */
function valued(state: readonly number[], isDistinct: boolean): number[][] {
  let all: number[][] = [[]];
  for (const kind of state) {
    all = all.flatMap((begun) => {
      if (kind !== 1) return [[...begun, kind]];
      const most = Math.max(0, ...begun);
      const choices = isDistinct ? [most + 1] : Array.from({ length: most + 1 }, (_, value) => value + 1);
      return choices.map((value) => [...begun, value]);
    });
  }
  return all;
}

/** P(D = d), d = 0..copies, of slots that are written with a probability each. */
function spread(copies: number, each: number): number[] {
  let chances = [1];
  for (let slot = 0; slot < copies; slot++) {
    const [not, yes] = [chances.map((chance) => chance * (1 - each)), chances.map((chance) => chance * each)];
    chances = [...not, 0].map((chance, count) => chance + (yes[count - 1] ?? 0));
  }
  return chances;
}

/** The probability that the checksums of two random keys are equal. */
function falseMatch(checksumBits: number): number {
  return checksumKinds(checksumBits).reduce((sum, [weight, match]) => sum + weight * match, 0);
}

function mixture(checksumBits: number, f: (q: number) => number): number {
  const inverse = 2 ** -checksumBits;
  return (1 - 2 * inverse) * f(inverse) + 2 * inverse * f(2 * inverse);
}

describe('the outcomes of a query', () => {
  it('are those of all states of the slots, judged by the rule of the store', () => {
    for (const policy of POLICIES) {
      for (let copies = 1; copies <= 5; copies++) {
        for (const [p, bits] of [
          [0.3, 3],
          [0.9, 2],
        ] as const) {
          const sums = [0, 1, 2, 3].map((outcome) =>
            mixture(bits, (q) => {
              let sum = 0;
              enumerate(copies, p, q, (state, chance) => {
                if (decide(valued(state, true)[0]!, policy) === outcome) sum += chance;
              });
              return sum;
            }),
          );
          const { success, absent, conflict, wrong } = new OutcomeModel({
            copies,
            checksumBits: bits,
            policy,
          }).distinct(p);
          for (const [outcome, value] of [success, absent, conflict, wrong].entries()) {
            expect(value).toBeCloseTo(sums[outcome]!, 13);
          }
        }
      }
    }
  });

  it('have as bounds what happens for all and for some ways in which false values are equal', () => {
    for (const policy of POLICIES) {
      const [copies, p, bits] = [4, 0.6, 2];
      const bounds = new OutcomeModel({ copies, checksumBits: bits, policy }).bounds(p);
      const sum = (outcome: number, every: boolean): number =>
        mixture(bits, (q) => {
          let total = 0;
          enumerate(copies, p, q, (state, chance) => {
            const outcomes = valued(state, false).map((slots) => decide(slots, policy) === outcome);
            if (every ? outcomes.every(Boolean) : outcomes.some(Boolean)) total += chance;
          });
          return total;
        });
      for (const [outcome, bound] of [bounds.success, null, bounds.conflict, bounds.wrong].entries()) {
        if (bound === null) continue;
        expect(bound.lower).toBeCloseTo(sum(outcome, true), 13);
        expect(bound.upper).toBeCloseTo(sum(outcome, false), 13);
      }
    }
  });

  it('follow the formulas of the paper for `single`', () => {
    const [p, bits] = [0.4, 8];
    const choose = [1, 3, 3, 1];
    const options = { copies: 3, checksumBits: bits, policy: 'single' } as const;
    const sum = (f: (j: number, q: number) => number, last: number): number =>
      mixture(bits, (q) =>
        choose.slice(0, last + 1).reduce((all, ways, j) => all + ways * p ** j * (1 - p) ** (3 - j) * f(j, q), 0),
      );
    const model = new OutcomeModel(options);
    expect(model.distinct(p).success).toBeCloseTo(
      sum((j, q) => (1 - q) ** j, 2),
      14,
    );
    expect(model.distinct(p).absent).toBeCloseTo(
      mixture(bits, (q) => p ** 3 * (1 - q) ** 3),
      14,
    );
    const lower = sum((j, q) => 1 - (1 - q) ** j, 2);
    const more = mixture(bits, (q) => p ** 3 * (1 - (1 - q) ** 3 - 3 * q * (1 - q) ** 2));
    expect(model.bounds(p).conflict.lower).toBeCloseTo(lower, 14);
    expect(model.bounds(p).conflict.upper).toBeCloseTo(lower + more, 14);
    expect(wrongBounds(p, options).lower).toBeCloseTo(
      mixture(bits, (q) => p ** 3 * 3 * q * (1 - q) ** 2),
      14,
    );
    expect(wrongBounds(p, options).upper).toBeCloseTo(
      mixture(bits, (q) => p ** 3 * (1 - (1 - q) ** 3)),
      14,
    );
  });

  it('add up to one, and lie within their bounds', () => {
    const options = fc.record({
      copies: fc.integer({ min: 1, max: 8 }),
      checksumBits: fc.integer({ min: 8, max: 32 }),
      policy: fc.constantFrom(...POLICIES),
    });
    const chance = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(options, chance, chance, chance, (given, p, foreign, some) => {
        for (const model of [
          new OutcomeModel(given),
          new OutcomeModel({ ...given, written: spread(given.copies, some) }),
        ]) {
          const outcomes = model.distinct(p, foreign);
          const bounds = model.bounds(p, foreign);
          expect(outcomes.success + outcomes.absent + outcomes.conflict + outcomes.wrong).toBeCloseTo(1, 12);
          for (const name of ['success', 'conflict', 'wrong'] as const) {
            expect(outcomes[name]).toBeGreaterThanOrEqual(bounds[name].lower * (1 - 1e-12));
            expect(outcomes[name]).toBeLessThanOrEqual(bounds[name].upper * (1 + 1e-12));
          }
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('keep their digits where they are tiny', () => {
    const model = new OutcomeModel({ copies: 2, policy: 'single' });
    const p = overwriteProbability(1, 1e12, 2);
    expect(p).toBeCloseTo(2e-12, 23);
    expect(model.distinct(p).absent / (p * p)).toBeCloseTo(1, 9);
    expect(model.distinct(p).wrong / (p * p * 2 * falseMatch(32))).toBeCloseTo(1, 9);
    expect(model.distinct(p).conflict / (2 * p * falseMatch(32))).toBeCloseTo(1, 9);
  });

  it('refuse copies, bits and distributions that no store has', () => {
    expect(() => new OutcomeModel({ copies: 9 })).toThrow(RangeError);
    expect(() => new OutcomeModel({ copies: 0 })).toThrow(RangeError);
    expect(() => new OutcomeModel({ copies: 2, checksumBits: 0 })).toThrow(RangeError);
    expect(() => new OutcomeModel({ copies: 2, written: [1, 0] })).toThrow(RangeError);
  });
});

describe('a false match', () => {
  it('is as likely as two equal checksums when 0 becomes 1', () => {
    let equal = 0;
    for (let one = 0; one < 256; one++)
      for (let other = 0; other < 256; other++) if ((one || 1) === (other || 1)) equal++;
    expect(falseMatch(8)).toBe(equal / 2 ** 16);
    expect(falseMatch(32)).toBeCloseTo(2 ** -32 + 2 ** -63, 40);
  });
});

describe('overwriting', () => {
  it('with the bias of the modulo is what all hashes together give', () => {
    // A hash of 2^32 values over slots that leave a remainder: Q + 1 preimages for r slots.
    const slots = 3_000_000_000;
    const [heavy, light] = [2 / 2 ** 32, 1 / 2 ** 32];
    const share = (2 ** 32 - slots) * heavy;
    const expected = share * (1 - (1 - heavy) ** 2e8) + (1 - share) * (1 - (1 - light) ** 2e8);
    expect(overwriteProbabilityWithModuloBias(1e8, slots, 2)).toBeCloseTo(expected, 8);
    expect(expected).not.toBeCloseTo(overwriteProbability(1e8, slots, 2), 4);
  });

  it('without bias is the binomial, close to Poisson', () => {
    expect(overwriteProbabilityWithModuloBias(1000, 1024, 3)).toBeCloseTo(1 - (1 - 1 / 1024) ** 3000, 12);
    expect(overwriteProbabilityWithModuloBias(1000, 1024, 3)).toBeCloseTo(overwriteProbability(1000, 1024, 3), 3);
    expect(overwriteProbabilityWithModuloBias(0, 1, 3)).toBe(0);
    expect(overwriteProbabilityWithModuloBias(1, 1, 1)).toBe(1);
  });

  it('refuses negative keys and stores without slots', () => {
    for (const f of [overwriteProbability, overwriteProbabilityWithModuloBias]) {
      expect(() => f(-1, 10, 1)).toThrow(RangeError);
      expect(() => f(1, 0, 1)).toThrow(RangeError);
      expect(() => f(1, 10, Number.NaN)).toThrow(RangeError);
    }
  });
});
