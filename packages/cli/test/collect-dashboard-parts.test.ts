/** What the dashboard of `int collect` offers besides its page: rules, biographies, the history. */
import { readdir, readFile } from 'node:fs/promises';
import { platform } from 'node:process';
import type {
  AppliedAnswer,
  Biography,
  ErrorAnswer,
  EventsAnswer,
  QueryAnswer,
  RulesAnswer,
  SeriesAnswer,
  Status,
} from '@int/dashboard';
import { DashboardClient } from '@int/dashboard/client';
import { describe, expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { pcap, reportFrame, START_NS } from './captures.js';
import { listening, payload, send } from './datagrams.js';
import { Running, temporaryFolder } from './run.js';

const files = temporaryFolder();

const RULES = `version: 1   # for everybody
default: drop
rules:
  - name: slow
    priority: 1
    match: any
    detect: { threshold: { metric: hopLatency, threshold: 1000, scope: hop } }
`;

async function addressOf(process: Running): Promise<string> {
  const found = (): string | undefined => /dashboard on (https?:\/\/\S+)/.exec(process.stderr)?.[1];
  await process.until(() => found() !== undefined);
  return found()!;
}

async function ask<T>(url: string, path: string, method = 'GET', body?: unknown): Promise<T> {
  const answer = await fetch(new URL(`api/v1/${path}`, url), {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return (await answer.json()) as T;
}

/** Processor time of a process, in the system's ticks; null: it has ended. */
async function ticksOf(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const [state, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return text === '' || state === 'Z' ? null : Number(rest[10]) + Number(rest[11]);
}

async function stop(process: Running): Promise<void> {
  process.child.kill('SIGINT');
  expect((await process.end()).code).toBe(0);
}

describe('the dashboard of int collect', () => {
  test('leads from an event to the packet, and changes the rules by the path of their file', async () => {
    const file = await files.write('rules.yaml', RULES);
    const { process, port } = await listening('--json', '--rules', file, '--dashboard', '0');
    const url = await addressOf(process);
    await send(port, [payload(reportFrame())]);
    const events = (rule: string): Promise<EventsAnswer> =>
      until(`an event of ${rule}`, async () => {
        const answer = await ask<EventsAnswer>(url, `events?filter=${encodeURIComponent(`rule=${rule}`)}`);
        return answer.rows.length > 0 ? answer : null;
      });
    const [event] = (await events('slow')).rows;
    const biography = await ask<Biography>(url, `events/${event!.id}`);
    expect(biography).toMatchObject({ rule: { name: 'slow', threshold: 'above 1,000' }, bytes: { linkType: 147 } });
    expect(biography.rule!.yaml).toContain('- name: slow');
    expect(biography.hops.find(({ isCause }) => isCause)!.values.hopLatency).toBe(1200);
    expect(biography.fields.map(({ name }) => name)).toEqual(['report']);

    const { revision, file: named } = await ask<RulesAnswer>(url, 'rules');
    expect(named).toBe(file);
    const yaml = RULES.replace('slow', 'slower');
    const applied = await ask<AppliedAnswer>(url, 'rules', 'PUT', { yaml, revision, save: true });
    expect(applied.saved).toBe(true);
    expect(await readFile(file, 'utf8')).toBe(yaml);
    await process.until(() => process.stderr.includes('1 rule in force, from the dashboard'));
    await send(port, [payload(reportFrame())]);
    await events('slower');
    // A change of the file is another revision.
    await files.write('rules.yaml', RULES);
    const changed = await until('the rules of the file', async () => {
      const answer = await ask<RulesAnswer>(url, 'rules');
      return answer.yaml === RULES ? answer : null;
    });
    expect(changed.versions.map(({ by }) => by)).toEqual(['file', 'dashboard', 'start']);
    const late = { yaml, revision: applied.revision, save: false };
    expect(await ask<ErrorAnswer>(url, 'rules', 'PUT', late)).toMatchObject({ error: { code: 'ERR_CONFLICT' } });
    await stop(process);
  });

  test('queries the history in Parquet files, and shows what is no longer retained', async () => {
    const capture = await files.write('reports.pcap', pcap(Array.from({ length: 5 }, () => reportFrame())));
    const config = await files.write(
      'int.yaml',
      `version: 1\nsources: [{ pcap: { file: ${capture} } }]\nsinks: [{ parquet: { directory: history } }]\n`,
    );
    const first = new Running(['collect', '--config', config, '--json']);
    expect((await first.end()).code).toBe(0);
    // Another run, which has not seen these reports, reads them.
    await files.write(
      'int.yaml',
      'version: 1\nsources: [{ udp: { listen: "127.0.0.1:0" } }]\nsinks: [{ parquet: { directory: history } }]\ndashboard: { listen: "127.0.0.1:0", captures: [reports.pcap] }\n',
    );
    const process = new Running(['collect', '--config', config, '--json']);
    const url = await addressOf(process);
    expect((await ask<Status>(url, 'status')).has.history).toBe(true);
    const sql = 'select nodeId, count(*) as hops from hops where nodeId is not null group by nodeId order by nodeId';
    const answer = await ask<QueryAnswer>(url, 'query', 'POST', { sql, limit: 1 });
    expect(answer).toMatchObject({ columns: [{ name: 'nodeId' }, { name: 'hops' }], rows: [[1, 5]], truncated: true });
    expect((await ask<QueryAnswer>(url, 'query', 'POST', { sql })).rows).toEqual([
      [1, 5],
      [2, 5],
      [153, 5],
    ]);
    for (const bad of ['select nodeId, count(* from hops', "copy hops to 'hops.csv'", 'select 1; select 2']) {
      const refused = await ask<ErrorAnswer>(url, 'query', 'POST', { sql: bad });
      expect(refused, bad).toMatchObject({ error: { code: 'ERR_QUERY' } });
    }
    // A single value is beyond the limit of the engine, and not beyond that of its process.
    const huge = await ask<ErrorAnswer>(url, 'query', 'POST', { sql: "select repeat('x', 1000000000)" });
    expect(huge).toMatchObject({ error: { code: 'ERR_QUERY_MEMORY' } });
    expect((await ask<QueryAnswer>(url, 'query', 'POST', { sql, limit: 1 })).rows).toEqual([[1, 5]]);
    const startMs = Number(START_NS / 1_000_000n);
    const range = `from=${startMs}&to=${startMs + 1000}`;
    const series = await ask<SeriesAnswer>(url, `series?metric=latencyMax&entity=switch:1&entity=all&${range}`);
    expect(series.source).toBe('history');
    expect(series.series.map(({ values }) => Math.max(...values.map((value) => value ?? 0)))).toEqual([1200, 1200]);
    const reports = await ask<SeriesAnswer>(url, `series?metric=reports&${range}`);
    expect(reports.series[0]!.values.reduce((sum: number, value) => sum + (value ?? 0), 0)).toBe(5);

    const client = new DashboardClient({ url });
    await client.saveQuery('by switch', sql);
    expect(await client.savedQueries()).toEqual({ queries: [{ name: 'by switch', sql }] });
    expect(await client.removeQuery('by switch')).toEqual({ queries: [] });
    // The configuration names a capture, and its viewers play it.
    expect((await client.captures()).captures.map(({ name }) => name)).toEqual(['reports.pcap']);
    const { id } = await client.startReplay({ capture: 'reports.pcap' }, 100);
    await until('its end', async () => (await client.replays()).replays[0]?.isOver === true);
    client.replay = id;
    expect((await client.status()).totals.reports).toBe(5);

    if (platform !== 'linux') return stop(process);
    // A collector that is killed leaves no query behind.
    const threads = `/proc/${process.child.pid}/task`;
    const children = (await readdir(threads)).map((thread) => readFile(`${threads}/${thread}/children`, 'latin1'));
    const [queries] = (await Promise.all(children)).join(' ').trim().split(/\s+/).map(Number);
    const before = await ticksOf(queries!);
    expect(before).not.toBeNull();
    const tables = [...'abcdefghi'].map((name) => `hops ${name}`).join(', ');
    const endless = `select count(*) from ${tables} where a.nodeId + i.nodeId <> b.nodeId + c.nodeId`;
    const unanswered = ask(url, 'query', 'POST', { sql: endless }).catch(() => 'no answer');
    await until('the query at work', async () => (await ticksOf(queries!))! > before! + 20);
    process.child.kill('SIGKILL');
    expect(await unanswered).toBe('no answer');
    await until('the end of the query', async () => (await ticksOf(queries!)) === null);
    await process.end();
  });
});
