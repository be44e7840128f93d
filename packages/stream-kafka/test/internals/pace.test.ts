import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/pace.js';

describe('the pace of partitions', () => {
  it('lets nobody run away from the slowest with a backlog', () => {
    const pace = new Pace(1000);
    const [slow, fast, idle] = [{}, {}, {}];
    pace.at(slow, 10_000, true);
    pace.at(idle, 0, false);
    expect(pace.mayGoOn(fast, 11_000)).toBe(true);
    expect(pace.mayGoOn(fast, 11_001)).toBe(false);
    expect(pace.mayGoOn(slow, 20_000)).toBe(true);
    pace.caughtUp(slow);
    expect(pace.mayGoOn(fast, 99_000)).toBe(true);
  });
});
