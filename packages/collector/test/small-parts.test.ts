import { LINK_TYPES } from '@int/codec/internals';
import { FrameSlab } from '@int/collector';
import { linkLayerOf, linkTypeOf, sourceTimeMs, WallClock } from '@int/collector/internals';
import { afterEach, describe, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.useRealTimers();
});

describe('link types', () => {
  test('of the codec have a number in captures, a bare report has none', () => {
    for (const linkLayer of LINK_TYPES) {
      const linkType = linkTypeOf(linkLayer);
      if (linkLayer === 'report') expect(linkType).toBeNull();
      else expect(linkLayerOf(linkType!)).toBe(linkLayer);
    }
  });

  test('of raw IP have several numbers', () => {
    expect([12, 14, 101, 228, 229].map(linkLayerOf)).toEqual(['raw', 'raw', 'raw', 'raw', 'raw']);
    expect([0, 105, 65_535].map(linkLayerOf)).toEqual([null, null, null]);
  });
});

describe('FrameSlab', () => {
  test('keeps frames and their times until it is cleared', () => {
    const slab = new FrameSlab({ frames: 2, bytes: 10 }, 'raw');
    expect(slab.fits(11)).toBe(false);
    slab.append(Uint8Array.of(1, 2, 3), 1_700_000_000_000.5);
    expect([slab.fits(7), slab.fits(8)]).toEqual([true, false]);
    slab.append(Uint8Array.of(4), 0);
    expect(slab.fits(0)).toBe(false);
    expect([...slab.bytes.subarray(0, slab.used)]).toEqual([1, 2, 3, 4]);
    expect([[...slab.offsets], [...slab.lengths]]).toEqual([
      [0, 3],
      [3, 1],
    ]);
    expect(sourceTimeMs(slab, 0)).toBeCloseTo(1_700_000_000_000.5, 3);
    expect(sourceTimeMs(slab, 1)).toBe(0);
    slab.clear();
    expect([slab.count, slab.used, slab.fits(10)]).toEqual([0, 0, true]);
  });

  test('refuses capacities that make no sense', () => {
    expect(() => new FrameSlab({ frames: 0, bytes: 1 }, 'raw')).toThrow(RangeError);
    expect(() => new FrameSlab({ frames: 1, bytes: 0.5 }, 'raw')).toThrow(RangeError);
  });
});

describe('WallClock', () => {
  test('follows the clock of the system when it is told to look', () => {
    const clock = new WallClock();
    clock.adjust();
    const before = clock.now();
    vi.useFakeTimers({ toFake: ['Date'], now: before + 3_600_000 });
    expect(clock.now() - before).toBeLessThan(3_000_000);
    clock.adjust();
    expect(clock.now() - before).toBeGreaterThanOrEqual(3_599_000);
    expect(clock.stepsBack).toBe(0);
  });

  test('stands still when the clock is set back a little, and follows when it is set back far', () => {
    const clock = new WallClock();
    clock.adjust();
    const before = clock.now();
    vi.useFakeTimers({ toFake: ['Date'], now: before - 500 });
    clock.adjust();
    for (let look = 0; look < 10; look++) expect(clock.now()).toBe(before);
    expect(clock.stepsBack).toBe(0);
    vi.setSystemTime(before - 3_600_000);
    clock.adjust();
    expect(clock.now() - before).toBeLessThan(-3_599_000);
    expect(clock.stepsBack).toBe(1);
    const after = clock.now();
    expect(clock.now()).toBeGreaterThanOrEqual(after);
  });
});
