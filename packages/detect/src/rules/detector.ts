import { isMetricName, METRIC_NAMES, type MetricName } from '@int/codec';
import { quantityOf, quoted, unitOf, ValueError } from '@int/network/internals';
import { toCnf } from '../expression/cnf.js';
import { ExpressionError } from '../expression/errors.js';
import type { Cnf, Expression, Quantity } from '../expression/model.js';
import { parseExpression } from '../expression/parse.js';
import { convert, convertAt, convertPerSwitch, reasonOf, type SwitchThresholds } from './convert.js';
import { described, type Given, type Mapping, type Shape, suggestion } from './given.js';
import { DETECTOR_KINDS, type DetectorConfig, type DetectorKind, type Scope } from './model.js';

/** Kinds that each report is enough for. */
type ReportKind = Exclude<DetectorKind, WatchConfig['kind']>;
const REPORT_KINDS = /* @__PURE__ */ DETECTOR_KINDS.slice(0, 8) as readonly ReportKind[];

import type { WatchConfig } from '../watch/config.js';
import { type Known, laterKeys } from './known.js';
import { bySwitch, isKnownAlready, type Units } from './units.js';
import { readWatch, WATCHES } from './watch.js';

const METRIC = 'metric: hopLatency';
const THRESHOLD = 'threshold: 10us';

const PARAMETERS: Readonly<Record<ReportKind, Readonly<Record<string, string>>>> = {
  noop: {},
  perHop: { metric: METRIC, threshold: THRESHOLD },
  perFlow: { metric: METRIC, threshold: THRESHOLD },
  movingAverage: { metric: METRIC, threshold: THRESHOLD, weight: 'weight: 3', alpha: 'alpha: 0.125' },
  threshold: { metric: METRIC, threshold: THRESHOLD, scope: 'scope: hop' },
  change: { metric: METRIC, threshold: THRESHOLD, scope: 'scope: hop' },
  pathChange: {},
  complex: {},
};

/** Keys of detectors that belong elsewhere -> where. */
const PARAMETERS_ELSEWHERE = {
  scope: 'into threshold or change',
  weight: 'into movingAverage',
  alpha: 'into movingAverage',
};

const DETECTORS: Shape = {
  what: 'detect',
  keys: {
    noop: 'noop: {}',
    perHop: 'perHop: { metric: hopLatency, threshold: 10us }',
    perFlow: 'perFlow: { metric: hopLatency, threshold: 10us }',
    movingAverage: 'movingAverage: { metric: queueOccupancy, threshold: 64KiB, weight: 3 }',
    threshold: 'threshold: { metric: hopLatency, threshold: 10us }',
    change: 'change: { metric: hopLatency, threshold: 10us }',
    pathChange: 'pathChange: {}',
    complex: 'complex: "sum(hopLatency) > 10us"',
  },
  aliases: { ewma: 'movingAverage', ema: 'movingAverage', average: 'movingAverage', expression: 'complex' },
  elsewhere: {
    metric: 'into a detector: write perHop: { metric: hopLatency, threshold: 10us }',
    ...PARAMETERS_ELSEWHERE,
    .../* @__PURE__ */ laterKeys(WATCHES),
  },
};
const DETECTORS_2: Shape = {
  ...DETECTORS,
  keys: { ...DETECTORS.keys, ...WATCHES },
  elsewhere: { metric: DETECTORS.elsewhere!.metric!, ...PARAMETERS_ELSEWHERE },
};
const WATCH_KINDS = /* @__PURE__ */ Object.keys(WATCHES) as WatchConfig['kind'][];
const SCOPES: readonly Scope[] = ['hop', 'endToEnd'];
const LARGEST_WEIGHT = 15;

/** What a rule's `adapt` needs to know of its detector. */
export interface ReadDetector {
  readonly config: DetectorConfig;
  /** Reads a bound of the threshold as the threshold itself; `null`: there is no threshold. */
  readonly bound: ((given: Given) => number | null) | null;
}

