import { DeviceProfile } from '@int/network';
import { type IndexTemplate, indexTemplate, OpenSearchSink, type OpenSearchSinkOptions } from '@int/sink-opensearch';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { OpenSearchServer } from '../../../.ci/opensearch/server.js';
import { until } from '../../../.ci/test/until.js';
import { NOON_NS, writeEvents, writeFlows, writeReports } from './load.js';

// The first test starts OpenSearch, another one takes it away for a time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** INT_LONG=1: four times the records while the server is away, and it is killed, not frozen. */
const IS_LONG = process.env.INT_LONG === '1';

/** One server for the file, started by the first test. */
let starting: Promise<OpenSearchServer> | undefined;
afterAll(async () => (await starting?.catch(() => undefined))?.dispose());

async function server(): Promise<OpenSearchServer> {
  starting ??= OpenSearchServer.start('http.max_content_length: 1mb', 'action.destructive_requires_name: false');
  try {
    return await starting;
  } catch (error) {
    // Skipped: so is each of the others, by its own call.
    starting = undefined;
    throw error;
  }
}

const sinks: OpenSearchSink[] = [];
afterAll(() => Promise.all(sinks.map((sink) => sink.close(0))));

let prefixes = 0;
/** A sink with indexes of its own, and what it tells. */
function sinkTo(url: string, options: Partial<OpenSearchSinkOptions> = {}) {
  const problems: string[] = [];
  const messages: string[] = [];
  const prefix = `t${++prefixes}-`;
  const sink = new OpenSearchSink({
    nodes: [url],
    prefix,
    records: ['reports', 'events', 'flows'],
    templates: { replicas: 0, refreshInterval: '-1' },
    lingerMs: 5,
    retry: { firstMs: 20, maxMs: 200 },
    onProblem: ({ code, message }) => {
      problems.push(code);
      messages.push(message);
    },
    ...options,
  });
  sinks.push(sink);
  return { sink, problems, messages, prefix };
}

interface Found {
  readonly total: number;
  readonly documents: readonly (Readonly<Record<string, unknown>> & { readonly _index: string })[];
}

/** What a search finds, once all that is written can be found. */
async function search(from: OpenSearchServer, index: string, body: object = {}): Promise<Found> {
  await from.request('POST', `/${index}/_refresh`);
  const answer = await from.request('POST', `/${index}/_search`, { size: 1000, track_total_hits: true, ...body });
  const { hits } = answer.body as {
    hits: { total: { value: number }; hits: { _index: string; _source: Record<string, unknown> }[] };
  };
  return { total: hits.total.value, documents: hits.hits.map((hit) => ({ ...hit._source, _index: hit._index })) };
}

/** It answers nothing until the sink has told of it. */
async function frozen(server: OpenSearchServer, problems: readonly string[]): Promise<void> {
  server.freeze(true);
  try {
    await until('trouble', () => problems.length > 0);
  } finally {
    server.freeze(false);
  }
}

const numbersOf = ({ documents }: Found): number[] =>
  documents.map(({ report }) => (report as { sequence: number }).sequence).sort((a, b) => a - b);

const upTo = (count: number): number[] => Array.from({ length: count }, (_, k) => k);

