import type { MetricName } from '@int/codec';
import {
  amountOf,
  DIMENSION_TEXT,
  DIMENSION_UNITS,
  type Dimension,
  LARGEST,
  over,
  parseQuantity,
  quoted,
  type Rational,
  rationalOf,
  same,
  times,
  whole,
} from './quantity.js';
import { ValueError } from './value-error.js';

/** What one device unit of a metric is. */
export interface Scale {
  /** As written in `units`, for messages. */
  readonly text: string;
  /** Per dimension that a constant may be given in: how much one device unit is, in ps, B, cells, packets, % or bit/s. Above 0. */
  readonly per: ReadonlyMap<Dimension, Rational>;
}

/** The scale of a metric at each switch. */
export interface MetricScale {
  readonly default: Scale;
  /** Switch id -> scale, in the order of the ids. */
  readonly switches: ReadonlyMap<number, Scale>;
}

export type Scales = ReadonlyMap<MetricName, MetricScale>;

const QUEUE: readonly Dimension[] = ['bytes', 'cells', 'packets', 'time'];

/** What each metric may be measured in, and the scale that a message proposes. Metrics not named are plain numbers. */
const MEASURES: Readonly<Partial<Record<MetricName, readonly Dimension[]>>> = {
  hopLatency: ['time'],
  queueOccupancy: QUEUE,
  bufferOccupancy: QUEUE,
  egressUtilization: ['percent', 'rate'],
};

/** Metrics that have a unit. */
export const MEASURED_METRICS: readonly MetricName[] = /* @__PURE__ */ Object.keys(MEASURES) as MetricName[];

/** What a metric may be measured in; nothing: it is a plain number. */
const dimensionsOf = (metric: MetricName): readonly Dimension[] => MEASURES[metric] ?? [];

/** A scale to write, by what it is in. */
export const SCALE_EXAMPLES: Readonly<Record<Dimension, string>> = {
  time: 'ns',
  bytes: '{ cell: 80B }',
  cells: '{ cell: 80B }',
  packets: 'packets',
  percent: '{ full: 10000 }',
  rate: 'bps',
};

/** `a time`, `a number of bytes or cells`: what a metric is, in a sentence. */
function measuresText(metric: MetricName): string {
  const all = dimensionsOf(metric).map((dimension) => `${DIMENSION_TEXT[dimension]} (${DIMENSION_UNITS[dimension]})`);
  return all.length === 0 ? 'a plain number without unit' : all.join(' or ');
}

/** Checks that a metric is measured in a dimension. @throws ValueError */
export function fits(metric: MetricName, dimension: Dimension, what: string): void {
  if (dimensionsOf(metric).includes(dimension)) return;
  throw new ValueError(
    'WRONG_UNIT',
    `${what} is ${DIMENSION_TEXT[dimension]}, but ${metric} is ${measuresText(metric)}`,
  );
}

function aboveZero(value: Rational, what: string): Rational {
  if (value.numerator === 0n) {
    throw new ValueError('BAD_VALUE', `${what} is 0: one device unit is more than nothing, as 1ns`);
  }
  return value;
}

/** A clock's tick: `clock(200MHz)` is 5 ns. */
const CLOCK = /^clock\(\s*(\d{1,12}(?:\.\d{1,12})?)\s*(Hz|kHz|MHz|GHz)\s*\)$/;
const HERTZ: Readonly<Record<string, bigint>> = { Hz: 1n, kHz: 1_000n, MHz: 1_000_000n, GHz: 1_000_000_000n };
const PS_PER_S = 1_000_000_000_000n;

/**
 * The tick of a clock, in ps; `null` if the text is no clock.
 * @throws ValueError for a clock that stands still
 */
export function clockTick(text: string): Rational | null {
  const match = CLOCK.exec(text.trim());
  if (match === null) return null;
  const frequency = times(rationalOf(match[1]!), whole(HERTZ[match[2]!]!));
  return over(whole(PS_PER_S), aboveZero(frequency, quoted(text)));
}

/**
 * A scale written as a unit: `ns`, `10ns`, `clock(200MHz)`, `B`, `cells`, `packets`, `0.01%`, `bps`.
 *
 * @throws ValueError
 */
export function unitScale(metric: MetricName, text: string): Scale {
  const trimmed = text.trim();
  const tick = clockTick(trimmed);
  if (tick !== null) {
    fits(metric, 'time', quoted(text));
    return { text: trimmed, per: new Map([['time', tick]]) };
  }
  const { number, unit } = /^[\d.]/.test(trimmed) ? parseQuantity(trimmed) : { number: '1', unit: trimmed };
  if (unit === '') {
    throw new ValueError('BAD_QUANTITY', `${quoted(text)} has no unit: write what one device unit is, as ${number}ns`);
  }
  const { dimension, amount } = amountOf({ number, unit });
  fits(metric, dimension, quoted(text));
  return { text: trimmed, per: new Map([[dimension, aboveZero(amount, quoted(text))]]) };
}

/**
 * The scale of a buffer that counts cells.
 *
 * @param size bytes of a cell; text with a unit of bytes, or a number
 * @throws ValueError
 */
export function cellScale(metric: MetricName, size: number | string): Scale {
  const { number, unit } = typeof size === 'string' ? parseQuantity(size) : { number: String(size), unit: 'B' };
  if (typeof size === 'number' && !(size > 0 && Number.isFinite(size))) {
    throw new ValueError('BAD_VALUE', `a cell of ${size} bytes: write its size, as 80B`);
  }
  fits(metric, 'cells', `{ cell: ${size} }`);
  const { dimension, amount } = amountOf({ number, unit: unit === '' ? 'B' : unit });
  if (dimension !== 'bytes') {
    throw new ValueError(
      'WRONG_UNIT',
      `${quoted(String(size))} is ${DIMENSION_TEXT[dimension]}: a cell has bytes, as 80B`,
    );
  }
  const bytes = aboveZero(amount, quoted(String(size)));
  const per = new Map<Dimension, Rational>([
    ['cells', whole(1)],
    ['bytes', bytes],
  ]);
  return { text: `{ cell: ${size} }`, per };
}

/**
 * The scale of a share.
 *
 * @param full device units that stand for 100 %: a whole number, 1 to 2^32 - 1
 * @throws ValueError
 */
export function fullScale(metric: MetricName, full: number): Scale {
  fits(metric, 'percent', `{ full: ${full} }`);
  if (!(Number.isInteger(full) && full >= 1 && full <= LARGEST)) {
    throw new ValueError('BAD_VALUE', `${full} cannot stand for 100 %: write a whole number from 1 to ${LARGEST}`);
  }
  return { text: `{ full: ${full} }`, per: new Map([['percent', over(whole(100), whole(full))]]) };
}

/** Whether two scales mean the same. */
export function isSameScale(a: Scale, b: Scale): boolean {
  const isShared = ([dimension, amount]: [Dimension, Rational]): boolean => {
    const other = b.per.get(dimension);
    return other !== undefined && same(amount, other);
  };
  return a.per.size === b.per.size && [...a.per].every(isShared);
}
