import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { readCapture } from '@int/pcap';
import { describe, expect, test } from 'vitest';
import { Peer, refusingPort } from '../../../.ci/test/datagrams.js';
import { ndjson, run, runBin, temporaryFolder } from './run.js';

const files = temporaryFolder();

describe('int generate', () => {
  test('gives the same bytes for the same seed, and others for another', async () => {
    const args = ['generate', '--packets', '500', '--seed'];
    const [first, second, other, text] = await Promise.all([
      run([...args, '7']),
      run([...args, '7']),
      run([...args, '8']),
      run([...args, 'seven']),
    ]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(second.bytes.equals(first.bytes)).toBe(true);
    expect(other.bytes.equals(first.bytes)).toBe(false);
    expect(text.bytes.equals(first.bytes)).toBe(false);
  });

  test.each([
    [['--mode', 'md', '--report', '2.0'], '2.0', 'md'],
    [['--mode', 'mx', '--report', '2.0'], '2.0', 'mx'],
    [['--mode', 'xd', '--report', '2.0'], '2.0', 'xd'],
    [['--mode', 'md', '--report', '1.0'], '1.0', 'md'],
    [['--topology', 'fat-tree:4', '--workload', 'hadoop', '--flows', '9'], '2.0', 'md'],
  ] as const)('%j: all of it decodes', async (options, version, mode) => {
    const path = files.path('made.pcap');
    expect(await run(['generate', '--packets', '300', ...options, '-o', path])).toMatchObject({ code: 0, stdout: '' });
    const counts = await run(['decode', '--count', '--json', path]);
    expect(counts.code).toBe(0);
    const [totals] = ndjson(counts.stdout) as {
      records: number;
      status: unknown;
      report: unknown;
      int: Record<string, number>;
    }[];
    expect(totals!.status).toMatchObject({ ok: 300 });
    expect(totals!.report).toMatchObject({ [version]: 300 });
    // Reports of drops at the first hop carry no INT yet.
    expect(totals!.int[mode]).toBeGreaterThan(250);
  });

  test('keeps to the rate in virtual time, in order', async () => {
    const { bytes } = await run(['generate', '--packets', '2000', '--rate', '1e5']);
    const times = [...readCapture(bytes)].map((frame) => Number(frame.timeNs - 1_700_000_000_000_000_000n));
    expect(times.every((time, index) => index === 0 || time >= times[index - 1]!)).toBe(true);
    expect(times.at(-1)! / 2000).toBeGreaterThan(8_000);
    expect(times.at(-1)! / 2000).toBeLessThan(12_000);
  });

  test('sends to a collector, which can decode all of it', async () => {
    const peer = await Peer.open();
    const started = performance.now();
    const { code, stderr } = await run(['generate', '--packets', '400', '--rate', '2000', '--to', peer.url]);
    expect(code).toBe(0);
    expect(stderr).toContain('400 reports sent');
    // 400 reports at 2000 a second; a lower bound, which a slow machine keeps as well.
    expect(performance.now() - started).toBeGreaterThan(150);
    await peer.until(400);
    const { received, dropped } = peer;
    await peer.close();
    expect(received.length + dropped).toBe(400);
    expect(received.length).toBeGreaterThanOrEqual(380);
    expect(new Set(received.map((datagram) => datagram.toString('latin1'))).size).toBe(received.length);
    const batch = new TelemetryBatch({ frames: 1, hops: 256 });
    const decoder = new BatchDecoder({ linkType: 'report' });
    for (const datagram of received) {
      batch.clear();
      decoder.decode(batch, { bytes: datagram, offsets: Uint32Array.of(0), lengths: Uint32Array.of(datagram.length) });
      expect(batch.frameCode[0]).toBe(0);
    }
  });

  test('says so when nothing listens', async () => {
    const { port, close } = await refusingPort();
    const { code, stderr } = await run(['generate', '--packets', '50', '--to', `udp://127.0.0.1:${port}`]);
    close();
    expect(code).toBe(3);
    expect(stderr).toContain(`udp://127.0.0.1:${port}`);
    expect(stderr).toContain('int collect --listen');
  });

  test('ends early when interrupted, with what it has made', async () => {
    const path = files.path('interrupted.pcap');
    const { code, stderr } = await run(['generate', '--packets', '1000000000', '-o', path], {
      interruptWhen: () => existsSync(path) && statSync(path).size > 100_000,
    });
    expect(code).toBe(0);
    expect(stderr).toContain('interrupted after');
    const frames = [...readCapture(await readFile(path))];
    expect(frames.length).toBeGreaterThan(0);
  });

  test('shows progress after a second, in a terminal only, and takes it away', async () => {
    const args = ['generate', '--packets', '1000000000', '-o', files.path('progress.pcap')];
    const quiet = await run(args, { interruptAfterMs: 1500 });
    expect(quiet.stderr).not.toContain('\r');
    const { stderr } = await run(args, {
      interruptWhen: ({ stderr }) => stderr.includes(' of '),
      terminal: { columns: 80, rows: 24 },
    });
    const shown = stderr.split('\r\x1b[2K');
    expect(shown.length).toBeGreaterThan(2);
    expect(shown[1]).toMatch(/^[\d,]+ of 1,000,000,000 reports$/);
    expect(shown.at(-1)).toMatch(/^int: interrupted after/);
  });

  test('wants a place to write to in a terminal', async () => {
    const { code, stderr } = await run(['generate'], { terminal: { columns: 80, rows: 24 } });
    expect(code).toBe(2);
    expect(stderr).toContain('-o FILE');
  });

  test('of the real command gives the same bytes', async () => {
    const args = ['generate', '--packets', '2000', '--seed', '3'];
    const real = await runBin(args);
    expect(real).toMatchObject({ code: 0, stderr: '' });
    expect(real.bytes.equals((await run(args)).bytes)).toBe(true);
  });
});
