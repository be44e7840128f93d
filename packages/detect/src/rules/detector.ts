import { isMetricName, METRIC_NAMES, type MetricName } from '@int/codec';
import { toCnf } from '../expression/cnf.js';
import { ExpressionError } from '../expression/errors.js';
import type { Cnf, Expression } from '../expression/model.js';
import { parseExpression } from '../expression/parse.js';
import { DETECTOR_KINDS, type DetectorConfig, type DetectorKind, type Scope } from './model.js';
import { described, type Findings, type Mapping, type Path, type Shape, suggestion } from './problems.js';
import { QuantityError, quantityOf, quoted, unitOf } from './quantity.js';
import { convert, convertAt, convertPerSwitch, reasonOf, type SwitchThresholds } from './scale.js';
import { bySwitch, isKnownAlready, type Units } from './units.js';

const METRIC = 'metric: hopLatency';
const THRESHOLD = 'threshold: 10us';

const PARAMETERS: Readonly<Record<DetectorKind, Readonly<Record<string, string>>>> = {
  noop: {},
  perHop: { metric: METRIC, threshold: THRESHOLD },
  perFlow: { metric: METRIC, threshold: THRESHOLD },
  movingAverage: { metric: METRIC, threshold: THRESHOLD, weight: 'weight: 3', alpha: 'alpha: 0.125' },
  threshold: { metric: METRIC, threshold: THRESHOLD, scope: 'scope: hop' },
  change: { metric: METRIC, threshold: THRESHOLD, scope: 'scope: hop' },
  pathChange: {},
  complex: {},
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
    scope: 'into threshold or change',
    weight: 'into movingAverage',
    alpha: 'into movingAverage',
  },
};
const SCOPES: readonly Scope[] = ['hop', 'endToEnd'];
const LARGEST_WEIGHT = 15;

/** What a rule's `adapt` needs to know of its detector. */
export interface ReadDetector {
  readonly config: DetectorConfig;
  /** Reads a bound of the threshold: as the threshold itself. */
  readonly bound: ((value: unknown, path: Path) => number | null) | null;
}

/** The `detect` of a rule; `null` and findings if it is wrong. */
export function readDetector(value: unknown, path: Path, findings: Findings, units: Units): ReadDetector | null {
  const before = findings.all.length;
  const named = DETECTOR_KINDS.find((kind) => kind === value);
  const example = `{ ${DETECTORS.keys[named ?? 'perHop']} }`;
  const mapping = findings.shaped(value, path, DETECTORS, example);
  if (mapping === null) return null;
  const kinds = DETECTOR_KINDS.filter((kind) => mapping.has(kind));
  if (kinds.length !== 1) {
    if (kinds.length > 1) {
      findings.add('BAD_VALUE', path, `a rule has one detector, not ${kinds.join(' and ')}: write a rule for each`);
    } else if (findings.all.length === before) {
      const names = DETECTOR_KINDS.join(', ');
      findings.add(
        'MISSING_KEY',
        path,
        `detect needs a detector: write ${DETECTORS.keys.perHop}, or another of ${names}`,
      );
    }
    return null;
  }
  const kind = kinds[0]!;
  const result = readKind(kind, mapping.get(kind), [...path, kind], findings, units);
  return findings.all.length === before ? result : null;
}

