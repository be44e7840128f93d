import { type MetricName, metricOf } from '@int/codec';
import type { Aggregate, Operator, Quantity } from '../expression/model.js';
import {
  amountOf,
  DIMENSION_TEXT,
  DIMENSION_UNITS,
  type Dimension,
  LARGEST,
  over,
  parseQuantity,
  quantityText,
  quoted,
  type Rational,
  rationalOf,
  rationalText,
  roundFor,
  same,
  times,
  unitOf,
  whole,
} from './quantity.js';
import { ValueError } from './value-error.js';

/** What one device unit of a metric is. */
export interface Scale {
  /** As written in `units`, for messages. */
  readonly text: string;
  /** For each dimension in which a constant may be given: the size of a device unit in ps, B, cells or %. Above 0. */
  readonly per: ReadonlyMap<Dimension, Rational>;
}

/** The scale of a metric at each switch. */
export interface MetricScale {
  readonly default: Scale;
  /** Switch id -> scale, in the order of the ids. */
  readonly switches: ReadonlyMap<number, Scale>;
}

export type Scales = ReadonlyMap<MetricName, MetricScale>;

const QUEUE: readonly Dimension[] = ['bytes', 'cells', 'time'];

/** What each metric may be measured in. A metric not named is a plain number. */
const MEASURES: Readonly<Partial<Record<MetricName, readonly Dimension[]>>> = {
  hopLatency: ['time'],
  queueOccupancy: QUEUE,
  bufferOccupancy: QUEUE,
  egressUtilization: ['percent'],
};

/** Metrics that have a unit. */
export const MEASURED_METRICS: readonly MetricName[] = /* @__PURE__ */ Object.keys(MEASURES) as MetricName[];

/** What a metric may be measured in; nothing: it is a plain number. */
const dimensionsOf = (metric: MetricName): readonly Dimension[] => MEASURES[metric] ?? [];

const PROPOSALS: Readonly<Record<Dimension, string>> = {
  time: 'ns',
  bytes: '{ cell: 80B }',
  cells: '{ cell: 80B }',
  percent: '{ full: 10000 }',
};

/** `a time`, `a number of bytes or cells`: what a metric is, in a sentence. */
function measuresText(metric: MetricName): string {
  const all = dimensionsOf(metric).map((dimension) => `${DIMENSION_TEXT[dimension]} (${DIMENSION_UNITS[dimension]})`);
  return all.length === 0 ? 'a plain number without unit' : all.join(' or ');
}

