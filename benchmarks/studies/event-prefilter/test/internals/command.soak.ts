import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aligned, type Head, readResults, runStudy } from '@int/harness';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elementsOf } from '../../../../../.ci/test/xml.js';
import { eventPrefilter } from '../../src/definition.js';
import { DETECTORS, FULL, HOT, LEAST_EVENTS, OTHER_HOT, SHORT, THRESHOLDS_US, WORKLOAD_NAMES } from '../../src/plan.js';
import { renderReport } from '../../src/report.js';
import type { Results } from '../../src/results.js';

const RESULTS_FOLDER = fileURLToPath(new URL('../../results/', import.meta.url));
const read = (folder: string): Head & Results => readResults<Results>(join(folder, eventPrefilter.file));
const CHARTS = ['monitor.svg', 'capacity-difference.svg', 'capacity-average.svg'];

/** What must hold of a results file, whatever was measured. */
function checkResults(results: Head & Results): void {
  const { rates, points, queues, windows, effort } = results;
  expect(new Date(results.date!).toISOString()).toBe(results.date);
  expect(results.node).toMatch(/^v\d+/);
  expect(results.machine!.cpus).toBeGreaterThan(0);

  expect(rates.monitor.map(({ hops, items }) => `${hops}x${items}`)).toEqual(
    [1, 2, 3, 4].flatMap((hops) => [1, 2, 3, 4, 5, 6, 7, 8].map((items) => `${hops}x${items}`)),
  );
  for (const { total, decode, reportsPerSecond, messageBytes, frameBytes } of rates.monitor) {
    for (const { median, min, max } of [total, decode]) expect(min > 0 && min <= median && median <= max).toBe(true);
    expect(reportsPerSecond / (1e9 / total.median)).toBeCloseTo(1, 5);
    expect(messageBytes).toBeGreaterThan(100);
    expect(frameBytes).toBeGreaterThan(100);
  }

  expect(rates.decode.map(({ workload }) => workload)).toEqual(WORKLOAD_NAMES);
  expect(rates.collector).toHaveLength(WORKLOAD_NAMES.length * (1 + DETECTORS.length * THRESHOLDS_US.length));
  for (const { detector, messages } of rates.collector) expect(messages === 1).toBe(detector === null);

  expect(queues).toHaveLength(WORKLOAD_NAMES.length * (1 + OTHER_HOT.length));
  expect(windows).toHaveLength(WORKLOAD_NAMES.length * 2);
  const perWorkload = DETECTORS.length + OTHER_HOT.length * 2;
  expect(points).toHaveLength(WORKLOAD_NAMES.length * THRESHOLDS_US.length * perWorkload);
  for (const point of points) {
    const { events, packets, gain, inSwitch, inCollector, hot, slots, workload } = point;
    expect(gain === null).toBe(events < LEAST_EVENTS);
    expect(inSwitch === null).toBe(gain === null);
    expect(inCollector === null).toBe(gain === null || hot !== HOT);
    if (events < LEAST_EVENTS) expect(slots).toBe(hot === HOT ? effort.mostSlots : effort.mostSlotsOtherHot);
    if (gain === null) continue;
    const unfiltered = rates.collector.find((rate) => rate.workload === workload && rate.detector === null)!;
    expect(gain / (packets / events)).toBeCloseTo(1, 5);
    expect(inSwitch! / (unfiltered.reportsPerSecond * gain)).toBeCloseTo(1, 5);
  }
}

describe('study --short', () => {
  const folder = mkdtempSync(join(tmpdir(), 'int-study-'));
  const said: string[] = [];
  let printed = '';
  beforeAll(async () => {
    await runStudy(
      eventPrefilter,
      ['--short', '--out', folder],
      (text) => {
        printed += text;
      },
      (text) => said.push(text),
    );
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('prints the tables, says what it does, and writes results, tables and charts', () => {
    expect(readdirSync(folder).sort()).toEqual([...CHARTS, 'prefilter.json', 'report.md'].sort());
    expect(printed).toBe(aligned(renderReport(read(folder))));
    expect(readFileSync(join(folder, 'report.md'), 'utf8')).toBe(`${renderReport(read(folder))}\n`);
    expect(said.length).toBeGreaterThan(5);
  });

  it('writes sound results', () => {
    const results = read(folder);
    expect(results.form).toBe('short');
    expect(results.effort).toEqual(SHORT);
    checkResults(results);
  });

  it('draws charts that are well-formed', () => {
    for (const name of CHARTS) {
      expect(elementsOf(readFileSync(join(folder, name), 'utf8'))).toEqual(
        expect.arrayContaining(['svg', 'title', 'desc', 'path', 'text']),
      );
    }
  });

  it('makes the same charts and tables again from the results file', async () => {
    const before = readFileSync(join(folder, 'capacity-average.svg'), 'utf8');
    let again = '';
    await runStudy(
      eventPrefilter,
      ['--render', '--out', folder],
      (text) => {
        again += text;
      },
      () => {},
    );
    expect(again).toBe(printed);
    expect(readFileSync(join(folder, 'capacity-average.svg'), 'utf8')).toBe(before);
  });

  it('refuses an option that it does not know', async () => {
    expect(
      await runStudy(
        eventPrefilter,
        ['--long'],
        () => {},
        () => {},
      ),
    ).toBe(2);
  });
});

describe('what is committed', () => {
  const results = read(RESULTS_FOLDER);

  it('is a sound results file of the full study', () => {
    expect(results.form).toBe('full');
    expect(results.effort).toEqual(FULL);
    checkResults(results);
  });

  it('has exact figures near the measured ones wherever there are many events', () => {
    const many = results.points.filter(({ expectedFraction, events }) => expectedFraction !== null && events >= 10_000);
    expect(many.length).toBeGreaterThan(30);
    for (const { events, packets, expectedFraction, workload, thresholdUs } of many) {
      const off = Math.abs(events / packets / expectedFraction! - 1);
      expect(off, `${workload}, ${thresholdUs} us`).toBeLessThan(0.05);
    }
    for (const { meanQueueUs, expectedMeanQueueUs } of results.queues) {
      expect(Math.abs(meanQueueUs / expectedMeanQueueUs - 1)).toBeLessThan(0.03);
    }
  });
});
