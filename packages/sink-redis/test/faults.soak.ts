import { mkdirSync, rmSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisSinkErrorCode, RedisWriter, type RedisWriterOptions } from '@int/sink-redis';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { geometry, Load } from './load.js';
import { RedisServer, stopServers } from './redis-server.js';
import { hash, unaccounted } from './stored.js';

afterEach(stopServers);

/** A sink that is impatient, and what it has reported. */
function watched(options: Partial<RedisWriterOptions>): {
  sink: RedisWriter;
  problems: RedisSinkErrorCode[];
  recoveries: () => number;
} {
  const problems: RedisSinkErrorCode[] = [];
  let recoveries = 0;
  const sink = new RedisWriter({
    geometry,
    writer: 'w',
    lingerMs: 1,
    retry: { firstMs: 5, maxMs: 20 },
    onProblem: ({ code }) => problems.push(code),
    onRecovered: () => {
      recoveries += 1;
    },
    ...options,
  });
  return { sink, problems, recoveries: () => recoveries };
}

describe('a server that is killed under load and comes back', () => {
  it('has each acknowledged record exactly once, and in the end all of them', async () => {
    const server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    const { sink, problems, recoveries } = watched({
      url: server.url,
      batch: { events: 50, entries: 10 },
      maxPending: { events: 1000, entries: 200 },
    });
    void sink.open();
    const load = new Load();
    let isRunning = true;
    onTestFinished(() => {
      isRunning = false;
    });
    let most = 0;
    const running = (async () => {
      while (isRunning) {
        load.pushEvents(sink, 100);
        load.pushEntries(sink, 20);
        most = Math.max(most, sink.totals().events.pending);
        expect(unaccounted(sink.totals())).toEqual([0, 0, 0]);
        await sleep(0);
      }
    })();
    for (let round = 0; round < 4; round++) {
      const before = sink.totals().batches;
      await until('batches written', () => sink.totals().batches > before + 20 && sink.isConnected);
      await server.kill();
      // Its last answers may still be on their way; after them, a dead server acknowledges nothing.
      await until('the end of the connection', () => !sink.isConnected);
      const written = sink.totals();
      await sleep(30);
      expect(sink.totals().batches).toBe(written.batches);
      await server.start();
    }
    isRunning = false;
    await running;
    await sink.flush();
    const client = await server.client();
    await load.expectStored(client, sink);
    const totals = await sink.close();
    expect(most).toBeLessThanOrEqual(1000);
    expect(unaccounted(totals)).toEqual([0, 0, 0]);
    expect(totals.events).toMatchObject({ offered: load.events, delivered: load.events, pending: 0, lostByServer: 0 });
    expect(totals.entries).toMatchObject({ offered: load.entries, delivered: load.entries, pending: 0 });
    expect(totals.reconnects).toBe(4);
    expect(problems.filter((code) => code === 'ERR_REDIS_LOST')).toEqual([]);
    expect(recoveries()).toBe(4);
    const writer = await hash(client, 'int:writer:w');
    expect(writer).toMatchObject({ events: String(load.events), entries: String(load.entries), epoch: '1' });
    expect(Number(writer.batch)).toBe(totals.batches);
  });

  it('but has lost its memory is reported, with what it lost, and written to again', async () => {
    const server = await RedisServer.start();
    const { sink, problems } = watched({ url: server.url });
    void sink.open();
    const load = new Load();
    load.pushEvents(sink, 300);
    load.pushEntries(sink, 20);
    await sink.flush();
    await server.kill();
    load.pushEvents(sink, 7);
    await server.start();
    await sink.flush();
    const client = await server.client();
    expect(await client.sendCommand(['XLEN', 'int:events'])).toBe(7);
    load.pushEvents(sink, 5);
    const totals = await sink.close();
    expect(totals.events).toMatchObject({ offered: 312, delivered: 312, lostByServer: 300 });
    expect(totals.entries).toMatchObject({ offered: 20, delivered: 20, lostByServer: 20 });
    expect(problems.filter((code) => code === 'ERR_REDIS_LOST')).toHaveLength(1);
    expect(await client.sendCommand(['XLEN', 'int:events'])).toBe(12);
  });

  it('in an older state is told apart from one that another writer has taken over', async () => {
    const server = await RedisServer.start();
    const { sink, problems } = watched({ url: server.url });
    void sink.open();
    const load = new Load();
    load.pushEvents(sink, 100);
    await sink.flush();
    const client = await server.client();
    const dump = await client.sendCommand(['HGETALL', 'int:writer:w']);
    load.pushEvents(sink, 50);
    await sink.flush();
    // As after a failover to a replica that was behind.
    await client.sendCommand(['DEL', 'int:writer:w']);
    await client.sendCommand(['HSET', 'int:writer:w', ...(dump as unknown as string[])]);
    load.pushEvents(sink, 25);
    const totals = await sink.close();
    expect(problems).toEqual(['ERR_REDIS_LOST']);
    expect(totals.events).toMatchObject({ offered: 175, delivered: 175, lostByServer: 50 });
    await load.expectStored(client, sink);
  });
});

