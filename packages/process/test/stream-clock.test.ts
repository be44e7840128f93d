import { describe, expect, it } from 'vitest';
import { StreamClock } from '../src/stream-clock.js';

describe('the time of a stream', () => {
  it('goes on from the latest records as fast as the wall clock, also for records of long ago', () => {
    let wall = 1_000_000;
    const clock = new StreamClock(() => wall, 1000);
    expect(clock.now()).toBeNull();
    clock.saw({}, 5000, false);
    wall += 300;
    expect(clock.now()).toBe(5300);
    clock.saw({}, 5100, false);
    expect(clock.now()).toBe(5300);
    clock.saw({}, 5600, false);
    wall += 100_000;
    expect(clock.now()).toBe(105_600);
  });

  it('forgets one time that was far ahead', () => {
    let wall = 0;
    const clock = new StreamClock(() => wall, 1000);
    clock.saw({}, 1e9, false);
    for (let turn = 0; turn < 100; turn++) {
      wall += 1000;
      clock.saw({}, wall - 50, false);
    }
    expect(clock.now()).toBe(wall - 50);
  });

  it('lets nobody run away from the slowest with a backlog', () => {
    const clock = new StreamClock(() => 0, 1000);
    const [slow, fast, idle] = [{}, {}, {}];
    clock.saw(slow, 10_000, true);
    clock.saw(idle, 0, false);
    expect(clock.mayGoOn(fast, 11_000)).toBe(true);
    expect(clock.mayGoOn(fast, 11_001)).toBe(false);
    expect(clock.mayGoOn(slow, 20_000)).toBe(true);
    clock.caughtUp(slow);
    expect(clock.mayGoOn(fast, 99_000)).toBe(true);
  });
});
