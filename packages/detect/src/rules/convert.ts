/** Constants of rules in device units. */
import { type MetricName, metricOf } from '@int/codec';
import {
  amountOf,
  DIMENSION_TEXT,
  DIMENSION_UNITS,
  fits,
  isSameScale,
  type MetricScale,
  over,
  quantityText,
  quoted,
  type Rational,
  rationalOf,
  rationalText,
  roundFor,
  SCALE_EXAMPLES,
  type Scale,
  type Scales,
  times,
  unitOf,
  ValueError,
  whole,
} from '@int/network/internals';
import type { Aggregate, Operator, Quantity } from '../expression/model.js';

/** A switch with another scale than the default; `null`: there is none. */
function oddSwitch({ default: usual, switches }: MetricScale): readonly [number, Scale] | null {
  return [...switches].find(([, scale]) => !isSameScale(scale, usual)) ?? null;
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
      `add units: { ${metric}: ${SCALE_EXAMPLES[dimension]} } with the scale of your devices, or write a plain number of device units`,
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
