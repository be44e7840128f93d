import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { CaptureError, type CaptureErrorCode, readCapture } from '../../src/index.js';
import { captures, Fields, hex, join } from '../build-capture.js';
import { byBatch, byNext, cut, every } from '../collect.js';

const little = new Fields(true);
const header = hex('d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000');
const start = join(little.section(), little.interface(1, 0));

function errorOf(bytes: Uint8Array, options = {}): { code: CaptureErrorCode; offset: number; frames: number } {
  let frames = 0;
  try {
    for (const _ of readCapture(bytes, options)) frames += 1;
  } catch (error) {
    if (!CaptureError.is(error)) throw error;
    return { code: error.code, offset: error.offset, frames };
  }
  throw new Error('no error');
}

/** A block with a wrong length at its start or end. */
function patched(block: Uint8Array, at: number, value: number): Uint8Array {
  const bytes = block.slice();
  bytes.set(little.u32(value), at < 0 ? bytes.length + at : at);
  return bytes;
}

describe('a wrong capture is refused with the place of the fault', () => {
  const packet = little.enhanced(0, 1n, new Uint8Array(8), 8);
  const simple = little.simple(8, new Uint8Array(8));
  const base = start.length;
  const cases: readonly (readonly [string, Uint8Array, CaptureErrorCode, number])[] = [
    ['an unknown magic', hex('00000000 00000000'), 'ERR_CAPTURE_MAGIC', 0],
    ['a capture that is still gzip', hex('1f8b0800 00000000'), 'ERR_CAPTURE_MAGIC', 0],
    ['pcap version 1', hex('a1b2c3d4 0001 0004 00000000 00000000 0000ffff 00000001'), 'ERR_CAPTURE_VERSION', 4],
    ['pcap version 3', hex('a1b2c3d4 0003 0000 00000000 00000000 0000ffff 00000001'), 'ERR_CAPTURE_VERSION', 4],
    [
      'pcap with reserved bits',
      hex('a1b2c3d4 0002 0004 00000000 00000000 0000ffff 02240001'),
      'ERR_CAPTURE_VERSION',
      20,
    ],
    ['pcap with a huge frame', join(header, little.u32(0, 0, 0xffffffff, 0)), 'ERR_CAPTURE_TOO_LARGE', 32],
    ['pcap with a frame just above the limit', join(header, little.u32(0, 0, 262145, 0)), 'ERR_CAPTURE_TOO_LARGE', 32],
    ['a section without byte-order magic', hex('0a0d0d0a 1c000000 00000000'), 'ERR_CAPTURE_MAGIC', 8],
    ['a section that is too short', patched(little.section(), 4, 24), 'ERR_CAPTURE_LENGTH', 4],
    [
      'pcapng version 2.0',
      hex('0a0d0d0a 1c000000 4d3c2b1a 0200 0000 ffffffffffffffff 1c000000'),
      'ERR_CAPTURE_VERSION',
      12,
    ],
    [
      'pcapng version 1.1',
      hex('0a0d0d0a 1c000000 4d3c2b1a 0100 0100 ffffffffffffffff 1c000000'),
      'ERR_CAPTURE_VERSION',
      12,
    ],
    ['a section whose lengths differ', patched(little.section(), -4, 32), 'ERR_CAPTURE_LENGTH', 24],
    ['a block of length 0', join(start, little.u32(0xbad, 0, 0, 0)), 'ERR_CAPTURE_LENGTH', base + 4],
    ['a block of length 8', join(start, little.u32(0xbad, 8, 8)), 'ERR_CAPTURE_LENGTH', base + 4],
    [
      'a block whose length is no multiple of 4',
      join(start, little.u32(0xbad, 14, 0, 14)),
      'ERR_CAPTURE_LENGTH',
      base + 4,
    ],
    ['a block of 4 GiB', join(start, little.u32(0xbad, 0xfffffffc)), 'ERR_CAPTURE_TOO_LARGE', base + 4],
    [
      'an unknown block whose lengths differ',
      join(start, patched(little.block(0xbad, packet), -4, 12)),
      'ERR_CAPTURE_LENGTH',
      base + 48,
    ],
    [
      'a packet block that is too short',
      join(start, little.block(6, new Uint8Array(16))),
      'ERR_CAPTURE_LENGTH',
      base + 4,
    ],
    [
      'a packet of an unknown interface',
      join(start, little.enhanced(1, 1n, new Uint8Array(0), 0)),
      'ERR_CAPTURE_INTERFACE',
      base + 8,
    ],
    [
      'a packet of interface 2^32 - 1',
      join(start, little.enhanced(0xffffffff, 1n, hex('00'), 0)),
      'ERR_CAPTURE_INTERFACE',
      base + 8,
    ],
    ['a packet that exceeds its block', join(start, patched(packet, 20, 9)), 'ERR_CAPTURE_LENGTH', base + 20],
    ['a packet of 4 GiB', join(start, patched(packet, 20, 0xffffffff)), 'ERR_CAPTURE_LENGTH', base + 20],
    ['a packet block whose lengths differ', join(start, patched(packet, -4, 44)), 'ERR_CAPTURE_LENGTH', base + 36],
    [
      'an obsolete packet of an unknown interface',
      join(start, little.obsolete(7, 1n, hex('00'), 1)),
      'ERR_CAPTURE_INTERFACE',
      base + 8,
    ],
    ['a simple packet without interface', join(little.section(), simple), 'ERR_CAPTURE_INTERFACE', 28],
    ['a simple packet that exceeds its block', join(start, patched(simple, 8, 9)), 'ERR_CAPTURE_LENGTH', base + 8],
    [
      'a simple packet block whose lengths differ',
      join(start, patched(simple, -4, 0)),
      'ERR_CAPTURE_LENGTH',
      base + 20,
    ],
    ['a simple packet block that is too short', join(start, little.block(3)), 'ERR_CAPTURE_LENGTH', base + 4],
    [
      'an interface that is too short',
      join(little.section(), little.block(1, little.u32(1))),
      'ERR_CAPTURE_LENGTH',
      32,
    ],
    [
      'an interface whose lengths differ',
      join(little.section(), patched(little.interface(1, 0), -4, 0)),
      'ERR_CAPTURE_LENGTH',
      44,
    ],
    [
      'an option that exceeds its block',
      join(little.section(), little.interface(1, 0, little.u16(1, 1))),
      'ERR_CAPTURE_BLOCK',
      46,
    ],
    [
      'an option of 65,535 bytes',
      join(little.section(), little.interface(1, 0, little.u16(1, 0xffff))),
      'ERR_CAPTURE_BLOCK',
      46,
    ],
    [
      'a time resolution of 2 bytes',
      join(little.section(), little.interface(1, 0, little.option(9, hex('0609')))),
      'ERR_CAPTURE_BLOCK',
      46,
    ],
    [
      'a time offset of 4 bytes',
      join(little.section(), little.interface(1, 0, little.option(14, hex('00000000')))),
      'ERR_CAPTURE_BLOCK',
      46,
    ],
    [
      'a time before 1970',
      join(
        little.section(),
        little.interface(1, 0, little.option(14, little.i64(-1n))),
        little.enhanced(0, 999_999n, hex('00'), 1),
      ),
      'ERR_CAPTURE_BLOCK',
      72,
    ],
    ['a time beyond 64 bits', join(start, little.enhanced(0, 2n ** 63n, hex('00'), 1)), 'ERR_CAPTURE_BLOCK', base + 12],
  ];

  it.each(cases)('%s', (_, bytes, code, offset) => {
    expect(errorOf(bytes)).toEqual({ code, offset, frames: 0 });
    // The fault is the same in whatever pieces it arrives.
    for (const size of [1, 3, 8]) {
      expect(byNext(every(bytes, size)).error).toMatchObject({ code, offset });
      expect(byBatch(every(bytes, size), 3).error).toMatchObject({ code, offset });
    }
  });

  it('after a packet, at the offset from the start of the capture', () => {
    const bytes = join(start, packet, little.u32(0xbad, 0));
    expect(errorOf(bytes)).toEqual({ code: 'ERR_CAPTURE_LENGTH', offset: base + packet.length + 4, frames: 1 });
  });

  it('in a later section without byte-order magic', () => {
    const bytes = join(start, packet, hex('0a0d0d0a 1c000000 00000000'));
    expect(errorOf(bytes)).toEqual({ code: 'ERR_CAPTURE_MAGIC', offset: base + packet.length + 8, frames: 1 });
  });

  it('by limits that the caller sets', () => {
    const pcap = join(header, little.u32(0, 0, 11, 11), new Uint8Array(11));
    expect([...readCapture(pcap, { maxFrameLength: 11 })]).toHaveLength(1);
    expect(errorOf(pcap, { maxFrameLength: 10 }).code).toBe('ERR_CAPTURE_TOO_LARGE');
    const pcapng = join(start, packet);
    expect([...readCapture(pcapng, { maxFrameLength: 8, maxBlockLength: 40 })]).toHaveLength(1);
    expect(errorOf(pcapng, { maxFrameLength: 7 })).toEqual({
      code: 'ERR_CAPTURE_TOO_LARGE',
      offset: base + 20,
      frames: 0,
    });
    expect(errorOf(pcapng, { maxBlockLength: 36 })).toEqual({
      code: 'ERR_CAPTURE_TOO_LARGE',
      offset: base + 4,
      frames: 0,
    });
    const two = join(start, little.interface(1, 0), packet);
    expect([...readCapture(two, { maxInterfaces: 2 })]).toHaveLength(1);
    expect(errorOf(two, { maxInterfaces: 1 })).toEqual({ code: 'ERR_CAPTURE_TOO_LARGE', offset: base, frames: 0 });
  });
});

