import type { BatchObservableResult, Meter, Observable, ObservableCounter } from '@opentelemetry/api';
import { type MetricDefinition, type MetricFamily, readFamilies } from '../definitions/definition.js';
import { pipelineMetrics } from '../definitions/pipeline.js';
import type { PipelineParts } from '../options.js';
import { labelsAt } from '../snapshot-metric.js';

export interface ObservePipelineOptions {
  /** Prefix of every name, followed by a dot. Default `int`. */
  readonly prefix?: string;
  /** Attributes of every value, such as the site. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
}

/** Instruments that read a pipeline. */
export interface PipelineObservation {
  /** Stops reading. */
  stop(): void;
}

/** The names that OpenTelemetry permits for instruments. */
const PREFIX = /^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$/;

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** The instruments of a metric, and a function that records its values. */
interface Instruments {
  readonly instruments: readonly Observable[];
  observe(result: BatchObservableResult, family: MetricFamily): void;
}

/**
 * Makes an observable instrument of a meter for each metric of `PipelineMetrics`. One callback reads all values when
 * the meter's reader collects.
 *
 * A name is that of Prometheus without `_total`, and with a dot after the prefix: `int.frames_received`. An exporter
 * for Prometheus turns it back into the same name. Labels become attributes. OpenTelemetry has no observable histogram.
 * Each histogram is therefore three counters: `int.hop_latency_seconds.bucket` with cumulative buckets by attribute
 * `le`, `.sum` and `.count`.
 *
 * @throws RangeError for a prefix that OpenTelemetry does not permit
 */
export function observePipeline(
  meter: Meter,
  parts: PipelineParts,
  { prefix = 'int', attributes = {} }: ObservePipelineOptions = {},
): PipelineObservation {
  if (!PREFIX.test(prefix)) throw new RangeError(`prefix must be the name of an instrument, not "${prefix}"`);
  const definitions = pipelineMetrics(parts);
  const made = definitions.map((definition) => instrumentsOf(meter, prefix, definition, attributes));
  const instruments = made.flatMap((each) => each.instruments);
  const callback = (result: BatchObservableResult): void => {
    const families = readFamilies(definitions, parts);
    made.forEach((each, index) => {
      each.observe(result, families[index]!);
    });
  };
  meter.addBatchObservableCallback(callback, instruments);
  return { stop: () => meter.removeBatchObservableCallback(callback, instruments) };
}

function instrumentsOf(
  meter: Meter,
  prefix: string,
  definition: MetricDefinition,
  attributes: Attributes,
): Instruments {
  const description = definition.help;
  if (definition.type === 'histogram')
    return histogramOf(meter, `${prefix}.${definition.name}`, description, attributes);
  const name = `${prefix}.${definition.name.replace(/_total$/, '')}`;
  const instrument =
    definition.type === 'counter'
      ? meter.createObservableCounter(name, { description })
      : meter.createObservableGauge(name, { description });
  return {
    instruments: [instrument],
    observe: (result, family) => {
      if (family.type === 'histogram') return;
      family.values.forEach((value, row) => {
        result.observe(instrument, value, { ...attributes, ...labelsAt(family.labels, row) });
      });
    },
  };
}

function histogramOf(meter: Meter, name: string, help: string, attributes: Attributes): Instruments {
  const counter = (part: string, what: string): ObservableCounter =>
    meter.createObservableCounter(`${name}.${part}`, { description: `${help} ${what}` });
  const bucket = counter('bucket', 'Values up to the bound le.');
  const sumOf = counter('sum', 'Their sum.');
  const countOf = counter('count', 'Their number.');
  return {
    instruments: [bucket, sumOf, countOf],
    observe: (result, family) => {
      if (family.type !== 'histogram') return;
      const { labels, bounds, counts, sums } = family;
      const width = bounds.length + 1;
      sums.forEach((sum, row) => {
        const all = { ...attributes, ...labelsAt(labels, row) };
        let count = 0;
        for (let at = 0; at < width; at++) {
          count += counts[row * width + at]!;
          result.observe(bucket, count, { ...all, le: at < bounds.length ? String(bounds[at]) : '+Inf' });
        }
        result.observe(sumOf, sum, all);
        result.observe(countOf, count, all);
      });
    },
  };
}
