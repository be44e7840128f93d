import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { SEED } from '../log.js';
import { ALWAYS_MS, BUSY_TICKS, type Fault, type Schedule, SimulatedWorld } from './simulated-world.js';

const IS_LONG = process.env.INT_LONG === '1';
const RUNS = IS_LONG ? 10_000 : 24;
// Up to a tenth of a second a schedule, on a machine that has other things to do.
vi.setConfig({ testTimeout: IS_LONG ? 3_600_000 : 180_000 });

function faults(kinds: readonly Fault['kind'][], longest: number): fc.Arbitrary<Fault[]> {
  const fault = fc.record({
    at: fc.nat(BUSY_TICKS - 1),
    ticks: fc.integer({ min: 1, max: longest }),
    kind: fc.constantFrom(...kinds),
    which: fc.nat(4),
  });
  return fc.array(fault, { maxLength: 7 });
}

const schedules = (kinds: readonly Fault['kind'][], longest: number): fc.Arbitrary<Schedule> =>
  fc.record({
    collectors: fc.integer({ min: 1, max: 3 }),
    faults: faults(kinds, longest),
    load: fc.array(fc.nat(3), { minLength: 1, maxLength: 7 }),
    latenessMs: fc.constantFrom(0, 2000, ALWAYS_MS, ALWAYS_MS),
    pace: fc.constantFrom(8, 40, 1000),
  });

/** All that can happen to a part, but for clocks that go back. */
const KINDS = [
  'freezeCollector',
  'cutCollector',
  'killCollector',
  'restartCollector',
  'killWithSpool',
  'newCollector',
  'dropReports',
  'killFlow',
  'killNetwork',
  'broker',
] as const;

/** A collector is first heard after the processor that gave out its windows is gone. */
const HEARD_TOO_LATE: Schedule = {
  collectors: 2,
  faults: [
    { at: 6, ticks: 1, kind: 'killFlow', which: 0 },
    { at: 1, ticks: 5, kind: 'freezeCollector', which: 0 },
    { at: 0, ticks: 3, kind: 'broker', which: 0 },
  ],
  load: [2],
  latenessMs: ALWAYS_MS,
  pace: 8,
};

/** A collector is first heard, and says what it has dropped, when windows are out that nobody keeps. */
const DROPS_TOLD_LATE: Schedule = {
  collectors: 2,
  faults: [
    { at: 0, ticks: 6, kind: 'cutCollector', which: 3 },
    { at: 0, ticks: 1, kind: 'dropReports', which: 1 },
  ],
  load: [1],
  latenessMs: 0,
  pace: 8,
};

describe('windows over a log whose writers and readers come, go and are cut off', () => {
  it('have each report once, or count it as late, and are complete only if they have all', () => {
    const seen = { late: 0, corrected: 0, incomplete: 0 };
    fc.assert(
      fc.property(schedules(KINDS, 100), (schedule) => {
        const world = new SimulatedWorld(schedule);
        world.run();
        expect(world.wrong()).toEqual([]);
        seen.late += world.late;
        seen.corrected += world.corrected;
        for (const { complete } of world.windows.byName.values()) if (!complete) seen.incomplete++;
      }),
      { seed: SEED, numRuns: RUNS, examples: [[DROPS_TOLD_LATE]] },
    );
    // All of it happens.
    expect(Math.min(seen.late, seen.corrected, seen.incomplete)).toBeGreaterThan(RUNS / 2);
  });

  it('are corrected by reports that are first heard of when the processor that gave them out is gone', () => {
    const killed = new SimulatedWorld(HEARD_TOO_LATE);
    killed.run();
    expect([killed.wrong(), killed.late, killed.corrected, killed.takenBack]).toEqual([[], 2, 0, 2]);
    const whole = new SimulatedWorld({ ...HEARD_TOO_LATE, faults: HEARD_TOO_LATE.faults.slice(1) });
    whole.run();
    expect([whole.wrong(), whole.late, whole.corrected, whole.takenBack]).toEqual([[], 0, 2, 0]);
  });

  it('have each report once also if clocks of collectors are set back and forth', () => {
    fc.assert(
      fc.property(schedules([...KINDS, 'clockStep', 'clockStep'], 60), (schedule) => {
        const world = new SimulatedWorld({ ...schedule, latenessMs: 2000 });
        world.run();
        expect(world.wrong()).toEqual([]);
      }),
      { seed: SEED, numRuns: Math.ceil(RUNS / 10) },
    );
  });
});
