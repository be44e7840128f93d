import { describe, expect, test } from 'vitest';
import { toCnf } from '../../../src/expression/cnf.js';
import type { Aggregate, Condition, Operator } from '../../../src/expression/model.js';
import { parseExpression } from '../../../src/expression/parse.js';
import { deviceConvert } from './arbitraries.js';
import { concerns, evaluateCnf, evaluateCondition, evaluateExpression, type Observation } from './evaluate.js';

const latencies = (...values: (number | null)[]): Observation['hops'] => values.map((hopLatency) => ({ hopLatency }));
const first = (hops: Observation['hops']): Observation => ({ hops, previousSums: new Map(), count: 1 });
const parse = (text: string): Condition => toCnf(parseExpression(text), deviceConvert)[0]![0]!;

describe('evaluateCondition', () => {
  test.each<[Operator, boolean[]]>([
    ['<', [true, false, false]],
    ['<=', [true, true, false]],
    ['==', [false, true, false]],
    ['!=', [true, false, true]],
    ['>=', [false, true, true]],
    ['>', [false, false, true]],
  ])('%s compares below, at and above the constant', (operator, expected) => {
    const constant = 0x80000000;
    const outcomes = [constant - 1, constant, constant + 1].map((value) =>
      evaluateCondition({ aggregate: 'last', metric: 'hopLatency', operator, constant }, first(latencies(value))),
    );
    expect(outcomes).toEqual(expected);
  });

  test.each<[text: string, hops: (number | null)[], expected: boolean | null]>([
    ['any(hopLatency) > 5', [1, 6, 2], true],
    ['any(hopLatency) > 5', [1, 5, 2], false],
    ['all(hopLatency) > 5', [6, 7], true],
    ['all(hopLatency) > 5', [6, 5], false],
    ['all(hopLatency) > 5', [6, null, 7], true],
    ['any(hopLatency) == 3', [2, 4], false],
    ['all(hopLatency) != 3', [2, 4], true],
    ['sum(hopLatency) == 9', [1, null, 6, 2], true],
    ['sum(hopLatency) == 4294967295', [0xffffffff, 1], true],
    ['sum(hopLatency) == 4294967295', [0xfffffffe, 0xfffffffe, 3], true],
    ['sum(hopLatency) == 4294967294', [0xfffffffe, 0], true],
    ['max(hopLatency) == 6', [1, 6, 2], true],
    ['min(hopLatency) == 1', [3, 1, 2], true],
    ['min(hopLatency) == 0', [null, 1, 2], false],
    ['last(hopLatency) == 2', [1, 6, 2], true],
    ['last(hopLatency) == 6', [1, 6, null], true],
    ['any(hopLatency) >= 0', [], null],
    ['all(hopLatency) >= 0', [null, null], null],
    ['sum(hopLatency) == 0', [null], null],
    ['delta(hopLatency) == 0', [], null],
    ['any(queueId) >= 0', [1, 2], null],
  ])('%s with hops %j is %j', (text, hops, expected) => {
    expect(evaluateCondition(parse(text), first(latencies(...hops)))).toBe(expected);
  });

  test('delta is the absolute difference to the previous sum, and 0 at first sight', () => {
    const observe = (value: number, previous?: number): Observation => ({
      ...first(latencies(value, 1)),
      previousSums: new Map(previous === undefined ? [] : [['hopLatency', previous]]),
    });
    expect(evaluateCondition(parse('delta(hopLatency) == 0'), observe(99))).toBe(true);
    expect(evaluateCondition(parse('delta(hopLatency) == 100'), observe(99, 0))).toBe(true);
    expect(evaluateCondition(parse('delta(hopLatency) == 50'), observe(99, 150))).toBe(true);
    expect(evaluateCondition(parse('delta(hopLatency) == 50'), observe(99, 50))).toBe(true);
    expect(evaluateCondition(parse('delta(hopLatency) == 4294967295'), observe(0xffffffff, 0))).toBe(true);
  });

  test('count is that of the flow, whatever the hops carry', () => {
    expect(evaluateCondition(parse('count() >= 7'), { hops: [], previousSums: new Map(), count: 7 })).toBe(true);
    expect(evaluateCondition(parse('count() >= 7'), { hops: latencies(9), previousSums: new Map(), count: 6 })).toBe(
      false,
    );
  });
});

describe('evaluateExpression', () => {
  // Of a report with hop latency only: what is true, false and unknown.
  const T = 'max(hopLatency) == 1';
  const F = 'max(hopLatency) == 2';
  const U = 'max(queueId) == 1';
  const observation = first(latencies(1));

  test.each<[text: string, expected: boolean | null]>([
    [T, true],
    [F, false],
    [U, null],
    [`not ${T}`, false],
    [`not ${F}`, true],
    [`not ${U}`, null],
    [`${T} and ${U}`, null],
    [`${U} and ${T}`, null],
    [`${F} and ${U}`, false],
    [`${U} and ${F}`, false],
    [`${T} or ${U}`, true],
    [`${U} or ${T}`, true],
    [`${F} or ${U}`, null],
    [`${U} or not ${U}`, null],
    [`not (${U} or ${F})`, null],
    [`not (${U} or ${T})`, false],
    [`not (${U} and ${F})`, true],
  ])('%s is %j', (text, expected) => {
    const expression = parseExpression(text);
    expect(evaluateExpression(expression, observation, deviceConvert)).toBe(expected);
    expect(evaluateCnf(toCnf(expression, deviceConvert), observation)).toBe(expected === true);
  });
});

describe('concerns', () => {
  const cnfOf = (text: string): ReturnType<typeof toCnf> => toCnf(parseExpression(text), deviceConvert);

  test('a report concerns an expression if it carries one of its metrics, or if there is none', () => {
    const both = cnfOf('count() > 0 and (max(hopLatency) > 1 or max(queueId) > 1)');
    expect(concerns(both, first([]))).toBe(false);
    expect(concerns(both, first(latencies(null)))).toBe(false);
    expect(concerns(both, first([{ nodeId: 1 }]))).toBe(false);
    expect(concerns(both, first(latencies(null, 0)))).toBe(true);
    expect(concerns(both, first([{ queueId: 0 }]))).toBe(true);
    expect(concerns(cnfOf('count() > 0'), first([]))).toBe(true);
  });

  test('it is a matter of its own: an expression can be true of a report that it does not concern', () => {
    const cnf = cnfOf('count() > 0 or max(hopLatency) > 1');
    expect(evaluateCnf(cnf, first([]))).toBe(true);
    expect(concerns(cnf, first([]))).toBe(false);
  });
});

test('every aggregate has a meaning for a hop that carries the metric', () => {
  const of = (aggregate: Aggregate): boolean | null =>
    evaluateCondition(
      { aggregate, metric: aggregate === 'count' ? null : 'hopLatency', operator: '<=', constant: 5 },
      first(latencies(5)),
    );
  for (const aggregate of ['any', 'all', 'sum', 'max', 'min', 'last', 'delta', 'count'] as const) {
    expect(of(aggregate)).toBe(true);
  }
  const wrong: Condition = { aggregate: 'count', metric: 'hopLatency', operator: '>', constant: 0 };
  expect(() => evaluateCondition(wrong, first(latencies(5)))).toThrow(TypeError);
});
