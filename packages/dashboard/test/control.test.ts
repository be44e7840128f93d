/** Requests about a controller: pages, filters, orders, news, and what is said where there is none. */
import type { JournalRow } from '@int/dashboard';
import { DashboardClient, type LiveMessage, RequestError, type SocketLike } from '@int/dashboard/client';
import { expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';
import { PlainControl } from './plain-control.js';

const webSocket = (url: string, headers: Readonly<Record<string, string>>): SocketLike =>
  new WebSocket(url, { headers, perMessageDeflate: false }) as unknown as SocketLike;

async function open(control: PlainControl | null) {
  const dashboard = await openDashboard(control === null ? {} : { control });
  onTestFinished(() => dashboard.close());
  const client = new DashboardClient({ url: dashboard.url, webSocket });
  // A machine that is very busy may not read the first request in time: it is asked once more.
  const ask = (): Promise<boolean> =>
    client.status().then(
      () => true,
      () => false,
    );
  await until('an answer', ask, { everyMs: 100 });
  return { client, dashboard };
}

async function refusal(what: Promise<unknown>): Promise<string> {
  const error = await what.catch((thrown: unknown) => thrown);
  if (!RequestError.is(error)) throw new Error('it was not refused');
  return `${error.status} ${error.code}: ${error.message}`;
}

test('lists have pages and filters', async () => {
  const control = new PlainControl();
  control.happen('seen', 9);
  const { client } = await open(control);
  const ids = ({ rows }: { readonly rows: readonly { readonly id: string | number }[] }) => rows.map(({ id }) => id);
  const incident = (k: number): string => `scan-vertical/host:10.0.0.${k}/${k}`;
  expect(await client.incidents({ limit: 2 })).toMatchObject({
    matched: 10,
    empty: null,
    rows: [{ id: incident(9) }, { id: incident(8) }],
  });
  expect(ids(await client.incidents({ state: 'open', limit: 2, before: incident(8) }))).toEqual([
    incident(6),
    incident(4),
  ]);
  expect(ids(await client.incidents({ entity: 'host:10.0.0.3' }))).toEqual([incident(3)]);
  expect(ids(await client.incidents({ entity: 'queue:4/0' }))).toEqual([incident(4)]);
  expect(await client.incidents({ kind: 'ddos' })).toEqual({
    rows: [],
    matched: 0,
    newer: 0,
    empty: 'none of 10 is as asked for',
  });
  expect(await client.incidents({ before: incident(0) })).toEqual({
    ...{ rows: [], matched: 10, newer: 10, empty: 'there are no older ones' },
  });
  expect(await client.incident(incident(3))).toMatchObject({ id: incident(3) });
  expect((await client.hosts({ limit: 2 })).rows.map(({ host }) => host)).toEqual(['10.0.0.0', '10.0.0.1']);
  expect(ids(await client.proposals({ state: 'live' }))).toEqual(['block-x-4', 'path-x-3', 'path-x-1', 'block-x-0']);
  expect(ids(await client.proposals({ state: 'ended', kind: 'path' }))).toEqual(['path-x-5']);
  expect(ids(await client.proposals({ state: 'verified' }))).toEqual(['path-x-3', 'block-x-0']);
  expect(await client.proposal('path-x-3')).toMatchObject({ id: 'path-x-3', diff: { of: 'nothing' } });
  expect(ids(await client.journal({ limit: 3 }))).toEqual([9, 8, 7]);
  expect(ids(await client.journal({ limit: 3, before: 7 }))).toEqual([6, 5, 4]);
  expect(ids(await client.journal({ proposal: 'block-x-0', switchId: 3 }))).toEqual([6]);
  expect(await client.journal({ what: 'stopped' })).toEqual({
    rows: [],
    matched: 0,
    newer: 0,
    empty: 'none of 9 is as asked for',
  });
});

test('from any page one comes to those beside it, and every row is on one page', async () => {
  const control = new PlainControl(17);
  control.happen('seen', 17);
  const { client } = await open(control);
  type Ask = (beside: { readonly before?: never; readonly after?: never }) => Promise<{
    readonly rows: readonly { readonly id: string | number }[];
    readonly matched: number;
    readonly newer: number;
  }>;
  for (const [limit, ask] of [
    [5, (beside) => client.proposals({ limit: 5, ...beside })],
    [4, (beside) => client.journal({ limit: 4, ...beside })],
    [3, (beside) => client.incidents({ limit: 3, ...beside })],
  ] as readonly [number, Ask][]) {
    const pages = [await ask({})];
    for (let page = pages[0]!; page.newer + page.rows.length < page.matched; pages.push(page)) {
      page = await ask({ before: page.rows.at(-1)!.id as never });
    }
    expect(pages.map(({ newer }) => newer)).toEqual(pages.map((_, index) => index * limit));
    const all = pages.flatMap(({ rows }) => rows.map(({ id }) => id));
    expect(new Set(all).size).toBe(pages[0]!.matched);
    for (let index = pages.length - 1; index > 0; index--) {
      expect(await ask({ after: pages[index]!.rows[0]!.id as never })).toEqual(pages[index - 1]);
    }
    // Next to the row, and not the newest: here fewer are newer than a page has.
    expect((await ask({ after: all[2] as never })).rows.map(({ id }) => id)).toEqual(all.slice(0, 2));
    expect(await ask({ after: all[0] as never })).toMatchObject({
      rows: [],
      newer: 0,
      empty: 'there are no newer ones',
    });
  }
  const { client: other } = await open(new PlainControl(17));
  expect(await refusal(other.proposals({ before: 'block-x-99' }))).toMatch(
    /^404 ERR_NOT_FOUND: block-x-99 is not among/,
  );
  expect(await refusal(other.journal({ before: 1, after: 2 }))).toBe(
    '400 ERR_PARAMETER: before and after do not go together',
  );
});

test('of a time there is what had happened by then', async () => {
  const control = new PlainControl(6);
  control.happen('seen', 9);
  const { client } = await open(control);
  const ids = ({ rows }: { readonly rows: readonly { readonly id: string | number }[] }) => rows.map(({ id }) => id);
  expect(ids(await client.proposals({ at: 2500 }))).toEqual(['block-x-2', 'path-x-1', 'block-x-0']);
  expect(await client.journal({ at: 4, limit: 2 })).toMatchObject({
    rows: [{ id: 4 }, { id: 3 }],
    matched: 4,
    newer: 0,
  });
  expect(ids(await client.incidents({ at: 1 }))).toEqual([1, 0].map((k) => `scan-vertical/host:10.0.0.${k}/${k}`));
});

test('an order is handed on with who gives it, and refused with the controller’s words', async () => {
  const control = new PlainControl();
  const { client } = await open(control);
  expect(await client.order({ order: 'approve', proposal: 'block-x-4' })).toMatchObject({
    ...{ revision: 2, proposal: { id: 'block-x-4' } },
  });
  await client.order({ order: 'stop', by: ' Ann of operations ', reason: 'a drill' });
  expect(control.orders).toEqual([
    { order: 'approve', proposal: 'block-x-4', by: 'dashboard' },
    { order: 'stop', by: 'dashboard: Ann of operations', reason: 'a drill' },
  ]);
  expect(await refusal(client.order({ order: 'withdraw' }))).toBe('409 ERR_ORDER: stop the loop first');
  expect(await refusal(client.order({ order: 'undo', proposal: 'x' }))).toBe(
    '404 ERR_NOT_FOUND: no proposal x is remembered',
  );
  expect(control.orders).toHaveLength(3);
});

test('news come by WebSocket, and what is too much is counted', async () => {
  const control = new PlainControl();
  const { client } = await open(control);
  const live = client.live();
  onTestFinished(() => live.close());
  const messages: LiveMessage[] = [];
  live.subscribe({ type: 'journal' }, (message) => messages.push(message));
  live.subscribe({ type: 'control' }, (message) => messages.push(message));
  const revision = (): number =>
    messages.reduce((last, each) => (each.type === 'control' ? each.data.revision : last), 0);
  await until('the state', () => revision() === 1);
  control.happen('seen', 3);
  await until('another state', () => revision() === 2);
  control.happen('seen', 500);
  await until('the last state', () => revision() === 3);
  const rows: JournalRow[] = [];
  let missed = 0;
  for (const each of messages) {
    if (each.type !== 'journal') continue;
    rows.push(...each.rows);
    missed += each.missed;
  }
  const last = Array.from({ length: 200 }, (_, k) => 304 + k);
  expect(rows.map(({ id }) => id)).toEqual([1, 2, 3, ...last]);
  expect(missed).toBe(300);
});

test('where no controller runs, it is said', async () => {
  const { client, dashboard } = await open(null);
  expect(await client.status()).toMatchObject({ has: { control: false } });
  expect(await client.status()).not.toHaveProperty('control');
  const none = '404 ERR_UNAVAILABLE: no controller runs here: int control runs one';
  for (const what of [
    () => client.control(),
    () => client.incidents(),
    () => client.incident('x'),
    () => client.hosts(),
    () => client.proposals(),
    () => client.proposal('x'),
    () => client.journal(),
    () => client.order({ order: 'stop' }),
  ]) {
    expect(await refusal(what())).toBe(none);
  }
  const live = client.live();
  onTestFinished(() => live.close());
  const refused: string[] = [];
  for (const type of ['control', 'journal'] as const) {
    live.subscribe({ type }, (message) => {
      if (message.type === 'refused') refused.push(`${message.code}: ${message.message}`);
    });
  }
  await until('both refusals', () => refused.length === 2);
  expect(new Set(refused)).toEqual(new Set([none.slice(4)]));
  expect(dashboard.degraded().map(({ name }) => name)).not.toContain('failed');
});

test('a replay has no controller', async () => {
  const { client } = await open(new PlainControl());
  client.replay = 'none';
  expect(await refusal(client.control())).toContain('ERR_NOT_FOUND: there is no replay none');
});
