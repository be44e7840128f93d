import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { CaptureError, type Frame, PcapWriter, readCapture, readCaptureStream } from '../../src/index.js';
import { createCaptureFile, gunzipIfNeeded, openCapture } from '../../src/node/index.js';
import { captureChunks } from '../../src/node/read-file.js';
import { captures, hex, join } from '../build-capture.js';
import { cut, every } from '../collect.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(joinPath(tmpdir(), 'int-pcap-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const writer = new PcapWriter();
const frames = Array.from({ length: 300 }, (_, index) => ({
  data: new Uint8Array(30 + (index % 50)).map((_, at) => (at * 31 + index) ^ (index >> 3)),
  timeNs: 1_700_000_000_000_000_000n + BigInt(index) * 1_000_003n,
  originalLength: 100 + index,
  linkType: 1,
  interfaceId: 0,
}));
const capture = join(writer.header(), ...frames.map((frame) => writer.record(frame)));

async function all(source: AsyncIterable<Frame>): Promise<{ frames: Frame[]; error: unknown }> {
  const seen: Frame[] = [];
  try {
    for await (const frame of source) seen.push(frame);
  } catch (error) {
    return { frames: seen, error };
  }
  return { frames: seen, error: undefined };
}

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of source) parts.push(chunk);
  return join(...parts);
}

describe('gzip', () => {
  it('is inflated whatever the chunks, and anything else passes through', async () => {
    await fc.assert(
      fc.asyncProperty(captures, fc.boolean(), fc.array(fc.nat(800), { maxLength: 9 }), async (built, compress, at) => {
        const bytes = compress ? new Uint8Array(gzipSync(built.bytes)) : built.bytes;
        const chunks = cut(
          bytes,
          at.filter((place) => place <= bytes.length),
        );
        const seen = await all(readCaptureStream(gunzipIfNeeded(chunks)));
        expect(seen).toEqual({ frames: built.frames, error: undefined });
      }),
      { numRuns: runs(100) },
    );
  });

  it('of several members is read to the last, cut anywhere', async () => {
    const third = Math.floor(capture.length / 3);
    const members = [capture.subarray(0, third), capture.subarray(third, 2 * third), capture.subarray(2 * third)];
    const compressed = join(...members.map((member) => gzipSync(member)));
    const boundary = gzipSync(members[0]!).length;
    const places = Array.from({ length: 24 }, (_, index) => boundary - 12 + index);
    for (const at of [1, 2, ...places, compressed.length - 1]) {
      expect(Buffer.compare(await bytesOf(gunzipIfNeeded(cut(compressed, [at]))), capture)).toBe(0);
    }
    const small = join(gzipSync(capture.subarray(0, 900)), gzipSync(capture.subarray(900, 2000)));
    expect(await bytesOf(gunzipIfNeeded(every(small, 1)))).toEqual(capture.subarray(0, 2000));
  });

  it('followed by zero padding is complete', async () => {
    const padding = join(gzipSync(capture), new Uint8Array(40_000));
    expect(await bytesOf(gunzipIfNeeded([padding]))).toEqual(capture);
    expect(await bytesOf(gunzipIfNeeded(every(padding, 999)))).toEqual(capture);
    expect(await bytesOf(gunzipIfNeeded([gzipSync(capture), new Uint8Array(1), new Uint8Array(9)]))).toEqual(capture);
  });

  it('followed by something else behind the padding is an error, not data silently left out', async () => {
    const bytes = join(gzipSync(capture), new Uint8Array(300), gzipSync(capture));
    for (const chunks of [[bytes], every(bytes, 100)]) {
      const seen = await all(readCaptureStream(gunzipIfNeeded(chunks)));
      expect(seen.frames).toEqual(frames);
      expect(seen.error).toMatchObject({ code: 'ERR_CAPTURE_GZIP' });
    }
  });

  it('cut at any byte gives the frames before the cut and a typed error', async () => {
    const small = join(writer.header(), ...frames.slice(0, 3).map((frame) => writer.record(frame)));
    const compressed = new Uint8Array(gzipSync(small));
    let last = 0;
    for (let length = 2; length < compressed.length; length += 1) {
      const seen = await all(readCaptureStream(gunzipIfNeeded([compressed.subarray(0, length)])));
      expect(seen.frames).toEqual(frames.slice(0, seen.frames.length));
      expect(seen.frames.length).toBeGreaterThanOrEqual(last);
      last = seen.frames.length;
      expect(CaptureError.is(seen.error)).toBe(true);
      expect(seen.error).toMatchObject({ code: 'ERR_CAPTURE_GZIP' });
    }
    expect(last).toBe(3);
  });

  it('cut in the middle of a large capture keeps what came before', async () => {
    const compressed = gzipSync(capture, { level: 1 });
    const seen = await all(readCaptureStream(gunzipIfNeeded(every(compressed.subarray(0, -100), 1000))));
    expect(seen.error).toMatchObject({ code: 'ERR_CAPTURE_GZIP', offset: compressed.length - 100 });
    expect(seen.frames.length).toBeGreaterThan(250);
    expect(seen.frames).toEqual(frames.slice(0, seen.frames.length));
  });

  it('with damaged bytes gives a typed error, and never another one', async () => {
    let damaged = 0;
    const compressed = new Uint8Array(gzipSync(capture.subarray(0, 4000)));
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: compressed.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, bits) => {
          const bytes = compressed.slice();
          bytes[at] = bytes[at]! ^ bits;
          const { error } = await all(readCaptureStream(gunzipIfNeeded(every(bytes, 700))));
          expect(CaptureError.is(error)).toBe(true);
          if ((error as CaptureError).code === 'ERR_CAPTURE_GZIP') damaged += 1;
        },
      ),
      { numRuns: runs(200) },
    );
    expect(damaged).toBeGreaterThan(100 * LENGTH);
  });

  it('in front of something else than gzip is an error', async () => {
    const { error } = await all(readCaptureStream(gunzipIfNeeded([join(gzipSync(capture), hex('01020304'))])));
    expect(error).toMatchObject({ code: 'ERR_CAPTURE_GZIP' });
  });

  it('of one byte is a capture cut short', async () => {
    const { error } = await all(readCaptureStream(gunzipIfNeeded([hex('1f')])));
    expect(error).toMatchObject({ code: 'ERR_CAPTURE_TRUNCATED', offset: 0 });
  });

  it('that expands a thousandfold is read with bounded memory', async () => {
    const zeros = gzipSync(new Uint8Array(64 << 20), { level: 9 });
    let largest = 0;
    let total = 0;
    for await (const chunk of gunzipIfNeeded([zeros])) {
      largest = Math.max(largest, chunk.length);
      total += chunk.length;
    }
    expect(total).toBe(64 << 20);
    expect(largest).toBeLessThanOrEqual(1 << 16);
  });
});

