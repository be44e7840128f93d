/** A retained range once more: what one sees is what one saw. */
import { createHash } from 'node:crypto';
import { Collector, DetectionStage } from '@int/collector';
import {
  type Dashboard,
  type EventsAnswer,
  type ReplayAnswer,
  type ReplaysAnswer,
  SERIES_METRICS,
  type SeriesAnswer,
  type SeriesMetric,
  type Status,
  type TopologyAnswer,
} from '@int/dashboard';
import { DashboardClient } from '@int/dashboard/client';
import { readRules } from '@int/detect/yaml';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';
import { RecordSource } from './record-source.js';

const RULES = `version: 1
rules: [{ name: slow, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 2000, scope: hop } } }]
`;
const ENTITIES = ['all', 'switch:1', 'switch:5', 'queue:1/0'];
const REPORTS = 240;

async function ask<T>(dashboard: Dashboard, path: string, method = 'GET', body?: unknown): Promise<T> {
  const answer = await fetch(new URL(`api/v1/${path}`, dashboard.url), {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return (await answer.json()) as T;
}

/** The values of the binary frames of a stream, by metric and time. */
class Watched {
  readonly #values = new Map<string, string>();
  readonly #live: ReturnType<DashboardClient['live']>;

  constructor(dashboard: Dashboard, replay?: string) {
    const webSocket = (url: string): never => new WebSocket(url) as never;
    const client = new DashboardClient({ url: dashboard.url, webSocket });
    client.replay = replay ?? null;
    this.#live = client.live();
    for (const metric of SERIES_METRICS) {
      this.#live.subscribe({ type: 'series', metric, entities: ENTITIES }, (message) => {
        if (message.type === 'series') this.#take(metric, message.frame);
      });
    }
  }

  /** How many buckets came. */
  get size(): number {
    return this.#values.size;
  }

  /** The buckets of a range that came. */
  seen(from: number, to: number): string[] {
    return [...this.#values.keys()].filter((key) => {
      const timeMs = Number(key.split(' ')[1]);
      return timeMs >= from && timeMs < to;
    });
  }

  has(keys: readonly string[]): boolean {
    return keys.every((key) => this.#values.has(key));
  }

  hash(keys: readonly string[]): string {
    return createHash('sha256')
      .update(JSON.stringify(keys.toSorted().map((key) => [key, this.#values.get(key)])))
      .digest('hex');
  }

  close(): void {
    this.#live.close();
  }

  #take(metric: SeriesMetric, frame: { t0: number; dt: number; n: number; columns: readonly Float32Array[] }): void {
    for (let at = 0; at < frame.n; at++) {
      const values = frame.columns.map((column) => column[at]!);
      if (values.some((value) => !Number.isNaN(value))) {
        this.#values.set(`${metric} ${frame.t0 + at * frame.dt}`, values.map(String).join(' '));
      }
    }
  }
}

it('replays a retained range: the same frames, series, events and map as live', async () => {
  const stage = new DetectionStage(readRules(RULES));
  const dashboard = await openDashboard();
  const source = new RecordSource(2000, 30);
  const collector = new Collector({ sources: [source], stages: [stage], sinks: [dashboard] });
  dashboard.setPipeline(() => ({ totals: collector.totals(), degraded: collector.degraded() }));
  const live = new Watched(dashboard);
  try {
    await collector.start();
    await until('a viewer', async () => (await ask<Status>(dashboard, 'status')).dashboard.viewers === 1, {
      everyMs: 60,
    });
    for (let sent = 0; sent < REPORTS; sent += 60) {
      source.send(60);
      if (sent + 60 === REPORTS) source.pass(2500);
      await until(
        'all reports',
        async () => (await ask<Status>(dashboard, 'status')).retained.reports === collector.totals().reports,
        { everyMs: 60 },
      );
    }
    const { retained } = await ask<Status>(dashboard, 'status');
    const [from, to] = [retained.from! - 1000, source.timeMs - 1500];
    const started = await ask<ReplayAnswer>(dashboard, 'replays', 'POST', { from, to, speed: 0.1 });
    const { id } = started;
    expect(started).toEqual({ id, from, to, speed: 0.1, at: from, isOver: false, source: 'retained' });
    const again = new Watched(dashboard, id);
    await until(
      'the stream of the replay',
      async () => (await ask<Status>(dashboard, 'status')).dashboard.viewers === 2,
      {
        everyMs: 60,
      },
    );
    await ask(dashboard, `replays/${id}`, 'PUT', { speed: 10 });
    await until(
      'the end of the replay',
      async () => (await ask<ReplaysAnswer>(dashboard, 'replays')).replays[0]?.isOver === true && again.size > 0,
      { everyMs: 60 },
    );
    const whole = (view: string): string => `${view}from=${from}&to=${to}&entity=${ENTITIES.join('&entity=')}`;
    const hashes: Record<string, Record<string, string>> = { live: {}, replay: {} };
    for (const metric of SERIES_METRICS) {
      for (const [name, view] of [
        ['live', ''],
        ['replay', `replay=${id}&`],
      ] as const) {
        const { series } = await ask<SeriesAnswer>(dashboard, `series?metric=${metric}&${whole(view)}`);
        expect(series.some(({ values }) => values.some((value) => value !== null))).toBe(true);
        hashes[name]![metric] = createHash('sha256').update(JSON.stringify(series)).digest('hex');
      }
    }
    expect(hashes.replay).toEqual(hashes.live);
    // The frames of the two streams, bucket by bucket.
    const seen = live.seen(from, to - 200);
    expect(seen.length).toBeGreaterThan(200);
    await until('all frames', () => again.has(seen), { everyMs: 60 });
    expect(again.hash(seen)).toBe(live.hash(seen));
    const events = await ask<EventsAnswer>(dashboard, `events?to=${to}&limit=1000`);
    const same = await ask<EventsAnswer>(dashboard, `events?replay=${id}&limit=1000`);
    expect(events.rows.length).toBeGreaterThan(5);
    expect(same.rows.map(({ id: event }) => event).sort()).toEqual(events.rows.map(({ id: event }) => event).sort());
    const map = await ask<TopologyAnswer>(dashboard, `topology?replay=${id}`);
    expect(map.switches.map((each) => each.id)).toEqual(
      (await ask<TopologyAnswer>(dashboard, 'topology')).switches.map((each) => each.id),
    );
    again.close();
    await ask(dashboard, `replays/${id}`, 'DELETE');
    expect(await ask(dashboard, `series?metric=reports&replay=${id}`)).toMatchObject({
      error: { code: 'ERR_NOT_FOUND' },
    });
    expect(await ask(dashboard, 'replays', 'POST', { from, to, speed: 1000 })).toMatchObject({
      error: { code: 'ERR_BODY' },
    });
  } finally {
    live.close();
    await collector.stop();
  }
});
