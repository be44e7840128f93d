import fc from 'fast-check';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import type { LabelColumn, MetricFamily } from '../../src/definitions/definition.js';
import { PipelineMetrics } from '../../src/index.js';
import { familyText } from '../../src/page/exposition.js';
import { type PageContent, renderPage } from '../../src/page/page.js';
import { parseExposition } from '../exposition.js';
import { CountingSink, PushSource, pipeline, report } from '../pipeline.js';
import { SEED } from '../seed.js';

const OPENMETRICS = Registry.OPENMETRICS_CONTENT_TYPE;
const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'é', ' ', '{', ','), maxLength: 6 });
const value = fc.oneof(fc.integer({ min: -5, max: 2 ** 40 }), fc.double({ noNaN: true }));

/** Columns of some rows, the last of which may have a text in place of a number. */
function columns(rows: number): fc.Arbitrary<LabelColumn[]> {
  const numbers = fc
    .array(fc.nat({ max: 0xffffffff }), { minLength: Math.max(0, rows - 1), maxLength: Math.max(0, rows - 1) })
    .map((values) => ({ values: Uint32Array.from(values), rest: 'other' }));
  const texts = fc.array(text, { minLength: rows, maxLength: rows }).map((values) => ({ values }));
  const column = fc.oneof(numbers, texts);
  return fc
    .array(column, { maxLength: 2 })
    .map((all) => all.map((each, index) => ({ name: ['switch', 'site'][index]!, ...each })));
}

const family: fc.Arbitrary<MetricFamily> = fc.integer({ min: 0, max: 4 }).chain((rows) =>
  fc
    .record({ labels: columns(rows), help: text, isHistogram: fc.boolean(), isCounter: fc.boolean() })
    .chain(({ labels, help, isHistogram, isCounter }): fc.Arbitrary<MetricFamily> => {
      const some = <T>(each: fc.Arbitrary<T>, count: number): fc.Arbitrary<T[]> =>
        fc.array(each, { minLength: count, maxLength: count });
      if (!isHistogram) {
        const name = isCounter ? 'things_total' : 'things';
        return some(value, rows).map((values) => ({
          type: isCounter ? 'counter' : 'gauge',
          name,
          help,
          labels,
          values,
        }));
      }
      return fc.tuple(some(fc.nat(), rows * 3), some(value, rows)).map(([counts, sums]) => ({
        type: 'histogram',
        name: 'sizes',
        help,
        labels,
        bounds: [0.0000025, 1e21],
        counts: Float64Array.from(counts),
        sums: Float64Array.from(sums),
      }));
    }),
);

/** The same as prom-client writes it. */
async function written(each: MetricFamily, labels: Record<string, string>, isOpenMetrics: boolean): Promise<string> {
  const registry = new Registry();
  if (isOpenMetrics) registry.setContentType(OPENMETRICS as never);
  registry.setDefaultLabels(labels);
  const labelsOf = (row: number): Record<string, string | number> =>
    Object.fromEntries(each.labels.map(({ name, values, rest }) => [name, values[row] ?? rest!]));
  const name = `int_${each.name}`;
  const values =
    each.type !== 'histogram'
      ? Array.from(each.values, (one, row) => ({ labels: labelsOf(row), value: one }))
      : Array.from(each.sums).flatMap((sum, row) => {
          const own = [0, 1, 2].map((bucket) => each.counts[row * 3 + bucket]!);
          const all = own.map((_, bucket) => own.slice(0, bucket + 1).reduce((a, b) => a + b));
          const bucket = (le: string, count: number) => ({
            metricName: `${name}_bucket`,
            labels: { ...labelsOf(row), le },
            value: count,
          });
          return [
            bucket('0.0000025', all[0]!),
            bucket('1e+21', all[1]!),
            bucket('+Inf', all[2]!),
            { metricName: `${name}_sum`, labels: labelsOf(row), value: sum },
            { metricName: `${name}_count`, labels: labelsOf(row), value: all[2]! },
          ];
        });
  const { help, type } = each;
  const metric = { name, help, type, get: async () => ({ name: metric.name, help, type, values }) };
  registry.registerMetric(metric as never);
  return registry.metrics();
}

describe('a page', () => {
  it('is what prom-client writes, in both formats, whatever the labels and values are', async () => {
    await fc.assert(
      fc.asyncProperty(family, fc.boolean(), fc.boolean(), async (each, isOpenMetrics, hasLabels) => {
        const labels: Record<string, string> = hasLabels ? { site: 'north "1"', zone: 'a' } : {};
        const page = `${familyText(each, { prefix: 'int', labels, isOpenMetrics })}\n${isOpenMetrics ? '# EOF\n' : ''}`;
        expect(page).toBe(await written(each, labels, isOpenMetrics));
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
  });

  it('is what the registry writes, for a whole pipeline', async () => {
    for (const contentType of [Registry.PROMETHEUS_CONTENT_TYPE, OPENMETRICS] as const) {
      const registry = new Registry();
      registry.setContentType(contentType as never);
      const parts = pipeline(new PushSource(), [new CountingSink()]);
      await parts.collector.start();
      parts.source.push([400, 500, 1700].map((latency, index) => report(5, index, latency, index * 5)));
      const metrics = new PipelineMetrics({ ...parts, registry, process: false, labels: { site: 'north' } });
      const content = await metrics.content();
      const page = renderPage(structuredClone(content), 1 << 20);
      expect(page.body.toString()).toBe(await registry.metrics());
      expect(await metrics.text()).toBe(page.body.toString());
      expect([page.contentType, page.omitted]).toEqual([contentType, 0]);
      await parts.collector.stop();
    }
  });

  it('has no more bytes than it may, leaves metrics out as a whole, the longest first, and counts their samples', () => {
    const gauge = (name: string, rows: number): MetricFamily => ({
      type: 'gauge',
      name,
      help: 'x',
      labels: [{ name: 'switch', values: Uint32Array.from({ length: rows }, (_, row) => row) }],
      values: new Float64Array(rows),
    });
    const content: PageContent = {
      contentType: 'text/plain',
      isOpenMetrics: false,
      prefix: 'int',
      labels: {},
      families: [gauge('few', 10), gauge('many', 100_000), gauge('some', 1000)],
      texts: ['# HELP up x\n# TYPE up gauge\nup 1'],
    };
    const page = renderPage(content, 50_000);
    const { types, samples } = parseExposition(page.body.toString());
    expect([...types.keys()]).toEqual(['int_few', 'int_some', 'up']);
    expect([samples.length, page.omitted]).toEqual([1011, 100_000]);
    expect(page.body.length).toBeLessThanOrEqual(50_000);
    expect(renderPage(content, 10 << 20)).toMatchObject({ omitted: 0 });
  });
});
