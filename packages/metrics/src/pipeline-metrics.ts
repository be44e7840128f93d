import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry, type RegistryContentType } from 'prom-client';
import { type MetricDefinition, readFamilies } from './definitions/definition.js';
import { pipelineMetrics } from './definitions/pipeline.js';
import type { PipelineMetricsOptions } from './options.js';
import { familyText } from './page/exposition.js';
import type { PageContent } from './page/page.js';
import { registerProcessMetrics } from './process-metrics.js';
import { registerSnapshot } from './snapshot-metric.js';

/** The names that Prometheus permits for metrics. */
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/**
 * The metrics of a pipeline, in the exposition format of Prometheus.
 *
 * The stages bound the cardinality. `SwitchTotals` has a fixed number of rows for the busiest switches, queues and
 * egress interfaces; everything else is the switch `other`. Nothing is exported per flow.
 *
 * @example
 * const metrics = new PipelineMetrics({ collector, switches, detection: stage });
 * const server = await MetricsServer.listen({ port: 9464, metrics });
 */
export class PipelineMetrics {
  readonly registry: Registry<RegistryContentType>;
  readonly #options: PipelineMetricsOptions;
  readonly #definitions: readonly MetricDefinition[];
  /** The pipeline's own metrics in the registry. */
  readonly #own: ReadonlySet<object>;

  /**
   * @throws RangeError for a prefix that Prometheus does not permit; Error if the registry already has a metric of the
   *   same name
   */
  constructor(options: PipelineMetricsOptions) {
    const { prefix = 'int', labels } = options;
    if (!NAME.test(prefix)) throw new RangeError(`prefix must be a metric's name, not "${prefix}"`);
    this.#options = options;
    this.#definitions = pipelineMetrics(options);
    const registry: Registry<RegistryContentType> = options.registry ?? new Registry();
    this.registry = registry;
    if (labels !== undefined) registry.setDefaultLabels({ ...labels });
    const own = this.#definitions.map((definition) => registerSnapshot(registry, prefix, definition, options));
    this.#own = new Set(own);
    if (options.process !== false) registerProcessMetrics(registry);
  }

  /** The text of a page, for a program that serves it itself. It yields to other work between metrics. */
  async text(): Promise<string> {
    const content = await this.content();
    const texts: string[] = [];
    for (const family of content.families) {
      texts.push(familyText(family, content));
      await nextTurn();
    }
    texts.push(...content.texts);
    return content.isOpenMetrics ? `${[...texts, '# EOF'].join('\n')}\n` : `${texts.join('\n\n')}\n`;
  }

  /** The content type of {@link text}. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /**
   * The content of a page at one moment: plain data for {@link MetricsServer}, which makes the page in another thread.
   * It copies the counters. It formats only metrics that other parts of the program have registered.
   */
  async content(): Promise<PageContent> {
    const { prefix = 'int', labels = {} } = this.#options;
    const { contentType } = this;
    const families = readFamilies(this.#definitions, this.#options);
    const texts = await this.#others();
    return {
      contentType,
      isOpenMetrics: contentType === Registry.OPENMETRICS_CONTENT_TYPE,
      prefix,
      labels,
      families,
      texts,
    };
  }

  /** The metrics of the process, and the registry's other metrics. */
  #others(): Promise<string[]> {
    const { registry } = this;
    const isOpenMetrics = this.contentType === Registry.OPENMETRICS_CONTENT_TYPE;
    const others = registry.getMetricsAsArray().filter((metric) => !this.#own.has(metric));
    return Promise.all(
      others.map((metric) => {
        // The registry shortens the name of a counter, too; look it up by the name it was registered with.
        const key = registry.getSingleMetric(metric.name) === undefined ? `${metric.name}_total` : metric.name;
        if (isOpenMetrics && String(metric.type) === 'counter') metric.name = metric.name.replace(/_total$/, '');
        return registry.getSingleMetricAsString(key);
      }),
    );
  }
}
