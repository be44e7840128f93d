import { setTimeout as sleep } from 'node:timers/promises';
import { RedisWriter } from '@int/sink-redis';
import fc from 'fast-check';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { LENGTH, runs } from '../../../.ci/test/length.js';
import { until } from '../../../.ci/test/until.js';
import { type Cut, CuttingProxy } from './cutting-proxy.js';
import { geometry, Load } from './load.js';
import { RedisServer, stopServers } from './redis-server.js';
import { SEED } from './seed.js';
import { unaccounted } from './stored.js';

afterEach(stopServers);

describe('connections that break', () => {
  it('at any byte, in either direction, and whose bytes arrive late: each record is there once', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const proxy = new CuttingProxy(server.socket, server.folder);
    await proxy.start();
    // Greetings are some 20 kB of requests, as they load the scripts, and 300 bytes of replies; a batch is 1 kB and more.
    const cut: fc.Arbitrary<Cut> = fc.oneof(
      fc.record({
        how: fc.constantFrom('request' as const, 'late' as const),
        after: fc.integer({ min: 0, max: 40_000 }),
      }),
      fc.record({ how: fc.constant('reply' as const), after: fc.integer({ min: 0, max: 1500 }) }),
    );
    const shape = fc.record({
      cuts: fc.array(cut, { minLength: 1, maxLength: 12 }),
      batch: fc.integer({ min: 1, max: 30 }),
      inFlight: fc.integer({ min: 1, max: 6 }),
    });
    const seen = { resent: 0, confirmed: 0, reconnects: 0, cuts: 0 };
    await fc.assert(
      fc.asyncProperty(shape, async ({ cuts, batch, inFlight }) => {
        await client.sendCommand(['FLUSHALL']);
        proxy.plan(cuts);
        const problems: string[] = [];
        const sink = new RedisWriter({
          url: proxy.url,
          geometry,
          batch: { events: batch, entries: batch },
          maxPending: { events: 300, entries: 100 },
          inFlight,
          lingerMs: 0,
          retry: { firstMs: 1, maxMs: 2 },
          replyTimeoutMs: 20_000,
          onProblem: ({ code }) => problems.push(code),
        });
        void sink.open();
        const load = new Load();
        while (load.events < 600) {
          load.pushEvents(sink, Math.min(60, 600 - load.events));
          load.pushEntries(sink, 5);
          await sink.ready('events');
          expect(unaccounted(sink.totals())).toEqual([0, 0, 0]);
        }
        await sink.flush();
        await load.expectStored(client, sink);
        const totals = await sink.close();
        // Late bytes may still come in; they must not do anything.
        await sleep(20);
        await load.expectStored(client, sink);
        expect(totals.events).toMatchObject({ offered: 600, delivered: 600, pending: 0, lostByServer: 0 });
        expect(totals.entries).toMatchObject({ offered: load.entries, delivered: load.entries, pending: 0 });
        expect(problems.filter((code) => code !== 'ERR_REDIS_CONNECTION')).toEqual([]);
        seen.resent += totals.resentBatches;
        seen.confirmed += totals.confirmedBatches;
        seen.reconnects += totals.reconnects;
        seen.cuts += proxy.used;
      }),
      { seed: SEED, numRuns: runs(50) },
    );
    await proxy.stop();
    // The test is about something: batches were sent twice, and batches were applied whose acknowledgement was lost.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(80 * LENGTH);
  });

  it('because the server ends them, again and again under load', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 5, maxLength: 20 }), async (pauses) => {
        await client.sendCommand(['FLUSHALL']);
        const sink = new RedisWriter({
          url: server.url,
          geometry,
          batch: { events: 25, entries: 5 },
          maxPending: { events: 500 },
          retry: { firstMs: 1, maxMs: 2 },
        });
        await sink.open();
        const load = new Load();
        let isRunning = true;
        onTestFinished(() => {
          isRunning = false;
        });
        const running = (async () => {
          while (isRunning) {
            load.pushEvents(sink, 50);
            load.pushEntries(sink, 5);
            await sleep(0);
          }
        })();
        for (const pause of pauses) {
          await sleep(pause);
          await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
        }
        isRunning = false;
        await running;
        const totals = await sink.close(30_000);
        await load.expectStored(client, sink);
        expect(unaccounted(totals)).toEqual([0, 0, 0]);
        expect(totals.events).toMatchObject({ offered: load.events, delivered: load.events, pending: 0 });
        expect(totals.reconnects).toBeGreaterThan(0);
      }),
      { seed: SEED, numRuns: 8 },
    );
  });

  it('leave what a closing sink has sent either there or not, and the rest accounted for', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const proxy = new CuttingProxy(server.socket, server.folder);
    await proxy.start();
    for (let after = 300; after < 900; after += 100) {
      await client.sendCommand(['FLUSHALL']);
      proxy.plan([{ how: 'reply', after }, ...Array.from({ length: 1000 }, (): Cut => ({ how: 'request', after: 0 }))]);
      const sink = new RedisWriter({
        url: proxy.url,
        geometry,
        batch: { events: 10 },
        inFlight: 2,
        retry: { firstMs: 1, maxMs: 2 },
      });
      await sink.open();
      const load = new Load();
      load.pushEvents(sink, 1000);
      await until('failed attempts', () => sink.totals().failedAttempts > 2);
      const { events } = await sink.close(0);
      expect(events.delivered + events.dropped.unconfirmed + events.dropped.closed).toBe(1000);
      const length = Number(await client.sendCommand(['XLEN', 'int:events']));
      expect(length).toBeGreaterThanOrEqual(events.delivered);
      expect(length).toBeLessThanOrEqual(events.delivered + events.dropped.unconfirmed);
    }
    await proxy.stop();
  });
});
