import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { Load } from './load.js';
import { order, Program } from './program.js';
import { Redis } from './redis.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);

/** INT_LONG=1: as many reports as a busy network has in a moment. */
const REPORTS = process.env.INT_LONG === '1' ? 20_000 : 8000;

const open: { dispose(): void | Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.dispose();
});

function later<T>(thing: T, dispose: (thing: T) => void | Promise<void>): T {
  open.push({ dispose: () => dispose(thing) });
  return thing;
}

function start(...args: readonly string[]): Program {
  return later(new Program(...args), (program) => program.kill());
}

function folder(): string {
  return later(mkdtempSync(join(tmpdir(), 'int-control-')), (path) => rmSync(path, { recursive: true, force: true }));
}

async function portOf(program: Program): Promise<number> {
  const [, port] = await program.said(/listening at udp:\/\/127\.0\.0\.1:(\d+)/);
  return Number(port);
}

async function redis(): Promise<Redis> {
  const server = later(new Redis(), (each) => each.dispose());
  await server.start();
  return server;
}

/** A file with a token, and the headers of an order that has it. */
function tokenIn(place: string): { readonly file: string; readonly headers: { readonly authorization: string } } {
  const file = join(place, 'token');
  const text = '0123456789abcdef';
  writeFileSync(file, `${text}\n`);
  return { file, headers: { authorization: `Bearer ${text}` } };
}

const LISTEN = ['--listen', 'udp://127.0.0.1:0', '--shards', '2', '--rows', '256'] as const;

