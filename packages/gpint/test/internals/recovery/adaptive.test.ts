import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from '../../seed.js';
import { AdaptiveTimeouts } from './adaptive-timeouts.js';

const MS = 1_000_000;

describe('adaptive timeouts', () => {
  it('follow RFC 6298: srtt + 4 rttvar, with R and R / 2 for the first sample', () => {
    const timeouts = new AdaptiveTimeouts(2, { minNs: 1, maxNs: 1000 * MS }, 500 * MS);
    expect(timeouts.timeoutNs(0)).toBe(500 * MS);
    timeouts.sample(0, 100 * MS);
    expect(timeouts.timeoutNs(0)).toBe(300 * MS);
    timeouts.sample(0, 60 * MS);
    // rttvar = 3/4 * 50 + 1/4 * |100 - 60| = 47.5; srtt = 7/8 * 100 + 1/8 * 60 = 95
    expect(timeouts.timeoutNs(0)).toBe(285 * MS);
    expect(timeouts.timeoutNs(1)).toBe(500 * MS);
  });

  it('double after each timeout, until feedback comes again', () => {
    const timeouts = new AdaptiveTimeouts(1, { minNs: 1, maxNs: 1000 * MS }, 500 * MS);
    timeouts.expired(0);
    expect(timeouts.timeoutNs(0)).toBe(500 * MS);
    timeouts.sample(0, 100 * MS);
    timeouts.expired(0);
    expect(timeouts.timeoutNs(0)).toBe(600 * MS);
    for (let i = 0; i < 2000; i++) timeouts.expired(0);
    expect(timeouts.timeoutNs(0)).toBe(1000 * MS);
    timeouts.sample(0, 100 * MS);
    expect(timeouts.timeoutNs(0)).toBe(250 * MS);
  });

  it('stay within their clamps, are whole, and settle above a steady round trip', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.integer({ min: 0, max: 10_000 * MS }), fc.constant(null)), { maxLength: 50 }),
        fc.integer({ min: 11 * MS, max: 500 * MS }),
        (samples, steady) => {
          const timeouts = new AdaptiveTimeouts(1, { minNs: 10 * MS, maxNs: 800 * MS }, 500 * MS);
          for (const sample of samples) {
            if (sample === null) timeouts.expired(0);
            else timeouts.sample(0, sample);
            const timeout = timeouts.timeoutNs(0);
            expect(timeout).toBeGreaterThanOrEqual(10 * MS);
            expect(timeout).toBeLessThanOrEqual(800 * MS);
            expect(Number.isInteger(timeout)).toBe(true);
          }
          for (let i = 0; i < 300; i++) timeouts.sample(0, steady);
          expect(timeouts.timeoutNs(0)).toBeGreaterThanOrEqual(steady);
          expect(timeouts.timeoutNs(0)).toBeLessThan(steady * 1.01 + 1);
        },
      ),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('know nothing of links that they have not, and refuse clamps that are none', () => {
    const timeouts = new AdaptiveTimeouts(1, { minNs: 1, maxNs: MS }, MS);
    timeouts.sample(7, 5);
    timeouts.expired(7);
    expect(timeouts.timeoutNs(7)).toBe(MS);
    expect(() => new AdaptiveTimeouts(1, { minNs: 0, maxNs: 1 }, 1)).toThrow(RangeError);
    expect(() => new AdaptiveTimeouts(1, { minNs: 2, maxNs: 1 }, 1)).toThrow(RangeError);
  });
});
