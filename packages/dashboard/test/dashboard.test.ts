import { setTimeout } from 'node:timers/promises';
import { Collector } from '@int/collector';
import type { FlowsAnswer, ReportsAnswer, SeriesAnswer, Status, TopologyAnswer } from '@int/dashboard';
import { DashboardClient } from '@int/dashboard/client';
import { expect, it } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';
import { RecordSource } from './record-source.js';

it('answers what a collector has received', async () => {
  const source = new RecordSource();
  const dashboard = await openDashboard();
  const collector = new Collector({ sources: [source], sinks: [dashboard] });
  dashboard.setPipeline(() => ({ totals: collector.totals(), degraded: collector.degraded() }));
  try {
    await collector.start();
    for (let second = 0; second < 3; second++) source.send(200);
    source.pass(200);
    const ask = async (path: string): Promise<Record<string, never>> =>
      (await fetch(new URL(path, dashboard.url))).json() as Promise<Record<string, never>>;
    const status = await until('all reports', async () => {
      const answer = (await ask('api/v1/status')) as Record<string, Record<string, number>>;
      const { frames, reports } = answer.totals!;
      // The collector's counters come once a second.
      const isAll = frames === collector.totals().received && reports === collector.totals().reports;
      return isAll && answer.retained!.to !== null ? answer : null;
    });
    expect(status).toMatchObject({ readOnly: false, totals: { frames: 600, reports: 600 }, losses: [] });
    const series = (await ask('api/v1/series?metric=reports&entity=all')) as unknown as SeriesAnswer;
    const counts = series.series[0]!.values.filter((value) => value !== null);
    expect(counts.reduce((sum, value) => sum + value, 0)).toBe(600);
    const topology = (await ask('api/v1/topology')) as unknown as TopologyAnswer;
    expect(topology.switches.map(({ id, tier }) => [id, tier])).toEqual([
      ...[1, 2, 3, 4].map((id) => [id, 0]),
      ...[5, 6].map((id) => [id, 1]),
    ]);
    expect(topology.links.length).toBeGreaterThanOrEqual(12);
    const flows = (await ask('api/v1/flows?limit=5&sort=-reports')) as unknown as FlowsAnswer;
    expect(flows.rows).toHaveLength(5);
    expect(flows.rows[0]!.hops).toHaveLength(3);
    const { rows } = (await ask('api/v1/reports?limit=3')) as unknown as ReportsAnswer;
    expect(rows).toHaveLength(3);
    expect(await ask(`api/v1/reports/${rows[0]!.id}`)).toEqual(rows[0]);
    expect(await ask('api/v1/events')).toMatchObject({ rows: [], empty: expect.stringContaining('No rule') });
  } finally {
    await collector.stop();
  }
});

it('shows a short capture, after whose end no time passes', async () => {
  const source = new RecordSource();
  const dashboard = await openDashboard();
  const collector = new Collector({ sources: [source], sinks: [dashboard] });
  try {
    await collector.start();
    source.send(50);
    const ask = async (path: string): Promise<unknown> => (await fetch(new URL(path, dashboard.url))).json();
    const ended = await until('its bucket', async () => {
      // Who asks too often is refused.
      await setTimeout(50);
      const { series } = (await ask('api/v1/series?metric=reports&entity=all')) as SeriesAnswer;
      const count = series[0]!.values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
      const { matched } = (await ask('api/v1/reports?limit=1')) as ReportsAnswer;
      return count > 0 && matched > 0 ? { count, matched } : null;
    });
    expect(ended).toEqual({ count: 50, matched: 50 });
  } finally {
    await collector.stop();
  }
});

it('the document holds what its first view needs, as data that nothing can end', async () => {
  const source = new RecordSource();
  const dashboard = await openDashboard();
  const collector = new Collector({ sources: [source], sinks: [dashboard] });
  const client = new DashboardClient({ url: dashboard.url });
  const state = async (): Promise<{ readonly status: Status; readonly series: readonly SeriesAnswer[] }> => {
    const answer = await fetch(dashboard.url);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const document = await answer.text();
    const [, json, ...others] = /<script type="application\/json" id="first-state">(.*)<\/script>/.exec(document)!;
    expect(others).toEqual([]);
    expect(document.match(/<\/script>/g)).toHaveLength(2);
    return JSON.parse(json!);
  };
  try {
    // Before the first report it says that there is none.
    expect((await state()).series.map(({ empty }) => empty)).toEqual(Array(3).fill('No report has arrived yet.'));
    await collector.start();
    source.send(400);
    source.pass(300);
    await client.annotate({ text: '</script><script>alert(1)</script>' });
    await until(
      'all buckets',
      async () => {
        const { series } = await client.series({ metric: 'reports', entities: ['all'] });
        return series[0]!.values.reduce<number>((sum, value) => sum + (value ?? 0), 0) === 400;
      },
      { everyMs: 60 },
    );
    const { status, series } = await state();
    expect(status.annotations?.[0]?.text).toBe('</script><script>alert(1)</script>');
    expect(series.map(({ metric }) => metric)).toEqual(['reports', 'latencyP50', 'latencyP99']);
    for (const each of series) {
      const { metric, from } = each;
      const to = from + each.series[0]!.values.length * 100;
      const asked = await client.series({ metric, entities: ['all'], from, to });
      expect(asked.series).toEqual(each.series);
    }
  } finally {
    await collector.stop();
  }
});
