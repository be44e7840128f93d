import { setTimeout as sleep } from 'node:timers/promises';
import { OpenSearchSink, type OpenSearchSinkOptions } from '@int/sink-opensearch';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { BulkDouble } from './bulk-double.js';
import { decoded, framesOf, writeEvents, writeFlows, writeReports } from './load.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ALL = ['reports', 'events', 'flows'] as const;

async function double(port = 0): Promise<BulkDouble> {
  const server = await BulkDouble.listen(port);
  closers.push(() => server.close());
  return server;
}

/** A sink in a hurry, and what it tells. */
function sinkTo(server: { readonly url: string } | null, options: Partial<OpenSearchSinkOptions> = {}) {
  const problems: string[] = [];
  const messages: string[] = [];
  const recoveries: number[] = [];
  const sink = new OpenSearchSink({
    nodes: [server?.url ?? 'http://127.0.0.1:1'],
    records: ALL,
    templates: false,
    lingerMs: 5,
    retry: { firstMs: 5, maxMs: 40 },
    onProblem: ({ code, message }) => {
      problems.push(code);
      messages.push(message);
    },
    onRecovered: ({ attempts }) => recoveries.push(attempts),
    ...options,
  });
  closers.push(() => sink.close(0));
  return { sink, problems, messages, recoveries };
}

const counts = (sink: OpenSearchSink, kind: (typeof ALL)[number] = 'reports') => {
  const found = sink.totals()[kind]!;
  const dropped = Object.values(found.dropped).reduce((sum, value) => sum + value, 0);
  expect(found.offered).toBe(found.delivered + found.pending + dropped);
  return found;
};

/** Numbers of the reports that the double has. */
const numbers = (server: BulkDouble): number[] =>
  [...server.stored.values()].map(({ report }) => (report as { sequence: number }).sequence).sort((a, b) => a - b);

const upTo = (count: number): number[] => Array.from({ length: count }, (_, k) => k);