describe('a server that is not there', () => {
  it('at the start may come later: what was offered is kept, and all is written', async () => {
    const server = new RedisServer();
    const { sink, problems, recoveries } = watched({ url: server.url, maxPending: { events: 500 } });
    const opened = sink.open();
    const load = new Load();
    expect(load.pushEvents(sink, 800)).toBe(500);
    expect(load.pushEvents(sink, 1)).toBe(0);
    await until('failed attempts', () => sink.totals().failedAttempts >= 5);
    expect(sink.isConnected).toBe(false);
    expect(sink.totals().events).toMatchObject({ offered: 500, pending: 500, delivered: 0 });
    expect(problems).toEqual(['ERR_REDIS_CONNECTION']);
    const room = sink.ready('events');
    await server.start();
    await Promise.all([opened, room]);
    load.pushEvents(sink, 300);
    await sink.flush();
    expect(sink.isConnected).toBe(true);
    await load.expectStored(await server.client(), sink);
    expect([problems.length, recoveries()]).toEqual([1, 1]);
    expect((await sink.close()).events).toMatchObject({ offered: load.events, delivered: load.events });
  });

  it('at all makes closing count what is left', async () => {
    const server = new RedisServer();
    const { sink } = watched({ url: server.url });
    const opened = sink.open();
    new Load().pushEvents(sink, 10);
    const totals = await sink.close(20);
    await opened;
    expect(totals.events).toMatchObject({ offered: 10, pending: 0, delivered: 0, dropped: { closed: 10 } });
  });
});

describe('a server that is slow', () => {
  it('makes the sink take no more than it has room for, and loses nothing', async () => {
    const server = await RedisServer.start();
    const { sink, problems } = watched({ url: server.url, batch: { events: 100 }, maxPending: { events: 1000 } });
    await sink.open();
    const client = await server.client();
    // What writes has to wait.
    await client.sendCommand(['CLIENT', 'PAUSE', '60000', 'WRITE']);
    const load = new Load();
    expect(load.pushEvents(sink, 2500)).toBe(1000);
    await sleep(50);
    expect(sink.totals().events).toMatchObject({ offered: 1000, pending: 1000, delivered: 0 });
    // Answered in a later turn: there is no room yet.
    const goesOn = client.sendCommand(['CLIENT', 'UNPAUSE']);
    let refusals = 0;
    while (load.events < 5000) {
      const wanted = Math.min(400, 5000 - load.events);
      if (load.pushEvents(sink, wanted) < wanted) {
        refusals += 1;
        await sink.ready('events');
        expect(sink.totals().events.pending).toBeLessThan(1000);
      }
    }
    await goesOn;
    expect(refusals).toBeGreaterThan(0);
    await sink.close();
    await load.expectStored(client, sink);
    expect(problems).toEqual([]);
  });

  it('is left and asked again if it does not answer in time, and nothing is written twice', async () => {
    const server = await RedisServer.start();
    const { sink, problems } = watched({
      url: server.url,
      batch: { events: 10 },
      replyTimeoutMs: 250,
      connectTimeoutMs: 250,
    });
    await sink.open();
    const load = new Load();
    for (let round = 0; round < 3; round++) {
      server.freeze(true);
      const failures = sink.totals().failedAttempts;
      load.pushEvents(sink, 45);
      await until('failed attempts', () => sink.totals().failedAttempts > failures + 1);
      server.freeze(false);
      await sink.flush();
    }
    expect(new Set(problems)).toEqual(new Set(['ERR_REDIS_TIMEOUT']));
    // The batches that the frozen server had in its sockets were applied when it went on, or those sent again: once.
    await load.expectStored(await server.client(), sink);
    const { confirmedBatches, resentBatches } = await sink.close();
    expect(confirmedBatches + resentBatches).toBeGreaterThan(0);
  });

  it('may lose the end of what is not acknowledged when the sink is closed, which says so', async () => {
    const server = await RedisServer.start();
    const { sink } = watched({ url: server.url, batch: { events: 10 }, inFlight: 2 });
    await sink.open();
    server.freeze(true);
    const load = new Load();
    load.pushEvents(sink, 45);
    const totals = await sink.close(50);
    expect(totals.events).toMatchObject({ offered: 45, delivered: 0, pending: 0 });
    expect(totals.events.dropped).toMatchObject({ unconfirmed: 20, closed: 25 });
    server.freeze(false);
  });
});

