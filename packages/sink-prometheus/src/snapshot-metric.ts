import type { Metric, MetricType, Registry, RegistryContentType } from 'prom-client';

/** A value of a metric, with its labels. */
export interface Sample {
  /** Where it is not the metric's own: `_bucket`, `_sum` and `_count` of histograms. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** What the registry of prom-client asks of a metric when it is scraped. */
interface ScrapedMetric {
  name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: 'sum';
  get(): Promise<{ name: string; help: string; type: string; aggregator: 'sum'; values: readonly Sample[] }>;
}

/** The form of {@link ScrapedMetric} that the registry's types know. */
type RegisteredMetric = Metric & { readonly type?: MetricType };

/**
 * Registers a metric whose values are read when they are asked for. The pipeline counts by itself: what is exported are its
 * own counters, not others beside them that could differ.
 *
 * @param samples called at every scrape
 */
export function registerSnapshot(
  registry: Registry<RegistryContentType>,
  type: ScrapedMetric['type'],
  name: string,
  help: string,
  samples: () => readonly Sample[],
): void {
  const metric: ScrapedMetric = {
    name,
    help,
    type,
    aggregator: 'sum',
    // Not destructured: the registry takes `_total` off a counter's name in the OpenMetrics format.
    get: async () => ({ name: metric.name, help, type, aggregator: 'sum', values: samples() }),
  };
  registry.registerMetric(metric as unknown as RegisteredMetric);
}

/**
 * The samples of one histogram: cumulative buckets, sum, count.
 *
 * @param name of the histogram
 * @param bounds upper bounds of the buckets, in the exported unit; inclusive
 * @param buckets values in each, and above the last bound at the end
 * @param sum of all values, in the exported unit
 */
export function histogramSamples(
  name: string,
  labels: Sample['labels'],
  bounds: readonly number[],
  buckets: readonly number[],
  sum: number,
): Sample[] {
  let count = 0;
  const samples: Sample[] = buckets.map((inBucket, index) => {
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
