import { gzipSync } from 'node:zlib';
import { decodeFrame, encodeFrame, recordToJson } from '@int/codec';
import { LinkType } from '@int/pcap';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coalescedFrame, malformedFrame, pcap, pcapng, plainFrame, record, reportFrame, START_NS } from './captures.js';
import { ndjson, Running, run, runBin, temporaryFolder } from './run.js';
import { SEED } from './seed.js';

const files = temporaryFolder();

describe('int decode --json', () => {
  test('prints one line per record, field by field as documented', async () => {
    const path = await files.write('one.pcap', pcap([reportFrame(), coalescedFrame(), plainFrame()]));
    const { code, stdout, stderr } = await run(['decode', '--json', path]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = ndjson(stdout);
    expect(lines.map((line) => [line.frame, line.index, line.status])).toEqual([
      [1, 0, 'ok'],
      [2, 0, 'ok'],
      [2, 1, 'ok'],
      [2, 2, 'ok'],
      [3, 0, 'not-int'],
    ]);
    expect(Object.keys(lines[0]!)).toEqual([
      'frame',
      'timeNs',
      'index',
      'status',
      'error',
      'report',
      'int',
      'flow',
      'path',
      'hops',
    ]);
    expect(lines[0]).toMatchObject({
      frame: 1,
      timeNs: String(START_NS),
      error: null,
      report: {
        version: '2.0',
        hwId: 3,
        sequence: 17,
        nodeId: 153,
        queueCongested: true,
        metadata: { hopLatency: 500 },
      },
      int: { mode: 'md', version: '2', encapsulation: 'udp', instructionBitmap: '0xb000' },
      flow: { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 40_000, destinationPort: 80 },
      path: [1, 2, 153],
      hops: [
        { nodeId: 1, hopLatency: 1200, queueId: 0, queueOccupancy: 17 },
        { nodeId: 2, hopLatency: 800, queueId: 0, queueOccupancy: 0 },
      ],
    });
    expect(lines[4]!.timeNs).toBe(String(START_NS + 2000n));
    const [json] = decodeFrame(plainFrame()).map(recordToJson);
    expect(lines[4]).toEqual({ frame: 3, timeNs: lines[4]!.timeNs, ...json });
  });

  test('tells what is wrong and where, and ends with code 1', async () => {
    const path = await files.write('bad.pcap', pcap([reportFrame(), malformedFrame(), reportFrame()]));
    const { code, stdout, stderr } = await run(['decode', '--json', path]);
    expect(code).toBe(1);
    expect(stderr).toContain('1 malformed');
    const lines = ndjson(stdout);
    expect(lines.map((line) => line.status)).toEqual(['ok', 'malformed', 'ok']);
    const error = lines[1]!.error as Record<string, unknown>;
    expect(Object.keys(error)).toEqual(['code', 'layer', 'offset', 'message']);
    expect(error.offset).toBeGreaterThan(40);
  });

  test('numbers the frames of each file and names the file if there are several', async () => {
    const first = await files.write('first.pcap', pcap([reportFrame(), reportFrame()]));
    const second = await files.write('second.pcap', pcap([reportFrame()]));
    const { stdout } = await run(['decode', '--json', first, second]);
    expect(ndjson(stdout).map((line) => [line.file, line.frame])).toEqual([
      [first, 1],
      [first, 2],
      [second, 1],
    ]);
    expect(ndjson((await run(['decode', '--json', first])).stdout)[0]).not.toHaveProperty('file');
  });

  test('adds the frame and its link type with --raw, for any link type', async () => {
    const raw = reportFrame().subarray(14);
    const path = await files.write(
      'links.pcapng',
      pcapng([
        [LinkType.ETHERNET, reportFrame()],
        [LinkType.RAW, raw],
        [LinkType.IEEE802_11, Uint8Array.of(1, 2, 3)],
      ]),
    );
    const { code, stdout, stderr } = await run(['decode', '--raw', path]);
    expect(code).toBe(1);
    expect(stderr).toContain('1 unsupported');
    const lines = ndjson(stdout);
    expect(lines.map((line) => [line.linkType, line.frameHex, line.status])).toEqual([
      ['ethernet', Buffer.from(reportFrame()).toString('hex'), 'ok'],
      ['raw', Buffer.from(raw).toString('hex'), 'ok'],
      [LinkType.IEEE802_11, '010203', 'unsupported'],
    ]);
    expect(lines[2]!.error).toMatchObject({ code: 'UNSUPPORTED_LINK_TYPE', layer: 'link', offset: 0 });
  });

  test('reads standard input, gzip and pcapng', async () => {
    const bytes = pcapng([[LinkType.ETHERNET, reportFrame()]]);
    for (const input of [bytes, gzipSync(bytes)]) {
      const { code, stdout } = await run(['decode', '--json', '-'], { input });
      expect(code).toBe(0);
      expect(ndjson(stdout)).toHaveLength(1);
    }
  });
});

describe('int decode', () => {
  test('takes the options that say what INT looks like', async () => {
    const packet = { ...record(0), report: null, path: [1, 2] };
    const status = async (frame: Uint8Array, ...options: string[]): Promise<unknown[]> => {
      const path = await files.write('options.pcap', pcap([frame]));
      return ndjson((await run(['decode', '--json', ...options, path])).stdout).map((line) => line.status);
    };
    const onPort = encodeFrame(packet, { intPorts: [7777] });
    expect(await status(onPort)).toEqual(['not-int']);
    expect(await status(onPort, '--int-port', '7777')).toEqual(['ok']);
    expect(await status(onPort, '--int-port', '6666', '--int-port', '7777')).toEqual(['ok']);
    // A report cut in the middle: on a port that is said to carry reports it is one.
    const cut = reportFrame().subarray(0, 60);
    expect(await status(cut)).toEqual(['not-int']);
    expect(await status(cut, '--report-port', '32766')).toEqual(['truncated']);
    expect(await status(reportFrame(), '--report-port', '0x7ffe')).toEqual(['ok']);
    expect(await status(reportFrame(), '--report-port', '1')).not.toEqual(['ok']);
  });

  test('prints frames before the place where a capture is cut, then says so', async () => {
    const path = await files.write('cut.pcap', pcap([reportFrame(), reportFrame()]).subarray(0, -5));
    const { code, stdout, stderr } = await run(['decode', '--json', path]);
    expect(code).toBe(1);
    expect(ndjson(stdout)).toHaveLength(1);
    expect(stderr).toContain(path);
    expect(stderr).toContain('TRUNCATED');
    expect(stderr).toContain('after 1 frame');
  });

  test.each([
    ['an empty file', new Uint8Array(0)],
    ['a text', Buffer.from('hello, this is no capture')],
  ])('says that %s is no capture', async (_, bytes) => {
    const path = await files.write('no-capture', bytes);
    const { code, stdout, stderr } = await run(['decode', path]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(path);
  });

  test('goes on with the other files when one cannot be opened', async () => {
    const good = await files.write('good.pcap', pcap([reportFrame()]));
    const missing = files.path('missing.pcap');
    const { code, stdout, stderr } = await run(['decode', '--json', missing, files.path('.'), good]);
    expect(code).toBe(3);
    expect(ndjson(stdout)).toHaveLength(1);
    expect(stderr).toContain(`cannot open ${missing}: no such file`);
    expect(stderr).toContain('it is a folder');
  });

  test('counts by status, report version and mode', async () => {
    const path = await files.write(
      'count.pcap',
      pcap([reportFrame(), coalescedFrame(), plainFrame(), malformedFrame()]),
    );
    const json = await run(['decode', '--count', '--json', path]);
    expect(json.code).toBe(1);
    expect(ndjson(json.stdout)).toEqual([
      {
        frames: 4,
        records: 6,
        status: { ok: 4, 'not-int': 1, truncated: 0, malformed: 1, unsupported: 0 },
        report: { '0.5': 0, '1.0': 0, '2.0': 4, none: 2 },
        int: expect.objectContaining({ mx: 0, xd: 0, gpint: 0 }) as unknown,
      },
    ]);
    const text = await run(['decode', '--count', path]);
    expect(text.stdout).toContain('4 frames, 6 records');
    expect(text.stdout).toMatch(/^ {2}malformed +1$/m);
    expect(text.stdout).not.toContain('truncated');
  });

  test('counts the records that it would print, whatever the frames are', async () => {
    const frame = fc.oneof(
      fc.constantFrom(reportFrame(), coalescedFrame(), plainFrame(), malformedFrame()),
      fc.tuple(fc.constantFrom(reportFrame(), coalescedFrame()), fc.nat(400), fc.nat(255)).map(([bytes, at, value]) => {
        const changed = bytes.slice();
        changed[at % changed.length] = value;
        return changed;
      }),
      fc
        .tuple(fc.constantFrom(reportFrame(), coalescedFrame()), fc.nat(400))
        .map(([bytes, at]) => bytes.subarray(0, at)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { maxLength: 30 }),
        fc.constantFrom([], ['--report-port', '32766']),
        async (frames, options) => {
          const input = pcap(frames);
          const [counted] = ndjson((await run(['decode', '--count', '--json', '-', ...options], { input })).stdout);
          const lines = ndjson((await run(['decode', '--json', '-', ...options], { input })).stdout) as {
            status: string;
            report: { version: string } | null;
            int: { mode: string } | null;
          }[];
          const totals = counted as Record<'status' | 'report' | 'int', Record<string, number>>;
          expect(counted).toMatchObject({ frames: frames.length, records: lines.length });
          const expectCounts = (counts: Record<string, number>, names: readonly string[]): void => {
            for (const [name, count] of Object.entries(counts)) {
              expect([name, count]).toEqual([name, names.filter((one) => one === name).length]);
            }
          };
          expectCounts(
            totals.status,
            lines.map((line) => line.status),
          );
          expectCounts(
            totals.report,
            lines.map((line) => line.report?.version ?? 'none'),
          );
          expectCounts(
            totals.int,
            lines.map((line) => line.int?.mode ?? 'none'),
          );
        },
      ),
      { seed: SEED, numRuns: 100 },
    );
  });

  test('shows a readable view, in colour only in a terminal', async () => {
    const path = await files.write('view.pcap', pcap([reportFrame(), malformedFrame()]));
    const plain = await run(['decode', path]);
    expect(plain.code).toBe(1);
    expect(plain.stdout).toContain('#1  2023-11-14 22:13:20.000000000  ok  report 2.0 int-md');
    expect(plain.stdout).toContain('10.0.1.1:40000 > 10.0.2.2:80 udp  path 1 > 2 > 153');
    expect(plain.stdout).toMatch(/^ {4}node 1 +latency 1200 {2}queue 0 {2}depth 17$/m);
    expect(plain.stdout).not.toContain('\x1b');
    const terminal = { columns: 100, rows: 24 };
    expect((await run(['decode', path], { terminal })).stdout).toContain('\x1b[');
    expect((await run(['decode', path], { terminal, env: { NO_COLOR: '1' } })).stdout).toBe(plain.stdout);
    expect((await run(['decode', path], { terminal, env: { TERM: 'dumb' } })).stdout).toBe(plain.stdout);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'prints what has arrived without waiting, and ends cleanly on %s',
    async (signal) => {
      const process = new Running(['decode', '--json', '-'], { open: true });
      process.child.stdin!.write(pcap([reportFrame(), plainFrame()]));
      await process.until(() => ndjson(process.stdout).length >= 2);
      process.child.kill(signal);
      const { code, stdout, stderr } = await process.end();
      expect(code).toBe(0);
      expect(ndjson(stdout)).toHaveLength(2);
      expect(stderr).toBe('int: interrupted after 2 frames\n');
    },
  );

  test('of the real command gives the same bytes and codes', async () => {
    const good = await files.write('real-good.pcap', pcap([reportFrame(), coalescedFrame()]));
    const bad = await files.write('real-bad.pcap', pcap([malformedFrame()]));
    for (const args of [
      ['decode', '--json', good],
      ['decode', '--raw', bad],
      ['decode', good, bad],
      ['decode', files.path('missing')],
    ]) {
      expect(await runBin(args)).toEqual(await run(args));
    }
    expect(await runBin(['decode', '--json', '-'], await pcap([reportFrame()]))).toMatchObject({ code: 0, stderr: '' });
  });
});
