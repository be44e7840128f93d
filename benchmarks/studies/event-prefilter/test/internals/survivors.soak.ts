import { fileURLToPath } from 'node:url';
import { readResults } from '@int/harness';
import { burstQueue } from '@int/traffic';
import { describe, expect, it } from 'vitest';
import { DETECTORS, HOT, SHORT, type StudyDetector, THRESHOLDS_US, WEIGHT, WORKLOAD_NAMES } from '../../src/plan.js';
import type { Results } from '../../src/results.js';
import { measurePoints, measureWindows } from '../../src/survivors.js';
import { runTrace } from '../../src/trace.js';

const RESULTS = fileURLToPath(new URL('../../results/prefilter.json', import.meta.url));
const ALL = DETECTORS.flatMap((detector) => THRESHOLDS_US.map((threshold) => [detector, threshold] as const));

/** The detectors' rules, written down once more over bare numbers. */
function countEvents(values: Iterable<number>, detector: StudyDetector, thresholdUs: number): number {
  let [events, reported, accumulator] = [0, 0, 0];
  for (const occupancyUs of values) {
    let value = Math.round(occupancyUs * 1000);
    if (detector === 'movingAverage') {
      accumulator += value - Math.floor(accumulator / 2 ** WEIGHT);
      value = Math.floor(accumulator / 2 ** WEIGHT);
    }
    if (Math.abs(value - reported) > thresholdUs * 1000) {
      reported = value;
      events++;
    }
  }
  return events;
}

describe.each(WORKLOAD_NAMES)('survivors of %s', (workload) => {
  const options = { workload, hot: HOT, slots: SHORT.slots, seed: SHORT.seed };
  const { survivors, packets } = runTrace(options, ALL);
  const eventsOf = (detector: StudyDetector): number[] =>
    survivors.filter((each) => each.detector === detector).map(({ events }) => events);

  it('are those of the same rules over the bare numbers', () => {
    const values = [...burstQueue(workload, options)];
    expect(packets).toBe(values.length);
    for (const { detector, thresholdUs, events } of survivors) {
      expect(events, `${detector} ${thresholdUs}`).toBe(countEvents(values, detector, thresholdUs));
    }
  });

  it('are the same in every run, and others with another seed', () => {
    expect(runTrace(options, ALL).survivors).toEqual(survivors);
    expect(runTrace({ ...options, seed: 2 }, ALL).survivors).not.toEqual(survivors);
  });

  it('are the same reports with perHop as with perFlow', () => {
    const of = (wanted: StudyDetector): unknown =>
      survivors.filter(({ detector }) => detector === wanted).map(({ detector: _, ...rest }) => rest);
    expect(of('perHop')).toEqual(of('perFlow'));
  });

  it('become fewer as the threshold rises', () => {
    for (const detector of DETECTORS) {
      const events = eventsOf(detector);
      for (let k = 1; k < events.length; k++) {
        const [before, after] = [events[k - 1]!, events[k]!];
        if (before === 0) expect(after).toBe(0);
        else expect(after, `${detector}, ${THRESHOLDS_US[k]} us`).toBeLessThan(before);
      }
    }
  });

  it('are more with the moving average at threshold 0: it goes on changing after the queue is empty', () => {
    expect(eventsOf('movingAverage')[0]).toBeGreaterThan(eventsOf('perFlow')[0]!);
  });
});

describe('points', () => {
  const { points } = measurePoints('web', HOT, SHORT);

  it('with few events are looked at over more slots, and have no gain if there still are fewer than 100', () => {
    expect(points).toHaveLength(ALL.length);
    for (const { events, packets, slots, gain } of points) {
      expect(gain).toBe(events < 100 ? null : packets / events);
      if (slots === SHORT.slots) expect(events).toBeGreaterThanOrEqual(100);
      else expect(slots).toBe(SHORT.mostSlots);
    }
    expect(points.some(({ slots, gain }) => slots === SHORT.mostSlots && gain === null)).toBe(true);
  });

  it('lie near the exact figures where these are known', () => {
    for (const { detector, thresholdUs, expectedFraction, events, packets } of points) {
      const isKnown = detector !== 'movingAverage' && thresholdUs <= SHORT.exactUs;
      expect(expectedFraction !== null).toBe(isKnown);
      if (expectedFraction !== null) expect(Math.abs(events / packets / expectedFraction - 1)).toBeLessThan(0.25);
    }
  });

  // It computes what the study of the results file has computed, in seconds.
  it.runIf(process.env.INT_LONG === '1')(
    'of the results file are those that the code gives',
    () => {
      const committed = readResults<Results>(RESULTS);
      const { slots } = committed.effort;
      const wanted = committed.points.filter(
        (point) =>
          point.workload === 'web' && point.hot === HOT && point.slots === slots && [0, 1].includes(point.thresholdUs),
      );
      expect(wanted).toHaveLength(6);
      const { survivors, packets } = runTrace(
        { workload: 'web', hot: HOT, slots, seed: committed.effort.seed },
        wanted.map(({ detector, thresholdUs }) => [detector, thresholdUs]),
      );
      expect(wanted.map(({ events, checksum, packets: all }) => ({ events, checksum, all }))).toEqual(
        survivors.map(({ events, checksum }) => ({ events, checksum, all: packets })),
      );
    },
    180_000,
  );
});

it('windows hold the thresholds whose gain is from 10 to 15', () => {
  const [perFlow, average] = measureWindows('hadoop', SHORT);
  expect(perFlow).toMatchObject({ detector: 'perFlow', fromUs: 3, toUs: 3 });
  expect(average).toMatchObject({ detector: 'movingAverage' });
  const { packets, survivors } = runTrace(
    { workload: 'hadoop', hot: HOT, slots: SHORT.windowSlots, seed: SHORT.seed },
    [2, 3, 4].map((threshold) => ['perFlow', threshold]),
  );
  const [below, within, above] = survivors.map(({ events }) => packets / events);
  expect(below).toBeLessThan(10);
  expect(within! >= 10 && within! <= 15).toBe(true);
  expect(above).toBeGreaterThan(15);
});
