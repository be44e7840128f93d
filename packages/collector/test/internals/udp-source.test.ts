import { createSocket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { send } from '../../../../.ci/test/datagrams.js';
import { skip } from '../../../../.ci/test/requires.js';
import { until } from '../../../../.ci/test/until.js';
import { sourceTimeMs } from '../../src/frames.js';
import { kernelDrops, parseProcNetUdp } from '../../src/source/kernel-drops.js';
import { SourceError } from '../../src/source/source.js';
import { UdpSource } from '../../src/source/udp.js';

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0)) await close();
});

function started(options: Partial<ConstructorParameters<typeof UdpSource>[0]> = {}): UdpSource {
  const source = new UdpSource({ address: 'udp://127.0.0.1:0', ...options });
  closing.push(() => source.stop());
  return source;
}

const numbered = (count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, index) => new Uint8Array(1 + (index % 50)).fill(index));

describe('UdpSource', () => {
  test('gives times that do not go back with a small step of the clock, and counts a large one', async () => {
    const source = started({ dropPollMs: 5 });
    const times: number[] = [];
    await source.start((frames) => {
      for (let row = 0; row < frames.count; row++) times.push(sourceTimeMs(frames, row));
      return undefined;
    });
    const { port } = source.address;
    const one = async (): Promise<void> => {
      const before = times.length;
      await send(port, [new Uint8Array(4)]);
      await until('a datagram', () => times.length > before);
    };
    await one();
    const { now } = Date;
    let behindMs = 500;
    vi.spyOn(Date, 'now').mockImplementation(() => now() - behindMs);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await one();
    await one();
    expect(source.clockStepsBack).toBe(0);
    expect([...times].sort((a, b) => a - b)).toEqual(times);
    behindMs += 3_600_000;
    await until('a step of the clock', () => source.clockStepsBack === 1);
    await one();
    expect(times.at(-1)! - times[0]!).toBeLessThan(-3_500_000);
  });

  test.each(['udp://127.0.0.1:0', 'udp://[::1]:0', 'udp://localhost:0'])(
    '%s receives datagrams in order',
    async (address) => {
      const now = 1_700_000_000_123.25;
      const source = started({ address, now: () => now });
      const received: Uint8Array[] = [];
      await source.start((frames) => {
        expect(frames.linkType).toBe('report');
        for (let row = 0; row < frames.count; row++) {
          const start = frames.offsets[row]!;
          received.push(frames.bytes.slice(start, start + frames.lengths[row]!));
          expect(sourceTimeMs(frames, row)).toBeCloseTo(now, 3);
        }
        return undefined;
      });
      expect(source.address.port).toBeGreaterThan(0);
      expect(source.receiveBuffer!.requested).toBe(32 * 1024 * 1024);
      expect(source.receiveBuffer!.granted).toBeGreaterThan(0);
      const datagrams = numbered(60);
      await send(source.address.port, datagrams, source.address.host);
      await until('all datagrams', () => received.length === 60);
      expect(received).toEqual(datagrams);
      await source.stop();
      await source.finished;
      expect(source.overrun).toBe(0);
    },
  );

  test('flushes a slab when it is full of frames or of bytes', async () => {
    const source = started({ slabFrames: 4, slabBytes: 65_535, flushMs: 60_000 });
    const counts: number[] = [];
    await source.start((frames) => {
      counts.push(frames.count);
      return undefined;
    });
    await send(source.address.port, [...numbered(5), new Uint8Array(60_000), new Uint8Array(6_000)]);
    await until('two slabs', () => counts.length === 2);
    await source.stop();
    expect(counts).toEqual([4, 2, 1]);
  });

  test('delivers at stop what the kernel and the slab still hold', async () => {
    const source = started({ flushMs: 60_000 });
    let count = 0;
    await source.start((frames) => {
      count += frames.count;
      return undefined;
    });
    await send(source.address.port, numbered(300));
    await source.stop();
    expect(count).toBe(300);
  });

  test('delivers at stop what has come while the process had no time to look', async () => {
    const source = started();
    let count = 0;
    await source.start((frames) => {
      count += frames.count;
      return undefined;
    });
    const sender = createSocket('udp4');
    await new Promise<void>((resolve) => sender.connect(source.address.port, '127.0.0.1', resolve));
    for (const datagram of numbered(500)) sender.send(datagram);
    const stopped = source.stop();
    const until = performance.now() + 50;
    while (performance.now() < until);
    await stopped;
    sender.close();
    expect(count + (source.kernelDropped ?? 0)).toBe(500);
  });

  test('refuses and counts datagrams while the pipeline keeps all slabs, and goes on afterwards', async () => {
    const source = started({ slabs: 2, slabFrames: 10, flushMs: 1 });
    let count = 0;
    const waiting: (() => void)[] = [];
    await source.start((frames) => {
      count += frames.count;
      return new Promise<void>((resolve) => waiting.push(resolve));
    });
    await send(source.address.port, numbered(100));
    await until('all datagrams', () => count + source.overrun === 100);
    expect(count).toBeLessThanOrEqual(20);
    expect(waiting).toHaveLength(2);
    const refused = source.overrun;
    for (const resolve of waiting.splice(0)) resolve();
    await send(source.address.port, numbered(5));
    await until('all datagrams', () => count + source.overrun === 105);
    expect(source.overrun).toBe(refused);
    const stopped = source.stop();
    await until('the last slab', () => waiting.length > 0);
    for (const resolve of waiting.splice(0)) resolve();
    await stopped;
  });

  test('says why a port cannot be opened, and what to do', async () => {
    const first = started();
    await first.start(() => undefined);
    const second = new UdpSource({ address: first.address });
    const error = await second.start(() => undefined).catch((reason: unknown) => reason);
    expect(SourceError.is(error)).toBe(true);
    expect(error).toMatchObject({ code: 'ERR_SOURCE_OPEN' });
    expect(String(error)).toContain('choose another port');
    await expect(new UdpSource({ address: 'udp://203.0.113.7:9' }).start(() => undefined)).rejects.toThrow(
      'no such address',
    );
    await second.stop();
  });

  test('refuses options that make no sense', () => {
    expect(() => new UdpSource({ address: 'nonsense' })).toThrow(TypeError);
    expect(() => new UdpSource({ address: 'udp://[::]', slabs: 0 })).toThrow(RangeError);
    expect(() => new UdpSource({ address: 'udp://[::]', slabBytes: 1000 })).toThrow(RangeError);
    expect(() => new UdpSource({ address: 'udp://[::]', slabFrames: 0 })).toThrow(RangeError);
  });
});

