import { METRIC_NAMES } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LENGTH, runs } from '../../../../../.ci/test/length.js';
import { RulesError } from '../../../src/errors.js';
import { negate, toCnf } from '../../../src/expression/cnf.js';
import { ExpressionError } from '../../../src/expression/errors.js';
import {
  AGGREGATES,
  type Cnf,
  type ConvertQuantity,
  type Expression,
  MAX_CLAUSES,
  MAX_CONDITIONS,
  MAX_WRITTEN_CONDITIONS,
  OPERATORS,
  type Operator,
} from '../../../src/expression/model.js';
import { parseExpression } from '../../../src/expression/parse.js';
import { printCnf, printExpression } from '../../../src/expression/print.js';
import { SEED } from '../../seed.js';
import {
  countConditions,
  deviceConvert,
  exactConvert,
  exactFraction,
  expressions,
  fractionalQuantities,
  observations,
} from './arbitraries.js';
import { evaluateCnf, evaluateExpression } from './evaluate.js';
import { conditionText, multiplyOut, partsOf, sortedClauses } from './reference.js';

/** Compiles short text: `a1` is `any(queueId) > 1`, and so on. */
const long = (text: string): string =>
  text.replaceAll(/\b([a-z])(\d+)\b/g, (_, a: string, n: string) => `${LETTERS[a]} > ${n}`);
const LETTERS: Readonly<Record<string, string>> = { a: 'any(queueId)', s: 'sum(queueId)', c: 'count()' };
const compile = (text: string): string => printCnf(toCnf(parseExpression(long(text)), deviceConvert));

function errorOf(text: string, convert: ConvertQuantity = deviceConvert, withText = true): ExpressionError {
  try {
    toCnf(parseExpression(text), convert, ...(withText ? [text] : []));
  } catch (error) {
    if (ExpressionError.is(error)) return error;
    throw error;
  }
  throw new Error(`'${text}' was compiled`);
}

/** `null` if it is too large. */
function tryCnf(expression: Expression, convert: ConvertQuantity = deviceConvert): Cnf | null {
  try {
    return toCnf(expression, convert);
  } catch (error) {
    if (ExpressionError.is(error) && error.code === 'EXPRESSION_TOO_LARGE') return null;
    throw error;
  }
}

