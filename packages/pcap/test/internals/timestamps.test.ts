import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { CaptureBatch, CaptureReader, readCapture } from '../../src/index.js';
import { joinWords, Nanoseconds, Second, tickScale } from '../../src/nanoseconds.js';
import { Fields, join, referenceNs } from '../build-capture.js';

const u32 = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.constantFrom(0, 1, 0xffff, 0x10000, 0x7fffffff, 0xffffffff),
);
const u64 = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.constantFrom(0n, 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 64n - 1n));

const highs = new Uint32Array(3);
const lows = new Uint32Array(3);

describe('64-bit times in two words', () => {
  it('agree with BigInt for whole seconds', () => {
    const second = new Second();
    fc.assert(
      fc.property(u32, (seconds) => {
        second.set(seconds);
        expect(second.seconds).toBe(seconds);
        expect(joinWords(second.high, second.low)).toBe(BigInt(seconds) * 1_000_000_000n);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('agree with BigInt in pcap for seconds and a fraction, also a fraction beyond the second', () => {
    const variants = fc.constantFrom(
      { magic: 0xa1b2c3d4, unit: 1000n, little: false },
      { magic: 0xa1b23c4d, unit: 1n, little: true },
    );
    const times = fc.array(fc.tuple(fc.oneof(u32, fc.constantFrom(5, 6)), u32), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(variants, times, ({ magic, unit, little }, list) => {
        const f = new Fields(little);
        const records = list.map(([seconds, fraction]) => f.u32(seconds, fraction, 0, 0));
        const bytes = join(f.u32(magic), f.u16(2, 4), f.u32(0, 0, 65535, 1), ...records);
        const expected = list.map(([seconds, fraction]) => BigInt(seconds) * 1_000_000_000n + BigInt(fraction) * unit);
        expect([...readCapture(bytes)].map((frame) => frame.timeNs)).toEqual(expected);
        const batch = new CaptureBatch(20);
        const reader = new CaptureReader();
        reader.feed(bytes);
        expect(reader.readBatch(batch)).toBe(list.length);
        expect(list.map((_, row) => joinWords(batch.timestampsHigh[row]!, batch.timestampsLow[row]!))).toEqual(
          expected,
        );
      }),
      { numRuns: runs(500) },
    );
  });

  it('agree with BigInt for ticks of every resolution and offset, and refuse what 64 bits cannot hold', () => {
    const time = new Nanoseconds();
    const offsets = fc.oneof(
      fc.constant(0n),
      fc.bigInt(-(10n ** 10n), 10n ** 10n),
      fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    );
    let held = 0;
    let refused = 0;
    fc.assert(
      fc.property(u64, fc.integer({ min: 0, max: 255 }), offsets, (ticks, resolution, offset) => {
        const fits = time.putTicks(
          highs,
          lows,
          1,
          Number(ticks >> 32n),
          Number(ticks & 0xffffffffn),
          tickScale(resolution, offset),
        );
        const expected = referenceNs(ticks, resolution & 0x80 ? resolution : resolution & 0x7f, offset);
        expect(fits).toBe(expected >= 0n && expected < 2n ** 64n);
        if (fits) expect(joinWords(highs[1]!, lows[1]!)).toBe(expected);
        if (fits) held += 1;
        else refused += 1;
      }),
      { numRuns: runs(5000) },
    );
    expect(held).toBeGreaterThan(1800 * LENGTH);
    expect(refused).toBeGreaterThan(1800 * LENGTH);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 18, 19, 27, 28, 127, 128, 138, 159, 160, 161, 192, 224, 255])(
    'agree with BigInt for if_tsresol %i',
    (resolution) => {
      const time = new Nanoseconds();
      const scale = tickScale(resolution, 0n);
      fc.assert(
        fc.property(u64, (ticks) => {
          const fits = time.putTicks(highs, lows, 1, Number(ticks >> 32n), Number(ticks & 0xffffffffn), scale);
          const expected = referenceNs(ticks, resolution, 0n);
          expect(fits ? joinWords(highs[1]!, lows[1]!) : undefined).toBe(expected < 2n ** 64n ? expected : undefined);
        }),
      );
    },
  );

  it('divide exactly', () => {
    const time = new Nanoseconds();
    fc.assert(
      fc.property(u64, fc.constantFrom(1, 2, 1000, 999_999_937, 1_000_000_000), (value, divisor) => {
        const rest = time.setQuotient(Number(value >> 32n), Number(value & 0xffffffffn), divisor);
        expect(joinWords(time.high, time.low)).toBe(value / BigInt(divisor));
        expect(BigInt(rest)).toBe(value % BigInt(divisor));
      }),
      { numRuns: runs(2000) },
    );
  });
});
