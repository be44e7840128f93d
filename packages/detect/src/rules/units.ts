import { isMetricName, METRIC_NAMES, type MetricName } from '@int/codec';
import { described, type Findings, type Path, suggestion } from './problems.js';
import { QuantityError, quoted } from './quantity.js';
import {
  cellScale,
  fullScale,
  MEASURED_METRICS,
  type MetricScale,
  type Scale,
  type Scales,
  unitScale,
} from './scale.js';

/** The scales that `units` declares, and the metrics whose scale could not be read. */
export interface Units {
  readonly scales: Scales;
  /** Findings tell of these already. */
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

/** Entries by switch id, in the order of the ids; findings for keys that are none. */
export function bySwitch<T>(
  value: unknown,
  path: Path,
  findings: Findings,
  what: string,
  example: string,
  read: (value: unknown, path: Path, id: number) => T | null,
): ReadonlyMap<number, T> {
  const entries: [number, T][] = [];
  for (const [key, each] of findings.mapping(value, path, what, `{ ${example} }`) ?? []) {
    const at = [...path, key];
    const id = switchIdOf(key);
    if (id === null) {
      findings.addKey(
        'BAD_VALUE',
        at,
        `${quoted(key)} is no switch id: write a number from 0 to 4294967295, as ${example}`,
      );
      continue;
    }
    const result = read(each, at, id);
    if (result !== null) entries.push([id, result]);
  }
  return new Map(entries.sort(([a], [b]) => a - b));
}

/** The `units` of a rule set. */
export function readUnits(value: unknown, path: Path, findings: Findings): Units {
  const scales = new Map<MetricName, MetricScale>();
  const broken = new Set<MetricName>();
  for (const [key, each] of findings.mapping(value, path, 'units', EXAMPLE) ?? []) {
    const at = [...path, key];
    if (!isMetricName(key)) {
      findings.addKey('UNKNOWN_METRIC', at, `units: ${quoted(key)} is no metric: ${suggestion(key, MEASURED_METRICS)}`);
      continue;
    }
    if (!MEASURED_METRICS.includes(key)) {
      const names = METRIC_NAMES.filter((name) => MEASURED_METRICS.includes(name)).join(', ');
      findings.addKey(
        'WRONG_UNIT',
        at,
        `${key} is a plain number and has no scale: leave it out; units knows ${names}`,
      );
      continue;
    }
    const before = findings.all.length;
    const scale = readMetricScale(key, each, at, findings);
    if (scale !== null && findings.all.length === before) scales.set(key, scale);
    else broken.add(key);
  }
  return { scales, broken };
}

const PER_SWITCH = {
  what: 'a scale per switch',
  keys: { default: 'default: ns', switches: 'switches: { 5: us }' },
  required: ['default', 'switches'],
} as const;

function readMetricScale(metric: MetricName, value: unknown, path: Path, findings: Findings): MetricScale | null {
  const isPerSwitch =
    typeof value === 'object' &&
    value !== null &&
    (Object.hasOwn(value, 'switches') || Object.hasOwn(value, 'default'));
  if (!isPerSwitch) {
    const scale = readScale(metric, value, path, findings);
    return scale === null ? null : { default: scale, switches: new Map() };
  }
  const mapping = findings.shaped(value, path, PER_SWITCH, '{ default: ns, switches: { 5: us } }');
  if (mapping === null) return null;
  const usual = mapping.has('default')
    ? readScale(metric, mapping.get('default'), [...path, 'default'], findings)
    : null;
  const switches = mapping.has('switches')
    ? bySwitch(mapping.get('switches'), [...path, 'switches'], findings, 'switches', '5: us', (each, at) =>
        readScale(metric, each, at, findings),
      )
    : new Map<number, Scale>();
  return usual === null ? null : { default: usual, switches };
}

function readScale(metric: MetricName, value: unknown, path: Path, findings: Findings): Scale | null {
  if (typeof value === 'string') return findings.attempt(path, () => unitScale(metric, value));
  const example =
    metric === 'hopLatency' ? 'ns' : metric === 'egressUtilization' ? '{ full: 10000 }' : 'B or { cell: 80B }';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    findings.add(
      'WRONG_TYPE',
      path,
      `the scale of ${metric} is a unit or a mapping, as ${example}, not ${described(value)}`,
    );
    return null;
  }
  const mapping = findings.shaped(
    value,
    path,
    { what: `the scale of ${metric}`, keys: { cell: 'cell: 80B', full: 'full: 10000' } },
    example,
  );
  if (mapping === null) return null;
  const [cell, full] = [mapping.get('cell'), mapping.get('full')];
  if ((cell === undefined) === (full === undefined)) {
    findings.add('BAD_VALUE', path, `the scale of ${metric} is one of cell and full: write ${example}`);
    return null;
  }
  if (cell !== undefined) {
    const size = findings.numberOrText(cell, [...path, 'cell'], 'the size of a cell', '80B');
    return size === null ? null : findings.attempt([...path, 'cell'], () => cellScale(metric, size));
  }
  if (typeof full !== 'number') {
    findings.add('WRONG_TYPE', [...path, 'full'], `full is a number, as 10000, not ${described(full)}`);
    return null;
  }
  return findings.attempt([...path, 'full'], () => fullScale(metric, full));
}

/** Whether a problem of a constant is due to a scale that other findings tell of. */
export function isKnownAlready(error: unknown, metric: MetricName | null, { broken }: Units): boolean {
  return error instanceof QuantityError && error.code === 'UNDECLARED_UNIT' && metric !== null && broken.has(metric);
}
