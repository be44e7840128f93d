import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Health, MetricsServerError, PipelineMetrics } from '@int/metrics';
import { afterEach, describe, expect, it } from 'vitest';
import { send } from '../../../.ci/test/datagrams.js';
import { requires } from '../../../.ci/test/requires.js';
import { inTime, until } from '../../../.ci/test/until.js';
import { listening, report } from './pipeline.js';
import { type Answered, PrometheusServer } from './prometheus-server.js';
import { listen } from './thread-code.js';

const SETUP = 'npm run setup:system';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A pipeline behind a socket, and the server of its metrics. */
async function serve(
  health?: () => Health,
): Promise<{ url: string; send: (payloads: readonly Uint8Array[]) => Promise<void> }> {
  const parts = listening();
  await parts.collector.start();
  const metrics = new PipelineMetrics(parts);
  const server = await listen({ metrics, ...(health !== undefined && { health }) });
  closers.push(() => parts.collector.stop());
  closers.push(() => server.close());
  const sendAll = async (payloads: readonly Uint8Array[]): Promise<void> => {
    const before = parts.collector.totals().received;
    await send(parts.source.address.port, payloads);
    await until('all datagrams', () => parts.collector.totals().received >= before + payloads.length);
  };
  return { url: `http://127.0.0.1:${server.address.port}`, send: sendAll };
}

describe('MetricsServer', () => {
  it('answers a scrape with what has arrived by then', async () => {
    const { url, send } = await serve();
    for (const round of [1, 2]) {
      await send([report(5, round, 700, 4)]);
      // A page that readers share may be from before.
      await until(`${round} reports`, async () =>
        (await (await fetch(`${url}/metrics`)).text()).includes(`\nint_reports_total ${round}\n`),
      );
      const response = await fetch(`${url}/metrics?name=x`);
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/plain; version=0.0.4; charset=utf-8',
      ]);
      expect(await response.text()).toContain(`\nint_reports_total ${round}\n`);
    }
  });

  it('says how the process is', async () => {
    let state: Health = { healthy: true };
    const { url } = await serve(() => state);
    const good = await fetch(`${url}/health`);
    expect([good.status, await good.json()]).toEqual([200, { healthy: true }]);
    state = { healthy: false, detail: { sink: 'away' } };
    // An answer that readers share may be from before.
    const bad = await until('another answer', async () => {
      const response = await fetch(`${url}/health`);
      return response.status === 200 ? null : response;
    });
    expect([bad.status, await bad.json()]).toEqual([503, state]);
  });

  it('has no other page and takes no other method', async () => {
    const { url } = await serve();
    expect((await fetch(`${url}/etc/passwd`)).status).toBe(404);
    const posted = await fetch(`${url}/metrics`, { method: 'POST', body: 'x'.repeat(1000) });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await fetch(`${url}/metrics`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('answers 500 when a part throws, and goes on', async () => {
    let isBroken = true;
    const text = async (): Promise<string> => {
      if (isBroken) throw new Error('the disk is on fire');
      return 'fine\n';
    };
    const server = await listen({ metrics: { text, contentType: 'text/plain' } });
    closers.push(() => server.close());
    const url = `http://127.0.0.1:${server.address.port}/metrics`;
    expect((await fetch(url)).status).toBe(500);
    isBroken = false;
    expect(await (await fetch(url)).text()).toBe('fine\n');
  });

  it('says why it cannot listen', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await inTime('a TCP port', once(other, 'listening'));
    closers.push(() => other.close());
    const { port } = other.address() as { port: number };
    const metrics = { text: async (): Promise<string> => '', contentType: 'text/plain' };
    const failure: unknown = await listen({ port, metrics }).catch((error: unknown) => error);
    expect(MetricsServerError.is(failure) && [failure.code, failure.message]).toEqual([
      'ERR_METRICS_LISTEN',
      `cannot open 127.0.0.1:${port}: another program listens on this port: stop it or choose another port`,
    ]);
  });

  it('ends with its last answer, and an idle connection does not hold it', async () => {
    const server = await listen({ metrics: { text: async () => 'a\n', contentType: 'text/plain' } });
    await (await fetch(`http://127.0.0.1:${server.address.port}/metrics`)).text();
    await server.close();
    await expect(fetch(`http://127.0.0.1:${server.address.port}/metrics`)).rejects.toThrow();
  });

  it("passes promtool's checks", async () => {
    const promtool = requires('promtool', SETUP);
    const { url, send } = await serve();
    await send([report(5, 1, 700, 4), report(5, 5, 1700, 40), report(6, 1, 2, 0)]);
    const input = await (await fetch(`${url}/metrics`)).text();
    const { stdout, stderr, status } = spawnSync(promtool, ['check', 'metrics'], {
      input,
      encoding: 'utf8',
      timeout: 50_000,
    });
    expect(input).toMatch(/^process_cpu_seconds_total /m);
    expect([stdout, stderr, status]).toEqual(['', '', 0]);
  });

  it('is scraped by Prometheus, which computes quantiles of hop latency', async () => {
    const { url, send } = await serve();
    const prometheus = await PrometheusServer.start(url.slice(7));
    closers.push(() => prometheus.stop());
    await send(Array.from({ length: 100 }, (_, index) => report(5, index, index < 90 ? 400 : 2000, index)));
    const reports = await until(
      'a scrape of 100 reports',
      async () => {
        const answer: Answered[] = await prometheus.query('int_reports_total').catch(() => []);
        return answer[0]?.[1] === 100 ? answer : null;
      },
      { withinMs: 90_000, everyMs: 100 },
    );
    expect(reports.map(([, value]) => value)).toEqual([100]);
    const [quantile] = await prometheus.query('histogram_quantile(0.95, int_hop_latency_seconds_bucket{switch="5"})');
    // In the bucket from 1 to 2.5 us, half of whose values are below the quantile.
    expect(quantile?.[1]).toBeCloseTo(1.75e-6, 9);
    // A program of Go that is started, and scrapes.
  }, 120_000);
});
