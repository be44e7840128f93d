import { Registry, type RegistryContentType } from 'prom-client';
import { one } from './definitions/definition.js';
import type { PageContent } from './page/page.js';
import { registerProcessMetrics } from './process-metrics.js';

/** A number to export. */
export interface CountMetric {
  readonly type: 'counter' | 'gauge';
  /** Name of the metric, without the prefix. */
  readonly name: string;
  readonly help: string;
}

export interface CountMetricsOptions<Name extends string> {
  /** Prefix of every name, followed by an underscore. Default `int`. */
  readonly prefix?: string;
  readonly metrics: Readonly<Record<Name, CountMetric>>;
  /** Called once per page. */
  readonly read: () => Readonly<Record<NoInfer<Name>, number>>;
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
      ...one(counts[key]),
    }));
    const texts = [(await this.#registry.metrics()).trimEnd()];
    const { contentType } = this.#registry;
    return { contentType, isOpenMetrics: false, prefix, labels: {}, families, texts };
  }
}
