import { Twin } from '@int/control';
import { compareEffect } from '@int/control/internals';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { desired, Fabric, joined, program, reroute, route } from './fabric.js';
import { measure } from './simulated.js';

const link = (beforeBps: number, afterBps: number): { beforeBps: number; afterBps: number; capacityBps: null } => ({
  beforeBps,
  afterBps,
  capacityBps: null,
});

describe('the effect of a change, beside its rehearsal', () => {
  const loads = new Map([
    ['a', link(900, 500)],
    ['b', link(100, 500)],
    ['c', link(300, 300)],
  ]);
  const compared = (a: number, b: number, c: number) =>
    compareEffect(
      { loads },
      new Map([
        ['a', a],
        ['b', b],
        ['c', c],
      ]),
      0.02,
    );

  it('is what was predicted, a part of it, nothing, or harm', () => {
    expect(compared(505, 495, 300)).toEqual({
      verdict: 'as-predicted',
      differences: [],
      achieved: expect.closeTo(0.9875),
    });
    expect(compared(700, 300, 300)).toMatchObject({ verdict: 'partial', achieved: 0.5 });
    expect(compared(900, 100, 300)).toMatchObject({ verdict: 'none', achieved: 0 });
    expect(compared(1000, 0, 300)).toMatchObject({ verdict: 'worse', achieved: -0.25 });
    expect(compared(900, 100, 800)).toMatchObject({ verdict: 'worse', achieved: 0 });
    expect(compared(900, 100, 300).differences.map((each) => each.link)).toEqual(['a', 'b']);
    const same = new Map([['c', link(300, 300)]]);
    expect(compareEffect({ loads: same }, new Map([['c', 100]]), 0.02)).toMatchObject({
      verdict: 'other',
      achieved: null,
    });
    expect(compareEffect({ loads: same }, new Map([['d', 100]]), 0.02).verdict).toBe('worse');
    expect(() => compareEffect({ loads }, new Map(), 0)).toThrow(RangeError);
  });

  it('of a change in a simulated network: done, and not done', () => {
    const fabric = new Fabric(2, 2, 2);
    const via = (): number => 0;
    const random = new Random(4);
    const flows = fabric.flows(random, 10, via, { packets: () => 50 + random.integer(50), bytes: () => 500 });
    const before = fabric.routes(via);
    const change = reroute(before, 1, '10.0.2.1/32', 52);
    const minute = { flows, seconds: 1 };
    const twin = new Twin({ int: program });
    const rehearsal = twin.rehearse(fabric.model(), before, [[change]], minute, { linkLoad: 1, mayDrop: [] });
    const after = joined(
      new Map(
        [...before].map(([id, all]) => [
          id,
          all.map((each) => (each.entity === change.before ? desired(route('10.0.2.1/32', 52)) : each)),
        ]),
      ),
    );
    const how = { seconds: 1, seed: 1 };
    expect(compareEffect(rehearsal, measure(fabric, after, flows, how), 0.02).verdict).toBe('as-predicted');
    expect(compareEffect(rehearsal, measure(fabric, before, flows, how), 0.02).verdict).toBe('none');
  });
});
