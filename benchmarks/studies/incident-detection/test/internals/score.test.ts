import { expect, test } from 'vitest';
import { type Attack, precisionOf, type Raised, recallOf, scoreOf, sumOf } from '../../src/study/score.js';

const flood: Attack = { kind: 'syn-flood', entity: 'host:10.0.0.1', fromMs: 10_000, toMs: 20_000 };
const raised = (timeMs: number, change: Partial<Raised> = {}): Raised => ({
  kind: 'syn-flood',
  entity: 'host:10.0.0.1',
  timeMs,
  ...change,
});

test('an incident of the kind, about the host, while the attack lasts or soon after, finds it once', () => {
  expect(scoreOf([raised(11_500), raised(15_000)], [flood])).toEqual({
    ...{ attacks: 1, found: 1, incidents: 2, falseAlarms: 0 },
    delaysMs: [1500],
  });
  expect(scoreOf([raised(30_000)], [flood]).found).toBe(1);
});

test('everything else is a false alarm', () => {
  const others = [
    raised(9999),
    raised(30_001),
    raised(12_000, { kind: 'ddos' }),
    raised(12_000, { entity: 'host:10.0.0.2' }),
  ];
  expect(scoreOf(others, [flood])).toMatchObject({ found: 0, incidents: 4, falseAlarms: 4, delaysMs: [] });
});

test('scores add up; shares of nothing are none', () => {
  const sum = sumOf([
    scoreOf([raised(12_000), raised(12_000, { kind: 'ddos' })], [flood]),
    scoreOf([], [flood]),
    scoreOf([raised(11_000)], [flood]),
  ]);
  expect(sum).toMatchObject({ attacks: 3, found: 2, incidents: 3, falseAlarms: 1, delaysMs: [1000, 2000] });
  expect([recallOf(sum), precisionOf(sum)]).toEqual([2 / 3, 2 / 3]);
  expect([recallOf(scoreOf([], [])), precisionOf(scoreOf([], []))]).toEqual([null, null]);
});
