import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PipelineMetrics } from '@int/metrics';
import { afterEach, describe, expect, it } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { type Parsed, parseExposition } from './exposition.js';
import { CountingSink, PushSource, pipeline, report } from './pipeline.js';
import { PrometheusServer } from './prometheus-server.js';
import { listen } from './thread-code.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const file = (name: string): string => fileURLToPath(new URL(`../../../examples/grafana/${name}`, import.meta.url));

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const dashboard = JSON.parse(readFileSync(file('dashboard.json'), 'utf8')) as {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
};

/** The expressions of all panels as Prometheus gets them. */
const expressions = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({
    title,
    legend: legendFormat,
    expr: expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(job|switch)\b/g, '.*'),
  })),
);

const ALERTS = readFileSync(file('alerts.yml'), 'utf8');
const WORDS = /(?<![\w"$.:])(?:int|process|nodejs)_\w+/g;

/** Everything that a pipeline with all parts exports. */
async function exported(): Promise<{ readonly samples: readonly Parsed[]; readonly parts: ReturnType<typeof full> }> {
  const parts = full();
  await parts.collector.start();
  closers.push(() => parts.collector.stop());
  parts.source.push([400, 500, 1700, 9000].map((latency, index) => report(5, index, latency, index * 5)));
  parts.source.push([Uint8Array.of(1, 2, 3)]);
  const { samples } = parseExposition(await new PipelineMetrics(parts).text());
  return { samples, parts };
}

function full(): ReturnType<typeof pipeline<PushSource>> {
  return pipeline(new PushSource(), [new CountingSink()]);
}

describe('the dashboard in examples/grafana', () => {
  it('shows only what is exported, by labels that are there', async () => {
    const { samples } = await exported();
    const labels = new Map<string, Set<string>>();
    for (const { name, labels: own } of samples) {
      const known = labels.get(name) ?? new Set(['job', 'instance']);
      for (const key of Object.keys(own)) known.add(key);
      labels.set(name, known);
    }
    for (const { title, legend, expr } of expressions) {
      // A name of which the end says the unit: here none is known.
      const plain = expr.replaceAll(/\{__name__=~"(\w+)\(_\[[a-z_-]+\]\+\)\?(\w*)",/g, '$1$2{');
      const names = plain.match(WORDS) ?? [];
      expect(names.length, title).toBeGreaterThan(0);
      for (const name of names) {
        expect([...labels.keys()], title).toContain(name);
        const selected = new RegExp(`${name}\\{([^}]*)\\}`).exec(expr)?.[1] ?? '';
        const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
        const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
        const used = [...selected.matchAll(/(\w+)(?==|!=|=~)/g)].map(([, label]) => label!);
        for (const label of [...grouped, ...shown, ...used])
          expect([...labels.get(name)!], `${title}: ${expr}`).toContain(label);
      }
    }
    const elsewhere = [ALERTS, ...dashboard.templating.list.map(({ definition = '' }) => definition)].join('\n');
    for (const name of elsewhere.match(WORDS) ?? []) expect([...labels.keys()]).toContain(name);
  });

  it('leaves no metric of the pipeline out', async () => {
    const { samples } = await exported();
    const shown = expressions.map(({ expr }) => expr).join('\n');
    const families = new Set(samples.map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')));
    const own = [...families].filter((name) => name.startsWith('int_'));
    // Shown by their parts, or errors by code beside drops by reason.
    const without = [
      'int_frames_decoded_total',
      'int_frame_errors_total',
      'int_gauges_refused_total',
      'int_stage_figures',
      // Measures that few devices have.
      'int_switch_measure',
    ];
    expect(own.filter((name) => !shown.includes(name)).sort()).toEqual(
      [...without, 'int_sink_records_offered_total'].sort(),
    );
  });

  it('has panels beside each other, each with a name of its own', () => {
    const panels = dashboard.panels;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const titles = panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const [index, { gridPos: a }] of panels.entries()) {
      expect(a.x + a.w).toBeLessThanOrEqual(24);
      for (const { gridPos: b } of panels.slice(index + 1)) {
        expect(a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h).toBe(false);
      }
    }
  });

  it("passes promtool's checks, with its configuration and alerts", () => {
    const promtool = requires('promtool', 'npm run setup:system');
    for (const args of [
      ['check', 'rules', file('alerts.yml')],
      ['check', 'config', file('prometheus.yml')],
    ]) {
      const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8', timeout: 50_000 });
      expect(status, stdout + stderr).toBe(0);
    }
  });

  it('has a value for every expression, from a real Prometheus', async () => {
    const { parts } = await exported();
    const server = await listen({ metrics: new PipelineMetrics(parts) });
    closers.push(() => server.close());
    const prometheus = await PrometheusServer.start(`127.0.0.1:${server.address.port}`);
    closers.push(() => prometheus.stop());
    // Rates need two scrapes.
    let sequence = 10;
    await until(
      'a rate of reports',
      async () => {
        parts.source.push([report(5, sequence++, 2000, 3)]);
        return (await prometheus.query('rate(int_reports_total[1m]) > 0').catch(() => [])).length > 0;
      },
      { withinMs: 90_000, everyMs: 100 },
    );
    const empty: string[] = [];
    for (const { title, expr } of expressions) {
      if ((await prometheus.query(expr)).length === 0) empty.push(title);
    }
    // There is nothing to show of what has not happened.
    expect(empty).toEqual(['Hops and drop reports', 'Records dropped, by reason']);
    // A program of Go that is started, and scrapes twice.
  }, 120_000);
});
