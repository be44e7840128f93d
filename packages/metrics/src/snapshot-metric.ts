import type { Metric, MetricType, Registry, RegistryContentType } from 'prom-client';
import {
  hasLabel,
  type LabelColumn,
  labelAt,
  type MetricDefinition,
  type MetricFamily,
  readFamily,
  readingOf,
} from './definitions/definition.js';
import type { PipelineParts } from './options.js';

/** A value as the registry writes it. */
interface WrittenSample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** The name if it differs from the metric's: `_bucket`, `_sum` and `_count` of histograms. */
  readonly metricName?: string;
}

/** The methods of a metric that prom-client's registry calls in a scrape. */
interface ScrapedMetric {
  name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: 'sum';
  get(): Promise<{ name: string; help: string; type: string; aggregator: 'sum'; values: readonly WrittenSample[] }>;
}

/** The form of {@link ScrapedMetric} that the registry's types know. */
type RegisteredMetric = Metric & { readonly type?: MetricType };

/**
 * Registers a metric whose values are read at each scrape.
 * @returns the registered metric
 */
export function registerSnapshot(
  registry: Registry<RegistryContentType>,
  prefix: string,
  definition: MetricDefinition,
  parts: PipelineParts,
): object {
  const { type, help } = definition;
  const name = `${prefix}_${definition.name}`;
  const values = (): readonly WrittenSample[] => samplesOf(name, readFamily(definition, readingOf(parts)));
  const metric: ScrapedMetric = {
    name,
    help,
    type,
    aggregator: 'sum',
    // Not destructured: in the OpenMetrics format the registry removes `_total` from `metric.name`.
    get: async () => ({ name: metric.name, help, type, aggregator: 'sum', values: values() }),
  };
  registry.registerMetric(metric as unknown as RegisteredMetric);
  return metric;
}

function samplesOf(name: string, family: MetricFamily): WrittenSample[] {
  if (family.type !== 'histogram') {
    return Array.from(family.values, (value, row) => ({ labels: labelsAt(family.labels, row), value }));
  }
  const { labels, bounds, counts, sums } = family;
  const width = bounds.length + 1;
  return Array.from(sums).flatMap((sum, row) => {
    const own = labelsAt(labels, row);
    let count = 0;
    const samples: WrittenSample[] = Array.from({ length: width }, (_, bucket) => {
      count += counts[row * width + bucket]!;
      const le = bucket < bounds.length ? String(bounds[bucket]) : '+Inf';
      return { metricName: `${name}_bucket`, labels: { ...own, le }, value: count };
    });
    samples.push(
      { metricName: `${name}_sum`, labels: own, value: sum },
      { metricName: `${name}_count`, labels: own, value: count },
    );
    return samples;
  });
}

/** The labels of a row, by name. */
export function labelsAt(labels: readonly LabelColumn[], row: number): Record<string, string | number> {
  return Object.fromEntries(
    labels.filter((column) => hasLabel(column, row)).map((column) => [column.name, labelAt(column, row)]),
  );
}
