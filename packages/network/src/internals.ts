/** Quantities and scales, for packages that read values with units, and names in JSON. No promise is made about these. */
export { SwitchUnits } from './device/switch-units.js';
export { KnownSwitches } from './topology/known-switches.js';
export { withNames } from './topology/named.js';
export { nearestName } from './units/nearest.js';
export {
  amountOf,
  type Comparison,
  DIMENSION_TEXT,
  DIMENSION_UNITS,
  type Dimension,
  LARGEST,
  over,
  parseDuration,
  parseQuantity,
  type Quantity,
  quantityOf,
  quantityText,
  quoted,
  type Rational,
  rateOf,
  rationalOf,
  rationalText,
  roundFor,
  same,
  times,
  UNIT_NAMES,
  unitOf,
  whole,
} from './units/quantity.js';
export {
  cellScale,
  clockTick,
  fits,
  fullScale,
  isSameScale,
  MEASURED_METRICS,
  type MetricScale,
  SCALE_EXAMPLES,
  type Scale,
  type Scales,
  unitScale,
} from './units/scale.js';
export { ValueError, type ValueProblem } from './units/value-error.js';
