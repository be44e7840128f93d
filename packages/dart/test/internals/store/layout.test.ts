import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { DartStore } from '../../../src/index.js';
import { geometryOf, slotsFor } from '../../../src/internals.js';
import { HEADER, HEADER_BYTES, MAGIC, slotBytesOf } from '../../../src/layout.js';
import { SEED } from '../../seed.js';

describe('the geometry of a store', () => {
  it('gives every slot one place, every page its marks, and every segment no more bytes than allowed', () => {
    const arbitrary = fc.record({
      slots: fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 2 ** 32 - 1 })),
      valueBytes: fc.integer({ min: 1, max: 1024 }),
      checksumBits: fc.integer({ min: 8, max: 32 }),
      segmentBytes: fc.oneof(fc.integer({ min: 80_000, max: 10_000_000 }), fc.integer({ min: 80_000, max: 2 ** 32 })),
    });
    fc.assert(
      fc.property(arbitrary, ({ slots, valueBytes, checksumBits, segmentBytes }) => {
        fc.pre(slots / Math.floor(segmentBytes / (valueBytes + 12)) < 500);
        const geometry = geometryOf(slots, valueBytes, checksumBits, 2, segmentBytes);
        const { slotBytes, pageShift, segments } = geometry;
        expect(slotBytes).toBe(valueBytes + Math.ceil(checksumBits / 8));
        let next = 0;
        for (const [index, segment] of segments.entries()) {
          expect([segment.index, segment.firstSlot]).toEqual([index, next]);
          next += segment.slots;
          expect(segment.pages).toBe(Math.ceil(segment.slots / 2 ** pageShift));
          expect(segment.pages).toBeLessThanOrEqual(16_384);
          expect(segment.begunAt).toBe(HEADER_BYTES);
          expect(segment.doneAt).toBe(segment.begunAt + 4 * segment.pages);
          expect(segment.slotsAt % 64).toBe(0);
          expect(segment.slotsAt).toBeGreaterThanOrEqual(segment.doneAt + 4 * segment.pages);
          expect(segment.byteLength).toBeGreaterThanOrEqual(segment.slotsAt + segment.slots * slotBytes);
          expect(segment.byteLength).toBeLessThanOrEqual(segmentBytes);
          // All but the last are as long as the first, and whole pages.
          if (index < segments.length - 1) {
            expect(segment.slots).toBe(segments[0]!.slots);
            expect(segment.slots % 2 ** pageShift).toBe(0);
          }
        }
        expect(next).toBe(slots);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('holds as many slots as fit into the memory', () => {
    expect(slotBytesOf(20, 32)).toBe(24);
    expect(slotBytesOf(20, 9)).toBe(22);
    expect(slotsFor(2 ** 30, 20, 32)).toBe(44_739_242);
    expect(new DartStore({ memoryBytes: 2400, engine: 'plain' }).geometry.slots).toBe(100);
  });
});

describe('a store in memory', () => {
  it('is to the byte what the layout says', () => {
    const buffers = [new ArrayBuffer(8192), new ArrayBuffer(8192)];
    const store = new DartStore({
      slots: 256,
      valueBytes: 40,
      checksumBits: 12,
      copies: 3,
      hash: 'crc',
      collectors: 5,
      collector: 4,
      segmentBytes: 8192,
      buffers,
    });
    store.clear(0x1_0000_0002n);
    const key = new TextEncoder().encode('123456789');
    store.writeCopy(key, new Uint8Array(40).fill(0xab), 1);
    const words = new DataView(buffers[1]!);
    const read = (word: number): number => words.getUint32(word * 4, true);
    expect(read(HEADER.MAGIC)).toBe(MAGIC);
    expect(Buffer.from(buffers[0]!, 0, 4).toString()).toBe('DART');
    expect([1, 2, 3, 4, 5, 6, 7].map(read)).toEqual([1, 40, 12, 3, 256, 2, 1]);
    expect([HEADER.FIRST_SLOT, HEADER.SEGMENT_SLOTS, HEADER.PAGE_SHIFT, HEADER.PAGES].map(read)).toEqual([
      128, 128, 6, 2,
    ]);
    expect([HEADER.BEGUN_AT, HEADER.DONE_AT, HEADER.SLOTS_AT].map(read)).toEqual([512, 520, 576]);
    expect(read(HEADER.FAMILY)).toBe(1);
    expect([0, 1, 2, 3, 4].map((at) => read(HEADER.SLOT_PARAMETERS + at))).toEqual([
      0x1edc6f41, 0x741b8cd7, 0x814141ab, 0xa833982b, 0xf4acfb13,
    ]);
    expect([read(HEADER.CHECKSUM_PARAMETER), read(HEADER.COLLECTOR_PARAMETER)]).toEqual([0x04c11db7, 0x32c00699]);
    expect([read(HEADER.COLLECTORS), read(HEADER.COLLECTOR)]).toEqual([5, 4]);
    // Check values of the CRCs of "123456789": CRC-32K's is 0x2d3dd0ae, Ethernet's 0xcbf43926.
    const slot = 0x2d3dd0ae % 256;
    const at = 576 + (slot - 128) * 42;
    expect(Buffer.from(buffers[1]!, at, 42).toString('hex')).toBe(`0926${'ab'.repeat(40)}`);
    // Cleared once, both pages; then a write into the first: begun, begun, done, done.
    expect([...new Uint32Array(buffers[1]!, 512, 4)]).toEqual([2, 1, 2, 1]);
  });
});
