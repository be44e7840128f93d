import {
  cellScale,
  fullScale,
  parseDuration,
  parseQuantity,
  quantityOf,
  rateOf,
  rationalOf,
  roundFor,
  type Scale,
  UNIT_NAMES,
  unitOf,
  unitScale,
  ValueError,
} from '@int/network/internals';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Operator } from '../../../src/expression/model.js';
import { convert, convertAt } from '../../../src/rules/convert.js';
import { SEED } from '../../seed.js';

const options = { seed: SEED, numRuns: 1000 };

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ValueError) return error.code;
    throw error;
  }
  return 'none';
}

/** `a operator b`, of numbers. */
const COMPARE: Readonly<Record<Operator, (a: bigint, b: bigint) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>=': (a, b) => a >= b,
  '>': (a, b) => a > b,
};
const ORDERED = ['<', '<=', '>=', '>'] as const;

const decimals = fc
  .tuple(fc.oneof(fc.nat(1000), fc.bigInt(0n, 5_000_000_000n)), fc.option(fc.stringMatching(/^\d{1,12}$/)))
  .map(([whole, fraction]) => (fraction === null ? String(whole) : `${whole}.${fraction}`));

/** Seconds, bytes and so on of a unit, as numerator and denominator, by its name alone. */
const SIZES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  ps: [1n, 10n ** 12n],
  ns: [1n, 10n ** 9n],
  us: [1n, 10n ** 6n],
  ms: [1n, 10n ** 3n],
  s: [1n, 1n],
  B: [1n, 1n],
  KB: [10n ** 3n, 1n],
  MB: [10n ** 6n, 1n],
  GB: [10n ** 9n, 1n],
  TB: [10n ** 12n, 1n],
  KiB: [1024n, 1n],
  MiB: [1024n ** 2n, 1n],
  GiB: [1024n ** 3n, 1n],
  TiB: [1024n ** 4n, 1n],
};
const TIMES = ['ps', 'ns', 'us', 'ms', 's'];
const BYTES = Object.keys(SIZES).filter((unit) => !TIMES.includes(unit));

/** The digits of a decimal without point, and the power of ten they are divided by. */
function digitsOf(number: string): readonly [bigint, bigint] {
  const point = number.indexOf('.');
  const places = point < 0 ? 0 : number.length - point - 1;
  return [BigInt(number.replace('.', '')), 10n ** BigInt(places)];
}

/** Constants with their unit, and a scale of the same dimension. */
const scaled = fc
  .constantFrom(
    { metric: 'hopLatency' as const, units: TIMES },
    { metric: 'queueOccupancy' as const, units: TIMES },
    { metric: 'bufferOccupancy' as const, units: BYTES },
  )
  .chain(({ metric, units }) =>
    fc.record({
      metric: fc.constant(metric),
      number: decimals,
      unit: fc.constantFrom(...units),
      per: decimals.filter((each) => /[1-9]/.test(each)),
      perUnit: fc.constantFrom(...units),
      operator: fc.constantFrom(...ORDERED),
      near: fc.bigInt(-3n, 3n),
    }),
  );

