import { randomBytes } from 'node:crypto';
import { BatchDecoder, encodeFrame, TelemetryBatch } from '@int/codec';
import { FrameSlab } from '@int/collector';
import { DeviceProfile } from '@int/network';
import { KafkaSink } from '@int/sink-kafka';
import type { ImmediateEvent, SwitchWindow } from '@int/stream-kafka';
import { Consumer, MessagesStreamModes } from '@platformatic/kafka';
import { expect, test, vi } from 'vitest';
import { kafkaForTests } from '../../../../.ci/kafka/for-tests.js';
import { until } from '../../../../.ci/test/until.js';
import { readNetwork } from '../../src/network/known-network.js';
import { timestampText } from '../../src/network/measured-text.js';
import { colours } from '../../src/output/colour.js';
import { immediateText } from '../../src/process/event-line.js';
import { SwitchView } from '../../src/process/switch-view.js';
import { pcap, record } from '../captures.js';
import { payload, send } from '../datagrams.js';
import { ndjson, Running, run, temporaryFolder } from '../run.js';

// The first test that needs Kafka starts it, for all files.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const files = temporaryFolder();
const START_MS = 1_700_000_000_000;

interface InUnits {
  readonly units?: Readonly<Record<string, { readonly text: string; readonly base: string; readonly factor: number }>>;
}
type Window = SwitchWindow & InUnits;

/** The frames as a sink writes them to Kafka. @returns the prefix of the topics */
async function written(bootstrap: readonly string[]): Promise<string> {
  const prefix = `units-${randomBytes(5).toString('hex')}.`;
  const frames = new FrameSlab({ frames: FRAMES.length, bytes: 1 << 16 }, 'ethernet');
  FRAMES.forEach((frame, index) => {
    frames.append(frame, START_MS + 10 * index + 0.5);
  });
  const batch = new TelemetryBatch({ frames: FRAMES.length });
  new BatchDecoder({ linkType: 'ethernet' }).decode(batch, frames);
  const sink = new KafkaSink({ bootstrap, topics: { prefix }, createTopics: { partitions: 1, replicas: 1 } });
  await sink.write(batch);
  sink.advance(START_MS + 5000);
  await sink.close();
  return prefix;
}

/** The first windows of switches that stand in a topic. */
async function windowsIn(
  bootstrap: readonly string[],
  topic: string,
  ...switches: number[]
): Promise<Map<number, Window>> {
  const consumer = new Consumer({ clientId: 'test', groupId: topic, bootstrapBrokers: [...bootstrap] });
  const found = new Map<number, Window>();
  try {
    const stream = await consumer.consume({ topics: [topic], mode: MessagesStreamModes.EARLIEST, autocommit: false });
    for await (const { value } of stream) {
      const window = JSON.parse(String(value)) as Window;
      if (window.type === 'switchWindow') found.set(window.nodeId, window);
      if (switches.every((id) => found.has(id))) break;
    }
  } finally {
    await consumer.close(true);
  }
  return found;
}

/** What switches 1 and 2 report: hop latencies, and occupancies of one queue. */
const LATENCIES: Readonly<Record<number, readonly number[]>> = {
  1: [100, 200, 400, 1000, 250_000],
  2: [1, 20, 500, 2000, 99],
};
const OCCUPANCIES: Readonly<Record<number, readonly number[]>> = { 1: [0, 3, 12, 7, 5], 2: [1, 1, 2, 900, 40] };
const FRAMES = [0, 1, 2, 3, 4].map((index) => {
  const hops = [1, 2].map((nodeId) => ({
    nodeId,
    hopLatency: LATENCIES[nodeId]![index]!,
    queueId: 0,
    queueOccupancy: OCCUPANCIES[nodeId]![index]!,
    l1EgressInterface: 4,
    egressUtilization: 2500,
  }));
  return encodeFrame({ ...record(0, hops), report: { ...record(0, hops).report!, metadata: {} } });
});
/** Bounds of the histogram, in picoseconds. */
const BOUNDS: readonly (readonly [string, bigint])[] = [
  ['5e-7', 500_000n],
  ['0.000001', 1_000_000n],
  ['0.00005', 50_000_000n],
  ['0.001', 1_000_000_000n],
  ['1', 1_000_000_000_000n],
];
const RULES =
  'version: 1\nrules: [{ name: slow, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: LIMIT, scope: hop } } }]\n';

/** A unit of hop latency, its picoseconds, and a latency of 500 units with its unit. */
const PROFILES = [
  { unit: 'ns', tick: 1000n, text: '500 ns', limit: '499ns', worst: '250 µs' },
  { unit: 'us', tick: 1_000_000n, text: '500 µs', limit: '499us', worst: '250 ms' },
  { unit: 'clock(200MHz)', tick: 5000n, text: '2.5 µs', limit: '2499ns', worst: '1.25 ms' },
] as const;