describe('a server that refuses', () => {
  it('a wrong password is asked again, until the password is right', async () => {
    const server = new RedisServer('--requirepass', 'right');
    await server.start();
    const { sink, problems } = watched({ url: server.url, password: 'wrong' });
    void sink.open();
    const load = new Load();
    load.pushEvents(sink, 20);
    await until('failed attempts', () => sink.totals().failedAttempts > 2);
    expect(problems).toEqual(['ERR_REDIS_AUTH']);
    const client = await server.client({ password: 'right' });
    await client.sendCommand(['CONFIG', 'SET', 'requirepass', 'wrong']);
    await sink.flush();
    await load.expectStored(client, sink);
    expect((await sink.close()).events).toMatchObject({ offered: 20, delivered: 20 });
  });

  it('one without a password is told so', async () => {
    const server = new RedisServer('--requirepass', 'right');
    await server.start();
    const { sink, problems } = watched({ url: server.url });
    void sink.open();
    await until('failed attempts', () => sink.totals().failedAttempts > 2);
    expect(problems).toEqual(['ERR_REDIS_AUTH']);
    await sink.close();
  });

  it('a password in the URL, with a database, is used', async () => {
    const server = new RedisServer('--requirepass', 'p@ss');
    await server.start();
    const { sink } = watched({ url: `unix://default:${encodeURIComponent('p@ss')}@${server.socket}`, database: 3 });
    await sink.open();
    new Load().pushEvents(sink, 3);
    await sink.close();
    const client = await server.client({ password: 'p@ss' });
    await client.sendCommand(['SELECT', '3']);
    expect(await client.sendCommand(['XLEN', 'int:events'])).toBe(3);
  });

  it('a user without the right is told so, and writes once he has it', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const rights = ['~int:*', '+@connection', '+eval', '+evalsha', '+script|load', '+hmget', '+hset', '+hincrby'];
    await client.sendCommand(['ACL', 'SETUSER', 'sink', 'on', '>secret', ...rights]);
    const { sink, problems } = watched({ url: server.url, username: 'sink', password: 'secret' });
    void sink.open();
    const load = new Load();
    load.pushEvents(sink, 20);
    load.pushEntries(sink, 20);
    await until('a problem', () => problems.length > 0);
    expect(problems).toEqual(['ERR_REDIS_DENIED']);
    const more = ['del', 'exists', 'persist', 'pexpire', 'unlink', 'xadd', 'xtrim', 'zadd', 'zcard', 'zrange', 'zrem'];
    await client.sendCommand(['ACL', 'SETUSER', 'sink', ...more.map((name) => `+${name}`)]);
    await sink.flush();
    await load.expectStored(client, sink);
    await sink.close();
  });

  it('more memory is tried again until there is some, and nothing of a batch is applied before', async () => {
    const server = await RedisServer.start('--maxmemory-policy', 'noeviction');
    const { sink, problems, recoveries } = watched({ url: server.url, batch: { events: 20 } });
    await sink.open();
    const load = new Load();
    load.pushEvents(sink, 50);
    await sink.flush();
    const client = await server.client();
    await client.sendCommand(['CONFIG', 'SET', 'maxmemory', '1']);
    load.pushEvents(sink, 70);
    load.pushEntries(sink, 10);
    const failures = sink.totals().failedAttempts;
    await until('failed attempts', () => sink.totals().failedAttempts >= failures + 4);
    expect(problems).toEqual(['ERR_REDIS_OUT_OF_MEMORY']);
    expect(await client.sendCommand(['XLEN', 'int:events'])).toBe(50);
    expect(sink.totals().events).toMatchObject({ delivered: 50, pending: 70 });
    await client.sendCommand(['CONFIG', 'SET', 'maxmemory', '0']);
    await sink.flush();
    await load.expectStored(client, sink);
    expect([problems.length, recoveries()]).toEqual([1, 1]);
    expect((await sink.close()).reconnects).toBe(0);
  });

  it('changes because it is a replica is tried again until it is a master', async () => {
    const server = await RedisServer.start();
    const { sink, problems } = watched({ url: server.url });
    await sink.open();
    const load = new Load();
    load.pushEvents(sink, 5);
    await sink.flush();
    const client = await server.client();
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    load.pushEvents(sink, 5);
    await until('another connection', () => sink.totals().reconnects > 1);
    expect(problems).toEqual(['ERR_REDIS_READONLY']);
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
    await sink.flush();
    await load.expectStored(client, sink);
    await sink.close();
  });

  it('changes because its disk fails is tried again until the disk is well', async () => {
    const server = await RedisServer.start('--dbfilename', 'dump.rdb');
    const client = await server.client();
    const { sink, problems } = watched({ url: server.url });
    await sink.open();
    // A folder in the way of the file makes saving fail.
    const obstacle = join(server.folder, 'dump.rdb');
    mkdirSync(join(obstacle, 'x'), { recursive: true });
    await client.sendCommand(['CONFIG', 'SET', 'save', '3600 1000000']);
    await client.sendCommand(['BGSAVE']);
    await until('a failure to save', async () => {
      const info = String(await client.sendCommand(['INFO', 'persistence']));
      return info.includes('rdb_last_bgsave_status:err');
    });
    const load = new Load();
    load.pushEvents(sink, 5);
    await until('failed attempts', () => sink.totals().failedAttempts > 2);
    expect(problems).toEqual(['ERR_REDIS_DISK']);
    rmSync(obstacle, { recursive: true });
    await client.sendCommand(['SAVE']);
    await client.sendCommand(['CONFIG', 'SET', 'save', '']);
    await sink.flush();
    await load.expectStored(client, sink);
    await sink.close();
  });

  it('anything while it loads its data is asked again', async () => {
    const server = await RedisServer.start('--loading-process-events-interval-bytes', '1024');
    const client = await server.client();
    for (let k = 0; k < 100; k++) await client.sendCommand(['SET', `filler:${k}`, 'x'.repeat(200)]);
    await client.sendCommand(['SAVE']);
    await server.kill();
    const { sink, problems } = watched({ url: server.url });
    void sink.open();
    const load = new Load();
    load.pushEvents(sink, 5);
    await server.start(false, '--key-load-delay', '20000');
    await sink.flush();
    expect(problems).toContain('ERR_REDIS_LOADING');
    await load.expectStored(await server.client(), sink);
    await sink.close();
  });

  it('anything while a script of somebody else runs is asked again', async () => {
    const server = await RedisServer.start('--busy-reply-threshold', '20');
    const client = await server.client();
    const { sink, problems } = watched({ url: server.url });
    await sink.open();
    const endless = client.sendCommand(['EVAL', 'while true do end', '0']).catch(() => undefined);
    const load = new Load();
    // What comes before the script is written.
    const offer = (): boolean => {
      load.pushEvents(sink, 5);
      return problems.length > 0;
    };
    await until('a problem', offer, { everyMs: 20 });
    expect(problems).toEqual(['ERR_REDIS_BUSY']);
    await server.killScript();
    await endless;
    await sink.flush();
    await load.expectStored(client, sink);
    await sink.close();
  });

  it('single records because a key has another type: those are counted, the others written', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    await client.sendCommand(['SET', 'int:events:1', 'in the way']);
    await client.sendCommand(['SET', 'int:flow:0.0.0.2:0-0.0.0.0:0/6', 'in the way']);
    await client.sendCommand(['SET', 'int:counts', 'in the way']);
    await client.sendCommand(['SET', 'int:flows', 'in the way']);
    const { sink, problems } = watched({ url: server.url, events: { streams: 'perSwitch' } });
    await sink.open();
    const load = new Load();
    load.pushEvents(sink, 30);
    load.pushEntries(sink, 14);
    await sink.flush();
    expect(sink.totals().events).toMatchObject({ delivered: 20, dropped: { refused: 10 }, incomplete: 30 });
    expect(sink.totals().entries).toMatchObject({ delivered: 12, dropped: { refused: 2 }, incomplete: 12 });
    expect(problems[0]).toBe('ERR_REDIS_REFUSED');
    await client.sendCommand(['DEL', 'int:events:1', 'int:counts']);
    load.pushEvents(sink, 30);
    const totals = await sink.close();
    expect(totals.events).toMatchObject({ offered: 60, delivered: 50, dropped: { refused: 10 }, incomplete: 30 });
    expect(unaccounted(totals)).toEqual([0, 0, 0]);
    for (const [scope, length] of [
      ['0', 20],
      ['1', 10],
      ['2', 20],
    ] as const) {
      expect(await client.sendCommand(['XLEN', `int:events:${scope}`])).toBe(length);
    }
    const writer = await hash(client, 'int:writer:w');
    expect(writer).toMatchObject({ events: '50', 'events.refused': '10', 'events.incomplete': '30', entries: '12' });
  });

  it("the writer's own key because of its type is asked again until it is out of the way", async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    await client.sendCommand(['SET', 'int:writer:w', 'in the way']);
    const { sink, problems } = watched({ url: server.url });
    void sink.open();
    const load = new Load();
    load.pushEvents(sink, 5);
    await until('failed attempts', () => sink.totals().failedAttempts > 2);
    expect(problems).toEqual(['ERR_REDIS_REFUSED']);
    await client.sendCommand(['DEL', 'int:writer:w']);
    await sink.flush();
    await load.expectStored(client, sink);
    await sink.close();
  });
});