describe('OpenSearchSink and OpenSearch', () => {
  it('puts its templates in place, and records are found by what is in them', async () => {
    const there = await server();
    const { sink, problems, prefix } = sinkTo(there.url);
    await writeReports(sink, 0, 20);
    await writeReports(sink, 20, 1, NOON_NS + 86_400_000_000_000n);
    await writeEvents(sink, 200, 5);
    await writeFlows(sink, 1, 4);
    await sink.flush();
    expect(problems).toEqual([]);
    expect(sink.totals().reports).toMatchObject({ offered: 21, delivered: 21, pending: 0 });

    const byAddress = await search(there, `${prefix}reports-2026.11.21`, {
      query: {
        bool: { filter: [{ term: { 'flow.source': '10.0.0.0/16' } }, { range: { 'hops.hopLatency': { lt: 5 } } }] },
      },
    });
    expect(numbersOf(byAddress)).toEqual([0, 1, 2, 3, 4]);
    const byTime = await search(there, `${prefix}reports-*`, {
      query: { range: { '@timestamp': { gte: '2026-11-22' } } },
    });
    expect([numbersOf(byTime), byTime.documents[0]?._index]).toEqual([[20], `${prefix}reports-2026.11.22`]);
    expect(byTime.documents[0]).toMatchObject({ '@timestamp': '2026-11-22T12:00:00.000000000Z', path: [7, 9] });

    const events = await search(there, `${prefix}events-*`, {
      query: {
        bool: { filter: [{ term: { rule: 'any' } }, { term: { nodeId: 7 } }, { range: { value: { gte: 203 } } }] },
      },
    });
    expect(events.documents.map(({ value }) => value).sort()).toEqual([203, 204]);
    const flows = await search(there, `${prefix}flows-*`, { query: { range: { packets: { gte: 2, lte: 3 } } } });
    expect(flows.total).toBe(2);
    expect(flows.documents[0]).toMatchObject({
      type: 'flow',
      hops: [{ nodeId: 7, hopLatency: { mean: 1500, count: 2 } }],
    });

    // What is not mapped is kept and not indexed: the mapping is that of the template, to the field.
    const mapping = (await there.request('GET', `/${prefix}reports-2026.11.21/_mapping`)).body as Record<
      string,
      { mappings: { dynamic: string; properties: Record<string, { type?: string }> } }
    >;
    const { mappings } = mapping[`${prefix}reports-2026.11.21`]!;
    expect([mappings.dynamic, mappings.properties['@timestamp']?.type]).toEqual(['false', 'date_nanos']);
  });

  it('leaves a template of the same version as it is, unless the units are others', async () => {
    const there = await server();
    const { sink, prefix } = sinkTo(there.url, { records: ['flows'] });
    const own = {
      index_patterns: [`${prefix}flows-*`],
      priority: 7,
      version: indexTemplate('flows').version,
      template: { settings: { number_of_replicas: 0 } },
    };
    await there.request('PUT', `/_index_template/${prefix}flows`, own);
    await writeFlows(sink, 1, 1);
    await sink.flush();
    const kept = await there.request('GET', `/_index_template/${prefix}flows`);
    expect(JSON.stringify(kept.body)).toContain('"priority":7');
    expect(sink.totals().flows?.delivered).toBe(1);

    const unitsAfter = async (unit: string): Promise<unknown> => {
      const device = new DeviceProfile({ units: { hopLatency: unit } });
      const { sink: other } = sinkTo(there.url, { records: ['flows'], prefix, device });
      await writeFlows(other, 1, 1);
      await other.flush();
      const { body } = await there.request('GET', `/_index_template/${prefix}flows`);
      const [{ index_template }] = (body as { index_templates: [{ index_template: IndexTemplate }] }).index_templates;
      expect(index_template.priority).toBe(200);
      return (index_template.template.mappings._meta as { units: { hopLatency: unknown } }).units.hopLatency;
    };
    expect(await unitsAfter('us')).toEqual({ text: 'us', base: 'seconds', factor: 1e-6 });
    expect(await unitsAfter('ns')).toEqual({ text: 'ns', base: 'seconds', factor: 1e-9 });
  });

  it('writes the same records once, also if they are sent twice', async () => {
    const there = await server();
    const instance = '00000000000000aa';
    const { sink, prefix } = sinkTo(there.url, { instance, records: ['reports'] });
    await writeReports(sink, 0, 50);
    await sink.flush();
    const again = sinkTo(there.url, { instance, records: ['reports'], prefix });
    await writeReports(again.sink, 0, 60);
    await again.sink.flush();
    expect([again.sink.totals().reports?.delivered, again.sink.traffic().repeated]).toEqual([60, 50]);
    expect(numbersOf(await search(there, `${prefix}reports-*`))).toEqual(upTo(60));
  });

  it('counts what the server refuses, and writes the rest', async () => {
    const there = await server();
    const { sink, prefix, problems, messages } = sinkTo(there.url, { records: ['reports'], templates: false });
    // An index into which no hop latency of more than one byte goes.
    await there.request('PUT', `/${prefix}reports-2026.11.21`, {
      settings: { number_of_replicas: 0 },
      mappings: { properties: { hops: { properties: { hopLatency: { type: 'byte' } } } } },
    });
    await writeReports(sink, 120, 12);
    await sink.flush();
    expect(sink.totals().reports).toMatchObject({ delivered: 8, dropped: { rejected: 4 } });
    expect(problems).toEqual(['ERR_OPENSEARCH_REJECTED']);
    expect(messages[0]).toMatch(/mapper_parsing_exception: .*hopLatency/);
    expect(numbersOf(await search(there, `${prefix}reports-*`))).toEqual([120, 121, 122, 123, 124, 125, 126, 127]);
  });

  it('waits for an index that does not accept writes', async () => {
    const there = await server();
    const { sink, prefix, problems } = sinkTo(there.url, { records: ['reports'] });
    await writeReports(sink, 0, 1);
    await sink.flush();
    const block = (isBlocked: boolean | null): Promise<unknown> =>
      there.request('PUT', `/${prefix}reports-2026.11.21/_settings`, {
        'index.blocks.read_only_allow_delete': isBlocked,
      });
    await block(true);
    await writeReports(sink, 1, 3);
    await until('trouble', () => sink.health() !== null);
    expect(sink.health()).toContain('ERR_OPENSEARCH_BLOCKED');
    await block(null);
    await sink.flush();
    expect([problems, sink.health()]).toEqual([['ERR_OPENSEARCH_BLOCKED'], null]);
    expect(numbersOf(await search(there, `${prefix}reports-*`))).toEqual(upTo(4));
  });

  it('cuts requests that are longer than the server takes', async () => {
    const there = await server();
    // Over 1 MiB as text; the server counts what it has unpacked as well.
    const { sink, prefix, problems } = sinkTo(there.url, {
      records: ['reports'],
      gzip: 0,
      batchBytes: 3 << 20,
      lingerMs: 500,
    });
    await writeReports(sink, 0, 2000);
    await sink.flush();
    expect([sink.totals().reports?.delivered, problems.filter((code) => code.endsWith('REJECTED'))]).toEqual([
      2000,
      [],
    ]);
    expect((await search(there, `${prefix}reports-*`, { size: 0 })).total).toBe(2000);
  });

  it('goes on when the server goes away under load and comes back, and nothing is lost or there twice', async () => {
    const there = await server();
    const { sink, prefix, problems } = sinkTo(there.url, {
      batchRecords: 200,
      requestTimeoutMs: IS_LONG ? 30_000 : 1000,
    });
    const rounds = IS_LONG ? 60 : 30;
    const perRound = IS_LONG ? 40 : 20;
    let down: Promise<void> | undefined;
    for (let round = 0; round < rounds; round++) {
      if (round === 10) down = IS_LONG ? there.kill().then(() => there.start()) : frozen(there, problems);
      await writeReports(sink, round * perRound, perRound);
      await writeFlows(sink, 1, 2);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await down;
    await sink.flush();
    expect(problems[0]).toBe(IS_LONG ? 'ERR_OPENSEARCH_CONNECTION' : 'ERR_OPENSEARCH_TIMEOUT');
    expect(sink.totals()).toMatchObject({
      reports: { offered: rounds * perRound, delivered: rounds * perRound, pending: 0 },
      flows: { offered: rounds * 2, delivered: rounds * 2, pending: 0 },
    });
    const found = await search(there, `${prefix}reports-*`, { size: 3000 });
    expect(numbersOf(found)).toEqual(upTo(rounds * perRound));
    expect((await search(there, `${prefix}flows-*`, { size: 0 })).total).toBe(rounds * 2);
  });
});