describe('a constant with a unit', () => {
  it('compares with every whole number as the exact one does, after rounding', () => {
    let converted = 0;
    fc.assert(
      fc.property(scaled, ({ metric, number, unit, per, perUnit, operator, near }) => {
        const scales = new Map([
          [metric, { default: unitScale(metric, per + perUnit), switches: new Map<number, Scale>() }],
        ]);
        const [digits, places] = digitsOf(number);
        const [perDigits, perPlaces] = digitsOf(per);
        const [size, part] = SIZES[unit]!;
        const [perSize, perPart] = SIZES[perUnit]!;
        // constant = top / bottom device units.
        const top = digits * size * perPlaces * perPart;
        const bottom = places * part * perDigits * perSize;
        let rounded: number;
        try {
          rounded = convert(metric, operator, parseQuantity(number + unit), scales, 'here');
        } catch (error) {
          expect(error).toMatchObject({ code: 'INEXACT_QUANTITY' });
          expect(top).toBeGreaterThan(0xffffffffn * bottom);
          return;
        }
        converted++;
        for (const value of [BigInt(rounded) + near, 0n, 1n, 0xffffffffn]) {
          const isSo = COMPARE[operator](value, BigInt(rounded));
          expect(isSo).toBe(COMPARE[operator](value * bottom, top));
        }
      }),
      options,
    );
    expect(converted).toBeGreaterThan(100);
  });

  it('has to be whole for == and !=', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('==' as const, '!=' as const),
        fc.nat(100),
        fc.integer({ min: 1, max: 12 }),
        (operator, n, d) => {
          const value = { numerator: BigInt(n), denominator: BigInt(d) };
          const code = codeOf(() => roundFor(operator, value, 'it'));
          expect(code).toBe(n % d === 0 ? 'none' : 'INEXACT_QUANTITY');
          if (n % d === 0) expect(roundFor(operator, value, 'it')).toBe(n / d);
        },
      ),
      options,
    );
  });

  it('is converted by cells and shares as well', () => {
    const cells = new Map([
      ['queueOccupancy' as const, { default: cellScale('queueOccupancy', '80B'), switches: new Map() }],
    ]);
    const queue = (operator: Operator, text: string): number =>
      convert('queueOccupancy', operator, parseQuantity(text), cells, 'here');
    expect(queue('>', '64KiB')).toBe(819);
    expect(queue('>=', '64KiB')).toBe(820);
    expect(queue('<', '64KiB')).toBe(820);
    expect(queue('<=', '64KiB')).toBe(819);
    expect(queue('==', '100 cells')).toBe(100);
    expect(queue('==', '8kB')).toBe(100);
    const share = new Map([
      ['egressUtilization' as const, { default: fullScale('egressUtilization', 255), switches: new Map() }],
    ]);
    expect(convert('egressUtilization', '>', parseQuantity('90%'), share, 'here')).toBe(229);
    expect(convert('egressUtilization', '==', parseQuantity('100%'), share, 'here')).toBe(255);
  });

  it('may be the largest number of a 32-bit metric or a sum, but not one that no narrower hop exceeds', () => {
    const scales = new Map([
      ['hopLatency' as const, { default: unitScale('hopLatency', 'ns'), switches: new Map<number, Scale>() }],
      ['bufferOccupancy' as const, { default: unitScale('bufferOccupancy', 'B'), switches: new Map<number, Scale>() }],
    ]);
    expect(convertAt('hopLatency', parseQuantity('4294967295ns'), scales, null)).toBe(0xffffffff);
    expect(codeOf(() => convertAt('hopLatency', parseQuantity('4294967296ns'), scales, null))).toBe('INEXACT_QUANTITY');
    expect(convertAt('bufferOccupancy', parseQuantity('16777214B'), scales, null)).toBe(0xfffffe);
    expect(codeOf(() => convertAt('bufferOccupancy', parseQuantity('16777215B'), scales, null))).toBe('BAD_VALUE');
    expect(convertAt('bufferOccupancy', parseQuantity('4294967295'), scales, null)).toBe(0xffffffff);
    expect(convert('bufferOccupancy', '>', parseQuantity('4294967295B'), scales, 'here')).toBe(0xffffffff);
  });
});

