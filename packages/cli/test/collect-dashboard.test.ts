import { createServer } from 'node:net';
import { encodeFrame } from '@int/codec';
import type { EventsAnswer, FlowsAnswer, SeriesAnswer } from '@int/dashboard';
import { describe, expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { pcap, record, reportFrame } from './captures.js';
import { listening, payload, send } from './datagrams.js';
import { Running, run, runBin, temporaryFolder } from './run.js';

const files = temporaryFolder();
const TOKEN = 'a-token-of-a-test';

/** The address that a line on standard error names. */
const addressIn = (stderr: string): string | undefined => /dashboard on (https?:\/\/\S+)/.exec(stderr)?.[1];

async function addressOf(process: Running): Promise<string> {
  await process.until(() => addressIn(process.stderr) !== undefined);
  return addressIn(process.stderr)!;
}

interface Status {
  readonly totals: { readonly reports: number; readonly frames: number };
  readonly readOnly: boolean;
}

async function statusOf(url: string, token?: string): Promise<Status> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return (await fetch(new URL('api/v1/status', url), { headers })).json() as Promise<Status>;
}

const withReports = (url: string, reports: number): Promise<Status> =>
  until(`${reports} reports on the page`, async () => {
    const status = await statusOf(url);
    return status.totals.reports === reports && status.totals.frames >= reports ? status : null;
  });