describe('kernel drops', () => {
  test('are read from the table by port and inode', () => {
    const table = [
      '   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops            ',
      '  345: 0100007F:7FFE 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 54321 2 0000000000000000 17       ',
      '  901: 00000000000000000000000001000000:7FFE 00000000000000000000000000000000:0000 07 00000000:00000300 00:00000000 00000000     0        0 99 2 ffff8f0d 4294967295',
      'garbage',
      '',
    ].join('\n');
    expect(parseProcNetUdp(table)).toEqual([
      { port: 0x7ffe, inode: '54321', drops: 17 },
      { port: 0x7ffe, inode: '99', drops: 4294967295 },
    ]);
  });

  test('of an overfull socket are counted, so that nothing is lost unseen', async () => {
    if (!existsSync('/proc/net/udp')) skip('this system has no /proc/net/udp: run the test on Linux');
    const source = started({ receiveBufferBytes: 4096, flushMs: 1 });
    let count = 0;
    await source.start((frames) => {
      count += frames.count;
      return undefined;
    });
    expect(source.kernelDropped).toBe(0);
    const sender = createSocket('udp4');
    const sent = 3000;
    // All at once and without giving way: the receiver, in this same thread, cannot keep up.
    const done = Array.from(
      { length: sent },
      (_, index) =>
        new Promise<void>((resolve) =>
          sender.send(new Uint8Array(500).fill(index), source.address.port, '127.0.0.1', () => resolve()),
        ),
    );
    await Promise.all(done);
    await source.stop();
    sender.close();
    expect(source.kernelDropped).toBeGreaterThan(0);
    expect(count + source.kernelDropped!).toBe(sent);
  });

  test('are unknown for a socket that is not there', async () => {
    expect(await kernelDrops('udp6', 1)()).toBeNull();
  });
});
