import { type Condition, type Expression, parseExpression, printCnf, printExpression, toCnf } from '@int/detect';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { SEED } from '../../seed.js';
import { cnfs, conditionNode, deviceConvert, expressions, fractionalQuantities } from './arbitraries.js';
import { plainTree } from './reference.js';

const NOWHERE = { start: 0, end: 0 };
const LEAF = conditionNode('count', null, '>', { number: '5', unit: '' });

describe('printExpression', () => {
  test.each([
    ['count()>5', 'count() > 5'],
    ['((max(hopLatency)  <=  10 us))', 'max(hopLatency) <= 10us'],
    ['(count()>1 and count()>2) or count()>3', 'count() > 1 and count() > 2 or count() > 3'],
    ['(count()>1 or count()>2) and count()>3', '(count() > 1 or count() > 2) and count() > 3'],
    ['not (count()>1)', 'not count() > 1'],
    ['not (not (count()>1 or count()>2))', 'not not (count() > 1 or count() > 2)'],
    ['(count()>1 and (count()>2 and count()>3))', 'count() > 1 and count() > 2 and count() > 3'],
    ['(not count()>1) and count()>2', 'not count() > 1 and count() > 2'],
  ])('writes %j as %j', (text, printed) => {
    expect(printExpression(parseExpression(text))).toBe(printed);
  });

  test('parsed again, its text gives the same tree up to groups within groups of their kind', () => {
    fc.assert(
      fc.property(expressions({ quantities: fractionalQuantities, maxDepth: 8 }), (tree) => {
        const text = printExpression(tree);
        const again = parseExpression(text);
        expect(plainTree(again)).toEqual(plainTree(tree));
        expect(printExpression(again)).toBe(text);
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
  });

  test('needs every pair of parentheses it writes', () => {
    fc.assert(
      fc.property(expressions({ maxDepth: 4 }), (tree) => {
        const text = printExpression(tree);
        for (const [start, end] of groups(text)) {
          const without = `${text.slice(0, start)} ${text.slice(start + 1, end)} ${text.slice(end + 1)}`;
          expect(plainTree(parseExpression(without))).not.toEqual(plainTree(tree));
        }
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  test('refuses trees that no text gives', () => {
    const empty: Expression = { type: 'and', operands: [], span: NOWHERE };
    expect(() => printExpression(empty)).toThrow(RangeError);

    const operands: Expression[] = [LEAF];
    const loop: Expression = { type: 'or', operands, span: NOWHERE };
    operands.push(loop);
    expect(() => printExpression(loop)).toThrow(
      expect.objectContaining({ code: 'EXPRESSION_TOO_LARGE', message: 'more than 130 levels of and, or and not' }),
    );
  });

  test('prints and parses again whatever depth the parser allows', () => {
    const step = '(count() > 1 or count() > 2 and not ';
    for (const text of [
      `${step.repeat(32)}count() > 3${')'.repeat(32)}`,
      `${'(count() > 1 or count() > 2 and '.repeat(64)}count() > 3${')'.repeat(64)}`,
    ]) {
      const tree = parseExpression(text);
      expect(plainTree(parseExpression(printExpression(tree)))).toEqual(plainTree(tree));
    }
  });
});

/** Pairs of parentheses around groups, not those of aggregates. */
function groups(text: string): [number, number][] {
  const open: number[] = [];
  const found: [number, number][] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') open.push(i);
    if (text[i] !== ')') continue;
    const start = open.pop()!;
    if (!/[a-z]$/.test(text.slice(0, start))) found.push([start, i]);
  }
  return found;
}

describe('printCnf', () => {
  const condition = (constant: number): Condition => ({
    aggregate: 'max',
    metric: 'hopLatency',
    operator: '>',
    constant,
  });

  test('writes clauses in device units, with parentheses where they are needed', () => {
    const [a, b, c] = [condition(1), condition(2), condition(0xffffffff)];
    expect(printCnf([[a]])).toBe('max(hopLatency) > 1');
    expect(printCnf([[a, b]])).toBe('max(hopLatency) > 1 or max(hopLatency) > 2');
    expect(printCnf([[a], [b, c]])).toBe(
      'max(hopLatency) > 1 and (max(hopLatency) > 2 or max(hopLatency) > 4294967295)',
    );
    expect(printCnf([[{ aggregate: 'count', metric: null, operator: '==', constant: 0 }]])).toBe('count() == 0');
  });

  test('compiled again, its text gives the same form, and the form of the form is the form', () => {
    fc.assert(
      fc.property(cnfs(), (cnf) => {
        const compiled = toCnf(parseExpression(printCnf(cnf)), deviceConvert);
        expect(toCnf(parseExpression(printCnf(compiled)), deviceConvert)).toEqual(compiled);
        expect(compiled.length).toBeLessThanOrEqual(cnf.length);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  test('refuses forms without clauses or conditions: there is no text for them', () => {
    expect(() => printCnf([])).toThrow(RangeError);
    expect(() => printCnf([[condition(1)], []])).toThrow(RangeError);
  });
});