/** The `detect` of a rule; `null` if it is wrong. */
export function readDetector(given: Given, { version, units }: Known): ReadDetector | null {
  const { findings } = given;
  const before = findings.length;
  const named = REPORT_KINDS.find((kind) => kind === given.value);
  const mapping = given.shaped(version === 1 ? DETECTORS : DETECTORS_2, `{ ${DETECTORS.keys[named ?? 'perHop']} }`);
  if (mapping === null) return null;
  const kinds: readonly DetectorKind[] = version === 1 ? REPORT_KINDS : [...REPORT_KINDS, ...WATCH_KINDS];
  const [kind, ...others] = kinds.filter((each) => mapping.has(each));
  if (others.length > 0) {
    const all = [kind, ...others].join(' and ');
    return given.refuse('BAD_VALUE', `a rule has one detector, not ${all}: write a rule for each`);
  }
  if (kind === undefined) {
    if (findings.length > before) return null;
    const names = kinds.join(', ');
    return given.refuse(
      'MISSING_KEY',
      `detect needs a detector: write ${DETECTORS.keys.perHop}, or another of ${names}`,
    );
  }
  const detector = mapping.get(kind)!;
  const watch = WATCH_KINDS.find((each) => each === kind);
  if (watch !== undefined) {
    const quantity = (each: Given, metric: MetricName | null): number | null =>
      readOne(each, metric, units, (known, value) =>
        convert(known, '>', value, units.scales, 'burst compares values of'),
      );
    const config = readWatch(watch, detector, { metric: readMetric, quantity });
    return config === null ? null : { config, bound: null };
  }
  const result = readKind(kind as ReportKind, detector, units);
  return findings.length === before ? result : null;
}

function readKind(kind: ReportKind, given: Given, units: Units): ReadDetector | null {
  if (kind === 'complex') {
    const expression = readExpression(given, units);
    return expression === null ? null : { config: { kind, expression }, bound: null };
  }
  const keys = PARAMETERS[kind];
  const shape: Shape = {
    what: kind,
    keys,
    required: ['metric', 'threshold'].filter((key) => Object.hasOwn(keys, key)),
    elsewhere: {
      ...PARAMETERS_ELSEWHERE,
      sample: 'into the rule, beside detect',
      adapt: 'into the rule, beside detect',
    },
  };
  const mapping = given.shaped(shape, DETECTORS.keys[kind]!);
  if (mapping === null) return null;
  if (kind === 'noop' || kind === 'pathChange') return { config: { kind }, bound: null };

  const metric = mapping.read('metric', readMetric);
  const scope = mapping.has('scope') ? mapping.read('scope', (each) => each.choice('scope', SCOPES)) : 'hop';
  const isPerHop = kind === 'perHop' || (Object.hasOwn(keys, 'scope') && scope === 'hop');
  const where =
    kind === 'perFlow' || kind === 'movingAverage' ? `${kind} adds values of` : 'scope endToEnd adds values of';
  const smoothing = kind === 'movingAverage' ? readSmoothing(mapping, given) : null;

  const one = (each: Given): number | null =>
    readOne(each, metric, units, (known, quantity) => convert(known, '>', quantity, units.scales, where));
  const thresholds = mapping.read('threshold', (each): SwitchThresholds | null => {
    if (scope === null) return null;
    if (isPerHop) return readHopThreshold(each, metric, units);
    const threshold = one(each);
    return threshold === null ? null : { threshold, switches: new Map() };
  });
  if (metric === null || scope === null || thresholds === null) return null;
  const { threshold, switches } = thresholds;
  const switchThresholds = switches.size === 0 ? {} : { switchThresholds: switches };
  const bound = isPerHop ? hopBound(metric, units) : one;
  switch (kind) {
    case 'perHop':
      return { config: { kind, metric, threshold, ...switchThresholds }, bound };
    case 'perFlow':
      return { config: { kind, metric, threshold }, bound };
    case 'movingAverage':
      return smoothing === null ? null : { config: { kind, metric, threshold, ...smoothing }, bound };
    default:
      return { config: { kind, metric, threshold, scope, ...switchThresholds }, bound };
  }
}

function readMetric(given: Given): MetricName | null {
  const { value } = given;
  if (typeof value !== 'string') {
    return given.refuse('WRONG_TYPE', `a metric is a name, as hopLatency, not ${described(value)}`);
  }
  if (isMetricName(value)) return value;
  return given.refuse('UNKNOWN_METRIC', `${quoted(value)} is no metric: ${suggestion(value, METRIC_NAMES)}`);
}

