import { Registry, type RegistryContentType } from 'prom-client';
import { labelled, one, type ValueRows } from './definitions/definition.js';
import type { PageContent } from './page/page.js';
import { registerProcessMetrics } from './process-metrics.js';

/** A number to export. */
export interface CountMetric {
  readonly type: 'counter' | 'gauge';
  /** Name of the metric, without the prefix. */
  readonly name: string;
  readonly help: string;
}

/** A value of a metric with labels, all metrics of one name with the same labels. */
export interface LabelledCount {
  /** Values of the labels, by name. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface CountMetricsOptions<Name extends string> {
  /** Prefix of every name, followed by an underscore. Default `int`. */
  readonly prefix?: string;
  readonly metrics: Readonly<Record<Name, CountMetric>>;
  /** Called once per page. */
  readonly read: () => Readonly<Record<NoInfer<Name>, number | readonly LabelledCount[]>>;
}

/** A program's own counts, with the metrics of its process, in the exposition format of Prometheus. */
export class CountMetrics<Name extends string> {
  readonly #registry: Registry<RegistryContentType> = new Registry();
  readonly #options: CountMetricsOptions<Name>;

  constructor(options: CountMetricsOptions<Name>) {
    this.#options = options;
    registerProcessMetrics(this.#registry);
  }

  /** The content of a page at one moment, for {@link MetricsServer}. */
  async content(): Promise<PageContent> {
    const { prefix = 'int', metrics, read } = this.#options;
    const counts = read();
    const families = (Object.entries(metrics) as [Name, CountMetric][]).map(([key, { type, name, help }]) => ({
      type,
      name,
      help,
      ...rowsOf(counts[key]),
    }));
    const texts = [(await this.#registry.metrics()).trimEnd()];
    const { contentType } = this.#registry;
    return { contentType, isOpenMetrics: false, prefix, labels: {}, families, texts };
  }
}

function rowsOf(count: number | readonly LabelledCount[]): ValueRows {
  if (typeof count === 'number') return one(count);
  const names = Object.keys(count[0]?.labels ?? {});
  return labelled(
    names,
    count.map(({ labels, value }) => ({ of: names.map((name) => labels[name] ?? ''), value })),
  );
}
