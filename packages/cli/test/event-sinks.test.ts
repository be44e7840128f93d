import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeFrame, telemetry } from '@int/codec';
import { LinkType, PcapWriter } from '@int/pcap';
import { Consumer, MessagesStreamModes } from '@platformatic/kafka';
import { createClient } from '@redis/client';
import protobuf from 'protobufjs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { kafkaForTests } from '../../../.ci/kafka/for-tests.js';
import { OpenSearchServer } from '../../../.ci/opensearch/server.js';
import { requires } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { START_NS } from './captures.js';
import { ndjson, run, temporaryFolder } from './run.js';

// Kafka and OpenSearch have to start.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const files = temporaryFolder();

type Json = Record<string, unknown>;

/** Two flows over three switches for a minute; switch 3 is slow for a while, and later says nothing. */
function capture(): Buffer {
  const writer = new PcapWriter({ linkType: LinkType.ETHERNET });
  const records = Array.from({ length: 600 }, (_, k) => {
    const source = k % 2 === 0 ? '10.1.2.3' : '2001:db8::3';
    const destination = k % 2 === 0 ? '192.0.2.1' : '2001:db8::1';
    const flow = { source, destination, protocol: 6, sourcePort: 40_000 + (k % 2), destinationPort: 443 };
    const isSlow = k >= 250 && k < 350;
    const hops = [1, 2, 3]
      .filter((nodeId) => nodeId !== 3 || k < 450 || k >= 580)
      .map((nodeId) => ({ nodeId, queueId: 0, hopLatency: (nodeId === 3 && isSlow ? 9000 : 1000) + (k % 7) }));
    return writer.record({
      data: encodeFrame(telemetry({ flow, hops, report: null })),
      timeNs: START_NS + BigInt(k) * 100_000_000n,
      linkType: LinkType.ETHERNET,
    });
  });
  return Buffer.concat([writer.header(), ...records]);
}

const RULES = `version: 2
decide: all
default: drop

rules:
  - { name: usual, match: any, detect: { baseline: { metric: hopLatency, above: 2x, key: switch, learn: 15s } }, severity: critical, every: 3s }
  - { name: slow, match: any, detect: { threshold: { metric: hopLatency, threshold: 5us } }, clear: 4us, severity: warning, key: flow }
  - { name: gone, match: any, detect: { absent: { key: switch, for: 4s } }, severity: info }
  - { name: path, match: any, detect: { pathChange: {} } }
  - { name: both, match: any, detect: { complex: "max(hopLatency) > 5us and count() > 1" } }
  - { name: gone again, match: any, detect: { absent: { key: switch, for: 5s } } }
`;

const TOPOLOGY = 'switches: { 1: {}, 2: {}, 3: { name: leaf-3 } }\n';

/** What an event says, in one form: without the ids of records, places in the input, paths, and what is not there. */
function said(event: Json): Json {
  const left = ['type', 'id', '@timestamp', 'frame', 'index', 'path', 'pathNames'];
  const entries = Object.entries(event).filter(([name]) => !left.includes(name));
  const isThere = (_: string, value: unknown): unknown => (value === null ? undefined : value);
  return JSON.parse(JSON.stringify(Object.fromEntries(entries.sort()), isThere)) as Json;
}

const sorted = (events: readonly Json[]): Json[] =>
  events
    .map((event) => said(event))
    .sort((a, b) => (JSON.stringify(Object.entries(a)) < JSON.stringify(Object.entries(b)) ? -1 : 1));

async function topic(bootstrap: readonly string[], name: string, count: number): Promise<Buffer[]> {
  const consumer = new Consumer({ clientId: 'test', groupId: name, bootstrapBrokers: [...bootstrap] });
  const values: Buffer[] = [];
  try {
    const stream = await consumer.consume({ topics: [name], mode: MessagesStreamModes.EARLIEST, autocommit: false });
    for await (const { value } of stream) if (values.push(value as Buffer) === count) break;
  } finally {
    await consumer.close(true);
  }
  return values;
}

/** A message as the record that JSON has. */
function ofMessage(value: Buffer): Json {
  const proto = fileURLToPath(new URL('../../sink-kafka/proto/int.proto', import.meta.url));
  const type = protobuf.loadSync(proto).lookupType('int.v1.Event');
  const options = { longs: String, bytes: Array, defaults: false } as const;
  const {
    instance: _,
    number: __,
    flow,
    path: ___,
    pathNames: ____,
    ...event
  } = type.toObject(type.decode(value), options);
  const address = (bytes: number[]): string =>
    bytes.length === 4 ? bytes.join('.') : `2001:db8::${bytes.at(-1)!.toString(16)}`;
  return {
    ...event,
    state: event.state ?? 'once',
    firstSight: event.firstSight ?? false,
    ...(flow !== undefined && {
      flow: { ...flow, source: address(flow.source), destination: address(flow.destination) },
    }),
  };
}

const clientOf = (path: string) =>
  createClient({ socket: { path, tls: false, reconnectStrategy: false } }).on('error', () => {});

