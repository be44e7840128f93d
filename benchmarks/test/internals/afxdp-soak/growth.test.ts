import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../src/afxdp-soak/growth.js';

const MIB = 2 ** 20;
const SECONDS = 600;

/** A sample each second. */
function sampled(bytesAt: (second: number) => number): (readonly [number, number])[] {
  return Array.from({ length: SECONDS + 1 }, (_, second) => [second, bytesAt(second)] as const);
}

describe('the growth of memory', () => {
  it('is none where memory goes up and down', () => {
    const { from, to, isMet } = growthOf(
      'heap',
      sampled((second) => 50 * MIB + (second % 7) * MIB),
      MIB,
    );
    expect(Math.abs(to - from)).toBeLessThan(0.1 * MIB);
    expect(isMet).toBe(true);
  });

  it('does not count the first fifth of the time', () => {
    const { isMet } = growthOf(
      'heap',
      sampled((second) => Math.min(second, 120) * MIB),
      MIB,
    );
    expect(isMet).toBe(true);
  });

  it('is found where a byte is lost for a hundredth of 300,000 frames a second', () => {
    const { bytesPerSecond, to, from, isMet } = growthOf(
      'heap',
      sampled((second) => 50 * MIB + second * 3000 + (second % 5) * 10_000),
      MIB,
    );
    expect(bytesPerSecond).toBeCloseTo(3000, -2);
    expect(to - from).toBeCloseTo(480 * bytesPerSecond, 0);
    expect(isMet).toBe(false);
  });
});