function readSmoothing(mapping: Mapping, given: Given): { weight: number } | { alpha: number } | null {
  const alpha = mapping.get('alpha');
  if (mapping.has('weight')) {
    if (alpha !== undefined) {
      return alpha.refuse('BAD_VALUE', 'movingAverage has weight or alpha, not both: leave one of them out');
    }
    const weight = mapping.read('weight', (each) => each.whole('weight', 0, LARGEST_WEIGHT));
    return weight === null ? null : { weight };
  }
  if (alpha === undefined) {
    const message = 'movingAverage needs weight or alpha: write weight: 3 for 2^-3, or alpha: 0.125';
    return given.refuse('MISSING_KEY', message);
  }
  const { value } = alpha;
  const rule = 'alpha is a number above 0 and at most 1, as 0.125, not';
  if (typeof value !== 'number') return alpha.refuse('WRONG_TYPE', `${rule} ${described(value)}`);
  return value > 0 && value <= 1 ? { alpha: value } : alpha.refuse('BAD_VALUE', `${rule} ${value}`);
}

/** One quantity, converted if the metric is known. */
function readOne<T>(
  given: Given,
  metric: MetricName | null,
  units: Units,
  converted: (metric: MetricName, quantity: Quantity) => T,
): T | null {
  const text = given.numberOrText(String(given.path.at(-1)), '1000 or 10us');
  if (text === null) return null;
  const quantity = given.attempt(() => quantityOf(text));
  if (quantity === null || metric === null) return null;
  return given.attempt(() => {
    try {
      return converted(metric, quantity);
    } catch (error) {
      if (isKnownAlready(error, metric, units)) return null;
      throw error;
    }
  });
}

const PER_SWITCH = {
  what: 'a threshold per switch',
  keys: { default: 'default: 10us', switches: 'switches: { 5: 20us }' },
  required: ['default', 'switches'],
} as const;

function readHopThreshold(given: Given, metric: MetricName | null, units: Units): SwitchThresholds | null {
  const usual = (each: Given): SwitchThresholds | null =>
    readOne(each, metric, units, (known, quantity) => convertPerSwitch(known, quantity, units.scales));
  const { value } = given;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return usual(given);
  const mapping = given.shaped(PER_SWITCH, '{ default: 10us, switches: { 5: 20us } }');
  if (mapping === null) return null;
  const base = mapping.read('default', usual);
  const own = mapping.read('switches', (all) =>
    bySwitch(all, '5: 20us', (each, id) =>
      readOne(each, metric, units, (known, quantity) => convertAt(known, quantity, units.scales, id)),
    ),
  );
  if (base === null) return null;
  const merged = [...new Map([...base.switches, ...(own ?? [])])].sort(([a], [b]) => a - b);
  return { threshold: base.threshold, switches: new Map(merged) };
}

/** Reads a bound of a threshold that must be the same for all switches, because it adapts. */
function hopBound(metric: MetricName, units: Units): (given: Given) => number | null {
  return (given) =>
    readOne(given, metric, units, (known, quantity) => {
      convert(known, '>', quantity, units.scales, 'one threshold is adapted for');
      return convertAt(known, quantity, units.scales, null);
    });
}

function readExpression(given: Given, units: Units): Cnf | null {
  const { value, findings } = given;
  if (typeof value !== 'string') {
    return given.refuse('WRONG_TYPE', `complex is text, as "sum(hopLatency) > 10us", not ${described(value)}`);
  }
  try {
    const expression = parseExpression(value);
    const before = findings.length;
    const isHeld = checkConstants(expression, given, units);
    // The compiler would stop at the first wrong constant; all have been checked.
    if (findings.length > before || isHeld) return null;
    return toCnf(
      expression,
      (metric, operator, quantity, aggregate) => convert(metric, operator, quantity, units.scales, reasonOf(aggregate)),
      value,
    );
  } catch (error) {
    if (!ExpressionError.is(error)) throw error;
    return given.refuse(error.code, error.message, { span: error.span });
  }
}

/** Finds all constants that cannot be converted. Returns whether one of them needs a scale that could not be read. */
function checkConstants(root: Expression, given: Given, units: Units): boolean {
  let isHeld = false;
  const parts: Expression[] = [root];
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part.type === 'not') parts.push(part.operand);
    else if (part.type !== 'condition') parts.push(...part.operands.toReversed());
    else {
      const { metric, operator, quantity, aggregate, quantitySpan } = part;
      try {
        if (quantity.unit !== '') unitOf(quantity.unit);
        convert(metric, operator, quantity, units.scales, reasonOf(aggregate));
      } catch (error) {
        if (!(error instanceof ValueError)) throw error;
        if (isKnownAlready(error, metric, units)) isHeld = true;
        else given.refuse(error.code, error.message, { span: quantitySpan });
      }
    }
  }
  return isHeld;
}