function readKind(
  kind: DetectorKind,
  value: unknown,
  path: Path,
  findings: Findings,
  units: Units,
): ReadDetector | null {
  if (kind === 'complex') {
    const expression = readExpression(value, path, findings, units);
    return expression === null ? null : { config: { kind, expression }, bound: null };
  }
  const keys = PARAMETERS[kind];
  const shape: Shape = {
    what: kind,
    keys,
    required: ['metric', 'threshold'].filter((key) => Object.hasOwn(keys, key)),
    elsewhere: {
      weight: 'into movingAverage',
      alpha: 'into movingAverage',
      scope: 'into threshold or change',
      sample: 'into the rule, beside detect',
      adapt: 'into the rule, beside detect',
    },
  };
  const mapping = findings.shaped(value, path, shape, DETECTORS.keys[kind]!);
  if (mapping === null) return null;
  if (kind === 'noop' || kind === 'pathChange') return { config: { kind }, bound: null };

  const metric = mapping.has('metric') ? readMetric(mapping.get('metric'), [...path, 'metric'], findings) : null;
  const scope = mapping.has('scope')
    ? findings.choice(mapping.get('scope'), [...path, 'scope'], 'scope', SCOPES)
    : ('hop' as const);
  const isPerHop = kind === 'perHop' || (Object.hasOwn(keys, 'scope') && scope === 'hop');
  const where =
    kind === 'perFlow' || kind === 'movingAverage' ? `${kind} adds values of` : 'scope endToEnd adds values of';
  const smoothing = kind === 'movingAverage' ? readSmoothing(mapping, path, findings) : null;

  const at = [...path, 'threshold'];
  const given = mapping.get('threshold');
  const one = (each: unknown, place: Path): number | null =>
    readOne(each, place, metric, findings, units, (known, quantity) =>
      convert(known, '>', quantity, units.scales, where),
    );
  let thresholds: SwitchThresholds | null = null;
  if (given !== undefined && scope !== null) {
    if (isPerHop) thresholds = readHopThreshold(given, at, metric, findings, units);
    else {
      const threshold = one(given, at);
      thresholds = threshold === null ? null : { threshold, switches: new Map() };
    }
  }
  if (metric === null || scope === null || thresholds === null) return null;
  const { threshold, switches } = thresholds;
  const switchThresholds = switches.size === 0 ? {} : { switchThresholds: switches };
  switch (kind) {
    case 'perHop':
      return { config: { kind, metric, threshold, ...switchThresholds }, bound: hopBound(metric, findings, units) };
    case 'perFlow':
      return { config: { kind, metric, threshold }, bound: one };
    case 'movingAverage':
      return smoothing === null ? null : { config: { kind, metric, threshold, ...smoothing }, bound: one };
    default:
      return {
        config: { kind, metric, threshold, scope, ...switchThresholds },
        bound: isPerHop ? hopBound(metric, findings, units) : one,
      };
  }
}

function readMetric(value: unknown, path: Path, findings: Findings): MetricName | null {
  if (typeof value !== 'string') {
    findings.add('WRONG_TYPE', path, `a metric is a name, as hopLatency, not ${described(value)}`);
  } else if (isMetricName(value)) {
    return value;
  } else findings.add('UNKNOWN_METRIC', path, `${quoted(value)} is no metric: ${suggestion(value, METRIC_NAMES)}`);
  return null;
}

function readSmoothing(
  mapping: Mapping,
  path: Path,
  findings: Findings,
): { weight: number } | { alpha: number } | null {
  const [weight, alpha] = [mapping.get('weight'), mapping.get('alpha')];
  if (weight === undefined && alpha === undefined) {
    findings.add('MISSING_KEY', path, 'movingAverage needs weight or alpha: write weight: 3 for 2^-3, or alpha: 0.125');
    return null;
  }
  if (weight !== undefined && alpha !== undefined) {
    findings.add('BAD_VALUE', [...path, 'alpha'], 'movingAverage has weight or alpha, not both: leave one of them out');
    return null;
  }
  if (weight !== undefined) {
    const whole = findings.whole(weight, [...path, 'weight'], 'weight', 0, LARGEST_WEIGHT);
    return whole === null ? null : { weight: whole };
  }
  const at = [...path, 'alpha'];
  if (typeof alpha !== 'number') {
    findings.add('WRONG_TYPE', at, `alpha is a number above 0 and at most 1, as 0.125, not ${described(alpha)}`);
  } else if (!(alpha > 0 && alpha <= 1)) {
    findings.add('BAD_VALUE', at, `alpha is a number above 0 and at most 1, as 0.125, not ${alpha}`);
  } else return { alpha };
  return null;
}