describe('the monitor', () => {
  test('writes every flow and every event to Redis, and loses nothing', async () => {
    const server = await redis();
    const program = start(...LISTEN, '--redis', server.url, '--level', 'hopLatency=20000', '--path-changes');
    const load = later(new Load(await portOf(program), 500, SEED), (each) => each.close());
    await load.send(REPORTS);
    await sleep(300);
    const summary = await program.stop();
    expect(summary.losses).toEqual({});
    expect(summary.balanced).toBe(true);
    expect(summary.frames.reports).toBe(load.sent);
    expect(summary.flows.events).toBeGreaterThan(0);
    expect(Number(server.ask('XLEN', 'int:events'))).toBe(summary.flows.events);
    // All flows, whether they gave way or stayed to the end, are one hash each.
    expect(Number(server.ask('ZCARD', 'int:flows'))).toBeGreaterThan(100);
    expect(summary.written.redis!.entries.delivered).toBe(summary.flows.inserted);
    const sumOfPackets = `local sum = 0
      for _, flow in ipairs(redis.call('ZRANGE', 'int:flows', 0, -1)) do
        sum = sum + redis.call('HGET', 'int:flow:' .. flow, 'packets')
      end
      return sum`;
    expect(Number(server.ask('EVAL', sumOfPackets, '0'))).toBe(load.sent);
  });

  test('takes other thresholds while it runs', async () => {
    const place = folder();
    const control = join(place, 'control');
    const token = tokenIn(place);
    const program = start(...LISTEN, '--control', control, '--control-token-file', token.file);
    const load = later(new Load(await portOf(program), 100, SEED), (each) => each.close());
    await program.said(/orders at/);
    /** What has been counted when so many reports have come to the caches. */
    const totals = (offered: number): Promise<Awaited<ReturnType<typeof order>>> =>
      until(
        `${offered} reports in the caches`,
        async () => {
          const answer = await order(control, 'GET', '/totals');
          return answer.body.flows.offered >= offered ? answer : null;
        },
        { everyMs: 20 },
      );
    await load.send(2000);
    const before = await totals(2000);
    expect(before.body.flows.offered).toBe(2000);
    expect(before.body.flows.events).toBe(0);
    const none = { level: null, change: null };
    const thresholds = { hopLatency: { level: 0, change: null }, queueOccupancy: none, egressUtilization: none };
    const changed = await order(control, 'PUT', '/thresholds', { hopLatency: { level: 0 } }, token.headers);
    expect(changed).toEqual({ status: 200, body: { ...thresholds, endToEnd: none, pathChange: false } });
    await load.send(1000);
    const after = await totals(3000);
    expect(after.body.flows.events).toBeGreaterThanOrEqual(1000);
    const { body } = await order(control, 'GET', '/distributions');
    // Reports of dropped packets carry no hop latency.
    expect(body.endToEnd.values).toBeGreaterThan(2900);
    expect(Object.keys(body.switches).length).toBeGreaterThan(2);
    expect((await order(control, 'PUT', '/thresholds', { jitter: { level: 1 } }, token.headers)).status).toBe(400);
    expect((await order(control, 'PUT', '/thresholds', { hopLatency: { level: -1 } }, token.headers)).status).toBe(400);
    expect((await order(control, 'GET', '/flow?source=x')).status).toBe(400);
    const summary = await program.stop();
    expect(summary.balanced).toBe(true);
    expect(summary.losses).toEqual({});
    expect(existsSync(control)).toBe(false);
  });

  test('takes changes from nobody without the token, and answers to no name of a page in a browser', async () => {
    const wish = { hopLatency: { level: 0 } };
    const place = folder();
    const token = tokenIn(place);
    const port = async (program: Program): Promise<number> =>
      Number((await program.said(/orders at http:\/\/127\.0\.0\.1:(\d+)/))[1]);
    const closed = await port(start(...LISTEN, '--control', '127.0.0.1:0'));
    expect((await order(closed, 'PUT', '/thresholds', wish, token.headers)).status).toBe(405);
    expect((await order(closed, 'GET', '/thresholds')).status).toBe(200);
    const guarded = start(...LISTEN, '--control', '127.0.0.1:0', '--control-token-file', token.file);
    const at = await port(guarded);
    expect((await order(at, 'PUT', '/thresholds', wish)).status).toBe(401);
    expect((await order(at, 'PUT', '/thresholds', wish, { authorization: 'Bearer 0123456789abcdee' })).status).toBe(
      401,
    );
    const evil = { ...token.headers, host: `evil.example:${at}` };
    expect((await order(at, 'PUT', '/thresholds', wish, evil)).status).toBe(403);
    expect((await order(at, 'GET', '/totals', undefined, evil)).status).toBe(403);
    expect((await order(at, 'GET', '/thresholds')).body as object).toMatchObject({ hopLatency: { level: null } });
    expect((await order(at, 'PUT', '/thresholds', wish, token.headers)).status).toBe(200);
    const weak = join(place, 'weak');
    writeFileSync(weak, 'short');
    const refused = await start(...LISTEN, '--control', '127.0.0.1:0', '--control-token-file', weak).ended();
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('16 characters') });
  });

  test('goes on while Redis is killed and started again, catches up, and its accounts close', async () => {
    const server = await redis();
    const program = start(...LISTEN, '--redis', server.url, '--level', 'hopLatency=0');
    const load = later(new Load(await portOf(program), 2000, SEED), (each) => each.close());
    const events = (): number => Number(server.ask('XLEN', 'int:events'));
    for (let round = 0; round < 2; round++) {
      const before = events();
      await load.send(3000);
      // An outage is one only to a writer that has been connected.
      await until('events in Redis', () => events() > before, { everyMs: 10 });
      await server.kill();
      await load.send(3000);
      await server.start();
    }
    await program.said(/Redis is back/);
    await load.send(1000);
    const summary = await program.stop();
    expect(summary.losses).toEqual({});
    expect(summary.balanced).toBe(true);
    expect(summary.frames.reports).toBe(load.sent);
    expect(events()).toBe(summary.flows.events);
    expect(summary.written.redis!.entries.delivered).toBe(summary.flows.inserted);
  });

  test('counts what it loses where Redis never comes, ring by ring', async () => {
    const program = start(
      ...LISTEN,
      ...['--redis', 'unix:///nowhere/redis', '--patience', '0.2', '--ring-records', '64'],
      ...['--level', 'hopLatency=0', '--packed'],
    );
    const load = later(new Load(await portOf(program), 4000, SEED), (each) => each.close());
    await load.send(REPORTS);
    await sleep(200);
    const summary = await program.stop();
    expect(summary.balanced).toBe(true);
    expect(summary.losses['rings: events']).toBeGreaterThan(0);
    expect(summary.losses['redis: events closed']).toBeGreaterThan(0);
    expect(summary.written.redis!.events.delivered).toBe(0);
  });

  test('says what is wrong with a command line, and what cannot be opened', async () => {
    expect(await start().ended()).toMatchObject({ code: 2, err: expect.stringContaining('Usage') });
    expect((await start(...LISTEN, '--level', 'jitter=1').ended()).err).toContain("no metric 'jitter'");
    const missing = await start('--capture', '/nowhere/at.pcap', '--shards', '1', '--rows', '16').ended();
    expect(missing).toMatchObject({ code: 3, err: expect.stringContaining('/nowhere/at.pcap') });
  });
});
