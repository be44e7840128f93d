import {
  CaptureBatch,
  CaptureError,
  CaptureFrame,
  CaptureReader,
  encodePcapHeader,
  encodePcapRecord,
  PcapngWriter,
  readCapture,
  readCaptureStream,
} from '@int/pcap';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { captures, Fields, join } from './build-capture.js';
import { byBatch, byNext, cut, every, fedAtOnce, framesOf } from './collect.js';

const cuts = fc.array(fc.nat(2000), { maxLength: 30 });
const whole = { error: undefined };

describe('any chunking gives the same frames', () => {
  it('one frame at a time, with chunks cut anywhere', () => {
    let seen = 0;
    fc.assert(
      fc.property(captures, cuts, ({ bytes, frames }, at) => {
        const chunks = cut(
          bytes,
          at.filter((place) => place <= bytes.length),
        );
        expect(byNext(chunks)).toEqual({ ...whole, frames });
        seen += frames.length;
      }),
      { numRuns: 300 },
    );
    expect(seen).toBeGreaterThan(300);
  });

  it('in batches of any size', () => {
    fc.assert(
      fc.property(captures, cuts, fc.integer({ min: 1, max: 6 }), ({ bytes, frames }, at, capacity) => {
        const chunks = cut(
          bytes,
          at.filter((place) => place <= bytes.length),
        );
        expect(byBatch(chunks, capacity)).toEqual({ ...whole, frames });
      }),
      { numRuns: 300 },
    );
  });

  it('one byte at a time', () => {
    fc.assert(
      fc.property(captures, ({ bytes, frames }) => {
        expect(byNext(every(bytes, 1))).toEqual({ ...whole, frames });
        expect(byBatch(every(bytes, 1), 4)).toEqual({ ...whole, frames });
      }),
      { numRuns: 100 },
    );
  });

  it('with everything fed, and the end told, before the first frame is taken', () => {
    fc.assert(
      fc.property(captures, cuts, ({ bytes, frames }, at) => {
        const chunks = cut(
          bytes,
          at.filter((place) => place <= bytes.length),
        );
        expect(fedAtOnce(chunks)).toEqual({ ...whole, frames });
      }),
      { numRuns: 200 },
    );
  });

  it('with single frames and batches taken in turn', () => {
    fc.assert(
      fc.property(captures, cuts, ({ bytes, frames }, at) => {
        const reader = new CaptureReader();
        const frame = new CaptureFrame();
        const batch = new CaptureBatch(2);
        const seen = [];
        for (const chunk of cut(
          bytes,
          at.filter((place) => place <= bytes.length),
        )) {
          reader.feed(chunk);
          for (;;) {
            if (!reader.next(frame)) break;
            seen.push(frame.copy());
            if (reader.readBatch(batch) === 0) break;
            seen.push(...framesOf(batch));
          }
        }
        reader.end();
        expect(seen).toEqual(frames);
      }),
      { numRuns: 200 },
    );
  });

  it('at every single place to cut a capture of each format in two', () => {
    for (const { bytes, frames } of fc.sample(captures, { numRuns: 12, seed: 5 })) {
      for (let at = 0; at <= bytes.length; at += 1) expect(byNext(cut(bytes, [at])).frames).toEqual(frames);
    }
  });

  it('from a stream, in frames that own their bytes', async () => {
    await fc.assert(
      fc.asyncProperty(captures, fc.integer({ min: 1, max: 90 }), async ({ bytes, frames }, size) => {
        const seen = [];
        async function* lend(): AsyncGenerator<Uint8Array> {
          for (const chunk of every(bytes, size)) {
            const lent = chunk.slice();
            yield lent;
            lent.fill(0xee);
          }
        }
        for await (const frame of readCaptureStream(lend())) seen.push(frame);
        expect(seen).toEqual(frames);
      }),
      { numRuns: 100 },
    );
  });

  it('from Buffers, whose slice is a view, in frames that own their bytes', () => {
    for (const { bytes, frames } of fc.sample(captures, { numRuns: 20, seed: 7 })) {
      const lent = Buffer.from(bytes);
      const reader = new CaptureReader();
      const frame = new CaptureFrame();
      const seen = [];
      reader.feed(lent);
      while (reader.next(frame)) seen.push(frame.copy());
      lent.fill(0xee);
      expect(seen).toEqual(frames);
      const views = [...readCapture(Buffer.from(bytes))];
      expect(views).toEqual(frames);
      for (const { data } of views) expect(Object.getPrototypeOf(data)).toBe(Uint8Array.prototype);
    }
  });

  it('inside a larger buffer, at any offset, as views of it', () => {
    fc.assert(
      fc.property(captures, fc.integer({ min: 1, max: 9 }), ({ bytes, frames }, shift) => {
        const larger = new Uint8Array(bytes.length + 20).fill(0xa5);
        larger.set(bytes, shift);
        const seen = [...readCapture(larger.subarray(shift, shift + bytes.length))];
        expect(seen).toEqual(frames);
        for (const frame of seen) expect(frame.data.buffer).toBe(larger.buffer);
      }),
      { numRuns: 100 },
    );
  });
});

