import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinWords, Nanoseconds, tickScale } from '../src/nanoseconds.js';
import { referenceNs } from './build-capture.js';

const u32 = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.constantFrom(0, 1, 0xffff, 0x10000, 0x7fffffff, 0xffffffff),
);
const u64 = fc.oneof(fc.bigInt(0n, 2n ** 64n - 1n), fc.constantFrom(0n, 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 64n - 1n));

describe('64-bit times in two words', () => {
  it('agree with BigInt for seconds and a fraction, also a fraction beyond the second', () => {
    const time = new Nanoseconds();
    fc.assert(
      fc.property(u32, u32, fc.constantFrom(1, 1000), (seconds, fraction, unit) => {
        time.putSeconds(highs, lows, 1, seconds, fraction, unit);
        const expected = BigInt(seconds) * 1_000_000_000n + BigInt(fraction) * BigInt(unit);
        expect(joinWords(time.high, time.low)).toBe(expected);
      }),
      { numRuns: 2000 },
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
        const fits = time.putTicks(highs, lows, 1, Number(ticks >> 32n), Number(ticks & 0xffffffffn), tickScale(resolution, offset));
        const expected = referenceNs(ticks, resolution & 0x80 ? resolution : resolution & 0x7f, offset);
        expect(fits).toBe(expected >= 0n && expected < 2n ** 64n);
        if (fits) expect(joinWords(time.high, time.low)).toBe(expected);
        if (fits) held += 1;
        else refused += 1;
      }),
      { numRuns: 5000 },
    );
    expect(held).toBeGreaterThan(500);
    expect(refused).toBeGreaterThan(500);
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
          expect(fits ? joinWords(time.high, time.low) : undefined).toBe(expected < 2n ** 64n ? expected : undefined);
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
      { numRuns: 2000 },
    );
  });
});
