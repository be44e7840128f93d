import { CaptureFrame, CaptureReader, readCapture } from '@int/pcap';
import { describe, expect, it } from 'vitest';
import { Fields, hex, join, pad } from './build-capture.js';

/** Captures written out by hand from draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. */

const time = 1_700_000_000_123_456_789n;
const micro = 1_700_000_000_123_456_000n;

describe('pcap, written out by hand', () => {
  // 1700000000 is 0x6553f100, 123456 is 0x0001e240, 123456789 is 0x075bcd15.
  const vectors = [
    [
      'little-endian with microseconds',
      `d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000
       00f15365 40e20100 03000000 40000000 aabbcc`,
      { byteOrder: 'little', timeNs: micro, linkType: 1, resolution: 6, fcsLength: undefined },
    ],
    [
      'big-endian with microseconds',
      `a1b2c3d4 0002 0004 00000000 00000000 0000ffff 00000065
       6553f100 0001e240 00000003 00000040 aabbcc`,
      { byteOrder: 'big', timeNs: micro, linkType: 101, resolution: 6, fcsLength: undefined },
    ],
    [
      'little-endian with nanoseconds',
      `4d3cb2a1 0200 0400 00000000 00000000 ffff0000 14010000
       00f15365 15cd5b07 03000000 40000000 aabbcc`,
      { byteOrder: 'little', timeNs: time, linkType: 276, resolution: 9, fcsLength: undefined },
    ],
    [
      'big-endian with nanoseconds, a time zone that is ignored and a 4-byte frame check sequence',
      `a1b23c4d 0002 0004 00000e10 00000006 0000ffff 24000001
       6553f100 075bcd15 00000003 00000040 aabbcc`,
      { byteOrder: 'big', timeNs: time, linkType: 1, resolution: 9, fcsLength: 4 },
    ],
    [
      "little-endian in Kuznetsov's variant, whose record headers carry 8 more bytes",
      `34cdb2a1 0200 0400 00000000 00000000 ffff0000 01000000
       00f15365 40e20100 03000000 40000000 02000000 0008 04 00 aabbcc`,
      { byteOrder: 'little', timeNs: micro, linkType: 1, resolution: 6, fcsLength: undefined },
    ],
    [
      "big-endian in Kuznetsov's variant",
      `a1b2cd34 0002 0004 00000000 00000000 0000ffff 00000001
       6553f100 0001e240 00000003 00000040 00000002 0800 04 00 aabbcc`,
      { byteOrder: 'big', timeNs: micro, linkType: 1, resolution: 6, fcsLength: undefined },
    ],
    [
      'version 2.3, with the two lengths in the older order',
      `d4c3b2a1 0200 0300 00000000 00000000 ffff0000 01000000
       00f15365 40e20100 40000000 03000000 aabbcc`,
      { byteOrder: 'little', timeNs: micro, linkType: 1, resolution: 6, fcsLength: undefined },
    ],
    [
      'version 2.2, where the original length is first even if it is smaller',
      `d4c3b2a1 0200 0200 00000000 00000000 ffff0000 01000000
       00f15365 40e20100 02000000 03000000 aabbcc`,
      { byteOrder: 'little', timeNs: micro, linkType: 1, resolution: 6, fcsLength: undefined, originalLength: 2 },
    ],
  ] as const;

  it.each(vectors)('%s', (_, text, expected) => {
    const { linkType, timeNs } = expected;
    const originalLength = 'originalLength' in expected ? expected.originalLength : 0x40;
    expect([...readCapture(hex(text))]).toEqual([
      { data: hex('aabbcc'), timeNs, originalLength, linkType, interfaceId: 0 },
    ]);
    const reader = new CaptureReader();
    reader.feed(hex(text));
    expect(reader.next(new CaptureFrame())).toBe(true);
    expect([reader.format, reader.byteOrder]).toEqual(['pcap', expected.byteOrder]);
    expect(reader.interfaces).toEqual([
      {
        linkType,
        snapLength: 65535,
        timestampResolution: expected.resolution,
        fcsLength: expected.fcsLength,
        name: undefined,
      },
    ]);
  });

  it('without records', () => {
    expect([...readCapture(hex('a1b2c3d4 0002 0004 00000000 00000000 0000ffff 00000001'))]).toEqual([]);
  });

  it('with empty frames', () => {
    const record = '01000000 02000000 00000000 00000000';
    const frames = [...readCapture(hex(`d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000 ${record} ${record}`))];
    expect(frames.map((frame) => [frame.data.length, frame.timeNs])).toEqual([
      [0, 1_000_002_000n],
      [0, 1_000_002_000n],
    ]);
  });
});

