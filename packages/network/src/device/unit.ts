/** Units of numbers as they leave the program. */
import type { Dimension, Rational } from '../units/quantity.js';
import type { Scale } from '../units/scale.js';

/** What a number is in, once it is multiplied by the factor. */
export type BaseUnit = 'seconds' | 'bytes' | 'cells' | 'packets' | 'ratio' | 'bitsPerSecond';

/** What one device unit is. */
export interface MetricUnit {
  /** As written: `ns`, `clock(200MHz)`. */
  readonly text: string;
  readonly base: BaseUnit;
  /** How many base units one device unit is. */
  readonly factor: number;
}

/** Which base unit a dimension is in, and how many of its smallest units one base unit is. The first that a scale has is taken. */
const BASES: readonly (readonly [Dimension, BaseUnit, number])[] = [
  ['time', 'seconds', 1e12],
  ['bytes', 'bytes', 1],
  ['cells', 'cells', 1],
  ['packets', 'packets', 1],
  ['percent', 'ratio', 100],
  ['rate', 'bitsPerSecond', 1],
];

/** A quotient as a number, exact to the last digit: both are multiplied into the range of numbers first. */
function numberOf({ numerator, denominator }: Rational, divisor: number): number {
  return Number(numerator) / (Number(denominator) * divisor);
}

export function unitOfScale({ text, per }: Scale): MetricUnit {
  for (const [dimension, base, smallest] of BASES) {
    const amount = per.get(dimension);
    if (amount !== undefined) return { text, base, factor: numberOf(amount, smallest) };
  }
  throw new TypeError(`the scale ${text} is in no dimension`);
}

const PREFIXES = ['n', 'µ', 'm', '', 'k', 'M', 'G', 'T'] as const;

/** A number of three digits, without zeros at its end: `1.25`, `12.3`, `80`, `1234`. */
function digits(value: number): string {
  return String(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3)));
}

function prefixed(value: number, symbol: string, least: number): string {
  if (value === 0) return `0 ${symbol}`;
  let power = Math.floor(Math.log10(Math.abs(value)) / 3);
  power = Math.max(least, Math.min(PREFIXES.length - 4, power));
  // Rounding may lead to the next prefix.
  if (Math.abs(value) / 1000 ** power >= 999.5 && power < PREFIXES.length - 4) power++;
  return `${digits(value / 1000 ** power)} ${PREFIXES[power + 3]}${symbol}`;
}

/**
 * A value with its unit, for people: `1.25 ms`, `80 kB`, `30 %`. Without a unit it is the number as it came.
 * @param value in device units
 */
export function valueText(value: number, unit: MetricUnit | null): string {
  if (unit === null) return value.toLocaleString('en-US');
  const inBase = value * unit.factor;
  switch (unit.base) {
    case 'seconds':
      return prefixed(inBase, 's', -3);
    case 'bytes':
      return prefixed(inBase, 'B', 0);
    case 'ratio':
      return `${digits(inBase * 100)} %`;
    case 'bitsPerSecond':
      return prefixed(inBase, 'bit/s', 0);
    default:
      return `${value.toLocaleString('en-US')} ${value === 1 ? unit.base.slice(0, -1) : unit.base}`;
  }
}
