import { gzipSync } from 'node:zlib';
import { encodeOptionsFor, frame, malformed } from '@int/arbitraries';
import { encodeFrame, type TelemetryRecord } from '@int/codec';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { inTime } from '../../../../.ci/test/until.js';
import { spanText } from '../../src/output/flow-table.js';
import { reportFrame as framed } from '../../src/output/report-frame.js';
import { coalescedFrame, malformedFrame, pcap, plainFrame, record, reportFrame, START_NS } from '../captures.js';
import { type FlowLine, plainFlows } from '../plain-flows.js';
import { ndjson, Running, run, runBin, temporaryFolder } from '../run.js';
import { SEED } from '../seed.js';

const files = temporaryFolder();

interface Flow {
  readonly flow: Readonly<Record<string, unknown>>;
  readonly packets: number;
  readonly firstNs: string;
  readonly lastNs: string;
  readonly [name: string]: unknown;
}

interface Left {
  readonly entries: number;
  readonly packets: number;
}

interface Total {
  readonly packets: number;
  readonly flows: number;
  readonly evicted: Left;
  readonly aged: Left;
  readonly lost: Readonly<Record<string, number>>;
  readonly [name: string]: unknown;
}

interface Found {
  readonly flows: Flow[];
  readonly total: Total;
  readonly code: number | null;
  readonly stderr: string;
}

/** Runs `int flows --json`, with 1000 rows unless told otherwise. What it prints must account for every report. */
async function flows(args: readonly string[], input?: Uint8Array): Promise<Found> {
  const rows = args.includes('--rows') ? [] : ['--rows', '1000'];
  const { stdout, code, stderr } = await run(
    ['flows', '--json', ...rows, ...args],
    input === undefined ? {} : { input },
  );
  const lines = ndjson(stdout);
  const total = lines.pop() as unknown as Total;
  const list = lines as unknown as Flow[];
  expect(total.type).toBe('total');
  expect(list.every(({ type }) => type === 'flow')).toBe(true);
  if (!args.includes('--top')) expectAccounted(list, total);
  return { flows: list, total, code, stderr };
}

function expectAccounted(list: readonly Flow[], { packets, flows: count, evicted, aged, lost }: Total): void {
  expect(count).toBe(list.length);
  const listed = list.reduce((sum, one) => sum + one.packets, 0);
  const left = Object.values(lost).reduce((sum, one) => sum + one, 0);
  expect(listed + evicted.packets + aged.packets + left).toBe(packets);
  for (const { entries, packets: held } of [evicted, aged]) expect(held).toBeGreaterThanOrEqual(entries);
}

async function decoded(args: readonly string[], input?: Uint8Array): Promise<FlowLine[]> {
  const { stdout } = await run(['decode', '--json', ...args], input === undefined ? {} : { input });
  return ndjson(stdout) as unknown as FlowLine[];
}

