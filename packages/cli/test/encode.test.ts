import { readFile } from 'node:fs/promises';
import { LinkType, readCapture } from '@int/pcap';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { coalescedFrame, malformedFrame, pcap, pcapng, plainFrame, reportFrame } from './captures.js';
import { ndjson, run, runBin, temporaryFolder } from './run.js';
import { SEED } from './seed.js';

const files = temporaryFolder();

/** `int decode` of a capture. */
async function decoded(capture: Uint8Array, ...options: string[]): Promise<string> {
  return (await run(['decode', '--json', ...options, '-'], { input: capture })).stdout;
}

describe('int encode', () => {
  test('builds packets that decode to the same JSON', async () => {
    const json = await decoded(pcap([reportFrame(), coalescedFrame(), plainFrame(), reportFrame()]));
    const { code, bytes, stderr } = await run(['encode'], { input: json });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await decoded(bytes)).toBe(json);
    expect([...readCapture(bytes)]).toHaveLength(4);
  });

  test.each([
    ['md', '2.0'],
    ['mx', '2.0'],
    ['xd', '2.0'],
    ['md', '1.0'],
    ['mx', '1.0'],
    ['xd', '1.0'],
  ])('does so for generated traffic of mode %s in reports %s', async (mode, report) => {
    const made = await run(['generate', '--packets', '200', '--mode', mode, '--report', report]);
    const json = await decoded(made.bytes);
    const back = await run(['encode', '-'], { input: json });
    expect(back).toMatchObject({ code: 0, stderr: '' });
    expect(await decoded(back.bytes)).toBe(json);
    expect(ndjson(json).every((line) => line.status === 'ok')).toBe(true);
  });

  test('gives frames back byte for byte from decode --raw, whatever they are', async () => {
    const frame = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom(reportFrame(), coalescedFrame(), plainFrame(), malformedFrame()),
      fc.integer({ min: 0, max: 150 }).map((length) => reportFrame().subarray(0, length)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { maxLength: 12 }),
        fc.constantFrom(LinkType.ETHERNET, LinkType.RAW, LinkType.LINUX_SLL, LinkType.LINUX_SLL2, LinkType.IEEE802_11),
        async (frames, linkType) => {
          const capture = pcap(frames, frames.length === 0 ? LinkType.ETHERNET : linkType);
          const { code, bytes } = await run(['encode'], { input: await decoded(capture, '--raw') });
          expect(code).toBe(0);
          expect(bytes.equals(capture)).toBe(true);
        },
      ),
      { seed: SEED, numRuns: 100 },
    );
  });

  test('writes several link types to a pcapng, and only one to a pcap', async () => {
    const frames = pcapng([
      [LinkType.ETHERNET, reportFrame()],
      [LinkType.RAW, reportFrame().subarray(14)],
    ]);
    const json = await decoded(frames, '--raw');
    const path = files.path('links.pcapng');
    expect(await run(['encode', '-o', path], { input: json })).toMatchObject({ code: 0, stdout: '' });
    expect(await decoded(await readFile(path), '--raw')).toBe(json);
    const { code, bytes, stderr } = await run(['encode'], { input: json });
    expect(code).toBe(1);
    expect(stderr).toContain('line 2');
    expect([...readCapture(bytes)]).toHaveLength(1);
  });

  test('counts bad lines, names them, and goes on', async () => {
    const [good] = (await decoded(pcap([reportFrame()]))).split('\n');
    const broken = {
      ...(JSON.parse(good!) as Record<string, unknown>),
      frame: 9,
      int: { mode: 'md', instructionBitmap: 'x' },
    };
    const input = [
      '{"frame":',
      good,
      '[1, 2]',
      '',
      '{"frame":2,"frameHex":"abc"}',
      '{"frame":3,"frameHex":"ab","timeNs":"yesterday"}',
      '{"frame":4,"frameHex":"ab","linkType":"token-ring"}',
      '{"frame":5,"status":"malformed"}',
      JSON.stringify(broken),
      '{"frame":6,"timeNs":"99999999999999999999999","frameHex":"ab"}',
      'null',
      good,
    ].join('\n');
    const { code, bytes, stderr } = await run(['encode'], { input });
    expect(code).toBe(1);
    expect([...readCapture(bytes)]).toHaveLength(2);
    for (const line of [1, 3, 5, 6, 7, 8, 9, 10, 11]) expect(stderr).toMatch(new RegExp(`^int: line ${line}: .+`, 'm'));
    expect(stderr).toContain('2 frames written, 9 bad lines');
    expect(stderr).toContain('decode --raw');
  });

  test('stops telling of bad lines after some, but counts them all', async () => {
    const { code, stderr } = await run(['encode'], { input: 'x\n'.repeat(500) });
    expect(code).toBe(1);
    expect(stderr.split('\n').length).toBeLessThan(20);
    expect(stderr).toContain('500 bad lines');
  });

  test('takes lines without frame numbers and times one by one', async () => {
    const line = JSON.stringify({ frameHex: Buffer.from(reportFrame()).toString('hex') });
    const { code, bytes } = await run(['encode'], { input: `${line}\n${line}\n` });
    expect(code).toBe(0);
    const frames = [...readCapture(bytes)];
    expect(frames.map((frame) => frame.timeNs)).toEqual([0n, 0n]);
    expect(frames[0]!.data).toEqual(reportFrame());
  });

  test('puts only individual reports of one frame together', async () => {
    const lines = ndjson(await decoded(pcap([coalescedFrame(), coalescedFrame()])));
    const { bytes } = await run(['encode'], { input: lines.map((line) => JSON.stringify(line)).join('\n') });
    expect([...readCapture(bytes)].map((frame) => frame.data)).toEqual([coalescedFrame(), coalescedFrame()]);
    // Alone, a record that was not the first of its frame becomes a frame of its own.
    const alone = await run(['encode'], { input: JSON.stringify(lines[2]) });
    expect(alone.code).toBe(0);
    expect([...readCapture(alone.bytes)]).toHaveLength(1);
  });

  test('makes an empty capture of no lines', async () => {
    const { code, bytes } = await run(['encode'], { input: '' });
    expect(code).toBe(0);
    expect([...readCapture(bytes)]).toEqual([]);
  });

  test('says what cannot be opened', async () => {
    const missing = await run(['encode', files.path('missing.json'), '-o', '-']);
    expect(missing).toMatchObject({ code: 3, stdout: '' });
    expect(missing.stderr).toContain('missing.json');
    const folder = await run(['encode', '-o', files.path('no/such/folder.pcap')], { input: '' });
    expect(folder.code).toBe(3);
    expect(folder.stderr).toContain('cannot create');
    const terminal = await run(['encode'], { input: '', terminal: { columns: 80, rows: 24 } });
    expect(terminal.code).toBe(2);
    expect(terminal.stderr).toContain('-o FILE');
  });

  test('of the real command closes the circle', async () => {
    const capture = await files.write('circle.pcap', pcap([reportFrame(), malformedFrame(), coalescedFrame()]));
    const raw = await runBin(['decode', '--raw', capture]);
    const back = await runBin(['encode', '-'], raw.bytes);
    expect(back).toMatchObject({ code: 0, stderr: '' });
    expect(back.bytes.equals(await readFile(capture))).toBe(true);
    const path = files.path('circle-2.pcap');
    const json = await files.write(
      'circle.json',
      JSON.stringify({ frame: 1, ...JSON.parse((await decoded(pcap([reportFrame()]))).trim()) }),
    );
    expect(await runBin(['encode', json, '-o', path])).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect([...readCapture(await readFile(path))][0]!.data).toEqual(reportFrame());
  });
});
