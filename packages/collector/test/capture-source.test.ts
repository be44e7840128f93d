import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { encodeFrame } from '@int/codec';
import { CaptureSource, Collector, type CollectorProblem, LiveStatistics, SourceError } from '@int/collector';
import { LinkType, PcapngWriter, PcapWriter } from '@int/pcap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { hop, telemetry } from './reports.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'int-capture-source-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const START_NS = 1_700_000_000_000_000_000n;
const frame = (sequence: number): Uint8Array =>
  encodeFrame(telemetry(5, sequence, [[hop(1, 1000 + sequence, 3)]]).records);

/** A pcap of report frames, `gapNs` apart. */
function capture(count: number, gapNs: bigint): Buffer {
  const writer = new PcapWriter();
  const parts = [writer.header()];
  for (let index = 0; index < count; index++) {
    parts.push(writer.record({ data: frame(index), timeNs: START_NS + BigInt(index) * gapNs }));
  }
  return Buffer.concat(parts);
}

async function file(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

describe('CaptureSource', () => {
  test.each([
    ['plain', (bytes: Buffer): Uint8Array => bytes],
    ['gzip', (bytes: Buffer): Uint8Array => gzipSync(bytes)],
  ])('replays a %s file without losing a frame', async (name, pack) => {
    const path = await file(`${name}.pcap`, pack(capture(3000, 1_000_000n)));
    const statistics = new LiveStatistics();
    const collector = new Collector({ sources: [new CaptureSource({ path })], stages: [statistics] });
    await collector.start();
    await collector.finished;
    const totals = await collector.stop();
    expect(totals).toMatchObject({ received: 3000, decoded: 3000, reports: 3000, kernelDropped: 0 });
    // Statistics run in the capture's own time: 2.999 s of it.
    const { switches, timeMs } = statistics.snapshot();
    expect(timeMs).toBeCloseTo(Number(START_NS / 1_000_000n) + 2999, 2);
    expect(switches.find((one) => one.nodeId === 1)!.reportsPerSecond).toBeCloseTo(3000 / 2.999, 2);
  });

  test('reads what is given for standard input, in chunks of any size', async () => {
    const bytes = capture(20, 1n);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
      bytes.subarray(index * 7, index * 7 + 7),
    );
    const source = new CaptureSource({ path: '-', input: Readable.from(chunks) });
    const collector = new Collector({ sources: [source] });
    await collector.start();
    await collector.finished;
    expect(await collector.stop()).toMatchObject({ received: 20, decoded: 20 });
  });

  test('stops although standard input says nothing', async () => {
    const silent = new Readable({ read() {} });
    const collector = new Collector({ sources: [new CaptureSource({ path: '-', input: silent })] });
    await collector.start();
    expect(await collector.stop()).toMatchObject({ received: 0 });
    expect(silent.destroyed).toBe(true);
  });

  test('counts frames of other link types', async () => {
    const writer = new PcapngWriter({
      interfaces: [{ linkType: LinkType.ETHERNET }, { linkType: LinkType.IEEE802_11 }],
    });
    const bytes = Buffer.concat([
      writer.header(),
      writer.record({ data: frame(1), timeNs: START_NS }),
      writer.record({ data: frame(2), timeNs: START_NS, interfaceId: 1 }),
      writer.record({ data: frame(3), timeNs: START_NS }),
    ]);
    const collector = new Collector({ sources: [new CaptureSource({ path: await file('mixed.pcapng', bytes) })] });
    await collector.start();
    await collector.finished;
    const totals = await collector.stop();
    expect(totals).toMatchObject({ received: 3, decoded: 2, dropped: { unsupported: 1 } });
  });

  test('keeps the pace of the capture, and stops in the middle of it', async () => {
    const path = await file('slow.pcap', capture(50, 10_000_000n));
    const collector = new Collector({ sources: [new CaptureSource({ path, speed: 5 })] });
    const started = performance.now();
    await collector.start();
    await collector.finished;
    // 490 ms of capture at five times its pace: a lower bound, which a slow machine keeps as well.
    expect(performance.now() - started).toBeGreaterThan(95);
    expect(await collector.stop()).toMatchObject({ received: 50, decoded: 50 });

    const endless = new Collector({ sources: [new CaptureSource({ path, speed: 1e-6 })] });
    await endless.start();
    await until('the first frame', () => endless.totals().received > 0);
    expect(await endless.stop()).toMatchObject({ received: 1, decoded: 1 });
  });

  test('tells of damage after the frames before it', async () => {
    const problems: CollectorProblem[] = [];
    const path = await file('cut.pcap', capture(10, 1n).subarray(0, -3));
    const collector = new Collector({ sources: [new CaptureSource({ path })], onProblem: (one) => problems.push(one) });
    await collector.start();
    await collector.finished;
    expect(await collector.stop()).toMatchObject({ received: 9, decoded: 9 });
    expect(problems).toHaveLength(1);
    expect(problems[0]!.error).toMatchObject({ code: 'ERR_SOURCE_DATA', cause: { code: 'ERR_CAPTURE_TRUNCATED' } });
    expect(problems[0]!.error.message).toContain('cut.pcap');
  });

  test('says which file cannot be opened', async () => {
    for (const [path, reason] of [
      [join(folder, 'missing.pcap'), 'no such file'],
      [folder, 'folder'],
    ] as const) {
      const error = await new CaptureSource({ path }).start(() => undefined).catch((problem: unknown) => problem);
      expect(SourceError.is(error)).toBe(true);
      expect(error).toMatchObject({ code: 'ERR_SOURCE_OPEN', source: path });
      expect(String(error)).toContain(reason);
    }
  });

  test('refuses a speed that makes no sense', () => {
    for (const speed of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => new CaptureSource({ path: 'x', speed })).toThrow(RangeError);
    }
  });
});