describe('int flows over generated reports', () => {
  let fabric = '';
  let lines: FlowLine[] = [];

  beforeAll(async () => {
    fabric = files.path('fabric.pcap');
    const made = await run(['generate', '--packets', '4000', '--flows', '300', '--seed', '11', '-o', fabric]);
    expect(made.code).toBe(0);
    lines = await decoded([fabric]);
  });

  test('gives for each flow what a plain evaluation of the decoded reports gives', async () => {
    const expected = plainFlows(lines);
    const found = await flows([fabric]);
    expect(found.code).toBe(0);
    expect(found.stderr).toBe('');
    expect(found.flows.length).toBeGreaterThan(200);
    expect(found.flows).toEqual(expected.flows);
    expect(found.total).toEqual({
      type: 'total',
      ...expected.totals,
      notOk: 0,
      frames: 4000,
      dropped: { truncated: 0, malformed: 0, unsupported: 0, 'not-int': 0 },
    });
    expect(found.total).toMatchObject({ packets: 4000, lost: {}, evicted: { entries: 0, packets: 0 } });
    expect(found.total.pathChanges).toBeGreaterThan(0);
    // As large as it is by default, too, and with a time in which nothing is idle.
    const { stdout } = await run(['flows', fabric, '--json', '--idle', '1h']);
    expect(ndjson(stdout)).toEqual([...found.flows, found.total]);
  });

  test.each([
    [['--hops', '2'], { hops: 2 }],
    [
      ['--rows', '4096', '--hops', '64', '--metrics', 'queueId,hopLatency'],
      { hops: 64, metrics: ['queueId', 'hopLatency'] },
    ],
    [
      ['--metrics', 'l1IngressInterface,l1EgressInterface,bufferOccupancy'],
      { metrics: ['l1IngressInterface', 'l1EgressInterface', 'bufferOccupancy'] },
    ],
    [['--rows', '1', '--buckets', '64'], { most: 64 }],
    [['--rows', '1', '--buckets', '7', '--hops', '1'], { most: 7, hops: 1 }],
    [['--rows', '1', '--buckets', '1'], { most: 1 }],
  ])('does so with %j', async (args, options) => {
    const expected = plainFlows(lines, options);
    const found = await flows([fabric, ...args]);
    expect(found.flows).toEqual(expected.flows);
    expect(found.total).toMatchObject(expected.totals);
    expect(expected.totals.evicted.entries > 0).toBe('most' in options);
  });

  test.each([
    ['mx', '2.0', 'leaf-spine:3x2'],
    ['xd', '1.0', 'fat-tree:4'],
    ['md', '1.0', 'fat-tree:4'],
  ])('does so for mode %s, report %s, %s', async (mode, report, topology) => {
    const args = [
      'generate',
      '--mode',
      mode,
      '--report',
      report,
      '--topology',
      topology,
      '--packets',
      '1500',
      '-o',
      '-',
    ];
    const { bytes } = await run(args);
    const expected = plainFlows(await decoded(['-'], bytes));
    const found = await flows(['-'], bytes);
    expect(found.flows).toEqual(expected.flows);
    expect(found.total).toMatchObject(expected.totals);
  });

  test('accounts for every report when a small cache has to let flows go', async () => {
    for (const [rows, buckets] of [
      [3, 2],
      [20, 5],
      [1, 12],
    ]) {
      const { flows: list, total } = await flows([fabric, '--rows', String(rows), '--buckets', String(buckets)]);
      expect(list.length).toBeLessThanOrEqual(rows! * buckets!);
      expect(total.evicted.entries).toBeGreaterThan(50);
      expect(total).toMatchObject({ packets: 4000, aged: { entries: 0, packets: 0 } });
    }
  });

  test('lists what was heard of within the idle time before the end, and counts the others as aged', async () => {
    const endNs = BigInt(lines.at(-1)!.timeNs);
    const all = (await flows([fabric])).flows;
    const times = new Map<string, bigint[]>();
    for (const { flow, timeNs } of lines) {
      const key = JSON.stringify(flow);
      times.set(key, [...(times.get(key) ?? []), BigInt(timeNs)]);
    }
    /** Reports of a flow since it paused for longer than that. */
    const since = (flow: unknown, pause: bigint): number => {
      const came = times.get(JSON.stringify(flow))!;
      const last = came.findLastIndex((timeNs, at) => at > 0 && timeNs - came[at - 1]! > pause);
      return came.length - Math.max(0, last);
    };
    for (const [idle, ns] of [
      ['100ms', 100_000_000n],
      ['25ms', 25_000_000n],
      ['1.5ms', 1_500_000n],
      ['1ns', 1n],
    ] as const) {
      const { flows: list, total, code } = await flows([fabric, '--idle', idle, '--rows', '64', '--buckets', '64']);
      const recent = all.filter(({ lastNs }) => endNs - BigInt(lastNs) <= ns);
      const name = ({ flow, lastNs }: Flow): string => JSON.stringify([flow, lastNs]);
      expect(list.map(name).sort()).toEqual(recent.map(name).sort());
      expect(total.aged.entries).toBeGreaterThanOrEqual(all.length - recent.length);
      expect(total.aged.entries).toBeGreaterThan(0);
      expect({ code, evicted: total.evicted, lost: total.lost }).toEqual({
        code: 0,
        evicted: { entries: 0, packets: 0 },
        lost: {},
      });
      // A pause longer than five quarters of the time ends an entry; one that is not longer than the time does not.
      for (const one of list) {
        expect(one.packets).toBeGreaterThanOrEqual(since(one.flow, ns));
        expect(one.packets).toBeLessThanOrEqual(since(one.flow, (ns * 5n) / 4n));
      }
    }
  });

  test('evicts and ages in one run', async () => {
    const { total } = await flows([fabric, '--rows', '30', '--buckets', '4', '--idle', '10ms']);
    expect(total.evicted.entries).toBeGreaterThan(50);
    expect(total.aged.entries).toBeGreaterThan(10);
  });

  test('sorts, and lists the first ones', async () => {
    const all = (await flows([fabric])).flows;
    const keys: Readonly<Record<string, (flow: Flow) => number>> = {
      packets: ({ packets }) => packets,
      latency: ({ endToEnd }) => (endToEnd as { mean: number } | null)?.mean ?? -1,
      duration: ({ firstNs, lastNs }) => Number(BigInt(lastNs) - BigInt(firstNs)),
      changes: ({ pathChanges }) => pathChanges as number,
      last: ({ lastNs }) => Number(BigInt(lastNs) - START_NS),
    };
    for (const [key, of] of Object.entries(keys)) {
      const sorted = [...all].sort((a, b) => of(b) - of(a) || (BigInt(a.firstNs) < BigInt(b.firstNs) ? -1 : 1));
      // Where flows are does not matter for their order.
      expect((await flows([fabric, '--sort', key, '--rows', '300'])).flows).toEqual(sorted);
      const { flows: first, total } = await flows([fabric, '--sort', key, '--top', '10']);
      expect(first).toEqual(sorted.slice(0, 10));
      expect(total).toMatchObject({ flows: all.length, packets: 4000 });
    }
  });

  test('has a readable view, with colour only in a terminal', async () => {
    const { flows: list, total } = await flows([fabric]);
    const { stdout, stderr, code } = await run(['flows', fabric]);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    const shown = stdout.trimEnd().split('\n');
    expect(shown).toHaveLength(list.length + 3);
    expect(shown.at(-2)).toBe('latency: as the switches count; name a unit with --unit hopLatency=UNIT or --device');
    expect(shown[0]).toMatch(/^flow +reports +duration +latency +last +changes +path$/);
    const first = list[0]! as Flow & { endToEnd: { last: number } };
    expect(shown[1]).toMatch(
      /^10\.\d+\.\d+\.\d+:\d+ > 10\.\d+\.\d+\.\d+:\d+ (tcp|udp) +[\d,]+ +[\d.]+ ms +[\d,]+ +[\d,]+ +\d+ {2}\d+( > \d+)*$/,
    );
    expect(shown[1]).toContain(` ${first.packets} `);
    expect(shown[1]).toContain(` ${first.endToEnd.last.toLocaleString('en-US')} `);
    expect(shown.at(-1)).toBe(`4,000 reports, ${list.length} flows, ${String(total.pathChanges)} path changes`);
    expect(stdout).not.toContain('\x1b');
    const coloured = await run(['flows', fabric, '--rows', '99'], { terminal: { columns: 80, rows: 24 } });
    expect(coloured.stdout).toContain('\x1b[');

    const named = await run(['flows', fabric, '--unit', 'hopLatency=us', '--top', '1', '--per-hop']);
    expect(named.stdout.split('\n')[1]).toMatch(/ +[\d.]+ ms +[\d.]+ m?s +[\d.]+ m?s +\d+ {2}\d/);
    expect(named.stdout.split('\n')[2]).toMatch(
      /hopLatency [\d.]+ [µm]?s \(last [\d.]+ [µm]?s\) {2}queueOccupancy [\d.]+ \(/,
    );
    expect(named.stdout).not.toContain('--unit');

    const lettingGo = ['--rows', '30', '--buckets', '4', '--idle', '10ms'];
    const small = await run(['flows', fabric, ...lettingGo, '--hops', '2', '--top', '3', '--per-hop']);
    expect(small.stdout).toMatch(
      /\n {4}node \d+ +hopLatency [\d,.]+ \(last [\d,]+\) {2}queueOccupancy [\d,.]+ \(last \d+\) {2}egressUtilization /,
    );
    expect(small.stdout).toMatch(/ {2}\d+ > \d+ > \.\.\.\n/);
    expect(small.stdout).toMatch(/\n4,000 reports, \d+ flows \(3 listed\), \d+ path changes\n/);
    expect(small.stdout).toMatch(/\nevicted: [\d,]+ flows, [\d,]+ reports\naged: [\d,]+ flows, [\d,]+ reports\n/);
    expect(small.stdout).toMatch(/\nbeyond the hops followed: [\d,]+ hops; see --hops\n$/);
  });
});

describe('int flows', () => {
  /** A report v2.0 of switch 5 without a packet: nobody knows the flow. */
  const noPacket = Buffer.from('20000001000000051004022030000000000000000000' + '02bc0100002a', 'hex');

  test('agrees with a plain evaluation whatever the frames are', async () => {
    const options = { reportPorts: [32_766] };
    /** The same for another flow, so that several frames are of one. */
    const ofOneFlow = (records: readonly TelemetryRecord[]): Uint8Array => {
      const changed = records.map((one) => {
        if (one.flow === null) return one;
        const isIpv4 = one.flow.source.includes('.');
        const hasPorts = one.flow.protocol === 6 || one.flow.protocol === 17;
        const flow = {
          source: isIpv4 ? '10.0.0.1' : '2001:db8::1',
          destination: isIpv4 ? '10.0.0.2' : '2001:db8::2',
          protocol: one.flow.protocol,
          sourcePort: hasPorts ? 1234 : 0,
          destinationPort: hasPorts ? 80 : 0,
        };
        return { ...one, flow };
      });
      return encodeFrame(changed, encodeOptionsFor(options));
    };
    const sound = fc
      .tuple(frame({ options, kinds: ['report', 'int', 'gpint'] }), fc.boolean())
      .map(([{ bytes, records }, isOfOne]) => (isOfOne ? ofOneFlow(records) : bytes));
    const some = fc.oneof({ arbitrary: sound, weight: 5 }, { arbitrary: malformed(sound), weight: 1 });
    let packets = 0;
    let changes = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(some, { minLength: 3, maxLength: 8 }),
        fc.array(fc.nat(), { minLength: 20, maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        async (frames, picks, hops) => {
          // Frames come again, so that flows have more than one report.
          const input = pcap(picks.map((pick) => frames[pick % frames.length]!));
          const lines = await decoded(['-', '--report-port', '32766'], input);
          const expected = plainFlows(lines, { hops });
          const found = await flows(['-', '--report-port', '32766', '--rows', '64', '--hops', String(hops)], input);
          const text = (list: readonly unknown[]): string[] => list.map((one) => JSON.stringify(one)).sort();
          expect(text(found.flows)).toEqual(text(expected.flows));
          expect(found.total).toMatchObject(expected.totals);
          expect(found.code).toBe(lines.every(({ status }) => status === 'ok' || status === 'not-int') ? 0 : 1);
          packets += found.total.packets;
          changes += found.total.pathChanges as number;
        },
      ),
      { seed: SEED, numRuns: runs(80) },
    );
    expect(packets).toBeGreaterThan(800 * LENGTH);
    expect(changes).toBeGreaterThan(20 * LENGTH);
  });

  test('takes reports and INT packets alike, and says where all the others are', async () => {
    const packet = encodeFrame({ ...record(0), report: null, path: [1, 2] });
    const unknown = framed(noPacket, 0, noPacket.length);
    const path = await files.write(
      'mixed.pcap',
      pcap([plainFrame(), reportFrame(), coalescedFrame(), packet, malformedFrame(), unknown, unknown]),
    );
    const { flows: list, total, code, stderr } = await flows([path, '--report-port', '32766']);
    expect(code).toBe(1);
    expect(stderr).toBe('int: of 7 frames, 0 truncated, 1 malformed, 0 unsupported\n');
    expect(total).toEqual({
      type: 'total',
      packets: 7,
      flows: 1,
      evicted: { entries: 0, packets: 0 },
      aged: { entries: 0, packets: 0 },
      lost: { noFlow: 2 },
      pathChanges: 4,
      hopsBeyond: 0,
      notOk: 1,
      frames: 7,
      dropped: { truncated: 0, malformed: 1, unsupported: 0, 'not-int': 1 },
    });
    const [flow] = list;
    expect(Object.keys(flow!).slice(0, 7)).toEqual([
      'type',
      'flow',
      'packets',
      'firstNs',
      'lastNs',
      'pathChanges',
      'hops',
    ]);
    expect(JSON.stringify(flow!.flow)).toBe(
      '{"source":"10.0.1.1","destination":"10.0.2.2","protocol":17,"sourcePort":40000,"destinationPort":80}',
    );
    expect(flow).toMatchObject({ packets: 5, firstNs: String(START_NS + 1000n), lastNs: String(START_NS + 3000n) });
    const { stdout } = await run(['flows', path, '--report-port', '32766']);
    expect(stdout).toMatch(
      /\n7 reports, 1 flow, 4 path changes\nnot cached: 2 reports of unknown flow\nnot decoded: 1 report\n$/,
    );
  });

  test('leaves out metrics that no report carried, and has no last value of a switch that gave none', async () => {
    const frames = [
      record(0, [
        { nodeId: 1, hopLatency: 10 },
        { nodeId: 2, queueId: 1, queueOccupancy: 5 },
      ]),
      record(0, [
        { nodeId: 1, hopLatency: 21 },
        { nodeId: 7, hopLatency: null },
      ]),
    ].map((one) => encodeFrame({ ...one, report: { ...one.report!, metadata: {} } }));
    const { flows: list } = await flows([await files.write('missing.pcap', pcap(frames))]);
    expect(list[0]).toMatchObject({
      hops: [
        { nodeId: 1, hopLatency: { last: 21, mean: 15.5, count: 2 } },
        { nodeId: 7, queueOccupancy: { last: null, mean: 5, count: 1 } },
      ],
      pathLength: 2,
      endToEnd: { last: 21, mean: 15.5, count: 2 },
    });
    const hops = list[0]!.hops as Record<string, unknown>[];
    expect(hops.map((hop) => Object.keys(hop))).toEqual([
      ['nodeId', 'hopLatency'],
      ['nodeId', 'queueOccupancy'],
    ]);
    const { stdout } = await run(['flows', files.path('missing.pcap'), '--per-hop']);
    expect(stdout).toContain('    node 7          queueOccupancy 5.0 (last -)\n');
  });

  test('reads gzip and standard input', async () => {
    const bytes = pcap([reportFrame(), coalescedFrame()]);
    const plain = await flows(['-'], bytes);
    expect(plain.total).toMatchObject({ packets: 4, flows: 1 });
    expect(await flows(['-'], gzipSync(bytes))).toEqual(plain);
    expect(await flows([await files.write('zipped.pcap.gz', gzipSync(bytes))])).toEqual(plain);
  });

  test('takes the decode options', async () => {
    const path = await files.write('port.pcap', pcap([reportFrame()]));
    expect((await flows([path, '--report-port', '7'])).total).toMatchObject({ packets: 0, flows: 0, frames: 1 });
  });

  test('of an empty capture prints a total of nothing', async () => {
    const path = await files.write('empty.pcap', pcap([]));
    const { flows: list, total, code } = await flows([path, '--idle', '1s']);
    expect(code).toBe(0);
    expect(list).toEqual([]);
    expect(total).toMatchObject({ packets: 0, flows: 0, lost: {}, frames: 0 });
    expect((await run(['flows', path])).stdout).toBe('0 reports, 0 flows\n');
  });

  test('gives what comes before damage, and says where it is', async () => {
    const path = await files.write('cut.pcap', pcap([reportFrame(), reportFrame()]).subarray(0, -1));
    const { total, code, stderr } = await flows([path]);
    expect(code).toBe(1);
    expect(total).toMatchObject({ packets: 1, flows: 1 });
    expect(stderr).toMatch(/^int: .*cut\.pcap: .*, after 1 frame\n$/);
  });

  test('ends with code 3 if the capture cannot be opened', async () => {
    for (const path of [files.path('nowhere.pcap'), files.path('.')]) {
      const { code, stdout, stderr } = await run(['flows', path]);
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(/^int: .*(nowhere|int-cli-).*\n$/);
    }
  });

  test('ends with code 2 if there is no memory for so large a cache', async () => {
    const path = await files.write('one.pcap', pcap([reportFrame()]));
    const { code, stdout, stderr } = await run([
      'flows',
      path,
      '--rows',
      '268435456',
      '--buckets',
      '64',
      '--hops',
      '64',
    ]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^int: no memory for so large a cache \(.+\): give fewer --rows\n$/);
  });
});

describe('int flows as a process', () => {
  test('gives what it has read when interrupted', async () => {
    const process = new Running(['flows', '-', '--json'], { open: true });
    // More than a pipe and the streams around it hold: when it is taken, some of it has been read.
    const bytes = pcap(new Array<Uint8Array>(5000).fill(reportFrame()));
    const taken = new Promise((resolve) => process.child.stdin!.write(bytes, resolve));
    await inTime('a reader of the pipe', taken, { found: () => process.stderr });
    process.child.kill('SIGINT');
    const { code, stdout, stderr } = await process.end();
    expect(code).toBe(0);
    const [flow, total] = ndjson(stdout);
    expect(total).toMatchObject({ type: 'total', flows: 1, packets: flow!.packets, frames: flow!.packets });
    const frames = total!.frames as number;
    expect(frames).toBeGreaterThan(100);
    expect(stderr).toBe(`int: interrupted after ${frames.toLocaleString('en-US')} frames\n`);
  });

  test('gives what it gives in this process', async () => {
    const capture = await files.write('real.pcap', pcap([reportFrame(), coalescedFrame(), plainFrame()]));
    for (const args of [
      ['flows', capture, '--json'],
      ['flows', capture, '--per-hop', '--idle', '500ms', '--rows', '16'],
    ]) {
      expect(await runBin(args)).toEqual(await run(args));
    }
  });
});

test.each([
  [0, '0'],
  [999, '999 ns'],
  [1000, '1.0 µs'],
  [12_345_678, '12.3 ms'],
  [90e9, '90.0 s'],
  [300e9, '5.0 min'],
  [10_800e9, '3.0 h'],
])('%d ns are shown as %s', (ns, text) => {
  expect(spanText(ns)).toBe(text);
});