describe('an answer that nobody understands', () => {
  it('leaves it open whether the batch was written as a whole, and the sink says so', async () => {
    const server = await RedisServer.start();
    const path = join(server.folder, 'p');
    const good = '*4\r\n:0\r\n:0\r\n:0\r\n$0\r\n\r\n';
    let spoilt = 0;
    const proxy = createServer((socket) => {
      const behind = createConnection(server.socket);
      for (const each of [socket, behind]) each.on('error', () => undefined);
      socket.pipe(behind);
      behind.on('data', (chunk) => {
        const text = chunk.toString('latin1');
        const isFirst = spoilt === 0 && text.includes(good);
        if (isFirst) spoilt += 1;
        socket.write(isFirst ? text.replace(good, '-ERR as nobody has seen it\r\n') : text, 'latin1');
      });
      socket.on('close', () => behind.destroy());
    }).listen(path);
    const { sink, problems } = watched({ url: `unix://${path}`, batch: { events: 10 }, inFlight: 1 });
    await sink.open();
    const load = new Load();
    load.pushEvents(sink, 100);
    const totals = await sink.close();
    expect(spoilt).toBe(1);
    expect(problems).toEqual(['ERR_REDIS_UNEXPECTED']);
    expect(totals.events).toMatchObject({ offered: 100, delivered: 90, dropped: { unconfirmed: 10 } });
    await load.expectStored(await server.client(), sink);
    proxy.close();
  });

  it('about a hash of the writer that makes no sense is an outage until the hash is repaired', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const { sink, problems } = watched({ url: server.url, batch: { events: 10 } });
    await sink.open();
    const load = new Load();
    load.pushEvents(sink, 50);
    await sink.flush();
    await client.sendCommand(['HSET', 'int:writer:w', 'batch', 'x']);
    load.pushEvents(sink, 50);
    await until('failed attempts', () => sink.totals().failedAttempts > 3);
    expect(problems).toEqual(['ERR_REDIS_UNEXPECTED']);
    await client.sendCommand(['HSET', 'int:writer:w', 'batch', '5']);
    await sink.flush();
    await load.expectStored(client, sink);
    expect((await sink.close()).events).toMatchObject({ delivered: 100 });
  });
});

