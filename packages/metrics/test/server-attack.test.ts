/** What strangers do to the page: each test is named after what was found. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { inTime, until } from '../../../.ci/test/until.js';
import { listen, threadCode } from './thread-code.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const GET = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** A page of many bytes that counts how often it is made. */
function longPage(): { readonly metrics: { text(): Promise<string>; readonly contentType: string }; made(): number } {
  let made = 0;
  const body = `${'x'.repeat(79)}\n`.repeat(50_000);
  const text = async (): Promise<string> => {
    made++;
    return body;
  };
  return { metrics: { text, contentType: 'text/plain' }, made: () => made };
}

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  closers.push(() => socket.destroy());
  return socket;
}

describe('the page under attack', () => {
  it('is made once for a client that pipelines 40 scrapes and hangs up, and for all others meanwhile', async () => {
    const { metrics, made } = longPage();
    const server = await listen({ metrics, intervalMs: 600_000 });
    closers.push(() => server.close());
    const { port } = server.address;
    const socket = open(port);
    socket.write(GET.repeat(40));
    await until('the page to be asked for', () => made() > 0);
    socket.destroy();
    const pages = await Promise.all(
      [1, 2, 3].map(async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text()),
    );
    expect(pages.map(({ length }) => length)).toEqual([4_000_000, 4_000_000, 4_000_000]);
    expect(made()).toBe(1);
  });

  it('does not keep its server from ending, with 4 clients of 200 requests each that read nothing', async () => {
    const { metrics } = longPage();
    const server = await listen({ metrics });
    const clients = [1, 2, 3, 4].map(() => open(server.address.port));
    for (const client of clients) client.pause().write(GET.repeat(200));
    await until('requests', () => server.totals().requests > 0);
    await server.close();
    const closed = await fetch(`http://127.0.0.1:${server.address.port}/metrics`).catch(() => 'closed');
    expect(closed).toBe('closed');
  });

  it('turns away connections beyond its limit and names that are not its own, and says so', async () => {
    const { metrics } = longPage();
    const limits = { connections: 4, connectionsPerAddress: 4 };
    const server = await listen({ metrics, limits, allowHosts: ['metrics.example'] });
    closers.push(() => server.close());
    const { port } = server.address;
    const statusFor = (host: string): Promise<number> =>
      new Promise((resolve, reject) => {
        request({ host: '127.0.0.1', port, path: '/health', headers: { host }, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode!);
        })
          .on('error', reject)
          .end();
      });
    expect([await statusFor('evil.example'), await statusFor('metrics.example')]).toEqual([403, 200]);
    for (let client = 0; client < 10; client++) open(port);
    await until('counts of what was turned away', () => server.totals().refused.connections > 0);
    expect(server.totals().refused.hosts).toBe(1);
    expect(server.degraded()).toMatchObject([{ where: 'metrics page', name: 'refusing' }]);
    await expect(listen({ metrics, allowHosts: ['http://x'] })).rejects.toThrow(RangeError);
  });

  it('leaves out what makes it too long, and says so', async () => {
    const { metrics } = longPage();
    const server = await listen({ metrics, maxPageBytes: 100_000 });
    closers.push(() => server.close());
    expect(await (await fetch(`http://127.0.0.1:${server.address.port}/metrics`)).text()).toBe('\n');
    await until('the count of samples', () => server.totals().omitted > 0);
    expect(server.degraded()).toMatchObject([
      { name: 'shedding', text: expect.stringContaining('more than 100000 bytes') },
    ]);
  });

  it('is served again when its thread has died, on the same port', async () => {
    const file = await threadCode();
    const mortal = join(dirname(file), 'mortal.mjs');
    writeFileSync(mortal, `import './page-thread.mjs';\nsetTimeout(() => { throw new Error('out of luck'); }, 500);\n`);
    const server = await listen({ metrics: { text: async () => 'a\n', contentType: 'text/plain' }, thread: mortal });
    closers.push(() => server.close());
    const url = `http://127.0.0.1:${server.address.port}/metrics`;
    await until('the death of the thread', () => server.degraded().length > 0);
    expect(server.degraded()).toMatchObject([{ name: 'failed', text: 'it is started again: out of luck' }]);
    await until('another thread', async () => (await fetch(url).catch(() => null))?.ok === true);
  });

  it('says at /health that the program does not answer', async () => {
    const server = await listen({ metrics: { text: async () => 'a\n', contentType: 'text/plain' } });
    closers.push(() => server.close());
    const code = `
      const { parentPort, workerData } = require('node:worker_threads');
      fetch(workerData).then(async (response) => parentPort.postMessage([response.status, await response.json()]));`;
    const asking = new Worker(code, { eval: true, workerData: `http://127.0.0.1:${server.address.port}/health` });
    closers.push(() => asking.terminate());
    const answer = new Promise((resolve) => asking.once('message', resolve));
    await inTime('a thread', once(asking, 'online'));
    // The thread of the program is busy for 4 seconds.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000);
    expect(await inTime('an answer', answer)).toMatchObject([
      503,
      {
        status: 'failing',
        healthy: false,
        degraded: [{ where: 'collector', name: 'stalled', text: 'no answer for 2 s' }],
      },
    ]);
  });
});
