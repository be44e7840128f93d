import { METRIC_NAMES } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { ExpressionError } from '../../../src/expression/errors.js';
import { AGGREGATES, type Expression, MAX_NESTING, MAX_WRITTEN_CONDITIONS } from '../../../src/expression/model.js';
import { parseExpression } from '../../../src/expression/parse.js';
import { printExpression } from '../../../src/expression/print.js';
import { SEED } from '../../seed.js';
import { expressions, fractionalQuantities } from './arbitraries.js';
import { partsOf, plainTree } from './reference.js';

function errorOf(text: string): ExpressionError {
  try {
    parseExpression(text);
  } catch (error) {
    if (ExpressionError.is(error)) return error;
    throw error;
  }
  throw new Error(`'${text}' was parsed`);
}

/** The tree as text with all parentheses. */
function shape(expression: Expression): string {
  switch (expression.type) {
    case 'condition':
      return `${expression.metric}`;
    case 'not':
      return `not ${shape(expression.operand)}`;
    default:
      return `(${expression.operands.map(shape).join(` ${expression.type} `)})`;
  }
}

describe('parseExpression', () => {
  test('gives conditions, groups and where they stand', () => {
    const text = 'sum(hopLatency) > 10us and (max( queueOccupancy )>100 or any(egressUtilization) >= 90.5 %)';
    expect(parseExpression(text)).toEqual({
      type: 'and',
      span: { start: 0, end: text.length },
      operands: [
        {
          type: 'condition',
          aggregate: 'sum',
          metric: 'hopLatency',
          operator: '>',
          quantity: { number: '10', unit: 'us' },
          span: { start: 0, end: 22 },
          quantitySpan: { start: 18, end: 22 },
        },
        {
          type: 'or',
          span: { start: 28, end: text.length - 1 },
          operands: [
            {
              type: 'condition',
              aggregate: 'max',
              metric: 'queueOccupancy',
              operator: '>',
              quantity: { number: '100', unit: '' },
              span: { start: 28, end: 53 },
              quantitySpan: { start: 50, end: 53 },
            },
            {
              type: 'condition',
              aggregate: 'any',
              metric: 'egressUtilization',
              operator: '>=',
              quantity: { number: '90.5', unit: '%' },
              span: { start: 57, end: 89 },
              quantitySpan: { start: 83, end: 89 },
            },
          ],
        },
      ],
    });
  });

  test('knows every aggregate with every metric, and count() without', () => {
    for (const aggregate of AGGREGATES) {
      for (const metric of METRIC_NAMES) {
        const name = aggregate === 'count' ? '' : metric;
        expect(parseExpression(`${aggregate}(${name}) != 7`)).toMatchObject({ aggregate, metric: name || null });
      }
    }
  });

  test('not binds tighter than and, and tighter than or', () => {
    const parse = (text: string): string =>
      shape(parseExpression(text.replaceAll(/\b[a-c]\b/g, (name) => NAMES[name]!)));
    const NAMES: Record<string, string> = { a: 'any(queueId)>1', b: 'any(bufferId)>1', c: 'any(nodeId)>1' };
    const expected = (text: string): string =>
      text.replaceAll('A', 'queueId').replaceAll('B', 'bufferId').replaceAll('C', 'nodeId');
    expect(parse('a or b and c')).toBe(expected('(A or (B and C))'));
    expect(parse('a and b or c')).toBe(expected('((A and B) or C)'));
    expect(parse('(a or b) and c')).toBe(expected('((A or B) and C)'));
    expect(parse('not a and b')).toBe(expected('(not A and B)'));
    expect(parse('not (a and b)')).toBe(expected('not (A and B)'));
    expect(parse('not not a or b')).toBe(expected('(not not A or B)'));
    expect(parse('a or b or c')).toBe(expected('(A or B or C)'));
    expect(parse('a or (b or c)')).toBe(expected('(A or (B or C))'));
    expect(parse('((a))')).toBe(expected('A'));
  });

  test.each([
    ['10us', '10', 'us'],
    ['10 us', '10', 'us'],
    ['10\n\tus ', '10', 'us'],
    ['10\u00b5s', '10', '\u00b5s'],
    ['10 \u03bcs', '10', '\u03bcs'],
    ['0.50%', '0.50', '%'],
    ['64KiB', '64', 'KiB'],
    ['007', '007', ''],
    ['4294967296', '4294967296', ''],
    ['5 whatever', '5', 'whatever'],
  ])('keeps the quantity %j as it is written', (text, number, unit) => {
    const parsed = parseExpression(`count() > ${text}`);
    expect(parsed).toMatchObject({ quantity: { number, unit } });
  });

  test('takes and, or after a number for what they are, with and without a blank', () => {
    for (const text of ['count()>1 and count()<5', 'count()>1and count()<5', '(count()>1)and(count()<5)']) {
      expect(parseExpression(text)).toMatchObject({
        type: 'and',
        operands: [{ quantity: { number: '1', unit: '' } }, {}],
      });
    }
    expect(parseExpression('count()>90%or count()<5')).toMatchObject({
      type: 'or',
      operands: [{ quantity: { unit: '%' } }, {}],
    });
  });

  test('leaves spans of parts without the parentheses around them, and those of wholes with them', () => {
    const text = ' ( count() > 1 or ( count() > 2 ) ) and not ( count() > 3 ) ';
    const parts = partsOf(parseExpression(text)).map(({ span }) => text.slice(span.start, span.end));
    expect(parts).toEqual([
      '( count() > 1 or ( count() > 2 ) ) and not ( count() > 3 )',
      'count() > 1 or ( count() > 2 )',
      'count() > 1',
      'count() > 2',
      'not ( count() > 3 )',
      'count() > 3',
    ]);
  });

  test('each part of an expression, parsed alone, is that part', () => {
    fc.assert(
      fc.property(
        expressions({ quantities: fractionalQuantities }),
        fc.constantFrom(' ', '  ', '\n'),
        (tree, blank) => {
          const text = `((${printExpression(tree).replaceAll(' ', blank)}))`;
          for (const part of partsOf(parseExpression(text))) {
            const { start, end } = part.span;
            expect(plainTree(parseExpression(text.slice(start, end)))).toEqual(plainTree(part));
          }
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });

  test('refuses what is no text as a mistake of the caller', () => {
    expect(() => parseExpression(5 as never)).toThrow(TypeError);
  });
});

describe('errors of parseExpression', () => {
  const OK = 'count() > 1';

  test.each<[text: string, marked: string, message: string | RegExp]>([
    // Nothing, or half of something. `marked` is the text at the span; a trailing $ is the end.
    ['', '', 'empty expression: write a condition, such as max(hopLatency) > 100'],
    [' \n', ' \n', 'empty expression: write a condition, such as max(hopLatency) > 100'],
    ['max', 'max', "'max' needs a metric: write max(hopLatency), for example"],
    ['count > 5', 'count', "write 'count()' instead of 'count'"],
    ['max(', '', 'max() needs a metric, such as max(hopLatency); found the end'],
    ['max() > 1', ')', "max() needs a metric, such as max(hopLatency); found ')'"],
    ['max(hopLatency', '', "expected ')' after 'max(hopLatency', found the end"],
    ['max(hopLatency)', '', "expected <, <=, ==, !=, >= or > after 'max(hopLatency)', found the end"],
    ['max(hopLatency) 5', '5', "expected <, <=, ==, !=, >= or > after 'max(hopLatency)', found '5'"],
    ['max(hopLatency) >', '', "expected a constant, such as 100 or 10us, after '>', found the end"],
    [`${OK} and`, '', 'expected a condition, such as max(hopLatency) > 100, found the end'],
    [`${OK} and and ${OK}`, 'and', "expected a condition, such as max(hopLatency) > 100, found 'and'"],
    [`and ${OK}`, 'and', "expected a condition, such as max(hopLatency) > 100, found 'and'"],
    [`and (${OK})`, 'and', "expected a condition before 'and'"],
    ['not', '', 'expected a condition, such as max(hopLatency) > 100, found the end'],
    ['()', ')', "expected a condition, such as max(hopLatency) > 100, found ')'"],
    // Parentheses.
    [`(${OK} or (${OK})`, '(', "'(' is never closed"],
    [`${OK})`, ')', "')' without a '(' before it"],
    [`[${OK}]`, '[', "write '(' instead of '['"],
    [`(${OK}]`, ']', "write ')' instead of ']'"],
    // Other languages' words.
    [`${OK} AND ${OK}`, 'AND', "write 'and' instead of 'AND'"],
    [`${OK} Or ${OK}`, 'Or', "write 'or' instead of 'Or'"],
    [`NOT ${OK}`, 'NOT', "write 'not' instead of 'NOT'"],
    [`NOT (${OK})`, 'NOT', "write 'not' instead of 'NOT'"],
    [`${OK} && ${OK}`, '&&', "write 'and' instead of '&&'"],
    [`${OK}&${OK}`, '&', "write 'and' instead of '&'"],
    [`${OK} || ${OK}`, '||', "write 'or' instead of '||'"],
    [`${OK} | ${OK}`, '|', "write 'or' instead of '|'"],
    [`!(${OK})`, '!', "write 'not' instead of '!'"],
    [`\u00ac ${OK}`, '\u00ac', "write 'not' instead of '\u00ac'"],
    ['count() = 5', '=', "write '==' instead of '='"],
    ['count() === 5', '===', "write '==' instead of '==='"],
    ['count() <> 5', '<>', "write '!=' instead of '<>'"],
    ['count() => 5', '=>', "write '>=' instead of '=>'"],
    ['count() =< 5', '=<', "write '<=' instead of '=<'"],
    ['count() \u2265 5', '\u2265', "write '>=' instead of '\u2265'"],
    // Names.
    ['max(hoplatency) > 1', 'hoplatency', "unknown metric 'hoplatency': did you mean 'hopLatency'?"],
    ['max(hop_latency) > 1', 'hop_latency', "unknown metric 'hop_latency': did you mean 'hopLatency'?"],
    ['max(latency) > 1', 'latency', "unknown metric 'latency': did you mean 'hopLatency'?"],
    ['sum(queueOcupancy) > 1', 'queueOcupancy', "unknown metric 'queueOcupancy': did you mean 'queueOccupancy'?"],
    ['sum(temperature) > 1', 'temperature', /^unknown metric 'temperature': metrics are hopLatency, .*, reserved14$/],
    ['mx(hopLatency) > 1', 'mx', "unknown aggregate 'mx': did you mean 'max'?"],
    ['MAX(hopLatency) > 1', 'MAX', "unknown aggregate 'MAX': did you mean 'max'?"],
    [
      'average(hopLatency) > 1',
      'average',
      "unknown aggregate 'average': aggregates are any, all, sum, max, min, last, delta, count",
    ],
    ['hopLatency(max) > 1', 'hopLatency', "'hopLatency' is a metric: write any(hopLatency), for example"],
    [
      'hopLatency > 10us',
      'hopLatency',
      "'hopLatency' needs an aggregate: write any(hopLatency), or all, sum, max, min, last or delta in place of any",
    ],
    ['hoplatency > 10us', 'hoplatency', "unknown name 'hoplatency': did you mean 'hopLatency'?"],
    ['true', 'true', "unknown name 'true': expected a condition, such as max(hopLatency) > 100"],
    ['count(hopLatency) > 1', 'hopLatency', 'count() takes no metric: it counts the reports of the flow'],
    ['count(*) > 1', '*', "expected ')' after 'count(', found '*'"],
    ['max(hopLatency, queueId) > 1', ',', "max() takes one metric; join two conditions with 'and' or 'or'"],
    ['max(hopLatency + 1) > 1', '+', "expected ')' after 'max(hopLatency', found '+'"],
    ['max(5) > 1', '5', "max() needs a metric, such as max(hopLatency); found '5'"],
    // Comparisons.
    [
      '10us < count()',
      '10us',
      "a condition has its constant on the right, as in max(hopLatency) > 100; found '10us' first",
    ],
    ['count() > 1 < 5', '<', "a condition has one comparison, found '<': join two conditions with 'and'"],
    ['count() > 1 = 5', '=', "a condition has one comparison, found '=': join two conditions with 'and'"],
    ['count() + 1 > 5', '+', "no arithmetic: a condition compares one aggregate with a constant; found '+'"],
    ['max(queueId) > min(queueId)', 'min', "a condition compares with a constant, such as 100 or 10us, not with 'min'"],
    [`${OK} max(queueId) > 2`, 'max', "expected 'and', 'or' or the end, found 'max'"],
    [`(${OK} max(queueId) > 2)`, 'max', "expected 'and', 'or' or ')', found 'max'"],
    [`${OK} not ${OK}`, 'not', "expected 'and' or 'or' before 'not'"],
    [`${OK}, ${OK}`, ',', "expected 'and', 'or' or the end, found ','"],
    [`${OK} 5`, '5', "expected 'and', 'or' or the end, found '5'"],
    // Constants.
    ['count() > -5', '-', 'constants are not negative: metrics are unsigned'],
    ['count() > +5', '+', 'write the constant without a sign'],
    ['count() > .5', '.', 'write a digit before the decimal point, as 0.5'],
    ['count() > 5. ', '5.', 'write digits after the decimal point, or none'],
    ['count() > 1.2.3', '1.2.3', 'a number has one decimal point'],
    ['count() > 1e3', '1e3', 'numbers have no exponent: write it out, as 1000 for 1e3'],
    ['count() > 1.5E-3', '1.5E-3', 'numbers have no exponent: write it out, as 1000 for 1e3'],
    ['count() > 1_000', '1_0', 'numbers have no separators: write 1000000 for a million'],
    ['count() > 1,000', '1,0', 'numbers have no separators: write 1000000 for a million'],
    ['count() > 0xf0', '0xf0', 'numbers are decimal: write 255 for 0xff'],
    ['count() > many', 'many', "expected a constant, such as 100 or 10us, after '>', found 'many'"],
    // Characters.
    ['count() > 5 # always', '#', "expected 'and', 'or' or the end, found '#' (U+0023)"],
    ['count() > 5\u200b', '\u200b', "expected 'and', 'or' or the end, found U+200B"],
    ['count() > 5 \ud83d\ude00', '\ud83d\ude00', "expected 'and', 'or' or the end, found '\ud83d\ude00' (U+1F600)"],
    ['count() > 5 \ud83d', '\ud83d', "expected 'and', 'or' or the end, found U+D83D"],
    ['count() > \u0665', '\u0665', "expected a constant, such as 100 or 10us, after '>', found '\u0665' (U+0665)"],
    [`max(${'x'.repeat(500)}) > 1`, 'x'.repeat(500), new RegExp(`^unknown metric '${'x'.repeat(57)}\\.\\.\\.': `)],
  ])('%j: marks %j', (text, marked, message) => {
    const error = errorOf(text);
    if (typeof message === 'string') expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
    expect(text.slice(error.span.start, error.span.end)).toBe(marked);
    expect(error.span.end).toBeLessThanOrEqual(text.length);
    const isMetric = message.toString().includes('unknown metric');
    expect(error.code).toBe(
      isMetric
        ? 'UNKNOWN_METRIC'
        : /^(numbers|a number|write digits)/.test(error.message)
          ? 'BAD_QUANTITY'
          : 'BAD_EXPRESSION',
    );
  });

  test('the first mistake in the text is the one reported', () => {
    expect(errorOf('max(nope) > 1 and count() > 1e3 and $').code).toBe('UNKNOWN_METRIC');
    expect(errorOf('count() > 1e3 and max(nope) > 1').code).toBe('BAD_QUANTITY');
  });

  test('is recognised by its brand, whichever copy of the package it comes from', () => {
    expect(ExpressionError.is(errorOf(''))).toBe(true);
    expect(ExpressionError.is(new Error('empty'))).toBe(false);
    expect(ExpressionError.is(null)).toBe(false);
    expect(errorOf('')).toBeInstanceOf(Error);
  });

  test('nesting is limited, by parentheses and by not, and the span is that of the one too many', () => {
    for (const [open, close] of [
      ['(', ')'],
      ['not ', ''],
      ['not(', ')'],
    ] as const) {
      const levels = open === 'not(' ? MAX_NESTING / 2 : MAX_NESTING;
      const nested = (n: number): string => open.repeat(n) + OK + close.repeat(n);
      expect(parseExpression(nested(levels)).span.end).toBeGreaterThan(0);
      const error = errorOf(nested(levels + 1));
      expect(error).toMatchObject({ code: 'EXPRESSION_TOO_LARGE', message: "more than 64 levels of '(' and 'not'" });
      expect(error.span.start).toBe(open.length * levels);
    }
  });

  test('ten thousand and a million open parentheses end in the same error, no overflow', () => {
    for (const n of [10_000, 1_000_000]) {
      expect(errorOf('('.repeat(n)).code).toBe('EXPRESSION_TOO_LARGE');
      expect(errorOf('not '.repeat(n)).code).toBe('EXPRESSION_TOO_LARGE');
      expect(errorOf('not('.repeat(n)).code).toBe('EXPRESSION_TOO_LARGE');
      expect(errorOf(`${OK} or (`.repeat(n)).code).toBe('EXPRESSION_TOO_LARGE');
    }
  });

  test('the number of conditions is limited, and the span is that of the one too many', () => {
    const many = (n: number): string => Array.from({ length: n }, () => OK).join(' and ');
    expect(parseExpression(many(MAX_WRITTEN_CONDITIONS))).toMatchObject({ type: 'and' });
    const error = errorOf(many(MAX_WRITTEN_CONDITIONS + 1));
    expect(error).toMatchObject({ code: 'EXPRESSION_TOO_LARGE', message: 'more than 256 conditions' });
    expect(error.span.start).toBe(many(MAX_WRITTEN_CONDITIONS).length + ' and '.length);
    expect(errorOf(many(100_000)).code).toBe('EXPRESSION_TOO_LARGE');
  });

  test('long runs of one kind of character are read in one go', () => {
    const n = 1_000_000;
    expect(parseExpression(`${' '.repeat(n)}${OK}${'\n'.repeat(n)}`).type).toBe('condition');
    expect(parseExpression(`count() > ${'1'.repeat(n)}`)).toMatchObject({ quantity: { number: '1'.repeat(n) } });
    expect(errorOf('x'.repeat(n)).span.end).toBe(n);
    expect(errorOf(`${OK} ${'='.repeat(n)}`).code).toBe('BAD_EXPRESSION');
  });
});

describe('the parser, given anything', () => {
  /** Parsed, and then printable and parsed to the same again; or an ExpressionError with its place in the text. */
  function check(text: string): void {
    let parsed: Expression;
    try {
      parsed = parseExpression(text);
    } catch (error) {
      if (!ExpressionError.is(error)) throw error;
      expect(error.message.length).toBeGreaterThan(0);
      expect(error.message.length).toBeLessThan(500);
      expect(error.span.start).toBeGreaterThanOrEqual(0);
      expect(error.span.end).toBeGreaterThanOrEqual(error.span.start);
      expect(error.span.end).toBeLessThanOrEqual(text.length);
      return;
    }
    const printed = printExpression(parsed);
    expect(plainTree(parseExpression(printed))).toEqual(plainTree(parsed));
  }

  const PIECES = [
    ...['and', 'or', 'not', 'AND', '(', ')', ',', ' ', '\n', '%', '.', 'us', 'e3', '!', '-', '#', '\u00b5s', '\ud800'],
    ...['<', '<=', '==', '!=', '>=', '>', '=', '<>', '&&', '||', '10', '0.5', '1e3', '0x', 'hopLatency', 'queueId'],
    ...['max', 'count()', 'any(hopLatency)', 'sum(queueId) > 3', 'count() <= 10', 'delta(nodeId) == 5 cells'],
  ];

  test('random characters give a tree or an ExpressionError', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), check), { seed: SEED, numRuns: 2000 });
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), check), { seed: SEED, numRuns: 500 });
  });

  test('random pieces of expressions give a tree or an ExpressionError', () => {
    const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, fc.constantFrom('', ' '), (list, blank) => check(list.join(blank))),
      { seed: SEED, numRuns: runs(5000) },
    );
  });

  test('expressions with pieces cut out, put in or swapped give a tree or an ExpressionError', () => {
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      remove: fc.integer({ min: 0, max: 8 }),
      insert: fc.oneof(fc.constant(''), fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 3 })),
    });
    fc.assert(
      fc.property(expressions(), fc.array(edit, { minLength: 1, maxLength: 4 }), (tree, edits) => {
        let text = printExpression(tree);
        for (const { at, remove, insert } of edits) {
          const place = Math.floor(at * text.length);
          text = text.slice(0, place) + insert + text.slice(place + remove);
        }
        check(text);
      }),
      { seed: SEED, numRuns: runs(3000) },
    );
  });
});