describe('hostile bytes', () => {
  it('cut at every byte give the frames before the cut and TRUNCATED, or a complete shorter capture', () => {
    let truncated = 0;
    let complete = 0;
    for (const { bytes, frames } of fc.sample(captures, { numRuns: 10, seed: 11 })) {
      for (let length = 0; length < bytes.length; length += 1) {
        const outcome = byNext([bytes.subarray(0, length)]);
        expect(outcome.frames).toEqual(frames.slice(0, outcome.frames.length));
        if (outcome.error === undefined) complete += 1;
        else {
          truncated += 1;
          expect(outcome.error.code).toBe('ERR_CAPTURE_TRUNCATED');
          expect(outcome.error.offset).toBeLessThanOrEqual(length);
          // What was complete up to the reported place reads as a capture of its own.
          const kept = bytes.subarray(0, outcome.error.offset);
          if (kept.length > 0) expect(byNext([kept])).toEqual({ frames: outcome.frames, error: undefined });
        }
        expect(byBatch(every(bytes.subarray(0, length), 5), 3)).toEqual(outcome);
      }
    }
    expect(truncated).toBeGreaterThan(1000);
    expect(complete).toBeGreaterThan(10);
  });

  it('mutated give frames or a typed error, the same for every chunking', () => {
    const codes = new Set<string>();
    const hostile = fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 3, 4, 7, 0x7f, 0x80, 0xff));
    const mutations = fc.array(fc.tuple(fc.nat(), hostile), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(captures, mutations, fc.array(fc.nat(600), { maxLength: 8 }), ({ bytes }, changes, at) => {
        const mutated = bytes.slice();
        for (const [place, value] of changes) mutated[place % mutated.length] = value;
        const outcome = byNext([mutated]);
        codes.add(outcome.error?.code ?? 'none');
        const bytesOfFrames = outcome.frames.reduce((sum, frame) => sum + frame.data.length, 0);
        expect(bytesOfFrames).toBeLessThanOrEqual(mutated.length);
        expect(
          byNext(
            cut(
              mutated,
              at.filter((place) => place <= mutated.length),
            ),
          ),
        ).toEqual(outcome);
        expect(byBatch(every(mutated, 7), 2)).toEqual(outcome);
      }),
      { numRuns: runs(3000) },
    );
    for (const code of [
      'none',
      'ERR_CAPTURE_MAGIC',
      'ERR_CAPTURE_LENGTH',
      'ERR_CAPTURE_TOO_LARGE',
      'ERR_CAPTURE_TRUNCATED',
      'ERR_CAPTURE_BLOCK',
      'ERR_CAPTURE_INTERFACE',
    ]) {
      expect(codes).toContain(code);
    }
  });

  it('at random behind each magic give frames or a typed error', () => {
    const magics = ['d4c3b2a1', 'a1b2c3d4', '4d3cb2a1', 'a1b23c4d', '34cdb2a1', 'a1b2cd34', '0a0d0d0a'].map(hex);
    fc.assert(
      fc.property(fc.constantFrom(...magics), fc.uint8Array({ maxLength: 300 }), (magic, rest) => {
        const bytes = join(magic, rest);
        expect(byNext(every(bytes, 11))).toEqual(byNext([bytes]));
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('CaptureError', () => {
  it('is recognised across two copies of the package', async () => {
    vi.resetModules();
    const copy = await import('../../src/capture-error.js');
    expect(copy.CaptureError).not.toBe(CaptureError);
    const theirs = new copy.CaptureError('ERR_CAPTURE_MAGIC', 0, 'x');
    expect(theirs instanceof CaptureError).toBe(false);
    expect(CaptureError.is(theirs)).toBe(true);
    expect(copy.CaptureError.is(new CaptureError('ERR_CAPTURE_GZIP', 1, 'y'))).toBe(true);
  });

  it('is not mistaken for something else', () => {
    for (const other of [
      undefined,
      null,
      'ERR_CAPTURE_MAGIC',
      {},
      new Error('x'),
      { code: 'ERR_CAPTURE_MAGIC', offset: 0 },
    ]) {
      expect(CaptureError.is(other)).toBe(false);
    }
  });

  it('tells code, offset and cause', () => {
    const cause = new Error('below');
    const error = new CaptureError('ERR_CAPTURE_GZIP', 7, 'gzip: below', { cause });
    expect([error.name, error.code, error.offset, error.cause]).toEqual(['CaptureError', 'ERR_CAPTURE_GZIP', 7, cause]);
    expect(error.message).toBe('gzip: below (ERR_CAPTURE_GZIP at byte 7)');
  });
});
