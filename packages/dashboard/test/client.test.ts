import { DashboardClient, type LiveState, RequestError, type SocketLike } from '@int/dashboard/client';
import { expect, it } from 'vitest';
import WebSocket from 'ws';
import { until } from '../../../.ci/test/until.js';
import { openLiveNetwork } from './live-network.js';
import { openDashboard, smallPage } from './pages.js';

const webSocket = (url: string, headers: Readonly<Record<string, string>>): SocketLike =>
  new WebSocket(url, { headers, perMessageDeflate: false }) as unknown as SocketLike;

it('asks, is refused by name, and hears what comes', async () => {
  const { dashboard, collector } = await openLiveNetwork({ page: smallPage() });
  const client = new DashboardClient({ url: dashboard.url, webSocket });
  const live = client.live();
  try {
    // A machine that is very busy may not read the first request in time: it is asked once more.
    const reports = (): Promise<boolean> =>
      client.status().then(
        ({ retained }) => retained.reports > 0,
        () => false,
      );
    await until('reports', reports, { everyMs: 100 });
    const { switches } = await until(
      'all switches',
      async () => {
        const answer = await client.topology();
        return answer.switches.filter(({ seen }) => seen).length === 6 ? answer : null;
      },
      { everyMs: 100 },
    );
    expect(switches.find(({ id }) => id === 1)).toMatchObject({
      name: 'leaf-1',
      units: { hopLatency: { text: 'ns', base: 'seconds' }, queueOccupancy: { base: 'bytes', factor: 80 } },
    });
    const refusal = await client.flows({ filter: 'latencey>5' }).catch((error: unknown) => error);
    expect(RequestError.is(refusal)).toBe(true);
    expect(refusal).toMatchObject({ code: 'ERR_FILTER', status: 400, at: { line: 1, column: 1 } });
    expect(await client.biography('nothing').catch((error: unknown) => RequestError.is(error))).toBe(true);

    const note = await client.annotate({ text: 'a deployment', entity: 'switch:1' });
    expect((await client.annotations()).annotations).toEqual([note]);
    expect((await client.annotations({ to: note.timeMs - 1 })).annotations).toEqual([]);
    const { retained } = await client.status();
    const replay = await client.startReplay({ from: retained.from!, to: retained.to! }, 0.5);
    expect(await client.setReplaySpeed(replay.id, 0)).toMatchObject({ id: replay.id, speed: 0, source: 'retained' });
    expect((await client.replays()).replays.map(({ id }) => id)).toEqual([replay.id]);
    expect(await client.endReplay(replay.id)).toEqual({ replays: [] });
    expect(await client.captures()).toEqual({ captures: [] });
    for (const ask of [
      () => client.savedQueries(),
      () => client.saveQuery('a', 'select 1'),
      () => client.removeQuery('a'),
    ]) {
      expect(await ask().catch((error: unknown) => error)).toMatchObject({ code: 'ERR_UNAVAILABLE', status: 404 });
    }

    const heard = new Map<string, number>();
    const count = (type: string): number => heard.set(type, (heard.get(type) ?? 0) + 1).size;
    let columns = 0;
    live.subscribe({ type: 'series', metric: 'reports', entities: ['all', 'switch:1'] }, (message) => {
      if (message.type === 'series') columns = message.frame.columns.length;
      count(message.type);
    });
    live.subscribe({ type: 'reports', filter: 'switch=leaf-1', perSecond: 50 }, (message) => {
      if (message.type === 'reports') for (const { path } of message.rows) expect(path).toContain(1);
      count(message.type);
    });
    const flows = live.subscribe({ type: 'flows', filter: '', sort: '-reports', limit: 3 }, ({ type }) => count(type));
    await until('all of them', () => ['series', 'reports', 'flows'].every((type) => (heard.get(type) ?? 0) > 1), {
      found: () => heard,
    });
    expect(columns).toBe(2);
    flows.change({ type: 'flows', filter: 'no such(', sort: '', limit: 3 });
    await until('the refusal', () => heard.has('refused'));
    flows.end();
  } finally {
    live.close();
    await collector.stop();
  }
});

it('makes its connection and its subscriptions anew when the server was away', async () => {
  const first = await openDashboard();
  const { port } = first.address;
  const client = new DashboardClient({ url: first.url, webSocket, retry: { firstMs: 20, maxMs: 100 } });
  const live = client.live();
  const states: LiveState[] = [];
  live.onState((state) => states.push(state));
  let heard = 0;
  live.subscribe({ type: 'status' }, () => heard++);
  await until('a status', () => heard > 0);
  await first.close();
  await until('the end', () => states.includes('waiting'));
  const second = await openDashboard({ port });
  try {
    heard = 0;
    await until('a status of the other one', () => heard > 0);
    expect(live.state).toBe('open');
  } finally {
    live.close();
    await second.close();
  }
  expect(live.state).toBe('closed');
  const error = await client.status().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'ERR_UNREACHABLE', status: 0 });
});