describe('int collect --dashboard', () => {
  test('serves what it receives while it runs, and ends with it', async () => {
    const { process, port } = await listening('--json', '--dashboard', '0');
    const url = await addressOf(process);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    await send(port, [payload(reportFrame()), payload(reportFrame())]);
    expect(await withReports(url, 2)).toMatchObject({ readOnly: false });
    const page = await fetch(url);
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("default-src 'self'"),
    ]);
    process.child.kill('SIGINT');
    expect((await process.end()).code).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
  });

  test('shows all that workers have, and adds up', async () => {
    await files.write(
      'slow.yaml',
      'version: 1\nrules: [{ name: slow, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 1000, scope: hop } } }]\n',
    );
    const config = await files.write(
      'workers.yaml',
      'version: 1\nsources: [{ udp: { listen: "127.0.0.1:0" } }]\nworkers: 2\nflows: { rows: 1024 }\ndetect: { rules: slow.yaml }\ndashboard: { listen: "127.0.0.1:0" }\n',
    );
    const process = new Running(['collect', '--config', config, '--json']);
    const port = Number((await process.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/))[1]);
    const url = await addressOf(process);
    // Flows of both workers.
    const reports = Array.from({ length: 40 }, (_, index) =>
      encodeFrame({
        ...record(0),
        flow: {
          source: `10.0.1.${index + 1}`,
          destination: '10.0.2.2',
          protocol: 17,
          sourcePort: 4000,
          destinationPort: 80,
        },
      }),
    );
    await send(port, reports.map(payload));
    await withReports(url, reports.length);
    const ask = async <T>(path: string): Promise<T> =>
      (await (await fetch(new URL(`api/v1/${path}`, url))).json()) as T;
    const flows = await until('all flows with their hops', async () => {
      const { rows } = await ask<FlowsAnswer>('flows?limit=100');
      return rows.length === reports.length && rows.every(({ hops }) => hops.length === 3) ? rows : null;
    });
    expect(flows.every((flow) => flow.reports === 1 && flow.dscp === 0)).toBe(true);
    const series = await until('all buckets', async () => {
      const answer = await ask<SeriesAnswer>('series?metric=reports&entity=all&entity=switch:1&entity=switch:153');
      const sums = answer.series.map(({ values }) => values.reduce((sum: number, value) => sum + (value ?? 0), 0));
      return sums[0] === reports.length ? sums : null;
    });
    expect(series).toEqual([reports.length, reports.length, reports.length]);
    const events = await ask<EventsAnswer>('events?limit=100');
    expect([events.matched, new Set(events.rows.map(({ id }) => id)).size]).toEqual([reports.length, reports.length]);
    process.child.kill('SIGINT');
    expect((await process.end()).code).toBe(0);
    const total = process.stdout.split('\n').find((line) => line.startsWith('{"type":"total"'))!;
    expect(JSON.parse(total)).toMatchObject({ received: reports.length, reports: reports.length });
  });

  test('collects without the page if its port is in use, and says so', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port: taken } = other.address() as { port: number };
    try {
      const { process, port } = await listening('--json', '--dashboard', `127.0.0.1:${taken}`);
      await send(port, [payload(reportFrame())]);
      await process.until(() => process.stdout.includes('"received":1'));
      expect(process.stderr).toContain(`cannot open 127.0.0.1:${taken}: another program listens on this port`);
      expect(process.stderr).toContain('going on without the dashboard');
      process.child.kill('SIGINT');
      expect((await process.end()).code).toBe(0);
    } finally {
      other.close();
    }
  });

  test('shows a capture until a signal comes, to those who have the token', async () => {
    const file = await files.write('reports.pcap', pcap([reportFrame(), reportFrame(), reportFrame()]));
    const token = await files.write('token', `${TOKEN}\n`);
    const options = ['--dashboard', '0', '--dashboard-token-file', token, '--dashboard-read-only'];
    const process = new Running(['collect', '--pcap', file, '--json', ...options]);
    const url = await addressOf(process);
    await process.until(() => process.stderr.includes('the capture has ended'));
    expect(await statusOf(url)).toMatchObject({ error: { code: 'ERR_TOKEN' } });
    const status = await until('the whole capture', async () => {
      const now = await statusOf(url, TOKEN);
      return now.totals.frames === 3 ? now : null;
    });
    expect(status).toMatchObject({ readOnly: true, totals: { reports: 3 } });
    process.child.kill('SIGINT');
    const { code, stdout } = await process.end();
    expect([code, stdout]).toEqual([0, expect.stringContaining('"received":3')]);
  });

  test('comes, changes and goes with int.yaml', async () => {
    const file = await files.write('int.yaml', '');
    const text = (dashboard: string): string =>
      `version: 1\nsources: [{ udp: { listen: "127.0.0.1:0" } }]\n${dashboard === '' ? '' : `dashboard: ${dashboard}\n`}`;
    await files.write('int.yaml', text(''));
    const process = new Running(['collect', '--config', file, '--json']);
    await process.until(() => process.stderr.includes('listening on'));
    await files.write('int.yaml', text('{ listen: "127.0.0.1:0" }'));
    const url = await addressOf(process);
    expect(await statusOf(url)).toMatchObject({ readOnly: false });
    expect(process.stderr).toContain('dashboard changed');
    await files.write(
      'int.yaml',
      text('{ listen: "127.0.0.1:0", readOnly: true, retain: { time: 1min, memory: 32MiB } }'),
    );
    const addresses = (): string[] => [...process.stderr.matchAll(/dashboard on (\S+)/g)].map(([, one]) => one!);
    await process.until(() => addresses().length === 2);
    expect(await statusOf(addresses()[1]!)).toMatchObject({ readOnly: true, retained: { seconds: 60 } });
    await expect(fetch(url)).rejects.toThrow();
    await files.write('int.yaml', text(''));
    await until('no page', () =>
      fetch(addresses()[1]!).then(
        () => false,
        () => true,
      ),
    );
    process.child.kill('SIGINT');
    expect((await process.end()).code).toBe(0);
  });

  test('says what is wrong with its options', async () => {
    for (const address of ['http://x', ':8800', '127.0.0.1:70000', '[1.2.3.4]:80']) {
      expect(await run(['collect', '--demo', '--dashboard', address]), address).toMatchObject({ code: 2 });
    }
    expect(await run(['collect', '--demo', '--dashboard-token-file', 'x'])).toMatchObject({ code: 2 });
    expect(await run(['collect', '--demo', '--dashboard', '--dashboard-tls-cert', 'x'])).toMatchObject({ code: 2 });
    const short = await files.write('short', 'x\n');
    const listen = ['collect', '--listen', 'udp://127.0.0.1:0'];
    const open = await runBin([...listen, '--dashboard', '0.0.0.0:0']);
    expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('give it a token: --dashboard-token-file')]);
    const weak = await runBin([...listen, '--dashboard', '0.0.0.0:0', '--dashboard-token-file', short]);
    expect([weak.code, weak.stderr]).toEqual([2, expect.stringContaining('a token is 8 or more characters')]);
    const missing = await runBin([...listen, '--dashboard', '0', '--dashboard-token-file', `${short}-not`]);
    expect(missing.code).toBe(3);
    const tls = await runBin([
      ...listen,
      '--dashboard',
      '0',
      '--dashboard-tls-cert',
      short,
      '--dashboard-tls-key',
      short,
    ]);
    expect([tls.code, tls.stderr]).toEqual([2, expect.stringContaining('the certificate or its key cannot be used')]);
  });
});