/** One quantity, converted if the metric is known. */
function readOne<T>(
  value: unknown,
  path: Path,
  metric: MetricName | null,
  findings: Findings,
  units: Units,
  converted: (metric: MetricName, quantity: ReturnType<typeof quantityOf>) => T,
): T | null {
  const text = findings.numberOrText(value, path, String(path.at(-1)), '1000 or 10us');
  if (text === null) return null;
  const quantity = findings.attempt(path, () => quantityOf(text));
  if (quantity === null || metric === null) return null;
  try {
    return converted(metric, quantity);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    if (!isKnownAlready(error, metric, units)) findings.add(error.code, path, error.message);
    return null;
  }
}

const PER_SWITCH = {
  what: 'a threshold per switch',
  keys: { default: 'default: 10us', switches: 'switches: { 5: 20us }' },
  required: ['default', 'switches'],
} as const;

function readHopThreshold(
  value: unknown,
  path: Path,
  metric: MetricName | null,
  findings: Findings,
  units: Units,
): SwitchThresholds | null {
  const usual = (each: unknown, at: Path): SwitchThresholds | null =>
    readOne(each, at, metric, findings, units, (known, quantity) => convertPerSwitch(known, quantity, units.scales));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return usual(value, path);
  const mapping = findings.shaped(value, path, PER_SWITCH, '{ default: 10us, switches: { 5: 20us } }');
  if (mapping === null) return null;
  const base = mapping.has('default') ? usual(mapping.get('default'), [...path, 'default']) : null;
  const own = mapping.has('switches')
    ? bySwitch(mapping.get('switches'), [...path, 'switches'], findings, 'switches', '5: 20us', (each, at, id) =>
        readOne(each, at, metric, findings, units, (known, quantity) => convertAt(known, quantity, units.scales, id)),
      )
    : new Map<number, number>();
  if (base === null) return null;
  const merged = [...new Map([...base.switches, ...own])].sort(([a], [b]) => a - b);
  return { threshold: base.threshold, switches: new Map(merged) };
}

/** Reads a bound of one threshold for all switches, which adapting needs. */
function hopBound(metric: MetricName, findings: Findings, units: Units): (value: unknown, path: Path) => number | null {
  return (value, path) =>
    readOne(value, path, metric, findings, units, (known, quantity) => {
      convert(known, '>', quantity, units.scales, 'one threshold is adapted for');
      return convertAt(known, quantity, units.scales, null);
    });
}

function readExpression(value: unknown, path: Path, findings: Findings, units: Units): Cnf | null {
  if (typeof value !== 'string') {
    findings.add('WRONG_TYPE', path, `complex is text, as "sum(hopLatency) > 10us", not ${described(value)}`);
    return null;
  }
  try {
    const expression = parseExpression(value);
    const before = findings.all.length;
    const isHeld = checkConstants(expression, path, findings, units);
    // The compiler stops at the first constant that is wrong; all have been looked at.
    if (findings.all.length > before || isHeld) return null;
    return toCnf(
      expression,
      (metric, operator, quantity, aggregate) => convert(metric, operator, quantity, units.scales, reasonOf(aggregate)),
      value,
    );
  } catch (error) {
    if (!ExpressionError.is(error)) throw error;
    findings.addSpan(error.code, path, error.message, error.span);
    return null;
  }
}

/** Finds all constants that cannot be converted. Returns whether one waits for a scale that is wrong itself. */
function checkConstants(root: Expression, path: Path, findings: Findings, units: Units): boolean {
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
        if (!(error instanceof QuantityError)) throw error;
        if (isKnownAlready(error, metric, units)) isHeld = true;
        else findings.addSpan(error.code, path, error.message, quantitySpan);
      }
    }
  }
  return isHeld;
}