describe('pcapng, written out by hand', () => {
  const section = '0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000';
  const ethernet = '01000000 14000000 0100 0000 00000400 14000000';
  // Microseconds: 1700000000123456 is 0x00060a24_18202240.
  const packet = '06000000 24000000 00000000 240a0600 40222018 03000000 40000000 aabbcc00 24000000';
  const frame = { data: hex('aabbcc'), timeNs: micro, originalLength: 0x40, linkType: 1, interfaceId: 0 };

  it('little-endian with an enhanced packet, in microseconds by default', () => {
    expect(1_700_000_000_123_456n).toBe(0x00060a24_18202240n);
    expect([...readCapture(hex(section + ethernet + packet))]).toEqual([frame]);
  });

  it('big-endian with nanoseconds and an interface name', () => {
    const capture = hex(`
      0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c
      00000001 0000002c 0113 0000 00000000  0002 0004 65746830  0009 0001 09000000  000d 0001 04000000  0000002c
      00000006 00000028 00000000 17979cfe 3d85cd15 00000005 00000005 0102030405 000000 00000028`);
    expect(0x17979cfe_3d85cd15n).toBe(time);
    expect([...readCapture(capture)]).toEqual([
      { data: hex('0102030405'), timeNs: time, originalLength: 5, linkType: 275, interfaceId: 0 },
    ]);
    const reader = new CaptureReader();
    reader.feed(capture);
    expect(reader.next(new CaptureFrame())).toBe(true);
    expect([reader.format, reader.byteOrder]).toEqual(['pcapng', 'big']);
    expect(reader.interfaces).toEqual([
      { linkType: 275, snapLength: 0, timestampResolution: 9, fcsLength: 4, name: 'eth0' },
    ]);
  });

  it('with version 1.2, which is the same as 1.0', () => {
    const other = section.replace('0100 0000 ff', '0100 0200 ff');
    expect([...readCapture(hex(other + ethernet + packet))]).toEqual([frame]);
  });

  it('with a section length of 0 that some writers leave', () => {
    const other = section.replace('ffffffffffffffff', '0000000000000000');
    expect([...readCapture(hex(other + ethernet + packet))]).toEqual([frame]);
  });

  it('with the obsolete packet block', () => {
    const obsolete = packet.replace('06000000 24000000 00000000', '02000000 24000000 0000 0500');
    expect([...readCapture(hex(section + ethernet + obsolete))]).toEqual([frame]);
  });

  it('with simple packets, cut to the snapshot length and without a time', () => {
    const cut = '01000000 14000000 0100 0000 03000000 14000000';
    const simple = '03000000 14000000 40000000 aabbcc00 14000000';
    const short = '03000000 14000000 02000000 aabb0000 14000000';
    expect([...readCapture(hex(section + cut + simple + short))]).toEqual([
      { ...frame, timeNs: 0n },
      { ...frame, data: hex('aabb'), timeNs: 0n, originalLength: 2 },
    ]);
  });

  it('with blocks that carry no frames: names, statistics, secrets, custom and unknown ones', () => {
    const f = new Fields(true);
    const skipped = [4, 5, 10, 9, 0xbad, 0x40000bad, 0x80000001, 0xffffffff].map((type) =>
      f.block(type, new Uint8Array((type % 32) & ~3).fill(0x0a)),
    );
    expect([...readCapture(join(hex(section + ethernet), ...skipped, hex(packet), ...skipped))]).toEqual([frame]);
  });

  it('with comments and flags on every block', () => {
    const f = new Fields(true);
    const comment = f.option(1, hex('68656c6c6f'));
    const flags = f.option(2, f.u32(1));
    const capture = join(
      f.section(comment, f.u32(0)),
      f.interface(1, 0, comment, f.option(0x8fff, new Uint8Array(7)), f.u32(0)),
      f.enhanced(0, 1_700_000_000_123_456n, hex('aabbcc'), 0x40, comment, flags, f.u32(0)),
      f.enhanced(0, 1_700_000_000_123_456n, hex('aabbcc'), 0x40, flags),
    );
    expect([...readCapture(capture)]).toEqual([frame, frame]);
  });

  it('with options after the end of options, which do not count', () => {
    const f = new Fields(true);
    const capture = join(f.section(), f.interface(1, 0, f.u32(0), f.option(9, Uint8Array.of(0))), hex(packet));
    expect([...readCapture(capture)]).toEqual([frame]);
  });

  it('with an interface described between packets', () => {
    const f = new Fields(true);
    const capture = join(
      f.section(),
      f.interface(1, 0),
      hex(packet),
      f.interface(113, 0, f.option(9, Uint8Array.of(9))),
      f.enhanced(1, time, hex('01'), 1),
    );
    expect([...readCapture(capture)]).toEqual([
      frame,
      { data: hex('01'), timeNs: time, originalLength: 1, linkType: 113, interfaceId: 1 },
    ]);
  });

  it('with a second section of the other byte order, whose interfaces start at 0 again', () => {
    const f = new Fields(false);
    const other = join(
      f.section(),
      f.interface(228, 0, f.option(9, Uint8Array.of(9))),
      f.enhanced(0, time, hex('45'), 20),
    );
    expect([...readCapture(join(hex(section + ethernet + packet), other))]).toEqual([
      frame,
      { data: hex('45'), timeNs: time, originalLength: 20, linkType: 228, interfaceId: 0 },
    ]);
  });

  it.each([
    [6, 0n, 1_700_000_000_123_456n, micro],
    [0, 0n, 1_700_000_000n, 1_700_000_000_000_000_000n],
    [3, 0n, 1_700_000_000_123n, 1_700_000_000_123_000_000n],
    [9, 0n, time, time],
    [12, 0n, 1_234_567_890_123n, 1_234_567_890n],
    [0x80 | 1, 0n, 3n, 1_500_000_000n],
    [0x80 | 10, 0n, 1025n, 1_000_976_562n],
    [0x80 | 32, 0n, 0x1_8000_0000n, 1_500_000_000n],
    [6, 1_700_000_000n, 123_456n, micro],
    [6, -10n, 1_700_000_010_123_456n, micro],
    [9, -1n, 1_000_000_000n, 0n],
  ])('with if_tsresol %i and if_tsoffset %i: %i ticks are %i ns', (resolution, offset, ticks, expected) => {
    for (const little of [true, false]) {
      const f = new Fields(little);
      const options = [f.option(9, Uint8Array.of(resolution)), f.option(14, f.i64(offset))];
      const capture = join(f.section(), f.interface(1, 0, ...options), f.enhanced(0, ticks, hex('01'), 1));
      expect([...readCapture(capture)].map((one) => one.timeNs)).toEqual([expected]);
    }
  });

  it('with a long interface name, of which 256 bytes are kept', () => {
    const f = new Fields(true);
    const reader = new CaptureReader();
    reader.feed(join(f.section(), f.interface(1, 0, f.option(2, pad(new Uint8Array(5000).fill(0x78))))));
    expect(reader.next(new CaptureFrame())).toBe(false);
    expect(reader.interfaces[0]?.name).toBe('x'.repeat(256));
  });

  it('without any interface or packet', () => {
    expect([...readCapture(hex(section))]).toEqual([]);
  });
});

describe('a frame record', () => {
  it('is filled in place, with a view and a copy on request', () => {
    const capture = hex(`d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000
      01000000 02000000 02000000 09000000 aabb`);
    const reader = new CaptureReader();
    const frame = new CaptureFrame();
    reader.feed(capture);
    expect(reader.next(frame)).toBe(true);
    expect(frame.bytes).toBe(capture);
    expect([frame.offset, frame.length, frame.originalLength, frame.linkType, frame.interfaceId]).toEqual([
      40, 2, 9, 1, 0,
    ]);
    expect([frame.timestampHigh, frame.timestampLow, frame.timeNs]).toEqual([0, 1_000_002_000, 1_000_002_000n]);
    expect(frame.data.buffer).toBe(capture.buffer);
    const copy = frame.copy();
    capture.fill(0);
    expect([frame.data, copy.data]).toEqual([hex('0000'), hex('aabb')]);
  });
});