describe('what the reader copies', () => {
  const frames = Array.from({ length: 400 }, (_, index) => new Uint8Array(40 + (index % 300)).fill(index));
  const pcap = join(encodePcapHeader(), ...frames.map((data) => encodePcapRecord({ data, timeNs: 1n })));
  const writer = new PcapngWriter();
  const pcapng = join(writer.header(), ...frames.map((data) => writer.record({ data, timeNs: 1n })));

  function copied(bytes: Uint8Array, size: number): number {
    const reader = new CaptureReader();
    const frame = new CaptureFrame();
    let count = 0;
    for (const chunk of every(bytes, size)) {
      reader.feed(chunk);
      while (reader.next(frame)) count += 1;
    }
    reader.end();
    expect(count).toBe(frames.length);
    return reader.copiedBytes;
  }

  it.each([1, 2, 3, 7, 16, 64, 500, 4096, 65536])(
    'is at most each byte once, and the growth, in chunks of %i',
    (size) => {
      // Growing by doubling from 4096 bytes never copies more than the final capacity, here 4096.
      expect(copied(pcap, size)).toBeLessThanOrEqual(pcap.length + 4096);
      expect(copied(pcapng, size)).toBeLessThanOrEqual(pcapng.length + 4096);
    },
  );

  it('is nothing for a capture in one chunk', () => {
    expect(copied(pcap, pcap.length)).toBe(0);
    expect(copied(pcapng, pcapng.length)).toBe(0);
  });

  it('is only the straddling records for large chunks', () => {
    expect(copied(pcap, 16384)).toBeLessThan(Math.ceil(pcap.length / 16384) * 400);
  });

  it('is linear for one large frame in single bytes', () => {
    const data = new Uint8Array(200_000);
    const bytes = join(encodePcapHeader(), encodePcapRecord({ data, timeNs: 0n }));
    const reader = new CaptureReader();
    const frame = new CaptureFrame();
    let found = 0;
    for (const chunk of every(bytes, 1)) {
      reader.feed(chunk);
      if (reader.next(frame)) found += 1;
    }
    expect(found).toBe(1);
    expect(reader.copiedBytes).toBeLessThanOrEqual(3 * bytes.length);
    expect(reader.bufferCapacity).toBeLessThanOrEqual(2 * bytes.length);
  });

  it('is next to nothing for a large block that is skipped in single bytes', () => {
    const f = new Fields(true);
    const bytes = join(f.section(), f.block(0x0bad, new Uint8Array(100_000)), f.interface(1, 0));
    const reader = new CaptureReader();
    const frame = new CaptureFrame();
    let found = 0;
    for (const chunk of every(bytes, 1)) {
      reader.feed(chunk);
      if (reader.next(frame)) found += 1;
    }
    reader.end();
    expect(found).toBe(0);
    expect(reader.copiedBytes).toBeLessThan(100);
    expect(reader.bufferCapacity).toBeLessThanOrEqual(4096);
  });

  it('grows only as bytes arrive, whatever length a record claims', () => {
    const f = new Fields(true);
    const reader = new CaptureReader({ maxFrameLength: 2 ** 30 });
    reader.feed(join(encodePcapHeader(), f.u32(0, 0, 2 ** 30, 2 ** 30), new Uint8Array(100)));
    expect(reader.next(new CaptureFrame())).toBe(false);
    expect(reader.bufferCapacity).toBeLessThanOrEqual(4096);
  });
});

