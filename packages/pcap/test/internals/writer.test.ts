import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ByteOrder,
  CaptureFrame,
  CaptureReader,
  type CaptureWriter,
  encodePcapHeader,
  encodePcapRecord,
  type FrameInput,
  LinkType,
  PcapngWriter,
  PcapWriter,
  readCapture,
} from '../../src/index.js';
import { hex, join } from '../build-capture.js';

const byteOrders = fc.constantFrom<ByteOrder>('little', 'big');
const data = fc.uint8Array({ maxLength: 90 });
const originals = fc.option(fc.integer({ min: 0, max: 0xffffffff }), { nil: undefined });

function input(data: Uint8Array, timeNs: bigint, originalLength: number | undefined): FrameInput {
  return originalLength === undefined ? { data, timeNs } : { data, timeNs, originalLength };
}

/** Records by `recordInto`, one behind the other in a buffer with a margin that must stay as it is. */
function allInto(writer: CaptureWriter, frames: readonly FrameInput[]): Uint8Array {
  const lengths = frames.map((frame) => writer.recordLength(frame.data.length, frame.interfaceId));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const out = new Uint8Array(total + 6).fill(0xc3);
  let at = 3;
  frames.forEach((frame, index) => {
    const high = Number(frame.timeNs >> 32n);
    const low = Number(frame.timeNs & 0xffffffffn);
    const written = writer.recordInto(out, at, frame.data, high, low, frame.originalLength, frame.interfaceId);
    expect(written).toBe(lengths[index]);
    at += written;
  });
  expect([...out.subarray(0, 3), ...out.subarray(at)]).toEqual(Array(6).fill(0xc3));
  return out.slice(3, at);
}

