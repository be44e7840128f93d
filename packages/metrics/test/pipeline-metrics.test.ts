import { PipelineMetrics } from '@int/metrics';
import { DeviceProfile } from '@int/network';
import { Counter, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { type Parsed, parseExposition } from './exposition.js';
import { CountingSink, PushSource, pipeline, report } from './pipeline.js';

/** What a scrape tells after some reports of two switches, one of which lost two packets, and a datagram that is none. */
async function scrape(
  options: Partial<ConstructorParameters<typeof PipelineMetrics>[0]> = {},
  device?: DeviceProfile,
): Promise<Parsed[]> {
  const parts = pipeline(new PushSource(), [], device);
  await parts.collector.start();
  const latencies = [400, 500, 1700, 9000];
  parts.source.push(latencies.map((latency, index) => report(5, index < 2 ? index : index + 2, latency, index * 5)));
  parts.source.push([report(0xfffffffe, 9, 1000, 200), Uint8Array.of(1, 2, 3)]);
  const metrics = new PipelineMetrics({ ...parts, process: false, ...options });
  const text = await metrics.text();
  await parts.collector.stop();
  return parseExposition(text).samples;
}

const valueIn = (
  samples: readonly Parsed[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined => {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  expect(found.length, `${name} ${JSON.stringify(labels)}`).toBeLessThanOrEqual(1);
  return found[0]?.value;
};

describe('PipelineMetrics', () => {
  it('tells what the parts of the pipeline count', async () => {
    const samples = await scrape();
    const of = (name: string, labels?: Readonly<Record<string, string>>): number | undefined =>
      valueIn(samples, name, labels);
    expect([of('int_frames_received_total'), of('int_frames_decoded_total'), of('int_reports_total')]).toEqual([
      6, 5, 5,
    ]);
    expect(of('int_frames_dropped_total', { reason: 'overrun' })).toBe(0);
    expect(
      samples.filter(({ name }) => name === 'int_frames_dropped_total').reduce((sum, { value }) => sum + value, 0),
    ).toBe(1);
    expect(of('int_kernel_dropped_total')).toBe(4);
    expect(of('int_switch_hops_total', { switch: '5' })).toBe(4);
    expect(of('int_switch_hops_total', { switch: '4294967294' })).toBe(1);
    expect(of('int_switch_hops_total', { switch: 'other' })).toBe(0);
    expect(of('int_queue_occupancy', { switch: '5', queue: '3' })).toBe(15);
    expect(of('int_egress_utilization', { switch: '5', interface: '2' })).toBe(55);
    expect(of('int_switch_measure', { switch: '5', metric: 'bufferOccupancy' })).toBe(900);
    expect(of('int_events_total', { rule: 'slow' })).toBe(2);
    expect(of('int_detection_reports_total', { rule: 'slow' })).toBe(5);
    expect(of('int_flows')).toBe(1);
    expect(of('int_report_packets_missing', { node: '5', hw: '1' })).toBe(2);
  });

  it('has names beside ids that somebody named, and nothing beside others', async () => {
    const names = {
      switchName: (id: number): string | null => (id === 5 ? 'leaf "5"' : null),
      portName: (id: number, port: number): string | null => (id === 5 && port === 2 ? 'to spine-1' : null),
    };
    const [named, plain] = [await scrape({ names }), await scrape()];
    const labelsOf = (samples: readonly Parsed[], name: string) =>
      samples.filter((sample) => sample.name === name).map(({ labels }) => labels);
    expect(labelsOf(named, 'int_switch_hops_total')).toEqual([
      { switch: '5', switch_name: 'leaf "5"' },
      { switch: '4294967294' },
      { switch: 'other' },
    ]);
    expect(labelsOf(named, 'int_egress_utilization')).toContainEqual({
      switch: '5',
      switch_name: 'leaf "5"',
      interface: '2',
      interface_name: 'to spine-1',
    });
    expect(labelsOf(named, 'int_report_packets_missing')).toContainEqual({ node: '5', node_name: 'leaf "5"', hw: '1' });
    expect(valueIn(named, 'int_hop_latency_seconds_count', { switch_name: 'leaf "5"' })).toBe(4);
    const withoutNames = named.map(({ labels, ...rest }) => ({
      ...rest,
      labels: Object.fromEntries(Object.entries(labels).filter(([name]) => !name.endsWith('_name'))),
    }));
    expect(withoutNames).toEqual(plain.map(({ labels, ...rest }) => ({ ...rest, labels })));
  });

  it('makes histograms that add up, in seconds', async () => {
    const samples = await scrape();
    const buckets = samples.filter(
      ({ name, labels }) => name === 'int_hop_latency_seconds_bucket' && labels.switch === '5',
    );
    expect(buckets.map(({ labels, value }) => [labels.le, value])).toEqual([
      ['5e-7', 2],
      ['0.000001', 2],
      ['0.0000025', 3],
      ['+Inf', 4],
    ]);
    expect(valueIn(samples, 'int_hop_latency_seconds_sum', { switch: '5' })).toBeCloseTo(11_600e-9, 12);
    expect(valueIn(samples, 'int_hop_latency_seconds_count', { switch: '5' })).toBe(4);
    const depths = samples.filter(
      ({ name, labels }) => name === 'int_hop_queue_occupancy_bucket' && labels.switch === '5',
    );
    expect(depths.map(({ value }) => value)).toEqual([1, 3, 4, 4]);
  });

  it('gives names and labels as asked', async () => {
    const samples = await scrape({ prefix: 'lab', labels: { site: 'north "1"\n' } });
    expect(samples.every(({ name, labels }) => name.startsWith('lab_') && labels.site === 'north "1"\n')).toBe(true);
  });

  it('names what values are in, and converts them', async () => {
    const units = { hopLatency: 'us', queueOccupancy: { cell: 80 }, bufferOccupancy: 'KB', egressUtilization: '0.01%' };
    const samples = await scrape({}, new DeviceProfile({ units }));
    const of = (name: string, labels?: Readonly<Record<string, string>>): number | undefined =>
      valueIn(samples, name, labels);
    expect(of('int_hop_latency_seconds_sum', { switch: '5' })).toBeCloseTo(11_600e-6, 12);
    expect(of('int_hop_latency_seconds_bucket', { switch: '5', le: '0.001' })).toBe(2);
    expect(of('int_hop_queue_occupancy_bytes_sum', { switch: '5' })).toBe(30 * 80);
    expect(of('int_hop_queue_occupancy_bytes_bucket', { switch: '5', le: '800' })).toBe(3);
    expect(of('int_queue_occupancy_bytes', { switch: '5', queue: '3' })).toBe(15 * 80);
    expect(of('int_egress_utilization_ratio', { switch: '5', interface: '2' })).toBe(0.0055);
    expect(of('int_switch_measure_bytes', { switch: '5', metric: 'bufferOccupancy' })).toBe(900_000);
    const names = samples.map(({ name }) => name);
    expect(names.filter((name) => /device_units|occupancy$|utilization$|measure$/.test(name))).toEqual([]);
  });

  it('claims no unit that nobody has named', async () => {
    const samples = await scrape({}, DeviceProfile.NONE);
    expect(samples.filter(({ name }) => /hop_latency_seconds|_bytes|_ratio|queue_occupancy_/.test(name))).toEqual(
      samples.filter(({ name }) => /^int_hop_queue_occupancy_(bucket|sum|count)$/.test(name)),
    );
    expect(valueIn(samples, 'int_hop_latency_device_units_sum', { switch: '5' })).toBe(11_600);
    expect(valueIn(samples, 'int_hop_latency_device_units_bucket', { switch: '5', le: '1000' })).toBe(2);
    expect(valueIn(samples, 'int_queue_occupancy', { switch: '5', queue: '3' })).toBe(15);
  });

  it('adds up what switches count in units of their own, and keeps apart what has none', async () => {
    const switches = { 5: { units: { hopLatency: 'us' } } };
    const own = await scrape({}, new DeviceProfile({ switches }));
    expect(valueIn(own, 'int_hop_latency_seconds_sum', { switch: '5' })).toBeCloseTo(11_600e-6, 12);
    expect(valueIn(own, 'int_hop_latency_seconds_sum', { switch: '4294967294' })).toBeUndefined();
    expect(valueIn(own, 'int_hop_latency_device_units_sum', { switch: '4294967294' })).toBe(1000);
    expect(valueIn(own, 'int_hop_latency_device_units_sum', { switch: '5' })).toBeUndefined();
    const both = await scrape({}, new DeviceProfile({ units: { hopLatency: 'ns' }, switches }));
    const les = (id: string): (string | undefined)[] =>
      both
        .filter(({ name, labels }) => name.endsWith('latency_seconds_bucket') && labels.switch === id)
        .map(({ labels }) => labels.le);
    expect(les('5')).toEqual(les('4294967294'));
    expect(valueIn(both, 'int_hop_latency_seconds_sum', { switch: '4294967294' })).toBeCloseTo(1e-6, 12);
    expect(valueIn(both, 'int_hop_latency_seconds_bucket', { switch: '5', le: '0.0000025' })).toBe(0);
  });

  it('tells what became of the records in each sink, and whether the sink is well', async () => {
    const sink = new CountingSink();
    const { collector } = pipeline(new PushSource(), [sink]);
    const metrics = new PipelineMetrics({ collector, process: false });
    const { samples } = parseExposition(await metrics.text());
    const of = (name: string, labels: Readonly<Record<string, string>>): number | undefined =>
      valueIn(samples, name, { sink: 'store', ...labels });
    expect(of('int_sink_records_offered_total', { kind: 'reports' })).toBe(10);
    expect(of('int_sink_records_total', { kind: 'reports', outcome: 'delivered' })).toBe(6);
    expect(of('int_sink_records_total', { kind: 'reports', outcome: 'overflow' })).toBe(3);
    expect(of('int_sink_records_pending', { kind: 'reports' })).toBe(1);
    expect(of('int_sink_records_total', { kind: 'flows', outcome: 'delivered' })).toBe(2);
    const done = samples.filter(({ name }) => name === 'int_sink_records_total');
    expect(done.reduce((sum, { value }) => sum + value, 0) + 1).toBe(12);
    expect(of('int_sink_up', {})).toBe(1);
    sink.trouble = 'no broker for 3 s';
    expect(valueIn(parseExposition(await metrics.text()).samples, 'int_sink_up', { sink: 'store' })).toBe(0);
  });

  it('tells the figures of stages by their names', async () => {
    const samples = await scrape();
    expect(valueIn(samples, 'int_stage_figures', { stage: 'detection', counter: 'events' })).toBe(2);
  });

  it('has no metric of a part that is not there', async () => {
    const metrics = new PipelineMetrics({ process: false });
    expect(parseExposition(await metrics.text()).samples).toEqual([]);
    const withProcess = new PipelineMetrics({});
    expect((await withProcess.text()).includes('process_cpu_seconds_total')).toBe(true);
  });

  it('shares a registry, and refuses a name that is there already', async () => {
    const registry = new Registry();
    new Counter({ name: 'own_total', help: 'Of the program.', registers: [registry] }).inc(3);
    const { collector } = pipeline(new PushSource());
    const metrics = new PipelineMetrics({ collector, registry, process: false });
    const { samples } = parseExposition(await metrics.text());
    expect(valueIn(samples, 'own_total')).toBe(3);
    expect(valueIn(samples, 'int_reports_total')).toBe(0);
    expect(() => new PipelineMetrics({ collector, registry, process: false })).toThrow(/already been registered/);
  });

  it('is OpenMetrics where the registry is', async () => {
    const { collector } = pipeline(new PushSource());
    const registry = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    const metrics = new PipelineMetrics({ collector, registry, process: false });
    expect(metrics.contentType).toContain('openmetrics');
    for (const scrapeNumber of [1, 2]) {
      const text = await metrics.text();
      expect(text, `scrape ${scrapeNumber}`).toMatch(/# TYPE int_reports counter\nint_reports_total 0\n/);
      expect(text.endsWith('# EOF\n')).toBe(true);
    }
  });

  it('refuses options that make no sense', () => {
    for (const options of [{ prefix: '9' }, { prefix: 'a-b' }]) {
      expect(() => new PipelineMetrics(options)).toThrow(RangeError);
    }
  });
});