test('shows timestamps exactly, to the nanosecond, for every clock', () => {
  const text = (unit: string, value: number | bigint): string =>
    timestampText(new DeviceProfile({ units: { timestamps: unit } }), value, 1);
  expect(text('ns', 1_700_000_000_000_008_751n)).toBe('1700000000.000008751 s');
  expect(text('us', 1_700_000_000_000_008n)).toBe('1700000000.000008000 s');
  expect(text('clock(200MHz)', 340_000_000_000_001_750n)).toBe('1700000000.000008750 s');
  expect(text('clock(156.25MHz)', 3n)).toBe('0.000000019 s');
  expect(text('ns', 0)).toBe('0.000000000 s');
  expect(timestampText(DeviceProfile.NONE, 12n, 1)).toBe('12');
});

test.each(PROFILES)(
  'one capture in $unit: every number in seconds or bytes is right, wherever it leaves the program',
  async ({ unit, tick, text, limit, worst }) => {
    const factor = Number(tick) / 1e12;
    const device = `device:\n  units: { hopLatency: ${unit}, queueOccupancy: { cell: 80B }, egressUtilization: 0.01% }\n`;
    const profile = await files.write('device.yaml', `version: 1\n${device}`);
    const capture = await files.write('units.pcap', pcap(FRAMES));
    const rules = await files.write('rules.yaml', RULES.replace('LIMIT', limit));
    const folder = `history-${unit.replaceAll(/\W/g, '-')}`;
    const config = await files.write(
      'int.yaml',
      `version: 1
sources: [{ udp: { listen: "127.0.0.1:0" } }]
${device}detect: { rules: rules.yaml }
sinks: [{ parquet: { directory: ${folder} } }, { prometheus: { listen: "127.0.0.1:0" } }]
`,
    );

    // A running collector: Prometheus, JSON and Parquet.
    const collector = new Running(['collect', '--config', config, '--json']);
    const [, port] = await collector.saying(/listening on udp:\/\/127\.0\.0\.1:(\d+)/);
    const [, url] = await collector.saying(/metrics on (http:\/\/\S+)/);
    await send(Number(port), FRAMES.map(payload));
    const page = await until('the metrics of all reports', async () => {
      const shown = await (await fetch(url!)).text();
      return shown.includes('\nint_reports_total 5\n') ? shown : false;
    });
    await collector.until(() => collector.stdout.includes('"reports":5,'));
    collector.child.kill('SIGTERM');
    const { code, stdout } = await collector.end();
    expect([code, collector.stderr]).toEqual([0, expect.any(String)]);

    const metric = (name: string): number => {
      const line = page.split('\n').find((each) => each.startsWith(`${name} `));
      expect(line, name).toBeDefined();
      return Number(line!.split(' ')[1]);
    };
    for (const [id, values] of Object.entries(LATENCIES)) {
      const seconds = Number(values.reduce((sum, value) => sum + BigInt(value) * tick, 0n)) / 1e12;
      expect(metric(`int_hop_latency_seconds_sum{switch="${id}"}`)).toBeCloseTo(seconds, 12);
      for (const [le, bound] of BOUNDS) {
        const below = values.filter((value) => BigInt(value) * tick <= bound).length;
        expect(metric(`int_hop_latency_seconds_bucket{switch="${id}",le="${le}"}`), `le ${le}`).toBe(below);
      }
      expect(metric(`int_queue_occupancy_bytes{switch="${id}",queue="0"}`)).toBe(OCCUPANCIES[Number(id)]!.at(-1)! * 80);
      expect(metric(`int_egress_utilization_ratio{switch="${id}",interface="4"}`)).toBe(0.25);
    }
    expect(metric('int_events_total{rule="slow"}')).toBeGreaterThan(0);

    const [units, ...lines] = ndjson(stdout);
    expect(units).toMatchObject({
      type: 'units',
      units: {
        hopLatency: { text: unit, base: 'seconds' },
        queueOccupancy: { base: 'bytes', factor: 80 },
        egressUtilization: { base: 'ratio', factor: 0.0001 },
        timestamps: null,
      },
    });
    const told = units as { units: { hopLatency: { factor: number } } };
    expect(told.units.hopLatency.factor).toBeCloseTo(factor, 18);
    // The numbers themselves stay as they came.
    const stats = lines.findLast(({ type }) => type === 'stats') as {
      switches: { nodeId: number; queueOccupancy: unknown }[];
    };
    expect(stats.switches.find(({ nodeId }) => nodeId === 2)?.queueOccupancy).toMatchObject({ peak: 900 });
    const events = lines.filter(({ type }) => type === 'event');
    expect(events.every(({ threshold }) => threshold === 499)).toBe(true);

    const stored = await run([
      'query',
      'SELECT sum(hopLatency) AS latency, max(queueOccupancy) AS depth FROM hops',
      '--store',
      files.path(folder),
      '--json',
    ]);
    const all = Object.values(LATENCIES).flat();
    expect(ndjson(stored.stdout)[0]).toEqual({ latency: expect.anything(), depth: 900 });
    expect(Number(ndjson(stored.stdout)[0]!.latency)).toBe(all.reduce((sum, value) => sum + value, 0));
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const metadata = await connection.runAndReadAll(
      `SELECT DISTINCT decode(value) FROM parquet_kv_metadata('${files.path(folder)}/hops/**/*.parquet') WHERE decode(key) = 'int_units'`,
    );
    connection.closeSync();
    expect(metadata.getRows().map(([value]) => JSON.parse(String(value)) as unknown)).toEqual([told.units]);

    // Text: the table of switches, flows, events and records.
    const most = { ns: '2 µs', us: '2 ms', 'clock(200MHz)': '10 µs' }[unit];
    const table = await run(['collect', '--pcap', capture, '--device', profile]);
    expect(table.stdout).toMatch(new RegExp(`^ +2 .* ${most} +3\\.2 kB +72 kB +25 %$`, 'm'));
    expect(table.stdout).not.toContain('--unit');
    const found = await run(['detect', capture, '--rules', rules, '--device', profile]);
    const limitText = { ns: '499 ns', us: '499 µs', 'clock(200MHz)': '2.5 µs' }[unit];
    expect(found.stdout).toContain(`threshold hopLatency at switch 1, hop 0: ${worst} (threshold ${limitText})`);
    const flows = await run(['flows', capture, '--unit', `hopLatency=${unit}`, '--per-hop']);
    expect(flows.stdout).toMatch(new RegExp(`node 1 +hopLatency [\\d.]+ [nµm]s \\(last ${worst}\\)`));
    const decoded = await run(['decode', capture, '--device', profile]);
    expect(decoded.stdout).toContain(`latency ${text}`);
    expect(decoded.stdout).toContain('depth 72 kB');

    // The processor's windows, as they stand in Kafka: who reads them needs no profile.
    const { bootstrap } = await kafkaForTests();
    const prefix = await written(bootstrap);
    const process = [
      'process',
      '--kafka',
      bootstrap.join(),
      '--prefix',
      prefix,
      '--group',
      prefix,
      '--device',
      profile,
    ];
    const processed = await run([...process, '--json', '--commit', '100ms'], {
      interruptWhen: ({ stdout: shown }) =>
        [1, 2].every((id) => new RegExp(`"switchWindow".*"nodeId":${id},`).test(shown)),
    });
    expect(processed.code).toBe(0);
    const windows = await windowsIn(bootstrap, `${prefix}${prefix}.windows`, 1, 2);
    for (const [id, values] of Object.entries(LATENCIES)) {
      const { units: inUnits, latency, queues } = windows.get(Number(id))!;
      const seconds = Number(values.reduce((sum, value) => sum + BigInt(value) * tick, 0n)) / 1e12;
      expect(inUnits!.hopLatency).toMatchObject({ text: unit, base: 'seconds' });
      expect(latency!.sum * inUnits!.hopLatency!.factor).toBeCloseTo(seconds, 12);
      const depth = Math.max(...OCCUPANCIES[Number(id)]!);
      expect(inUnits!.queueOccupancy).toMatchObject({ base: 'bytes' });
      expect(queues[0]!.occupancy!.max * inUnits!.queueOccupancy!.factor).toBe(depth * 80);
    }

    // The processor's view.
    const network = await readNetwork({ device: profile }, { env: {}, signal: new AbortController().signal } as never);
    const view = new SwitchView(network);
    const sorted = [...LATENCIES[2]!].sort((a, b) => a - b);
    view.take({
      type: 'switchWindow',
      nodeId: 2,
      startNs: '0',
      reports: 5,
      latency: { sum: 2500, count: 5, p50: sorted[2], p99: sorted[4], max: sorted[4] },
      queues: [{ queueId: 0, occupancy: { sum: 944, count: 5, max: 900 }, status: null }],
    } as unknown as SwitchWindow);
    const mean = { ns: '500 ns', us: '500 µs', 'clock(200MHz)': '2.5 µs' }[unit];
    const congestion = {
      kind: 'persistentCongestion',
      timeNs: '0',
      nodeId: 2,
      queueId: 0,
      occupancy: 900,
      threshold: 100,
      windows: 3,
    };
    const event = immediateText(congestion as unknown as ImmediateEvent, colours(false), network);
    expect(event).toContain('switch 2, queue 0: occupancy 72 kB (threshold 8 kB), 3 windows');
    expect(view.lines()[1]).toMatch(new RegExp(`^ +2 +5 +${mean} .* ${most} +${most} +15\\.1 kB +72 kB$`));
  },
);