describe('capture files', () => {
  it.each(['a.pcap', 'a.pcap.gz', 'a.pcapng', 'a.pcapng.gz'])('%s is written and read back', async (name) => {
    const path = joinPath(folder, name);
    const file = await createCaptureFile(path);
    for (const frame of frames) await file.write(frame);
    await file.close();
    const magic = readFileSync(path).subarray(0, 4).toString('hex');
    expect(magic).toMatch(name.endsWith('.gz') ? /^1f8b/ : name.endsWith('ng') ? /^0a0d0d0a$/ : /^4d3cb2a1$/);
    expect(await all(openCapture(path))).toEqual({ frames, error: undefined });
    expect([...readCapture(await bytesOf(captureChunks(path)))]).toEqual(frames);
  });

  it('hold the options given', async () => {
    const path = joinPath(folder, 'options.bin');
    const file = await createCaptureFile(path, {
      format: 'pcap',
      gzip: false,
      linkType: 101,
      nanosecond: false,
      byteOrder: 'big',
      snapLength: 3,
    });
    await file.write({ data: hex('45000000'), timeNs: 1_999n });
    await file.close();
    expect(new Uint8Array(readFileSync(path))).toEqual(
      hex(`a1b2c3d4 0002 0004 00000000 00000000 00000003 00000065
           00000000 00000001 00000003 00000004 450000`),
    );
  });

  it('without frames are complete captures', async () => {
    for (const name of ['empty.pcap', 'empty.pcapng', 'empty.pcap.gz']) {
      const file = await createCaptureFile(joinPath(folder, name));
      await file.close();
      await file.close();
      expect(await all(openCapture(joinPath(folder, name)))).toEqual({ frames: [], error: undefined });
    }
  });

  it('take the link type of the first frame; pcapng takes any number of them', async () => {
    const sll = { data: hex('00'), timeNs: 1n, linkType: 113 };
    const ethernet = { data: hex('01'), timeNs: 2n, linkType: 1 };
    const pcap = await createCaptureFile(joinPath(folder, 'link.pcap'));
    await pcap.write(sll);
    await expect(pcap.write(ethernet)).rejects.toThrow(TypeError);
    await pcap.write(sll);
    await pcap.close();
    expect((await all(openCapture(joinPath(folder, 'link.pcap')))).frames.map((frame) => frame.linkType)).toEqual([
      113, 113,
    ]);

    const pcapng = await createCaptureFile(joinPath(folder, 'link.pcapng'));
    for (const frame of [sll, ethernet, sll]) await pcapng.write(frame);
    await pcapng.close();
    const read = (await all(openCapture(joinPath(folder, 'link.pcapng')))).frames;
    expect(read.map((frame) => [frame.interfaceId, frame.linkType])).toEqual([
      [0, 113],
      [1, 1],
      [0, 113],
    ]);
  });

  it('with interfaces of the caller refer to those', async () => {
    const path = joinPath(folder, 'interfaces.pcapng');
    const file = await createCaptureFile(path, { interfaces: [{ name: 'a' }, { name: 'b', linkType: 101 }] });
    await file.write({ data: hex('45'), timeNs: 1n, interfaceId: 1 });
    await expect(file.write({ data: hex('45'), timeNs: 1n, interfaceId: 2 })).rejects.toThrow(RangeError);
    await file.close();
    expect((await all(openCapture(path))).frames).toEqual([
      { data: hex('45'), timeNs: 1n, originalLength: 1, linkType: 101, interfaceId: 1 },
    ]);
  });

  it('stay complete when the first frame is refused', async () => {
    for (const name of ['refused.pcap', 'refused.pcapng']) {
      const file = await createCaptureFile(joinPath(folder, name));
      await expect(file.write({ data: hex('00'), timeNs: -1n })).rejects.toThrow(RangeError);
      await file.write({ data: hex('00'), timeNs: 1n });
      await file.close();
      expect((await all(openCapture(joinPath(folder, name)))).frames).toHaveLength(1);
    }
  });

  it('keep the order of writes that are not awaited', async () => {
    const path = joinPath(folder, 'order.pcap.gz');
    const file = await createCaptureFile(path);
    const many = Array.from({ length: 20 }, () => frames).flat();
    const done = many.map((frame) => file.write(frame));
    await file.close();
    await Promise.all(done);
    expect((await all(openCapture(path))).frames).toEqual(many);
  });

  it('refuse a frame after close, options out of range and a path that cannot be opened', async () => {
    const file = await createCaptureFile(joinPath(folder, 'closed.pcap'));
    await file.close();
    await expect(file.write(frames[0]!)).rejects.toThrow(TypeError);
    await expect(createCaptureFile(joinPath(folder, 'x.pcap'), { linkType: -1 })).rejects.toThrow(RangeError);
    await expect(createCaptureFile(joinPath(folder, 'x.pcapng'), { linkType: -1 })).rejects.toThrow(RangeError);
    await expect(createCaptureFile(joinPath(folder, 'none', 'x.pcap'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect((await all(openCapture(joinPath(folder, 'missing.pcap')))).error).toMatchObject({ code: 'ENOENT' });
  });

  it('report a full disk from write or close', async ({ skip }) => {
    if (process.platform !== 'linux') skip('skipped: /dev/full exists on Linux only');
    const file = await createCaptureFile('/dev/full', { format: 'pcap' });
    await file.write(frames[0]!);
    await expect(file.close()).rejects.toMatchObject({ code: 'ENOSPC' });
  });

  it('can be left before their end', async () => {
    const path = joinPath(folder, 'left.pcap');
    writeFileSync(path, capture);
    for await (const frame of openCapture(path)) {
      expect(frame).toEqual(frames[0]);
      break;
    }
  });

  it('apply the limits given', async () => {
    const path = joinPath(folder, 'limits.pcap');
    writeFileSync(path, capture);
    expect((await all(openCapture(path, { maxFrameLength: 40 }))).error).toMatchObject({
      code: 'ERR_CAPTURE_TOO_LARGE',
    });
  });
});

describe('the build of this package', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));

  it('keeps Node out of what browsers import', () => {
    const core = readdirSync(joinPath(root, 'src')).filter((name) => name.endsWith('.ts'));
    expect(core).toContain('index.ts');
    for (const name of core) {
      const imported = readFileSync(joinPath(root, 'src', name), 'utf8').matchAll(/from '([^']*)'/g);
      for (const [, from] of imported) expect(from).toMatch(/^\.\/[a-z-]+\.js$/);
    }
  });
});
