import { PipelineMetrics, type SwitchNames } from '@int/metrics';
import { observePipeline, type PipelineObservation } from '@int/metrics/opentelemetry';
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { afterEach, describe, expect, it } from 'vitest';
import { parseExposition } from './exposition.js';
import { CountingSink, PushSource, pipeline, report } from './pipeline.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A pipeline through which some reports went, its instruments, and what a reader collects. */
async function observed(
  options: Parameters<typeof observePipeline>[2] = {},
  names?: SwitchNames,
): Promise<{
  readonly parts: ReturnType<typeof pipeline<PushSource>>;
  readonly observation: PipelineObservation;
  collect(): Promise<Map<string, MetricData>>;
}> {
  const parts = pipeline(new PushSource(), [new CountingSink()]);
  await parts.collector.start();
  closers.push(() => parts.collector.stop());
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  closers.push(() => provider.shutdown());
  const observation = observePipeline(
    provider.getMeter('int'),
    { ...parts, ...(names !== undefined && { names }) },
    options,
  );
  parts.source.push([400, 500, 1700, 9000].map((latency, index) => report(5, index, latency, index * 5)));
  parts.source.push([report(0xfffffffe, 9, 1000, 200), Uint8Array.of(1, 2, 3)]);
  const collect = async (): Promise<Map<string, MetricData>> => {
    exporter.reset();
    const { resourceMetrics, errors } = await reader.collect();
    expect(errors).toEqual([]);
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return new Map(metrics.map((metric) => [metric.descriptor.name, metric]));
  };
  return { parts, observation, collect };
}

/** The only value with these attributes. */
function readingOf(metric: MetricData | undefined, attributes: Readonly<Record<string, unknown>> = {}): unknown {
  const points = (metric?.dataPoints ?? []).filter((point) =>
    Object.entries(attributes).every(([key, value]) => point.attributes[key] === value),
  );
  expect(points.length, JSON.stringify(attributes)).toBe(1);
  return points[0]?.value;
}

describe('observePipeline', () => {
  it('has names beside ids as attributes, where there are any', async () => {
    const names: SwitchNames = { switchName: (id) => (id === 5 ? 'leaf-5' : null), portName: () => null };
    const metrics = await (await observed({}, names)).collect();
    const points = metrics.get('int.switch_hops')!.dataPoints.map(({ attributes }) => attributes);
    expect(points).toEqual([{ switch: 5, switch_name: 'leaf-5' }, { switch: 0xfffffffe }, { switch: 'other' }]);
  });

  it('gives a reader what the parts of the pipeline count', async () => {
    const { collect, parts } = await observed();
    const metrics = await collect();
    expect(readingOf(metrics.get('int.frames_received'))).toBe(6);
    expect(readingOf(metrics.get('int.switch_hops'), { switch: 5 })).toBe(4);
    expect(readingOf(metrics.get('int.queue_occupancy'), { switch: 5, queue: 3 })).toBe(15);
    expect(readingOf(metrics.get('int.events'), { rule: 'slow' })).toBe(2);
    expect(metrics.get('int.frames_received')).toMatchObject({ dataPointType: DataPointType.SUM, isMonotonic: true });
    expect(metrics.get('int.queue_occupancy')).toMatchObject({ dataPointType: DataPointType.GAUGE });
    parts.source.push([report(5, 4, 1, 1)]);
    expect(readingOf((await collect()).get('int.frames_received'))).toBe(7);
  });

  it('gives histograms as cumulated buckets, sum and count', async () => {
    const { collect } = await observed();
    const metrics = await collect();
    const buckets = metrics.get('int.hop_latency_seconds.bucket')?.dataPoints ?? [];
    expect(
      buckets
        .filter(({ attributes }) => attributes.switch === 5)
        .map(({ attributes, value }) => [attributes.le, value]),
    ).toEqual([
      ['5e-7', 2],
      ['0.000001', 2],
      ['0.0000025', 3],
      ['+Inf', 4],
    ]);
    expect(readingOf(metrics.get('int.hop_latency_seconds.sum'), { switch: 5 })).toBeCloseTo(11_600e-9, 12);
    expect(readingOf(metrics.get('int.hop_latency_seconds.count'), { switch: 5 })).toBe(4);
  });

  it('has an instrument for each metric that Prometheus gets', async () => {
    const { collect, parts } = await observed();
    const { types } = parseExposition(await new PipelineMetrics({ ...parts, process: false }).text());
    const instruments = await collect();
    for (const [name, type] of types) {
      const own = name.replace(/^int_/, 'int.').replace(/_total$/, '');
      const expected = type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${own}.${part}`) : [own];
      expect([...instruments.keys()], name).toEqual(expect.arrayContaining(expected));
    }
  });

  it('names things and adds attributes as asked', async () => {
    const { collect } = await observed({ prefix: 'lab.int', attributes: { site: 'north' } });
    const metrics = await collect();
    expect([...metrics.keys()].every((name) => name.startsWith('lab.int.'))).toBe(true);
    for (const { dataPoints } of metrics.values()) {
      for (const { attributes } of dataPoints) expect(attributes.site).toBe('north');
    }
    expect(readingOf(metrics.get('lab.int.hop_latency_seconds.sum'), { switch: 5 })).toBeCloseTo(11_600e-9, 12);
  });

  it('reads no more when it is stopped', async () => {
    const { collect, observation, parts } = await observed();
    expect(readingOf((await collect()).get('int.frames_received'))).toBe(6);
    observation.stop();
    parts.source.push([report(5, 4, 1, 1)]);
    // The SDK repeats the last value of a counter.
    expect(readingOf((await collect()).get('int.frames_received'))).toBe(6);
  });

  it('refuses names that make no sense', () => {
    const meter = new MeterProvider().getMeter('int');
    expect(() => observePipeline(meter, {}, { prefix: '9 lives' })).toThrow(RangeError);
  });
});
