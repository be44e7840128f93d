import type { Metric, MetricType, Registry, RegistryContentType } from 'prom-client';
import type { HistogramSample, MetricDefinition, Sample } from './definitions/definition.js';

/** A value as the registry writes it. */
interface WrittenSample extends Sample {
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

/** Registers a metric whose values are read when they are asked for. */
export function registerSnapshot(
  registry: Registry<RegistryContentType>,
  prefix: string,
  definition: MetricDefinition,
): void {
  const { type, help } = definition;
  const name = `${prefix}_${definition.name}`;
  const values = (): readonly WrittenSample[] =>
    definition.type === 'histogram'
      ? definition.samples().flatMap((sample) => histogramSamples(name, sample))
      : definition.samples();
  const metric: ScrapedMetric = {
    name,
    help,
    type,
    aggregator: 'sum',
    // Not destructured: the registry takes `_total` off a counter's name in the OpenMetrics format.
    get: async () => ({ name: metric.name, help, type, aggregator: 'sum', values: values() }),
  };
  registry.registerMetric(metric as unknown as RegisteredMetric);
}

/** Cumulative buckets, sum, count. */
function histogramSamples(name: string, { labels, bounds, buckets, sum }: HistogramSample): WrittenSample[] {
  let count = 0;
  const samples: WrittenSample[] = buckets.map((inBucket, index) => {
    count += inBucket;
    const le = index < bounds.length ? String(bounds[index]) : '+Inf';
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
  });
  samples.push(
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  );
  return samples;
}
