import type { Metric, MetricType, Registry, RegistryContentType } from 'prom-client';
import {
  type LabelColumn,
  labelAt,
  type MetricDefinition,
  type MetricFamily,
  PipelineReading,
  readFamily,
} from './definitions/definition.js';
import type { PipelineParts } from './options.js';

/** A value as the registry writes it. */
interface WrittenSample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Where it is not the metric's own: `_bucket`, `_sum` and `_count` of histograms. */
  readonly metricName?: string;
}

/** What the registry of prom-client asks of a metric when it is scraped. */
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
 * Registers a metric whose values are read when they are asked for.
 * @returns what the registry has of it
 */
export function registerSnapshot(
  registry: Registry<RegistryContentType>,
  prefix: string,
  definition: MetricDefinition,
  parts: PipelineParts,
): object {
  const { type, help } = definition;
  const name = `${prefix}_${definition.name}`;
  const values = (): readonly WrittenSample[] => samplesOf(name, readFamily(definition, new PipelineReading(parts)));
  const metric: ScrapedMetric = {
    name,
    help,
    type,
    aggregator: 'sum',
    // Not destructured: the registry takes `_total` off a counter's name in the OpenMetrics format.
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
  return Object.fromEntries(labels.map((column) => [column.name, labelAt(column, row)]));
}
