import { nearestName } from './nearest.js';
import { ValueError } from './value-error.js';

/**
 * Quantities: exact numbers with a unit, in rational arithmetic. Units of time: s, ms, us (or µs), ns, ps. Of bytes: B,
 * KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024). Of buffers: cells, packets. Of shares: %. Of links: bps,
 * kbps, Mbps, Gbps.
 */

/** A number as written: its value and its unit, not yet converted. */
export interface Quantity {
  /** Exact decimal text of the number, as `0.5`. */
  readonly number: string;
  /** `us`, `%`, `KiB`, ...; empty: device units. */
  readonly unit: string;
}

/** How a value is compared with a number. */
export type Comparison = '<' | '<=' | '==' | '!=' | '>=' | '>';

/** What a quantity measures. */
export type Dimension = 'time' | 'bytes' | 'cells' | 'packets' | 'percent' | 'rate';

/** `numerator / denominator`; the denominator is above 0. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Unit -> what it measures, and how many of the smallest unit of that dimension it is (ps, B, cells, packets, %, bit/s). */
const UNITS: ReadonlyMap<string, readonly [Dimension, bigint]> = /* @__PURE__ */ new Map([
  ['ps', ['time', 1n]],
  ['ns', ['time', 1_000n]],
  ['us', ['time', 1_000_000n]],
  ['ms', ['time', 1_000_000_000n]],
  ['s', ['time', 1_000_000_000_000n]],
  ['B', ['bytes', 1n]],
  ['KB', ['bytes', 1_000n]],
  ['MB', ['bytes', 1_000_000n]],
  ['GB', ['bytes', 1_000_000_000n]],
  ['TB', ['bytes', 1_000_000_000_000n]],
  ['KiB', ['bytes', 1n << 10n]],
  ['MiB', ['bytes', 1n << 20n]],
  ['GiB', ['bytes', 1n << 30n]],
  ['TiB', ['bytes', 1n << 40n]],
  ['cells', ['cells', 1n]],
  ['packets', ['packets', 1n]],
  ['%', ['percent', 1n]],
  ['bps', ['rate', 1n]],
  ['kbps', ['rate', 1_000n]],
  ['Mbps', ['rate', 1_000_000n]],
  ['Gbps', ['rate', 1_000_000_000n]],
]);

/** Other spellings: micro is U+00B5 or U+03BC, SI writes a small k, one cell is no cells. */
const SPELLINGS: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['\u00b5s', 'us'],
  ['\u03bcs', 'us'],
  ['kB', 'KB'],
  ['cell', 'cells'],
  ['packet', 'packets'],
]);

/** What others write -> what they mean; the case does not count. */
const MEANT: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ...['sec', 'second', 'seconds'].map((name) => [name, 's'] as const),
  ...['msec', 'msecs', 'millisecond', 'milliseconds'].map((name) => [name, 'ms'] as const),
  ...['usec', 'usecs', 'microsecond', 'microseconds'].map((name) => [name, 'us'] as const),
  ...['nsec', 'nsecs', 'nanosecond', 'nanoseconds'].map((name) => [name, 'ns'] as const),
  ...['byte', 'bytes', 'octets'].map((name) => [name, 'B'] as const),
  ...['k', 'm', 'g', 't'].map((name) => [name, `${name.toUpperCase()}B`] as const),
  ...['percent', 'pct'].map((name) => [name, '%'] as const),
]);

/** All units, as they are written. */
export const UNIT_NAMES: readonly string[] = /* @__PURE__ */ [...UNITS.keys()];

/** The units of each dimension, as they are written. */
export const DIMENSION_UNITS: Readonly<Record<Dimension, string>> = {
  time: 's, ms, us, ns, ps',
  bytes: 'B, KB, MB, GB, TB, KiB, MiB, GiB, TiB',
  cells: 'cells',
  packets: 'packets',
  percent: '%',
  rate: 'bps, kbps, Mbps, Gbps',
};

/** A dimension in a sentence. */
export const DIMENSION_TEXT: Readonly<Record<Dimension, string>> = {
  time: 'a time',
  bytes: 'a number of bytes',
  cells: 'a number of cells',
  packets: 'a number of packets',
  percent: 'a percentage',
  rate: 'a number of bits a second',
};

/** Largest constant of a rule. */
export const LARGEST = 0xffffffff;

