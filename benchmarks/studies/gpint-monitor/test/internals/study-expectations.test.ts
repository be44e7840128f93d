import { describe, expect, test } from 'vitest';
import { CLAIMS } from '../../src/study/claims.js';
import { type Expectation, judge } from '../../src/study/expectations.js';
import { Lookup } from '../../src/study/lookup.js';
import { type Cell, cellsFor, FIGURES, keyOf, METHODS, SHORT } from '../../src/study/matrix.js';
import { type CellResult, MEASURES, type Measured, summarise } from '../../src/study/measures.js';

const NOTHING = Object.fromEntries(MEASURES.map((measure) => [measure, 0])) as Measured;

function resultOf(cell: Cell, measured: Partial<Measured>): CellResult {
  return summarise(cell, [{ measured: { ...NOTHING, ...measured }, virtualSeconds: 1, seconds: 1 }]);
}

const CELL: Cell = { method: 'euler', load: 10_000, switches: 20, loss: 0, losesFeedback: true, recover: false };

const ABOVE_5: Expectation = {
  figure: '1',
  claim: 'It takes more than 5 s.',
  check: (look) => {
    const value = look.mean({ method: 'euler', load: 'low', switches: 20, recover: false }, 'elapsed');
    return { holds: value > 5, measured: `${value} s` };
  },
  why: 'it is quick.',
};

describe('an expectation', () => {
  test('that holds is as in the paper, and needs no reason', () => {
    const [outcome] = judge([ABOVE_5], new Lookup([resultOf(CELL, { elapsed: 6 })]));
    expect(outcome).toMatchObject({ outcome: 'as in the paper', measured: '6 s', why: '' });
  });

  test('that does not hold differs, and says why', () => {
    const [outcome] = judge([ABOVE_5], new Lookup([resultOf(CELL, { elapsed: 4 })]));
    expect(outcome).toMatchObject({ outcome: 'differs', measured: '4 s', why: 'it is quick.' });
  });

  test('about what was left out is not measured', () => {
    const [outcome] = judge([ABOVE_5], new Lookup([resultOf({ ...CELL, recover: true }, { elapsed: 6 })]));
    expect(outcome).toMatchObject({ outcome: 'not measured', measured: '', why: '' });
  });

  test('whose check is wrong is not passed over', () => {
    const broken: Expectation = {
      ...ABOVE_5,
      check: () => {
        throw new TypeError('broken');
      },
    };
    expect(() => judge([broken], new Lookup([]))).toThrow('broken');
  });
});

describe('the statements of the paper', () => {
  test('are different ones, each with a reason for the case that it does not hold', () => {
    expect(new Set(CLAIMS.map(({ claim }) => claim)).size).toBe(CLAIMS.length);
    for (const { figure, why } of CLAIMS) {
      expect(figure).not.toBe('');
      expect(why).toMatch(/\w.*\.$/);
    }
  });

  test('are not measured where nothing is', () => {
    for (const { outcome, claim } of judge(CLAIMS, new Lookup([])))
      expect([claim, outcome]).toEqual([claim, 'not measured']);
  });

  test('can all be decided by a study of all sizes and losses', () => {
    const extent = { ...SHORT, sizes: [20, 100], degradedSizes: [100], losses: [0.05, 0.1, 0.15, 0.2] };
    const results = cellsFor(FIGURES, extent).map((cell) => resultOf(cell, { elapsed: 1, probes: 30 }));
    for (const { outcome, claim } of judge(CLAIMS, new Lookup(results))) {
      expect([claim, outcome === 'not measured']).toEqual([claim, false]);
    }
  });

  test('tell results that are as in the paper from those that are not', () => {
    const results = (tuned: number): CellResult[] =>
      cellsFor(['fig14'], SHORT).map((cell) =>
        resultOf(cell, { elapsed: { euler: 9, snmp: 1, 'gpint-3-ft': tuned }[cell.method as string] ?? 1.1 }),
      );
    const outcomeOf = (tuned: number): string =>
      judge(CLAIMS, new Lookup(results(tuned))).find(({ claim }) => claim.includes('only GPINT-3-FT'))!.outcome;
    expect(outcomeOf(0.8)).toBe('as in the paper');
    expect(outcomeOf(1.05)).toBe('differs');
  });
});

describe('the combinations', () => {
  test('are each measured once', () => {
    const keys = cellsFor(FIGURES, SHORT).map(keyOf);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBeGreaterThan(40);
  });

  test('have as many paths as the paper says', () => {
    const paths = (['gpint-2', 'gpint-3', 'gpint-5'] as const).map((method) =>
      [20, 40, 100].map(METHODS[method].paths),
    );
    expect(paths).toEqual([
      [4, 8, 20],
      [6, 12, 30],
      [10, 20, 50],
    ]);
  });
});
