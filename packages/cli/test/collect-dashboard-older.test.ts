/** Times that are no longer retained, through the same requests, from the history: what was seen live is the truth. */
import type { Biography, ErrorAnswer, EventsAnswer, FlowsAnswer, ReportsAnswer, TopologyAnswer } from '@int/dashboard';
import { DashboardClient } from '@int/dashboard/client';
import { expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { coalescedFrame, reportFrame } from './captures.js';
import { payload, send } from './datagrams.js';
import { Running, temporaryFolder } from './run.js';

const files = temporaryFolder();
const RULES = `version: 1
default: drop
rules:
  - name: slow
    priority: 1
    match: any
    detect: { threshold: { metric: hopLatency, threshold: 1000, scope: hop } }
`;

interface Seen {
  readonly events: EventsAnswer;
  readonly flows: FlowsAnswer;
  readonly topology: TopologyAnswer;
  readonly reports: ReportsAnswer;
  readonly biography: Biography;
}

async function ask<T>(url: string, path: string): Promise<T> {
  return (await (await fetch(new URL(`api/v1/${path}`, url))).json()) as T;
}

async function addressOf(process: Running): Promise<string> {
  const found = (): string | undefined => /dashboard on (https?:\/\/\S+)/.exec(process.stderr)?.[1];
  await process.until(() => found() !== undefined);
  return found()!;
}

async function see(url: string, at: number | null, eventId: string): Promise<Seen> {
  const [time, range] = at === null ? ['', ''] : [`at=${at}`, `to=${at}`];
  return {
    events: await ask(url, `events?${range}`),
    flows: await ask(url, `flows?${time}`),
    topology: await ask(url, `topology?${time}`),
    reports: await ask(url, `reports?${range}`),
    biography: await ask(url, `events/${eventId}`),
  };
}

const config = (source: string): string =>
  `version: 1\nsources: [${source}]\ndetect: { rules: rules.yaml }\n` +
  `sinks: [{ parquet: { directory: history } }]\ndashboard: { listen: "127.0.0.1:0" }\n`;

async function lists(url: string, at: number, live: Seen): Promise<void> {
  const past = await see(url, at, live.biography.event!.id);
  expect(past.events).toMatchObject({ matched: 5, source: 'history', empty: null });
  const found = ({ events }: Seen): unknown[] =>
    events.rows.map(({ timeMs, rule, switchId, state, record: { id: _, ...record } }) => [
      timeMs,
      rule,
      switchId,
      state,
      record,
    ]);
  expect(found(past)).toEqual(found(live));
  expect(past.events.groups).toEqual(live.events.groups);

  const flows = ({ flows }: Seen): unknown[] =>
    // The history has no code points.
    flows.rows
      .map(({ id: _, reportsPerSecond: __, dscp: ___, ...row }) => row)
      .sort((a, b) => (a.source < b.source ? -1 : 1));
  expect(flows(past)).toEqual(flows(live));
  expect(past.flows).toMatchObject({ source: 'history', share: 1, at });

  const reports = ({ reports }: Seen): unknown[] =>
    reports.rows.map(({ id: _, ...record }) => JSON.stringify(record)).sort();
  expect(reports(past)).toEqual(reports(live));

  const links = ({ topology }: Seen): unknown[] => topology.links.map(({ key, state }) => [key, state]);
  expect(links(past)).toEqual(links(live));
  expect(past.topology).toMatchObject({ source: 'history', at, empty: null });
}

/** A link that was kept leads to the biography. */
async function biography(url: string, live: Seen): Promise<void> {
  const { bytes, fields, event, report, before, after, problems: _, ...told } = live.biography;
  expect(bytes.hex).not.toBe('');
  expect(fields).not.toEqual([]);
  const past = await ask<Biography>(url, `events/${event!.id}`);
  expect(past).toMatchObject({ source: 'history', share: 1, bytes: { hex: '' }, fields: [], event: { id: event!.id } });
  const { id: __, ...values } = report;
  expect(past.report).toMatchObject(values);
  const { event: pastEvent, report: pastReport, before: b, after: a, bytes: ___, fields: ____, ...pastTold } = past;
  const { source: _____, share: ______, ...comparable } = pastTold;
  // Which flows of a table the neighbours are differs; who they are does not.
  const named = (hops: Biography['hops']): unknown =>
    hops.map(({ neighbours, ...hop }) => ({ ...hop, neighbours: neighbours.map(({ flowId: _, ...each }) => each) }));
  expect({ ...comparable, hops: named(comparable.hops) }).toEqual({ ...told, hops: named(told.hops) });
  const times = (rows: Biography['before']): unknown[] =>
    rows.map(({ timeMs, pathLatencyNs, isEvent }) => [timeMs, pathLatencyNs, isEvent]);
  expect([times(b), times(a)]).toEqual([times(before), times(after)]);
  expect(pastEvent!.record.value).toBe(event!.record.value);
  // The page opens reports of the same flow by their ids.
  const again = await ask<Biography>(url, `reports/${pastReport.id}/biography`);
  expect(again.report).toEqual(pastReport);
}

/** Times of which nothing is stored say why. */
async function linksAndNothing(url: string, at: number, live: Seen): Promise<void> {
  const link = live.topology.links.find(({ key }) => key.startsWith('link:1:'))!.key;
  const series = await ask<{ source: string; series: { values: (number | null)[] }[] }>(
    url,
    `series?metric=reports&entity=${link}&from=${at - 5000}&to=${at}`,
  );
  expect(series.source).toBe('history');
  expect(series.series[0]!.values.reduce((sum: number, value) => sum + (value ?? 0), 0)).toBeGreaterThan(0);
  const nothing = at - 3_600_000 * 3;
  for (const path of [
    `events?to=${nothing}`,
    `flows?at=${nothing}`,
    `topology?at=${nothing}`,
    `reports?to=${nothing}`,
  ]) {
    expect((await ask<FlowsAnswer>(url, path)).empty, path).toMatch(
      /^The history holds no (event|report) of .* reaches from/,
    );
  }
  expect(await ask<ErrorAnswer>(url, `events/${'1'.repeat(18)}-00000000-00000000`)).toMatchObject({
    error: { code: 'ERR_NOT_FOUND', message: 'this event is not retained, and not in the history' },
  });
}

/** The range once more, from the history: all reports and events of it. */
async function replayed(url: string, at: number, live: Seen): Promise<void> {
  const client = new DashboardClient({ url });
  const { id, source } = await client.startReplay({ from: at - 5000, to: at }, 50);
  expect(source).toBe('history');
  await until('the end of the replay', async () => (await client.replays()).replays[0]?.isOver === true);
  client.replay = id;
  const events = await client.events({});
  expect(events.rows.map(({ timeMs, rule }) => [timeMs, rule])).toEqual(
    live.events.rows.map(({ timeMs, rule }) => [timeMs, rule]),
  );
  expect((await client.status()).totals).toMatchObject({ reports: 15, events: 5 });
  expect((await client.biography(events.rows[0]!.id)).hops).toHaveLength(3);
  client.replay = null;
  expect(await client.endReplay(id)).toEqual({ replays: [] });
  const nothing = await client.startReplay({ from: 1000, to: 2000 }).catch((error: unknown) => error);
  expect(nothing).toMatchObject({
    code: 'ERR_NOT_FOUND',
    message: expect.stringMatching(/^nothing of this range is stored/),
  });
}

test('what is no longer retained comes from the history, as it was seen', async () => {
  await files.write('rules.yaml', RULES);
  const path = await files.write('int.yaml', config('{ udp: { listen: "127.0.0.1:0" } }'));
  const first = new Running(['collect', '--config', path, '--json']);
  const match = await first.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
  const address = await addressOf(first);
  for (let round = 0; round < 5; round++) {
    await send(Number(match[1]), [payload(reportFrame()), payload(coalescedFrame(2))]);
  }
  const events = await until('all events and reports', async () => {
    const [found, reports] = [await ask<EventsAnswer>(address, 'events'), await ask<ReportsAnswer>(address, 'reports')];
    return found.matched === 5 && reports.matched === 15 ? found : null;
  });
  const live = await see(address, null, events.rows[2]!.id);
  first.child.kill('SIGINT');
  expect((await first.end()).code).toBe(0);
  const at = Math.ceil(events.rows[0]!.timeMs) + 200;
  const older = new Running(['collect', '--config', path, '--json']);
  const url = await addressOf(older);
  await lists(url, at, live);
  await biography(url, live);
  await linksAndNothing(url, at, live);
  await replayed(url, at, live);
  older.child.kill('SIGINT');
  expect((await older.end()).code).toBe(0);
});