describe('what is written reads back the same', () => {
  it('as pcap, in both byte orders, with micro- and nanoseconds', () => {
    const times = fc.bigInt(0n, 2n ** 32n * 1_000_000_000n - 1n);
    fc.assert(
      fc.property(
        byteOrders,
        fc.boolean(),
        fc.integer({ min: 0, max: 0xffff }),
        fc.array(fc.record({ data, timeNs: times, originalLength: originals }), { maxLength: 8 }),
        (byteOrder, nanosecond, linkType, records) => {
          const options = { byteOrder, nanosecond, linkType };
          const frames = records.map((one) => input(one.data, one.timeNs, one.originalLength));
          const writer = new PcapWriter(options);
          const bytes = join(encodePcapHeader(options), ...frames.map((frame) => encodePcapRecord(frame, options)));
          expect(join(writer.header(), ...frames.map((frame) => writer.record(frame)))).toEqual(bytes);
          expect(join(writer.header(), allInto(writer, frames))).toEqual(bytes);
          expect([...readCapture(bytes)]).toEqual(
            frames.map((frame) => ({
              data: frame.data,
              timeNs: nanosecond ? frame.timeNs : frame.timeNs - (frame.timeNs % 1000n),
              originalLength: frame.originalLength ?? frame.data.length,
              linkType,
              interfaceId: 0,
            })),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('as pcapng, in both byte orders, with several interfaces of either resolution', () => {
    const times = fc.bigInt(0n, 2n ** 64n - 1n);
    const interfaces = fc.array(
      fc.record({
        linkType: fc.integer({ min: 0, max: 0xffff }),
        nanosecond: fc.boolean(),
        name: fc.constantFrom('', 'eth0', 'a', 'Netzwerk-Brücke 12'),
      }),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(
        byteOrders,
        interfaces,
        fc.array(fc.record({ data, timeNs: times, originalLength: originals, pick: fc.nat() }), { maxLength: 8 }),
        (byteOrder, described, records) => {
          const writer = new PcapngWriter({ byteOrder, interfaces: described });
          const frames = records.map((one) => ({
            ...input(one.data, one.timeNs, one.originalLength),
            interfaceId: one.pick % described.length,
          }));
          const bytes = join(writer.header(), ...frames.map((frame) => writer.record(frame)));
          expect(join(writer.header(), allInto(writer, frames))).toEqual(bytes);
          expect(bytes.length % 4).toBe(0);
          expect([...readCapture(bytes)]).toEqual(
            frames.map((frame) => {
              const { linkType, nanosecond } = described[frame.interfaceId]!;
              const timeNs = nanosecond ? frame.timeNs : frame.timeNs - (frame.timeNs % 1000n);
              return { originalLength: frame.data.length, ...frame, timeNs, linkType };
            }),
          );
          const reader = new CaptureReader();
          reader.feed(bytes);
          reader.next(new CaptureFrame());
          expect(reader.interfaces.map((one) => [one.linkType, one.timestampResolution, one.name ?? ''])).toEqual(
            described.map((one) => [one.linkType, one.nanosecond ? 9 : 6, one.name]),
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('when a capture is read and its frames are written as they are', () => {
    const bytes = join(
      encodePcapHeader({ linkType: LinkType.LINUX_SLL2 }),
      encodePcapRecord({ data: hex('010203'), timeNs: 12n, originalLength: 9 }, { linkType: LinkType.LINUX_SLL2 }),
    );
    const writer = new PcapWriter({ linkType: LinkType.LINUX_SLL2 });
    expect(join(writer.header(), ...[...readCapture(bytes)].map((frame) => writer.record(frame)))).toEqual(bytes);
  });
});

describe('the bytes written', () => {
  it('of pcap are a 2.4 header with nanoseconds and a record', () => {
    const bytes = join(
      encodePcapHeader(),
      encodePcapRecord({ data: hex('aabbcc'), timeNs: 1_700_000_000_123_456_789n }),
    );
    expect(bytes).toEqual(
      hex(`4d3cb2a1 0200 0400 00000000 00000000 00000400 01000000
           00f15365 15cd5b07 03000000 03000000 aabbcc`),
    );
  });

  it('of pcap state the length of the frame check sequence', () => {
    expect(encodePcapHeader({ fcsLength: 4, byteOrder: 'big' }).subarray(20)).toEqual(hex('24000001'));
    expect(encodePcapHeader({ fcsLength: 0, byteOrder: 'big' }).subarray(20)).toEqual(hex('04000001'));
    expect(encodePcapHeader({ fcsLength: 30, byteOrder: 'big' }).subarray(20)).toEqual(hex('f4000001'));
  });

  it('of pcapng are a section, an interface with if_tsresol 9 and a padded packet', () => {
    const writer = new PcapngWriter({ byteOrder: 'big', interfaces: [{ name: 'p0' }] });
    expect(
      join(writer.header(), writer.record({ data: hex('aabbcc'), timeNs: 2n ** 32n + 5n, originalLength: 64 })),
    ).toEqual(
      hex(`0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c
           00000001 00000028 0001 0000 00040000  0002 0002 70300000  0009 0001 09000000  00000000  00000028
           00000006 00000024 00000000 00000001 00000005 00000003 00000040 aabbcc00 00000024`),
    );
  });

  it('of an interface added later come before its first frame', () => {
    const writer = new PcapngWriter();
    const parts = [writer.header(), writer.record({ data: hex('01'), timeNs: 1n })];
    const interfaceId = writer.interfaceCount;
    parts.push(writer.addInterface({ linkType: LinkType.RAW }));
    parts.push(writer.record({ data: hex('45'), timeNs: 2n, interfaceId }));
    expect([...readCapture(join(...parts))].map((frame) => [frame.interfaceId, frame.linkType])).toEqual([
      [0, 1],
      [1, 101],
    ]);
  });

  it('of a long frame end at the snapshot length, which keeps the length on the wire', () => {
    const frame = { data: hex('0102030405'), timeNs: 0n };
    const pcap = new PcapWriter({ snapLength: 2 });
    const pcapng = new PcapngWriter({ interfaces: [{ snapLength: 2 }, { snapLength: 0 }] });
    const read = [
      ...readCapture(join(pcap.header(), pcap.record(frame))),
      ...readCapture(join(pcapng.header(), pcapng.record(frame), pcapng.record({ ...frame, interfaceId: 1 }))),
    ];
    expect(read.map((one) => [one.data.length, one.originalLength])).toEqual([
      [2, 5],
      [2, 5],
      [5, 5],
    ]);
  });
});

describe('the writers refuse', () => {
  const frame = { data: new Uint8Array(4), timeNs: 0n };

  it('options out of range', () => {
    for (const linkType of [-1, 65536, 1.5, Number.NaN]) {
      expect(() => new PcapWriter({ linkType })).toThrow(RangeError);
      expect(() => new PcapngWriter({ interfaces: [{ linkType }] })).toThrow(RangeError);
    }
    expect(() => new PcapWriter({ snapLength: 0 })).toThrow(RangeError);
    expect(() => new PcapngWriter({ interfaces: [{ snapLength: -1 }] })).toThrow(RangeError);
    expect(() => new PcapngWriter({ interfaces: [{ name: 'x'.repeat(65536) }] })).toThrow(RangeError);
    for (const fcsLength of [3, -2, 32]) expect(() => encodePcapHeader({ fcsLength })).toThrow(RangeError);
  });

  it('times and lengths that the format cannot hold', () => {
    const limit = 2n ** 32n * 1_000_000_000n;
    for (const timeNs of [-1n, 2n ** 64n]) {
      expect(() => new PcapWriter().record({ ...frame, timeNs })).toThrow(RangeError);
      expect(() => new PcapngWriter().record({ ...frame, timeNs })).toThrow(RangeError);
    }
    expect(() => new PcapWriter().record({ ...frame, timeNs: limit })).toThrow(RangeError);
    expect(new PcapWriter().record({ ...frame, timeNs: limit - 1n })).toHaveLength(20);
    for (const originalLength of [-1, 2 ** 32, 0.5]) {
      expect(() => new PcapWriter().record({ ...frame, originalLength })).toThrow(RangeError);
      expect(() => new PcapngWriter().record({ ...frame, originalLength })).toThrow(RangeError);
    }
  });

  it('a frame of another link type', () => {
    expect(() => new PcapWriter().record({ ...frame, linkType: 113 })).toThrow(TypeError);
    expect(() => new PcapngWriter().record({ ...frame, linkType: 113 })).toThrow(TypeError);
  });

  it('an interface that does not exist', () => {
    expect(() => new PcapngWriter().record({ ...frame, interfaceId: 1 })).toThrow(RangeError);
    expect(() => new PcapngWriter().recordLength(1, 1)).toThrow(RangeError);
  });

  it('a buffer that is too small', () => {
    for (const writer of [new PcapWriter(), new PcapngWriter()]) {
      const length = writer.recordLength(4);
      expect(() => writer.recordInto(new Uint8Array(length - 1), 0, frame.data, 0, 0)).toThrow(RangeError);
      expect(() => writer.recordInto(new Uint8Array(length), 1, frame.data, 0, 0)).toThrow(RangeError);
      expect(() => writer.recordInto(new Uint8Array(length), -1, frame.data, 0, 0)).toThrow(RangeError);
      expect(writer.recordInto(new Uint8Array(length), 0, frame.data, 0, 0)).toBe(length);
    }
  });
});

describe('link types', () => {
  it('have the numbers of the registry', () => {
    const { NULL, ETHERNET, RAW, LINUX_SLL, LINUX_SLL2, IPV4, IPV6 } = LinkType;
    expect([NULL, ETHERNET, RAW, LINUX_SLL, LINUX_SLL2, IPV4, IPV6]).toEqual([0, 1, 101, 113, 276, 228, 229]);
    expect(new Set(Object.values(LinkType)).size).toBe(Object.keys(LinkType).length);
  });
});
