import { isMetricName, METRIC_NAMES, type MetricName } from '@int/codec';
import {
  cellScale,
  fullScale,
  MEASURED_METRICS,
  type MetricScale,
  quoted,
  type Scale,
  type Scales,
  unitScale,
  ValueError,
} from '@int/network/internals';
import { described, type Given, suggestion } from './given.js';

/** The scales that `units` declares, and the metrics whose scale could not be read. */
export interface Units {
  readonly scales: Scales;
  /** Metrics whose scale could not be read: findings tell of them already. */
  readonly broken: ReadonlySet<MetricName>;
}

export const NO_UNITS: Units = { scales: /* @__PURE__ */ new Map(), broken: /* @__PURE__ */ new Set() };

const EXAMPLE = '{ hopLatency: ns, queueOccupancy: { cell: 80B }, egressUtilization: { full: 10000 } }';

/** A switch id as a key: decimal, 0 to 2^32 - 1; `null` if it is none. */
function switchIdOf(key: string): number | null {
  if (!/^(?:0|[1-9]\d{0,9})$/.test(key)) return null;
  const id = Number(key);
  return id <= 0xffffffff ? id : null;
}

/** The values of a mapping from switch ids, in the order of the ids. */
export function bySwitch<T>(
  given: Given,
  example: string,
  read: (given: Given, id: number) => T | null,
): ReadonlyMap<number, T> {
  const entries: [number, T][] = [];
  for (const [key, each] of given.mapping('switches', `{ ${example} }`) ?? []) {
    const id = switchIdOf(key);
    if (id === null) {
      const message = `${quoted(key)} is no switch id: write a number from 0 to 4294967295, as ${example}`;
      each.refuse('BAD_VALUE', message, { atKey: true });
      continue;
    }
    const result = read(each, id);
    if (result !== null) entries.push([id, result]);
  }
  return new Map(entries.sort(([a], [b]) => a - b));
}

/** The `units` of a rule set. */
export function readUnits(given: Given): Units {
  const scales = new Map<MetricName, MetricScale>();
  const broken = new Set<MetricName>();
  for (const [key, each] of given.mapping('units', EXAMPLE) ?? []) {
    if (!isMetricName(key)) {
      const message = `units: ${quoted(key)} is no metric: ${suggestion(key, MEASURED_METRICS)}`;
      each.refuse('UNKNOWN_METRIC', message, { atKey: true });
    } else if (!MEASURED_METRICS.includes(key)) {
      const names = METRIC_NAMES.filter((name) => MEASURED_METRICS.includes(name)).join(', ');
      const message = `${key} is a plain number and has no scale: leave it out; units knows ${names}`;
      each.refuse('WRONG_UNIT', message, { atKey: true });
    } else {
      const before = given.findings.length;
      const scale = readMetricScale(key, each);
      if (scale !== null && given.findings.length === before) scales.set(key, scale);
      else broken.add(key);
    }
  }
  return { scales, broken };
}

const PER_SWITCH = {
  what: 'a scale per switch',
  keys: { default: 'default: ns', switches: 'switches: { 5: us }' },
  required: ['default', 'switches'],
} as const;

function readMetricScale(metric: MetricName, given: Given): MetricScale | null {
  const { value } = given;
  const isPerSwitch =
    typeof value === 'object' &&
    value !== null &&
    (Object.hasOwn(value, 'switches') || Object.hasOwn(value, 'default'));
  if (!isPerSwitch) {
    const scale = readScale(metric, given);
    return scale === null ? null : { default: scale, switches: new Map() };
  }
  const mapping = given.shaped(PER_SWITCH, '{ default: ns, switches: { 5: us } }');
  if (mapping === null) return null;
  const usual = mapping.read('default', (each) => readScale(metric, each));
  const switches = mapping.read('switches', (all) => bySwitch(all, '5: us', (each) => readScale(metric, each)));
  return usual === null ? null : { default: usual, switches: switches ?? new Map() };
}

function readScale(metric: MetricName, given: Given): Scale | null {
  const { value } = given;
  if (typeof value === 'string') return given.attempt(() => unitScale(metric, value));
  const example =
    metric === 'hopLatency' ? 'ns' : metric === 'egressUtilization' ? '{ full: 10000 }' : 'B or { cell: 80B }';
  const what = `the scale of ${metric}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return given.refuse('WRONG_TYPE', `${what} is a unit or a mapping, as ${example}, not ${described(value)}`);
  }
  const mapping = given.shaped({ what, keys: { cell: 'cell: 80B', full: 'full: 10000' } }, example);
  if (mapping === null) return null;
  if (mapping.has('cell') === mapping.has('full')) {
    return given.refuse('BAD_VALUE', `${what} is one of cell and full: write ${example}`);
  }
  return (
    mapping.read('cell', (cell) => {
      const size = cell.numberOrText('the size of a cell', '80B');
      return size === null ? null : cell.attempt(() => cellScale(metric, size));
    }) ??
    mapping.read('full', (each) => {
      const full = each.value;
      if (typeof full === 'number') return each.attempt(() => fullScale(metric, full));
      return each.refuse('WRONG_TYPE', `full is a number, as 10000, not ${described(full)}`);
    })
  );
}

/** Whether an error is due to a scale of which other findings tell. */
export function isKnownAlready(error: unknown, metric: MetricName | null, { broken }: Units): boolean {
  return error instanceof ValueError && error.code === 'UNDECLARED_UNIT' && metric !== null && broken.has(metric);
}