const LONGEST = 64;
/** A number as people write it. */
const NUMBER = /^\d+(?:\.\d+)?/;
/** A number as `String(number)` writes it. */
const NUMBER_TEXT = /^(\d+)(?:\.(\d+))?(?:e([+-]\d{1,3}))?$/;
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  [/^\.\d/, 'write a digit before the decimal point, as 0.5'],
  [/^0[xX][\da-fA-F]/, 'numbers in text are decimal: write 255 for 0xff'],
  [/^\d+(?:\.\d+)?[eE][+-]?\d/, 'numbers in text have no exponent: write it out, as 1000 for 1e3'],
  [/^\d+(?:\.\d+)?\s*[_,'\u2019]\s*\d/, 'numbers have no separators: write 1000000 for a million'],
  [/^\d+(?:\.\d+\s*\.|\s+\.|\.(?!\d))/, 'a number has one decimal point, between digits'],
  [/^[a-z\u00b5\u03bc%]+\s*\d/i, 'write the number first, then the unit, as 10us'],
];

/** Text in a message: quoted, and cut if it is long. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > LONGEST ? `${text.slice(0, 61)}...` : text);

/**
 * A unit by any of its spellings.
 * @throws ValueError
 */
export function unitOf(unit: string): { readonly dimension: Dimension; readonly factor: bigint } {
  const found = UNITS.get(SPELLINGS.get(unit) ?? unit);
  if (found !== undefined) return { dimension: found[0], factor: found[1] };
  const near = MEANT.get(unit.toLowerCase()) ?? nearestName(unit, UNIT_NAMES);
  throw new ValueError(
    'BAD_QUANTITY',
    `${quoted(unit)} is no unit${near === null ? '' : `; did you mean ${near}?`} (units are ${UNIT_NAMES.join(', ')})`,
  );
}

/**
 * The exact value of decimal text.
 * @throws ValueError
 */
export function rationalOf(number: string): Rational {
  const match = number.length > LONGEST ? null : NUMBER_TEXT.exec(number);
  if (match === null)
    throw new ValueError('BAD_QUANTITY', `${quoted(number)} is no number of at most ${LONGEST} digits`);
  const [, whole = '', fraction = '', power = '0'] = match;
  const exponent = Number(power) - fraction.length;
  const digits = BigInt(whole + fraction);
  return exponent < 0
    ? { numerator: digits, denominator: 10n ** BigInt(-exponent) }
    : { numerator: digits * 10n ** BigInt(exponent), denominator: 1n };
}

/** A number of units as a rational. */
export const whole = (value: bigint | number): Rational => ({ numerator: BigInt(value), denominator: 1n });

export const times = (a: Rational, b: Rational): Rational => ({
  numerator: a.numerator * b.numerator,
  denominator: a.denominator * b.denominator,
});

/** `b` is not 0. */
export const over = (a: Rational, b: Rational): Rational => ({
  numerator: a.numerator * b.denominator,
  denominator: a.denominator * b.numerator,
});

export const same = (a: Rational, b: Rational): boolean => a.numerator * b.denominator === b.numerator * a.denominator;

const floor = (a: Rational): bigint => a.numerator / a.denominator;
/** Of a number that is not negative. */
const ceiling = (a: Rational): bigint => (a.numerator + a.denominator - 1n) / a.denominator;
const isWhole = (a: Rational): boolean => a.numerator % a.denominator === 0n;

/** Decimal text for messages: exact up to nine places, else marked with `about`. */
export function rationalText(a: Rational): string {
  const scaled = floor(times(a, whole(1_000_000_000n)));
  const places = (scaled % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  const isCut = (a.numerator * 1_000_000_000n) % a.denominator !== 0n;
  const text = `${scaled / 1_000_000_000n}${places === '' ? '' : `.${places}`}`;
  return `${isCut ? 'about ' : ''}${text.length > 40 ? `${text.slice(0, 37)}...` : text}`;
}

/**
 * Reads `10us`, `0.5 ms`, `64KiB`, `90%`, `100 cells`, or a plain number.
 *
 * @throws ValueError (BAD_QUANTITY) for anything else; also for a unit that does not exist
 */
export function parseQuantity(text: string): Quantity {
  const trimmed = text.trim();
  if (trimmed.startsWith('-')) {
    throw new ValueError('BAD_VALUE', `${quoted(text)} is negative; metrics are not, write 0 or more`);
  }
  const match = trimmed.length > LONGEST ? null : NUMBER.exec(trimmed);
  const unit = match === null ? '' : trimmed.slice(match[0].length).trim();
  const mistake = MISTAKES.find(([pattern]) => pattern.test(trimmed))?.[1];
  if (match === null || mistake !== undefined) {
    const advice = mistake ?? 'write a number of device units, or a number with a unit, as 10us';
    throw new ValueError('BAD_QUANTITY', `${quoted(text)} is no quantity: ${advice}`);
  }
  if (unit !== '') unitOf(unit);
  return { number: match[0], unit: SPELLINGS.get(unit) ?? unit };
}

/**
 * A quantity as given in rules: a number, or text.
 *
 * @throws ValueError
 */
export function quantityOf(value: number | string): Quantity {
  if (typeof value === 'string') return parseQuantity(value);
  if (!Number.isFinite(value)) throw new ValueError('BAD_VALUE', `${value} is no number of device units`);
  if (value < 0) throw new ValueError('BAD_VALUE', `${value} is negative; metrics are not, write 0 or more`);
  return { number: String(value), unit: '' };
}

/** A quantity with a unit, in the smallest unit of its dimension: ps, B, cells or %. @throws ValueError for no unit */
export function amountOf({ number, unit }: Quantity): { readonly dimension: Dimension; readonly amount: Rational } {
  const { dimension, factor } = unitOf(unit);
  return { dimension, amount: times(rationalOf(number), whole(factor)) };
}

/** A quantity as people write it. */
export const quantityText = ({ number, unit }: Quantity): string => `${number}${unit}`;

/**
 * Rounds so that a comparison of whole numbers keeps its meaning: down for > and <=, up for >= and <. For == and !=
 * only a whole value has such a number.
 *
 * @param what the quantity, for messages
 * @throws ValueError (INEXACT_QUANTITY) also if the result is no number of 32 bits
 */
export function roundFor(operator: Comparison, value: Rational, what: string): number {
  if ((operator === '==' || operator === '!=') && !isWhole(value)) {
    throw new ValueError(
      'INEXACT_QUANTITY',
      `${what} is ${rationalText(value)} device units, which no value ${operator === '==' ? 'equals' : 'can equal'}: ` +
        `compare with >= or <=, or write ${floor(value)} or ${ceiling(value)} without unit`,
    );
  }
  const rounded = operator === '>=' || operator === '<' ? ceiling(value) : floor(value);
  if (rounded > BigInt(LARGEST)) {
    const text = rounded.toString();
    throw new ValueError(
      'INEXACT_QUANTITY',
      `${what} is ${text.length > 40 ? `a number of ${text.length} digits` : text} in device units, ` +
        `more than 32 bits hold: write at most what makes ${LARGEST}, or check units`,
    );
  }
  return Number(rounded);
}

const PS_PER_NS = 1_000;

/**
 * A duration, such as `1ms` or `0.5 s`, in nanoseconds: 1 to 2^53 - 1.
 *
 * @throws ValueError
 */
export function parseDuration(text: string): number {
  const quantity = parseQuantity(text);
  const { number, unit } = quantity;
  if (unit === '' || unitOf(unit).dimension !== 'time') {
    throw new ValueError(
      unit === '' ? 'BAD_QUANTITY' : 'WRONG_UNIT',
      `${quoted(text)} is no duration; add one of the units ${DIMENSION_UNITS.time}, as in ${number}ms`,
    );
  }
  const value = over(amountOf(quantity).amount, whole(PS_PER_NS));
  if (!isWhole(value)) {
    throw new ValueError(
      'INEXACT_QUANTITY',
      `${quoted(text)} is no whole number of nanoseconds; write ${ceiling(value)}ns`,
    );
  }
  const nanoseconds = floor(value);
  if (nanoseconds < 1n || nanoseconds > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new ValueError(
      'BAD_VALUE',
      `${quoted(text)} is out of range; a duration is 1ns to ${Number.MAX_SAFE_INTEGER}ns (104 days)`,
    );
  }
  return Number(nanoseconds);
}

const RATE = /^(\d+(?:\.\d+)?)\s*(?:\/\s*s)?$/;

/** The most events a second that a rule may ask for. */
const HIGHEST_RATE = 1_000_000_000;

/**
 * A rate of events: a number, or `1000/s`.
 *
 * @returns events a second, above 0, at most 10^9
 * @throws ValueError
 */
export function rateOf(value: number | string): number {
  const text = typeof value === 'number' ? null : value.length > LONGEST ? undefined : RATE.exec(value.trim())?.[1];
  if (text === undefined) {
    throw new ValueError('BAD_QUANTITY', `${quoted(String(value))} is no rate: write events a second, as 1000/s`);
  }
  const rate = typeof value === 'number' ? value : Number(text);
  if (!(rate > 0 && rate <= HIGHEST_RATE)) {
    throw new ValueError('BAD_VALUE', `${value} is out of range: a rate is above 0/s and at most ${HIGHEST_RATE}/s`);
  }
  return rate;
}