async function redisServer(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'int-redis-'));
  const socket = join(folder, 's');
  const program = requires('redis-server', 'apt-get install redis-server, or npm run setup:system');
  const args = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--save', ''];
  const server = spawn(program, args, { stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  await until('redis-server', async () => {
    const client = clientOf(socket);
    try {
      await client.connect();
      client.destroy();
      return true;
    } catch {
      return false;
    }
  });
  return socket;
}

test('the same events come out equal by all sinks, with their beginnings and ends, names and ids', async () => {
  const { bootstrap } = await kafkaForTests();
  const search = await OpenSearchServer.start();
  onTestFinished(() => search.dispose());
  const socket = await redisServer();
  const prefix = `events-${process.pid}-${Date.now()}.`;
  const brokers = JSON.stringify(bootstrap);
  await files.write('capture.pcap', capture());
  await files.write('rules.yaml', RULES);
  await files.write('topology.yaml', TOPOLOGY);
  const config = await files.write(
    'int.yaml',
    `version: 1
sources: [{ pcap: { file: capture.pcap } }]
topology: topology.yaml
device: { units: { hopLatency: ns } }
detect: { rules: rules.yaml }
flows: { rows: 64 }
drain: 1min
sinks:
  - kafka: { name: binary, brokers: ${brokers}, prefix: "${prefix}p.", partitions: 1, records: [events], format: protobuf }
  - kafka: { name: text, brokers: ${brokers}, prefix: "${prefix}j.", partitions: 1, records: [events], format: json }
  - opensearch: { nodes: ["${search.url}"], records: [events] }
  - parquet: { directory: history, records: [events] }
  - redis: { url: "unix://${socket}", records: [events] }
`,
  );
  const { code, stdout, stderr } = await run(['collect', '--config', config, '--json']);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('problem')]);
  const lines = ndjson(stdout);
  const events = lines.filter(({ type }) => type === 'event');
  const told = events.map(({ rule, state, isFirst }) => `${rule} ${state} ${isFirst}`);
  for (const one of ['usual open true', 'usual open false', 'usual close false', 'slow close false', 'gone open true'])
    expect(told).toContain(one);
  expect(events.filter(({ rule }) => rule === 'gone again').map(({ state }) => state)).toEqual(['open', 'close']);

  const redis = clientOf(socket);
  await redis.connect();
  const entries = (await redis.sendCommand(['XRANGE', 'int:detected', '-', '+'])) as unknown as [string, string[]][];
  const units = await redis.hGetAll('int:values:units');
  const names = await redis.hGetAll('int:values:switches');
  redis.destroy();
  const field = (list: readonly string[], name: string): string => list[list.indexOf(name) + 1]!;
  const ofRedis = entries.map(([, fields]) => JSON.parse(field(fields, 'record')) as Json);
  expect(entries.map(([, fields]) => ['id', 'rule', 'state'].map((name) => field(fields, name)))).toEqual(
    ofRedis.map(({ id, rule, state }) => [id, rule, state]),
  );
  expect(JSON.parse(units.hopLatency!)).toMatchObject({ text: 'ns', base: 'seconds' });
  expect(names).toEqual({ 3: 'leaf-3' });

  const ofJson = (await topic(bootstrap, `${prefix}j.events`, ofRedis.length)).map(
    (value) => JSON.parse(String(value)) as Json,
  );
  const ofProtobuf = (await topic(bootstrap, `${prefix}p.events`, ofRedis.length)).map(ofMessage);
  await search.request('POST', '/int-events-*/_refresh');
  const found = await search.request('POST', '/int-events-*/_search', { size: 1000, query: { match_all: {} } });
  const ofSearch = (found.body as { hits: { hits: { _source: Json }[] } }).hits.hits.map(({ _source }) => _source);
  const mapping = await search.request('GET', '/int-events-*/_mapping');
  expect(JSON.stringify(mapping.body)).toContain('"hopLatency":{"text":"ns"');
  const query = `SELECT epoch_ns(time)::VARCHAR AS "timeNs", epoch_ns("begin")::VARCHAR AS "beginNs", * EXCLUDE (time, "begin", id) FROM events`;
  const stored = await run(['query', query, '--store', files.path('history'), '--json']);
  const ofParquet = ndjson(stored.stdout).map((row) => {
    const { source, destination, protocol, sourcePort, destinationPort, ...rest } = row as Json;
    const flow = { source, destination, protocol, sourcePort, destinationPort };
    return { ...rest, ...(source !== null && { flow }) };
  });

  // The lines of the command have the number of an event, and not the detector's instance before it.
  const withoutInstance = ({ eventId, ...event }: Json): Json =>
    eventId === undefined || eventId === null ? event : { ...event, eventId: String(eventId).split('-')[1] };
  const ofLines = events.map(({ id, ...event }) => (id === undefined ? event : { ...event, eventId: id }));
  expect(sorted(ofRedis.map(withoutInstance))).toEqual(sorted(ofLines as Json[]));
  expect(sorted(ofJson)).toEqual(sorted(ofRedis));
  expect(sorted(ofSearch)).toEqual(sorted(ofRedis));
  expect(sorted(ofProtobuf)).toEqual(sorted(ofRedis));
  const unnamed = JSON.parse(
    JSON.stringify(ofRedis, (key, value: unknown) => (key === 'nodeName' ? undefined : value)),
  ) as Json[];
  expect(sorted(ofParquet)).toEqual(sorted(unnamed));
  // Paths, with names where there are some, are of records only.
  const paths = (all: readonly Json[]): string[] =>
    all.map(({ path, pathNames }) => JSON.stringify([path, pathNames])).sort();
  expect(paths(ofJson)).toEqual(paths(ofRedis));
  expect(paths(ofRedis)).toContain('[[1,2,3],[1,2,"leaf-3"]]');
  // Each record has an id of its own, by which readers drop repeats; each event has one id from its beginning to its end.
  expect(new Set(ofRedis.map(({ id }) => id)).size).toBe(ofRedis.length);
  const ends = ofRedis.filter(({ eventId, state }) => eventId !== undefined && state === 'close');
  for (const { eventId } of ends) {
    const life = ofRedis.filter((event) => event.eventId === eventId);
    expect([life[0]!.isFirst, life.filter(({ isFirst }) => isFirst).length]).toEqual([true, 1]);
  }
});