function fits(metric: MetricName, dimension: Dimension, what: string): void {
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

/**
 * A scale written as a unit: `ns`, `10ns`, `B`, `cells`, `0.01%`.
 *
 * @throws ValueError
 */
export function unitScale(metric: MetricName, text: string): Scale {
  const trimmed = text.trim();
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

function isSame(a: Scale, b: Scale): boolean {
  const isShared = ([dimension, amount]: [Dimension, Rational]): boolean => {
    const other = b.per.get(dimension);
    return other !== undefined && same(amount, other);
  };
  return a.per.size === b.per.size && [...a.per].every(isShared);
}

/** A switch with another scale than the default; `null`: there is none. */
function oddSwitch({ default: usual, switches }: MetricScale): readonly [number, Scale] | null {
  return [...switches].find(([, scale]) => !isSame(scale, usual)) ?? null;
}

/** `'10us'`, or `'10us' at switch 5`. */
const constantText = (quantity: Quantity, at: string): string => `${quoted(quantityText(quantity))}${at}`;

function deviceUnits(metric: MetricName, quantity: Quantity, scale: Scale, at: string): Rational {
  const { dimension, amount } = amountOf(quantity);
  const unit = scale.per.get(dimension);
  if (unit === undefined) {
    const known = [...scale.per.keys()].map((each) => DIMENSION_UNITS[each]).join(', ');
    throw new ValueError(
      'WRONG_UNIT',
      `${constantText(quantity, at)} is ${DIMENSION_TEXT[dimension]}, but units says that ${metric} counts ` +
        `${scale.text}: use ${known}, or a plain number of device units`,
    );
  }
  return over(amount, unit);
}

/** Checks that a constant with a unit means something. Returns the scales that convert it. */
function scaleFor(metric: MetricName, quantity: Quantity, scales: Scales): MetricScale {
  const { dimension } = unitOf(quantity.unit);
  fits(metric, dimension, constantText(quantity, ''));
  const scale = scales.get(metric);
  if (scale !== undefined) return scale;
  throw new ValueError(
    'UNDECLARED_UNIT',
    `${constantText(quantity, '')} has a unit, and nothing says what one device unit of ${metric} is: ` +
      `add units: { ${metric}: ${PROPOSALS[dimension]} } with the scale of your devices, or write a plain number of device units`,
  );
}

/**
 * A constant in device units, where one number must hold for all switches of a report.
 *
 * @param metric `null` for `count()`
 * @throws ValueError
 */
export function convert(
  metric: MetricName | null,
  operator: Operator,
  quantity: Quantity,
  scales: Scales,
  where: string,
): number {
  if (quantity.unit === '') return roundFor(operator, rationalOf(quantity.number), constantText(quantity, ''));
  if (metric === null) {
    throw new ValueError('WRONG_UNIT', `count() is a number of reports: write ${quantity.number} without unit`);
  }
  const scale = scaleFor(metric, quantity, scales);
  const odd = oddSwitch(scale);
  if (odd !== null) {
    throw new ValueError(
      'WRONG_UNIT',
      `${constantText(quantity, '')} is no one number here: ${where} several switches, and units gives ${metric} ` +
        `another scale at switch ${odd[0]} (${odd[1].text}) than elsewhere (${scale.default.text}); ` +
        'write a plain number of device units',
    );
  }
  return roundFor(operator, deviceUnits(metric, quantity, scale.default, ''), constantText(quantity, ''));
}

/** Why {@link convert} refuses a constant of a condition, as the message says it. */
export function reasonOf(aggregate: Aggregate): string {
  if (aggregate === 'sum') return 'sum() adds values of';
  return aggregate === 'delta' ? 'delta() adds values of' : `${aggregate}() compares values of`;
}

/** A threshold, and those of the switches that have another one. */
export interface SwitchThresholds {
  readonly threshold: number;
  readonly switches: ReadonlyMap<number, number>;
}

/**
 * A threshold that each switch compares with its own values.
 *
 * @throws ValueError
 */
export function convertPerSwitch(metric: MetricName, quantity: Quantity, scales: Scales): SwitchThresholds {
  if (quantity.unit === '') return { threshold: convertAt(metric, quantity, scales, null), switches: new Map() };
  const { switches } = scaleFor(metric, quantity, scales);
  return {
    threshold: convertAt(metric, quantity, scales, null),
    switches: new Map([...switches.keys()].map((id) => [id, convertAt(metric, quantity, scales, id)])),
  };
}

/**
 * A hop's threshold at one switch.
 *
 * @param switchId `null`: the switches that `units` does not name
 * @throws ValueError
 */
export function convertAt(metric: MetricName, quantity: Quantity, scales: Scales, switchId: number | null): number {
  const at = switchId === null ? '' : ` at switch ${switchId}`;
  const what = constantText(quantity, at);
  if (quantity.unit === '') return roundFor('>', rationalOf(quantity.number), what);
  const scale = scaleFor(metric, quantity, scales);
  const own = (switchId === null ? undefined : scale.switches.get(switchId)) ?? scale.default;
  const threshold = roundFor('>', deviceUnits(metric, quantity, own, at), what);
  // In the layout that has most: queues have 24 bits, in the 2016 layout 31.
  const bits = metricOf(metric).width;
  if (bits < 32 && threshold >= 2 ** bits - 1) {
    const { dimension, factor } = unitOf(quantity.unit);
    const most = times(whole(2 ** bits - 2), over(own.per.get(dimension)!, whole(factor)));
    throw new ValueError(
      'BAD_VALUE',
      `${what} is ${threshold} device units; ${metric} has ${bits} bits, so that no hop is ever above ${2 ** bits - 1}: ` +
        `write at most ${rationalText(most)}${quantity.unit}, or check units`,
    );
  }
  return threshold;
}