describe('a server that forgets', () => {
  it('scripts gets them again', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const { sink, problems } = watched({ url: server.url, batch: { events: 10 } });
    await sink.open();
    const load = new Load();
    for (let round = 0; round < 10; round++) {
      load.pushEvents(sink, 100);
      await client.sendCommand(['SCRIPT', 'FLUSH']);
      await sleep(1);
    }
    await sink.flush();
    await load.expectStored(client, sink);
    expect(problems).toEqual([]);
    expect((await sink.close()).failedAttempts).toBe(0);
  });

  it('everything, as by FLUSHALL, is reported and written to again', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const { sink, problems } = watched({ url: server.url });
    await sink.open();
    const load = new Load();
    load.pushEvents(sink, 100);
    await sink.flush();
    await client.sendCommand(['FLUSHALL']);
    load.pushEvents(sink, 30);
    await sink.flush();
    expect(problems).toEqual(['ERR_REDIS_LOST']);
    expect(await client.sendCommand(['XLEN', 'int:events'])).toBe(30);
    await client.sendCommand(['FLUSHALL']);
    load.pushEvents(sink, 1);
    const totals = await sink.close();
    expect(totals.events).toMatchObject({ offered: 131, delivered: 131, lostByServer: 130 });
  });
});

describe('two sinks with the same writer id', () => {
  it('one after the other go on with one numbering', async () => {
    const server = await RedisServer.start();
    const client = await server.client();
    const load = new Load();
    for (let k = 0; k < 3; k++) {
      const { sink } = watched({ url: server.url, batch: { events: 10 } });
      void sink.open();
      load.pushEvents(sink, 95);
      const totals = await sink.close();
      expect(totals.events).toMatchObject({ offered: 95, delivered: 95 });
      // After closing, the hash is kept for a week.
      expect(Number(await client.sendCommand(['PTTL', 'int:writer:w']))).toBeGreaterThan(0);
      if (k === 2) await load.expectStored(client, sink);
    }
    expect(await hash(client, 'int:writer:w')).toMatchObject({ epoch: '3', batch: '30', events: '285' });
  });

  it('at the same time: the later one ends the earlier one, which counts what it could not write', async () => {
    const server = await RedisServer.start();
    const first = watched({ url: server.url });
    await first.sink.open();
    const load = new Load();
    load.pushEvents(first.sink, 10);
    await first.sink.flush();
    const second = watched({ url: server.url });
    await second.sink.open();
    load.pushEvents(second.sink, 10);
    await second.sink.flush();
    new Load().pushEvents(first.sink, 5);
    await first.sink.flush();
    expect(first.problems).toEqual(['ERR_REDIS_FENCED']);
    new Load().pushEvents(first.sink, 3);
    await first.sink.ready('events');
    const totals = await first.sink.close();
    expect(totals.events).toMatchObject({ offered: 18, delivered: 10, pending: 0 });
    // Those sent are known not to be applied, but this sink cannot know.
    expect(totals.events.dropped).toMatchObject({ unconfirmed: 5, fenced: 3 });
    load.pushEvents(second.sink, 10);
    await second.sink.flush();
    await load.expectStored(await server.client(), second.sink);
    await second.sink.close();
    expect(second.problems).toEqual([]);
  });
});