describe('the text of a quantity', () => {
  it.each([
    ['10us', '10', 'us'],
    ['10 us', '10', 'us'],
    ['  0.5ms ', '0.5', 'ms'],
    ['3\u00b5s', '3', 'us'],
    ['3\u03bcs', '3', 'us'],
    ['64KiB', '64', 'KiB'],
    ['1kB', '1', 'KB'],
    ['1 cell', '1', 'cells'],
    ['100cells', '100', 'cells'],
    ['90%', '90', '%'],
    ['007', '007', ''],
  ])('%j is a number and a unit', (text, number, unit) => {
    expect(parseQuantity(text)).toEqual({ number, unit });
  });

  it.each([
    ['', /write a number of device units/],
    ['us', /write a number of device units/],
    ['.5us', /write a digit before the decimal point/],
    ['5.us', /one decimal point, between digits/],
    ['1.2.3us', /one decimal point, between digits/],
    ['1,000', /no separators/],
    ['1_000', /no separators/],
    ['1 000', /no quantity|is no unit/],
    ['1e3us', /no exponent/],
    ['0x10', /decimal: write 255 for 0xff/],
    ['10 sec', /did you mean s\?/],
    ['10US', /did you mean us\?/],
    ['10Kb', /did you mean KB\?/],
    ['10M', /did you mean MB\?/],
    ['10percent', /did you mean %\?/],
    ['10 us us', /is no unit/],
    ['-1us', /write 0 or more/],
    ['9'.repeat(65), /is no quantity/],
  ])('%j is refused with what to write instead', (text, message) => {
    expect(() => parseQuantity(text)).toThrow(ValueError);
    expect(() => parseQuantity(text)).toThrow(message);
  });

  it('is never anything but a quantity or a ValueError', () => {
    const soup = fc.array(
      fc.constantFrom(...'0123456789.eE+-xX_, %'.split(''), 'us', 'KiB', 'cells', '\u00b5s', '\u{1f600}'),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          soup.map((parts) => parts.join('')),
        ),
        (text) => {
          try {
            const { number, unit } = parseQuantity(text);
            rationalOf(number);
            if (unit !== '') expect(UNIT_NAMES).toContain(unit);
          } catch (error) {
            expect(error).toBeInstanceOf(ValueError);
          }
        },
      ),
      options,
    );
  });

  it('has units that differ by their sizes', () => {
    for (const [unit, [size, part]] of Object.entries(SIZES)) {
      const { dimension, factor } = unitOf(unit);
      expect(factor * part).toBe(size * (dimension === 'time' ? 10n ** 12n : 1n));
    }
  });
});

describe('a number', () => {
  it('has the exact value of its shortest decimal text', () => {
    expect(rationalOf(quantityOf(0.1).number)).toEqual({ numerator: 1n, denominator: 10n });
    expect(rationalOf(quantityOf(1e21).number)).toEqual({ numerator: 10n ** 21n, denominator: 1n });
    expect(rationalOf(quantityOf(2.5e-7).number)).toEqual({ numerator: 25n, denominator: 10n ** 8n });
    expect(roundFor('>', rationalOf(quantityOf(5e-324).number), 'it')).toBe(0);
    expect(roundFor('>=', rationalOf(quantityOf(5e-324).number), 'it')).toBe(1);
    expect(codeOf(() => roundFor('>', rationalOf(quantityOf(Number.MAX_VALUE).number), 'it'))).toBe('INEXACT_QUANTITY');
  });

  it('is finite and not negative', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1, -5e-324]) {
      expect(codeOf(() => quantityOf(value))).toBe('BAD_VALUE');
    }
    expect(quantityOf(-0)).toEqual({ number: '0', unit: '' });
  });
});

describe('a duration', () => {
  it('is a whole number of nanoseconds', () => {
    expect(parseDuration('1ms')).toBe(1_000_000);
    expect(parseDuration('0.5 s')).toBe(500_000_000);
    expect(parseDuration('1000ps')).toBe(1);
    expect(parseDuration('9007199254740991ns')).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    ['5', 'BAD_QUANTITY'],
    ['5KB', 'WRONG_UNIT'],
    ['1500ps', 'INEXACT_QUANTITY'],
    ['0s', 'BAD_VALUE'],
    ['9007199254740992ns', 'BAD_VALUE'],
    ['1 minute', 'BAD_QUANTITY'],
  ])('is not %s', (text, code) => {
    expect(codeOf(() => parseDuration(text))).toBe(code);
  });
});

describe('a rate', () => {
  it('is events a second', () => {
    expect(rateOf(1000)).toBe(1000);
    expect(rateOf('1000/s')).toBe(1000);
    expect(rateOf(' 0.5 / s ')).toBe(0.5);
    expect(rateOf('12')).toBe(12);
  });

  it.each([
    [0, 'BAD_VALUE'],
    [Number.NaN, 'BAD_VALUE'],
    [1e9 + 1, 'BAD_VALUE'],
    ['0/s', 'BAD_VALUE'],
    ['1000/min', 'BAD_QUANTITY'],
    ['fast', 'BAD_QUANTITY'],
    [`1${' '.repeat(70)}/s`, 'BAD_QUANTITY'],
  ])('is not %s', (value, code) => {
    expect(codeOf(() => rateOf(value))).toBe(code);
  });
});