describe('toCnf', () => {
  test.each([
    ['s1', 's1'],
    ['s1 and a2 and c3', 'a2 and s1 and c3'],
    ['s1 or a2', 'a2 or s1'],
    ['s1 and s2 or c3', '(s1 or c3) and (s2 or c3)'],
    ['(s1 and s2) or (s3 and s4)', '(s1 or s3) and (s1 or s4) and (s2 or s3) and (s2 or s4)'],
    // Duplicates and absorption.
    ['s1 and s1', 's1'],
    ['s1 or s1 or s1', 's1'],
    ['s1 and (s1 or s2)', 's1'],
    ['s1 or (s1 and s2)', 's1'],
    ['(s1 or s2) and (s2 or s1) and (s3 or s1 or s2)', 's1 or s2'],
    ['(s1 and s2) or (s1 and s3)', 's1 and (s2 or s3)'],
    ['(s1 and s2) or (s2 and s3) or (s1 and s3)', '(s1 or s2) and (s1 or s3) and (s2 or s3)'],
    // Conditions are independent: what one says of another is not looked at.
    ['s1 and s2', 's1 and s2'],
  ])('makes %s into %s', (text, expected) => {
    expect(compile(text)).toBe(long(expected));
  });

  test.each([
    ['not any(queueId) > 5', 'all(queueId) <= 5'],
    ['not all(queueId) < 5', 'any(queueId) >= 5'],
    ['not any(queueId) == 5', 'all(queueId) != 5'],
    ['not sum(queueId) > 5', 'sum(queueId) <= 5'],
    ['not max(queueId) <= 5', 'max(queueId) > 5'],
    ['not min(queueId) != 5', 'min(queueId) == 5'],
    ['not last(queueId) >= 5', 'last(queueId) < 5'],
    ['not delta(queueId) < 5', 'delta(queueId) >= 5'],
    ['not count() == 5', 'count() != 5'],
    ['not not count() == 5', 'count() == 5'],
    ['not (max(queueId) > 5 and count() > 1)', 'max(queueId) <= 5 or count() <= 1'],
    ['not (max(queueId) > 5 or not count() > 1)', 'max(queueId) <= 5 and count() > 1'],
    // Both are unknown where the metric is missing: no tautology, no contradiction.
    ['max(queueId) > 5 or not max(queueId) > 5', 'max(queueId) <= 5 or max(queueId) > 5'],
    ['max(queueId) > 5 and not max(queueId) > 5', 'max(queueId) <= 5 and max(queueId) > 5'],
  ])('pushes negations in: %s is %s', (text, expected) => {
    expect(compile(text)).toBe(expected);
  });

  test('negating twice is no negation', () => {
    for (const aggregate of AGGREGATES) {
      for (const operator of OPERATORS) {
        const once = negate(aggregate, operator);
        expect(once.operator).not.toBe(operator);
        expect(negate(once.aggregate, once.operator)).toEqual({ aggregate, operator });
      }
    }
  });

  test('is true of exactly the reports of which the tree is, metrics missing or not', () => {
    let compared = 0;
    const outcomes = new Set<boolean | null>();
    fc.assert(
      fc.property(expressions(), fc.array(observations(), { minLength: 5, maxLength: 5 }), (tree, reports) => {
        const cnf = tryCnf(tree);
        if (cnf === null) return;
        for (const report of reports) {
          const expected = evaluateExpression(tree, report, deviceConvert);
          expect(evaluateCnf(cnf, report)).toBe(expected === true);
          outcomes.add(expected);
          compared++;
        }
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
    expect(compared).toBeGreaterThan(8000 * LENGTH);
    expect(outcomes).toEqual(new Set([true, false, null]));
  });

  test('is true of exactly the reports of which the tree is, with deep nesting and fractions', () => {
    const options = {
      maxDepth: 12,
      maxOperands: 2,
      quantities: fractionalQuantities,
      operators: ['<', '<=', '>=', '>'] as const,
    };
    let compared = 0;
    fc.assert(
      fc.property(expressions(options), fc.array(observations(), { minLength: 3, maxLength: 3 }), (tree, reports) => {
        const cnf = tryCnf(tree, exactConvert);
        if (cnf === null) return;
        for (const report of reports) {
          // The tree converts with the operator as written and then negates; the form does it the other way round.
          expect(evaluateCnf(cnf, report)).toBe(evaluateExpression(tree, report, exactConvert) === true);
          compared++;
        }
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
    expect(compared).toBeGreaterThan(2400 * LENGTH);
  });

  test('gives what multiplying out gives, and refuses exactly where that does not fit', () => {
    const seen = { fits: 0, tooLarge: 0, unknown: 0 };
    fc.assert(
      fc.property(expressions({ maxDepth: 6, maxOperands: 4 }), (tree) => {
        const expected = multiplyOut(tree, deviceConvert);
        const cnf = tryCnf(tree);
        if (expected === null) {
          seen.unknown++;
          return;
        }
        const fits = expected.length <= MAX_CLAUSES && expected.every((clause) => clause.size <= MAX_CONDITIONS);
        seen[fits ? 'fits' : 'tooLarge']++;
        expect(cnf !== null).toBe(fits);
        if (cnf === null) return;
        expect(sortedClauses(cnf.map((clause) => clause.map(conditionText)))).toEqual(sortedClauses(expected));
      }),
      { seed: SEED, numRuns: runs(3000) },
    );
    expect(seen.fits).toBeGreaterThan(2000 * LENGTH);
    expect(seen.tooLarge).toBeGreaterThan(100 * LENGTH);
    expect(seen.unknown).toBeLessThan(500);
  });

  test('is the same, order included, for expressions that say the same', () => {
    fc.assert(
      fc.property(expressions(), fc.infiniteStream(fc.nat(9)), (tree, choices) => {
        const other = rewritten(tree, () => choices.next().value);
        if (countConditions(other) <= MAX_WRITTEN_CONDITIONS) expect(tryCnf(other)).toEqual(tryCnf(tree));
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
  });

  test('converts each condition once, in the order of the text, as it is after negation', () => {
    fc.assert(
      fc.property(expressions({ metrics: METRIC_NAMES }), (tree) => {
        const text = printExpression(tree);
        const calls: unknown[] = [];
        const parsed = parseExpression(text);
        try {
          toCnf(parsed, (metric, operator, quantity, aggregate) => {
            calls.push({ metric, operator, quantity, aggregate });
            return Number(quantity.number);
          });
        } catch (error) {
          expect(ExpressionError.is(error)).toBe(true);
        }
        expect(calls).toEqual(
          partsOf(parsed).flatMap((part) => {
            if (part.type !== 'condition') return [];
            const { metric, quantity } = part;
            const nots = partsOf(parsed).filter(
              ({ type, span }) => type === 'not' && span.start <= part.span.start && span.end >= part.span.end,
            );
            const { aggregate, operator } = nots.length % 2 === 1 ? negate(part.aggregate, part.operator) : part;
            return [{ metric, operator, quantity, aggregate }];
          }),
        );
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });
});

/** An expression that says the same: operands moved, repeated and absorbed, groups grouped, De Morgan applied. */
function rewritten(tree: Expression, choose: () => number): Expression {
  const { span } = tree;
  const not = (operand: Expression): Expression => ({ type: 'not', operand, span });
  if (tree.type === 'condition') {
    return choose() < 5 ? tree : not({ ...tree, ...negate(tree.aggregate, tree.operator) });
  }
  if (tree.type === 'not') {
    const operand = rewritten(tree.operand, choose);
    return choose() < 5 ? not(operand) : not(not(not(operand)));
  }
  let operands = tree.operands.map((operand) => rewritten(operand, choose));
  const { type } = tree;
  const other = type === 'and' ? 'or' : 'and';
  const turn = choose() % operands.length;
  operands = [...operands.slice(turn), ...operands.slice(0, turn)];
  const [head, next] = [operands[0]!, operands[1] ?? operands[0]!];
  switch (choose()) {
    case 0:
      operands = [...operands, head];
      break;
    case 1:
      operands = [{ type: other, operands: [head, next], span }, ...operands];
      break;
    case 2:
      operands = [head, { type, operands, span }];
      break;
    case 3:
      return not({ type: other, operands: operands.map(not), span });
  }
  return { type, operands, span };
}

describe('rounding and negation', () => {
  const TRUTH: Readonly<Record<Operator, (a: bigint, b: bigint) => boolean>> = {
    '<': (a, b) => a < b,
    '<=': (a, b) => a <= b,
    '==': (a, b) => a === b,
    '!=': (a, b) => a !== b,
    '>=': (a, b) => a >= b,
    '>': (a, b) => a > b,
  };
  const compare = (value: number, operator: Operator, constant: number): boolean =>
    TRUTH[operator](BigInt(value), BigInt(constant));

  test('a comparison of whole numbers with the rounded constant is that with the exact one', () => {
    const near = fc.integer({ min: 0, max: 8 });
    fc.assert(
      fc.property(near, fc.constantFrom(...OPERATORS), fractionalQuantities, (value, operator, quantity) => {
        const [numerator, denominator] = exactFraction(quantity);
        if ((operator === '==' || operator === '!=') && numerator % denominator !== 0n) return;
        const constant = exactConvert('queueId', operator, quantity, 'max');
        expect(compare(value, operator, constant)).toBe(TRUTH[operator](BigInt(value) * denominator, numerator));
      }),
      { seed: SEED, numRuns: runs(3000) },
    );
  });

  test('rounding for an operator is rounding for its negation, so that their order does not matter', () => {
    fc.assert(
      fc.property(fc.constantFrom(...OPERATORS), fractionalQuantities, fc.nat(8), (operator, quantity, value) => {
        const contrary = negate('max', operator).operator;
        const convert = (each: Operator): number | 'refused' => {
          try {
            return exactConvert('queueId', each, quantity, 'max');
          } catch {
            return 'refused';
          }
        };
        const constant = convert(operator);
        expect(convert(contrary)).toBe(constant);
        if (constant === 'refused') return;
        expect(compare(value, contrary, constant)).toBe(!compare(value, operator, constant));
      }),
      { seed: SEED, numRuns: runs(3000) },
    );
  });
});

describe('limits of toCnf', () => {
  const series = (n: number, join: string, each: (i: number) => string): string =>
    Array.from({ length: n }, (_, i) => each(i)).join(join);

  test('eight clauses of four conditions fit', () => {
    const text = long(series(8, ' and ', (i) => `(${series(4, ' or ', (j) => `s${4 * i + j}`)})`));
    const cnf = toCnf(parseExpression(text), deviceConvert);
    expect(cnf.map((clause) => clause.length)).toEqual([4, 4, 4, 4, 4, 4, 4, 4]);
    expect(printCnf(cnf)).toBe(text);
  });

  test.each<[name: string, text: string, part: string, reached: string]>([
    ['a ninth clause', series(9, ' and ', (i) => `s${i}`), series(9, ' and ', (i) => `s${i}`), 'at least 9 clauses'],
    [
      'a fifth condition',
      `c1 and (${series(5, ' or ', (i) => `s${i}`)}) and a1`,
      series(5, ' or ', (i) => `s${i}`),
      'a clause of 5 conditions',
    ],
    [
      'a product of three groups',
      `c1 and (s1 and s2 and s3 or s4 and s5 and s6) and c2`,
      's1 and s2 and s3 or s4 and s5 and s6',
      'at least 9 clauses',
    ],
    [
      'the first of two large parts',
      `(${series(6, ' or ', (i) => `s${i}`)}) and (${series(7, ' or ', (i) => `a${i}`)})`,
      series(6, ' or ', (i) => `s${i}`),
      'a clause of 6 conditions',
    ],
    [
      'the smallest of nested large parts',
      `c1 or (c2 and (c3 or (${series(9, ' and ', (i) => `s${i}`)})))`,
      series(9, ' and ', (i) => `s${i}`),
      'at least 9 clauses',
    ],
    [
      'a whole of parts that fit',
      `(${series(5, ' and ', (i) => `s${i}`)}) and (${series(5, ' and ', (i) => `a${i}`)})`,
      `(${series(5, ' and ', (i) => `s${i}`)}) and (${series(5, ' and ', (i) => `a${i}`)})`,
      'at least 9 clauses',
    ],
    [
      'a negated whole',
      `not (${series(5, ' and ', (i) => `s${i}`)})`,
      `not (${series(5, ' and ', (i) => `s${i}`)})`,
      'a clause of 5 conditions',
    ],
  ])('%s is refused, naming the part', (_name, text, part, reached) => {
    const error = errorOf(long(text));
    const source = long(text).slice(error.span.start, error.span.end);
    expect(error.code).toBe('EXPRESSION_TOO_LARGE');
    expect(source).toBe(long(part));
    const quoted = source.length > 60 ? `${source.slice(0, 57).trimEnd()}...` : source;
    expect(error.message).toBe(
      `too large: '${quoted}', made an 'and' of clauses joined by 'or', needs ${reached}; ` +
        'the limit is 8 clauses of 4 conditions',
    );
  });

  test('a part that is too large because of a not outside of it is named with that', () => {
    const text = long(`c9 and not (c8 or ${series(5, ' and ', (i) => `s${i}`)})`);
    const error = errorOf(text);
    expect(text.slice(error.span.start, error.span.end)).toBe(long(series(5, ' and ', (i) => `s${i}`)));
    expect(error.message).toMatch(/^too large: 'sum\(queueId\) > 0 and .*\.\.\.' under 'not', made .* a clause of 5 /);
  });

  test('the part is quoted as it is written, or as it is printed if the text is not given', () => {
    const text = 'max(queueId)>1  or (min(queueId)>2 or any(queueId)>3) or count()>4 or sum(queueId)>5';
    expect(errorOf(text).message).toContain("'max(queueId)>1  or (min(queueId)>2 or any(queueId)>3) or...'");
    expect(errorOf(text, deviceConvert, false).message).toContain(
      "'max(queueId) > 1 or min(queueId) > 2 or any(queueId) > 3...'",
    );
  });

  test('the part that is named is too large by itself, and none of its operands is', () => {
    let refused = 0;
    let inner = 0;
    fc.assert(
      fc.property(expressions({ maxDepth: 6, maxOperands: 4 }), (tree) => {
        const text = printExpression(tree);
        let error: unknown;
        try {
          toCnf(parseExpression(text), deviceConvert, text);
          return;
        } catch (caught) {
          error = caught;
        }
        if (!ExpressionError.is(error)) throw error;
        refused++;
        const part = text.slice(error.span.start, error.span.end);
        let isNegated = error.message.includes("' under 'not', ");
        const compilePart = (each: Expression, negated: boolean): Cnf | null =>
          tryCnf(negated ? { type: 'not', operand: each, span: each.span } : each);
        let expression = parseExpression(part);
        expect(compilePart(expression, isNegated)).toBeNull();
        while (expression.type === 'not') {
          expression = expression.operand;
          isNegated = !isNegated;
        }
        for (const operand of expression.type === 'condition' ? [] : expression.operands) {
          expect(compilePart(operand, isNegated)).not.toBeNull();
        }
        if (part !== text) inner++;
      }),
      { seed: SEED, numRuns: runs(1500) },
    );
    expect(refused).toBeGreaterThan(40 * LENGTH);
    expect(inner).toBeGreaterThan(0);
  });

  test('what is absorbed in the end does not count, however large it is on the way', () => {
    // Multiplied out, the sum of products alone has 2^120 clauses.
    const huge = series(120, ' or ', (i) => `s${2 * i} and s${2 * i + 1}`);
    expect(compile(`a1 and (a1 or ${huge})`)).toBe(long('a1'));
    expect(compile(`a1 or a2 or a1 and (${huge})`)).toBe(long('a1 or a2'));
    expect(compile(`(a1 and a2) or (a1 and (${huge}) and a2)`)).toBe(long('a1 and a2'));
    const error = errorOf(long(huge));
    expect(error.message).toContain('a clause of 120 conditions');
  });

  test('products of many groups are refused, not multiplied out', () => {
    const groups = series(80, ' or ', (i) => `(s${3 * i} and s${3 * i + 1} and s${3 * i + 2})`);
    expect(errorOf(long(groups)).code).toBe('EXPRESSION_TOO_LARGE');
    expect(errorOf(long(`not (${groups})`)).message).toContain('at least 9 clauses');
    expect(
      errorOf(
        long(
          `${'(c1 or s1 and '.repeat(60)}c2${')'.repeat(60)} and (${groups.slice(0, 1000).replace(/ or [^)]*$/, '')})`,
        ),
      ).code,
    ).toBe('EXPRESSION_TOO_LARGE');
  });

  test('a form at the limit that is hard to tell from one beyond it is told in bounded time', () => {
    const full = series(8, ' and ', (i) => `(${series(4, ' or ', (j) => `s${4 * i + j}`)})`);
    const absorbed = series(40, ' and ', (i) => `(s0 or s1 or s2 or s3 or a${i})`);
    expect(compile(`${absorbed} and ${full}`)).toBe(long(full));
    // The ninth clause is met by nearly every way to meet the other eight.
    expect(errorOf(long(`${full} and (s3 or s7 or s11 or s15)`)).message).toContain('at least 9 clauses');
  });

  test('trees that no text gives are refused, not followed for ever', () => {
    const leaf = parseExpression('count() > 1');
    const span = { start: 5, end: 6 };
    const operands: Expression[] = [leaf];
    const loop: Expression = { type: 'and', operands, span };
    operands.push(loop);
    expect(() => toCnf(loop, deviceConvert)).toThrow(
      expect.objectContaining({ code: 'EXPRESSION_TOO_LARGE', message: 'more than 130 levels of and, or and not' }),
    );

    let wide: Expression = leaf;
    for (let i = 0; i < 100; i++) wide = { type: 'and', operands: [wide, wide], span };
    expect(() => toCnf(wide, deviceConvert)).toThrow(
      expect.objectContaining({ code: 'EXPRESSION_TOO_LARGE', message: 'more than 256 conditions' }),
    );
    expect(() => toCnf({ type: 'or', operands: [], span }, deviceConvert)).toThrow(RangeError);
  });
});

describe('errors of the conversion', () => {
  const text = 'count() > 1 and not (max(hopLatency) == 1.5 or max(queueId) > 2)';

  test('come back with their code and the place of the quantity', () => {
    const error = errorOf(text, exactConvert);
    expect(error.code).toBe('INEXACT_QUANTITY');
    expect(error.message).toBe('1.5 is no whole number');
    expect(text.slice(error.span.start, error.span.end)).toBe('1.5');
    expect(error.cause).toMatchObject({ code: 'INEXACT_QUANTITY' });
  });

  test('are found in conditions that would be absorbed, too', () => {
    const absorbed = 'count() > 1 and (count() > 1 or max(queueId) == 0.5)';
    expect(errorOf(absorbed, exactConvert).code).toBe('INEXACT_QUANTITY');
  });

  test('may be a RulesError: its first problem counts', () => {
    const error = errorOf(text, () => {
      throw new RulesError([{ code: 'UNDECLARED_UNIT', path: ['units'], message: 'no scale' }]);
    });
    expect(error).toMatchObject({ code: 'UNDECLARED_UNIT', message: 'no scale', span: { start: 10, end: 11 } });
  });

  test('that are no verdict on the quantity pass as they are', () => {
    const bugs = [new TypeError('bug'), Object.assign(new Error('file'), { code: 'ENOENT' }), 'text', null];
    for (const bug of bugs) {
      let caught: unknown;
      try {
        toCnf(parseExpression(text), () => {
          throw bug;
        });
      } catch (error) {
        caught = error;
      }
      expect(caught).toBe(bug);
    }
  });

  test('a constant that is no whole number of 32 bits is a mistake of the conversion', () => {
    for (const constant of [-1, 0.5, 2 ** 32, Number.NaN]) {
      expect(() => toCnf(parseExpression(text), () => constant)).toThrow(RangeError);
    }
    expect(toCnf(parseExpression('count() > 1'), () => 0xffffffff)[0]![0]!.constant).toBe(0xffffffff);
  });
});