describe('the reader', () => {
  const bytes = join(encodePcapHeader(), encodePcapRecord({ data: new Uint8Array(10), timeNs: 5n }));

  it('tells an incomplete capture at the end, and only then', () => {
    const reader = new CaptureReader();
    reader.feed(bytes.subarray(0, bytes.length - 1));
    expect(reader.next(new CaptureFrame())).toBe(false);
    expect(() => reader.end()).toThrow(expect.objectContaining({ code: 'ERR_CAPTURE_TRUNCATED', offset: 24 }));
  });

  it('still sees that a capture is incomplete after an empty chunk', () => {
    const reader = new CaptureReader();
    reader.feed(bytes.subarray(0, 30));
    expect(reader.next(new CaptureFrame())).toBe(false);
    reader.feed(new Uint8Array(0));
    expect(() => reader.end()).toThrow(expect.objectContaining({ code: 'ERR_CAPTURE_TRUNCATED' }));
  });

  it('calls an empty capture truncated', () => {
    expect(() => new CaptureReader().end()).toThrow(
      expect.objectContaining({ code: 'ERR_CAPTURE_TRUNCATED', offset: 0 }),
    );
    expect(() => [...readCapture(new Uint8Array(0))]).toThrow(
      expect.objectContaining({ code: 'ERR_CAPTURE_TRUNCATED' }),
    );
  });

  it('throws the same error again, from every method', () => {
    const reader = new CaptureReader();
    reader.feed(new Uint8Array(24));
    let first: unknown;
    try {
      reader.next(new CaptureFrame());
    } catch (error) {
      first = error;
    }
    expect(CaptureError.is(first)).toBe(true);
    for (const call of [
      () => reader.next(new CaptureFrame()),
      () => reader.readBatch(new CaptureBatch(1)),
      () => reader.feed(bytes),
      () => reader.end(),
    ]) {
      expect(call).toThrow(first as CaptureError);
    }
  });

  it('gives the frames before an error first, also in a batch', () => {
    const bad = join(bytes, new Fields(true).u32(0, 0, 0xffffffff, 0));
    const reader = new CaptureReader();
    const batch = new CaptureBatch(8);
    reader.feed(bad);
    expect(reader.readBatch(batch)).toBe(1);
    expect(batch.lengths[0]).toBe(10);
    expect(() => reader.readBatch(batch)).toThrow(expect.objectContaining({ code: 'ERR_CAPTURE_TOO_LARGE' }));
    expect(batch.count).toBe(0);
  });

  it('ends a batch where the link type or the section changes', () => {
    const f = new Fields(true);
    const data = new Uint8Array(4);
    const capture = join(
      f.section(),
      f.interface(1, 0),
      f.interface(113, 0),
      f.enhanced(0, 1n, data, 4),
      f.enhanced(0, 2n, data, 4),
      f.enhanced(1, 3n, data, 4),
      f.enhanced(0, 4n, data, 4),
      f.section(),
      f.interface(1, 0),
      f.enhanced(0, 5n, data, 4),
    );
    const reader = new CaptureReader();
    const batch = new CaptureBatch(8);
    reader.feed(capture);
    const seen: number[][] = [];
    while (reader.readBatch(batch) > 0) seen.push([batch.linkType, batch.count]);
    expect(seen).toEqual([
      [1, 2],
      [113, 1],
      [1, 1],
      [1, 1],
    ]);
    reader.end();
  });

  it('refuses wrong calls with a TypeError or RangeError', () => {
    expect(() => new CaptureReader().feed('abcd' as unknown as Uint8Array)).toThrow(TypeError);
    const reader = new CaptureReader();
    reader.feed(bytes);
    reader.end();
    expect(() => reader.feed(bytes)).toThrow(TypeError);
    for (const value of [0, -1, 1.5, Number.NaN, 2 ** 30 + 1]) {
      expect(() => new CaptureReader({ maxFrameLength: value })).toThrow(RangeError);
      expect(() => new CaptureReader({ maxBlockLength: value })).toThrow(RangeError);
      expect(() => new CaptureReader({ maxInterfaces: value })).toThrow(RangeError);
      expect(() => new CaptureBatch(value)).toThrow(RangeError);
    }
  });

  it('tells format, byte order, interfaces and position', () => {
    const reader = new CaptureReader();
    expect([reader.format, reader.byteOrder, reader.interfaces]).toEqual([undefined, undefined, []]);
    reader.feed(bytes);
    expect(reader.next(new CaptureFrame())).toBe(true);
    expect([reader.format, reader.byteOrder, reader.offset]).toEqual(['pcap', 'little', bytes.length]);
    expect(reader.interfaces).toEqual([
      { linkType: 1, snapLength: 262144, timestampResolution: 9, fcsLength: undefined, name: undefined },
    ]);
  });
});