describe('OpenSearchSink', () => {
  it('counts as delivered what the server has acknowledged', async () => {
    const server = await double();
    const { sink, problems } = sinkTo(server);
    await writeReports(sink, 0, 10);
    await writeEvents(sink, 200, 3);
    await writeFlows(sink, 1, 4);
    await sink.flush();
    expect([counts(sink).delivered, counts(sink, 'events').delivered, counts(sink, 'flows').delivered]).toEqual([
      10, 3, 4,
    ]);
    expect(server.stored.size).toBe(17);
    expect(problems).toEqual([]);
    expect(new Set([...server.stored.keys()].map((key) => key.slice(0, key.indexOf('/'))))).toEqual(
      new Set(['int-reports-2026.11.21', 'int-events-2026.11.21', 'int-flows-2026.11.21']),
    );
  });

  it('numbers its records from 0 over all kinds', async () => {
    const server = await double();
    const { sink } = sinkTo(server, { instance: '00000000000000AB' });
    await writeFlows(sink, 1, 1);
    await writeReports(sink, 0, 2);
    await sink.flush();
    expect(server.bulks.flatMap(({ ids }) => ids)).toEqual([0, 1, 2].map((n) => `00000000000000ab-${n}`));
  });

  it('sends no record that could not be decoded', async () => {
    const server = await double();
    const { sink } = sinkTo(server);
    const frames = framesOf(0, 5);
    const batch = decoded(frames);
    batch.code[1] = 3;
    batch.code[4] = 3;
    await sink.write(batch);
    await sink.flush();
    expect([counts(sink).offered, numbers(server)]).toEqual([3, [0, 2, 3]]);
  });

  it('sends again those records only that the server had no room for', async () => {
    const server = await double();
    server.next = [
      (ids) => ids.map((_, index) => (index % 2 === 0 ? 201 : 429)),
      (ids) => ids.map((_, index) => (index === 0 ? 503 : 201)),
    ];
    const { sink, problems } = sinkTo(server);
    await writeReports(sink, 0, 10);
    await sink.flush();
    expect(server.bulks.map(({ ids }) => ids.length)).toEqual([10, 5, 1]);
    expect([numbers(server), server.repeats, counts(sink).delivered]).toEqual([upTo(10), 0, 10]);
    expect([sink.traffic().retried, problems]).toEqual([6, []]);
  });

  it('counts records that the server refuses, says why once, and writes the others', async () => {
    const server = await double();
    const { sink, problems, messages } = sinkTo(server);
    server.always = (ids) => ids.map((_, index) => (index === 1 ? 400 : 201));
    for (const round of [0, 1, 2]) {
      await writeReports(sink, round * 4, 4);
      await sink.flush();
    }
    expect([counts(sink).delivered, counts(sink).dropped.rejected]).toEqual([9, 3]);
    expect(problems).toEqual(['ERR_OPENSEARCH_REJECTED']);
    expect(messages[0]).toContain('type_400: reason 400');
  });

  it('gives up a record at which the server fails again and again', async () => {
    const server = await double();
    server.always = (ids) => ids.map((id) => (id.endsWith('-2') ? 500 : 201));
    const { sink } = sinkTo(server);
    await writeReports(sink, 0, 4);
    await sink.flush();
    expect([numbers(server), counts(sink).dropped.rejected, server.bulks.length]).toEqual([[0, 1, 3], 1, 8]);
  });

  it('stores nothing twice when an answer is lost', async () => {
    const server = await double();
    server.next = ['lose answer', 'lose answer'];
    const { sink, problems, recoveries } = sinkTo(server);
    await writeReports(sink, 0, 6);
    await sink.flush();
    expect([server.stored.size, counts(sink).delivered, sink.traffic().repeated]).toEqual([6, 6, 6]);
    expect(problems).toEqual(['ERR_OPENSEARCH_CONNECTION']);
    expect(recoveries).toEqual([2]);
  });

  it('goes on after each kind of failure, and tells each once in an outage', async () => {
    const server = await double();
    server.next = [
      { status: 503 },
      { status: 503 },
      { status: 401 },
      { status: 404 },
      // A connection that breaks after it was idle is tried once more before it counts as a failure.
      'reset',
      'reset',
      'hang',
      { status: 200, text: '<html>' },
      { status: 200, body: { items: [] } },
      { status: 403, body: { error: { type: 'cluster_block_exception', reason: 'disk' } } },
    ];
    const { sink, problems, recoveries } = sinkTo(server, { requestTimeoutMs: 1000 });
    await writeReports(sink, 0, 3);
    await sink.flush();
    expect(problems).toEqual([
      'ERR_OPENSEARCH_BUSY',
      'ERR_OPENSEARCH_AUTH',
      'ERR_OPENSEARCH_UNEXPECTED',
      'ERR_OPENSEARCH_CONNECTION',
      'ERR_OPENSEARCH_TIMEOUT',
      'ERR_OPENSEARCH_BLOCKED',
    ]);
    expect([recoveries, numbers(server), sink.traffic().outages, sink.health()]).toEqual([[9], upTo(3), 1, null]);
  });

  it('says how it is while an outage lasts', async () => {
    const server = await double();
    server.always = { status: 503 };
    const { sink } = sinkTo(server);
    await writeReports(sink, 0, 1);
    await until('trouble', () => sink.health() !== null);
    expect(sink.health()).toMatch(/^ERR_OPENSEARCH_BUSY: HTTP 503: some_exception: scripted, for \d+ s$/);
  });

  it('cuts a request that is too long, down to the record that is', async () => {
    const server = await double();
    const { sink, messages } = sinkTo(server);
    const tooLong = { status: 413, text: 'too long' };
    // 8, then 4, 2, 1 of the first; the others follow one by one.
    server.next = [tooLong, tooLong, tooLong, tooLong];
    await writeReports(sink, 0, 8);
    await sink.flush();
    expect(server.bulks.slice(0, 4).map(({ ids }) => ids.length)).toEqual([8, 4, 2, 1]);
    expect([numbers(server), counts(sink).dropped.rejected]).toEqual([upTo(8).slice(1), 1]);
    expect(messages[0]).toContain('HTTP 413: too long');
  });

  it('cuts a request that is not answered in time', async () => {
    const server = await double();
    server.next = ['hang', 'hang'];
    const { sink } = sinkTo(server, { requestTimeoutMs: 1000 });
    await writeReports(sink, 0, 8);
    await sink.flush();
    expect(server.bulks.map(({ ids }) => ids.length)).toEqual([8, 4, 2, 2, 2, 2]);
    expect(numbers(server)).toEqual(upTo(8));
  });

  it('goes on when whoever is told of a problem throws', async () => {
    const server = await double();
    server.next = [{ status: 503 }];
    const warnings: string[] = [];
    const keep = ({ message }: Error): unknown => warnings.push(message);
    process.on('warning', keep);
    closers.push(() => process.off('warning', keep));
    const fail = (): never => {
      throw new Error('the log is full');
    };
    const { sink } = sinkTo(server, { onProblem: fail, onRecovered: fail });
    await writeReports(sink, 0, 2);
    await sink.flush();
    expect(numbers(server)).toEqual([0, 1]);
    await sleep(1);
    expect(warnings).toEqual(['the log is full', 'the log is full']);
  });

  it('asks the next node when one does not answer', async () => {
    const server = await double();
    const { sink, problems } = sinkTo(null, { nodes: ['http://127.0.0.1:1', server.url] });
    await writeReports(sink, 0, 2);
    await sink.flush();
    expect([numbers(server), problems]).toEqual([upTo(2), ['ERR_OPENSEARCH_CONNECTION']]);
  });

  it('with drop, counts what it has no room for and never waits', async () => {
    const { sink } = sinkTo(null, { whenFull: 'drop', batchRecords: 10, memoryBytes: 1024 });
    expect(writeReports(sink, 0, 35)).toBe(undefined);
    expect([counts(sink).pending, counts(sink).dropped.overflow]).toEqual([20, 15]);
    expect([writeEvents(sink, 200, 5), writeFlows(sink, 1, 5)]).toEqual([undefined, undefined]);
    expect([counts(sink, 'events').dropped.overflow, counts(sink, 'flows').dropped.overflow]).toEqual([5, 5]);
  });

  it('with wait, has the pipeline wait for room, and loses nothing', async () => {
    const server = await double();
    server.always = { status: 503 };
    const { sink } = sinkTo(server, { batchRecords: 10, memoryBytes: 1024 });
    const written = writeReports(sink, 0, 35);
    expect(written).toBeInstanceOf(Promise);
    // Copied at once, into spare room, as what they come in is used again.
    const events = writeEvents(sink, 200, 12);
    expect(events).toBe(undefined);
    const moreEvents = writeEvents(sink, 300, 30);
    expect([counts(sink, 'events').pending, counts(sink, 'events').dropped.overflow]).toEqual([20, 22]);
    expect(moreEvents).toBeInstanceOf(Promise);
    server.always = null;
    await Promise.all([written, moreEvents]);
    await sink.flush();
    expect([counts(sink).delivered, counts(sink, 'events').delivered]).toEqual([35, 20]);
    expect(server.stored.size).toBe(55);
  });

  it('ends in time, and counts what it could not write', async () => {
    const server = await double();
    server.always = 'hang';
    const { sink } = sinkTo(server, { batchRecords: 4, inFlight: 1 });
    await writeReports(sink, 0, 10);
    await until('a request', () => server.bulks.length > 0);
    await sink.close(50);
    // The first batch may have arrived; the others were never sent.
    expect(counts(sink)).toEqual({
      offered: 10,
      delivered: 0,
      pending: 0,
      dropped: { overflow: 0, rejected: 0, closed: 6, unconfirmed: 4 },
    });
    await writeReports(sink, 10, 2);
    await writeFlows(sink, 1, 2);
    expect([counts(sink).dropped.closed, counts(sink, 'flows').dropped.closed]).toEqual([8, 2]);
  });

  it('writes what it holds when it is closed', async () => {
    const server = await double();
    const { sink } = sinkTo(server, { lingerMs: 60_000 });
    await writeReports(sink, 0, 10);
    expect(counts(sink).pending).toBe(10);
    await Promise.all([sink.close(), sink.close()]);
    expect([counts(sink).delivered, numbers(server)]).toEqual([10, upTo(10)]);
  });

  it('does not hang when it is closed while the pipeline waits', async () => {
    const { sink } = sinkTo(null, { batchRecords: 2, memoryBytes: 1024 });
    const written = writeReports(sink, 0, 9);
    await sink.close(20);
    await written;
    expect([counts(sink).pending, counts(sink).dropped.closed]).toEqual([0, 9]);
  });

  it('sends credentials and headers as asked, compressed or not', async () => {
    const server = await double();
    const cases: [Partial<OpenSearchSinkOptions>, string | undefined][] = [
      [{}, undefined],
      [{ auth: { username: 'ann', password: 'ö:x' }, gzip: 0 }, `Basic ${Buffer.from('ann:ö:x').toString('base64')}`],
      [{ auth: { apiKey: 'a2V5' } }, 'ApiKey a2V5'],
      [{ auth: { bearer: 'tok' } }, 'Bearer tok'],
      [{ nodes: [server.url.replace('//', '//bob:p%40ss@')] }, `Basic ${Buffer.from('bob:p@ss').toString('base64')}`],
    ];
    for (const [options, expected] of cases) {
      const { sink } = sinkTo(server, { headers: { 'x-tenant': 'n' }, ...options });
      await writeReports(sink, 0, 1);
      await sink.close();
      const { headers } = server.bulks.at(-1)!;
      expect([headers.authorization, headers['x-tenant']]).toEqual([expected, 'n']);
      expect(headers['content-encoding']).toBe(options.gzip === 0 ? undefined : 'gzip');
    }
  });

  it('takes only what it is asked to', async () => {
    const server = await double();
    const { sink } = sinkTo(server, { records: ['flows'] });
    await writeReports(sink, 0, 3);
    await writeEvents(sink, 200, 3);
    await writeFlows(sink, 1, 3);
    await sink.flush();
    expect([Object.keys(sink.totals()), sink.records, server.stored.size]).toEqual([['flows'], ['flows'], 3]);
  });

  it('refuses options that make no sense', () => {
    const nodes = ['http://127.0.0.1:1'];
    for (const options of [
      { nodes: [] },
      { nodes: ['redis://x'] },
      { nodes: ['nonsense'] },
      { nodes, prefix: 'Int-' },
      { nodes, prefix: '' },
      { nodes, instance: 'xyz' },
      { nodes, records: [] },
      { nodes, batchBytes: 0 },
      { nodes, gzip: 10 },
      { nodes, lingerMs: 1.5 },
      { nodes, retry: { firstMs: 50, maxMs: 10 } },
    ]) {
      let error: unknown = null;
      try {
        new OpenSearchSink(options);
      } catch (caught) {
        error = caught;
      }
      expect(error instanceof TypeError || error instanceof RangeError, JSON.stringify(options)).toBe(true);
    }
  });
});
