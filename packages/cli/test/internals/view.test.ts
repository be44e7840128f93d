import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { switchTable } from '../../src/live/switch-panel.js';
import { totalJson } from '../../src/output/collect-json.js';
import { colours } from '../../src/output/colour.js';
import { detectionJson, detectionTable } from '../../src/output/detection-summary.js';
import { LastStatistics } from '../../src/output/last-statistics.js';
import { dropText, logLine, totalText } from '../../src/output/live-state.js';
import { RAW_METRICS } from '../../src/output/metric-text.js';
import { bytes, compact, counted, factor, percent } from '../../src/output/numbers.js';
import { sparkline } from '../../src/output/sparkline.js';
import { SEED } from '../seed.js';
import { detection, state, switches, totals } from './live-states.js';

describe('texts outside of the live view', () => {
  test('the log says what became of records, by sink, what was filtered, and what is degraded', () => {
    const reports = { offered: 1300, delivered: 1200, pending: 70, dropped: { overflow: 30, closed: 0 } };
    const flows = { offered: 2, delivered: 2, pending: 0, dropped: {} };
    const sinks = { kafka: { reports }, parquet: { reports: { ...flows }, flows } };
    expect(logLine({ ...state(), totals: { ...totals, sinks } })).toContain(
      '  sinks 1,204 delivered 70 pending 30 dropped',
    );
    expect(logLine(state())).not.toContain('sinks');
    const part = (name: string) => ({ where: 'udp', name, since: 0, text: '' });
    const degraded = ['shedding', 'untracked', 'damaged', 'outage', 'outage'].map(part);
    expect(logLine({ ...state(), degraded })).toContain('  degraded: shedding, untracked, damaged, outage');
    expect(logLine({ ...state(), filtered: 12_345 })).toContain('  42 kernel drops  12,345 filtered  3 switches');
    expect(totalJson(totals, 12_345)).toEqual({ ...totalJson(totals), filtered: 12_345 });
    for (const without of [state(), { ...state(), filtered: null }]) expect(logLine(without)).not.toContain('filtered');
    expect(totalJson(totals, null)).not.toHaveProperty('filtered');
  });

  test('counts what a pre-filter has kept back among what there was', () => {
    const kept = { ...state(), filtered: 8000, detection: { ...detection(2, 0), filtered: 8000 } };
    expect(logLine(kept)).toMatch(/180 events {2}0\.80 % of reports have events: 1 in 125$/);
    expect(detectionTable(kept.detection, colours(false))[0]).toBe(
      '2,000 reports, 180 events: 0.80 % of reports have events: 1 in 125',
    );
    expect(detectionJson(kept.detection).survivors).toBe(0.008);
  });

  test('ends with the switches as they were when the last reports came', () => {
    const silent = switches(2).map((one) => ({ ...one, hopLatency: { p50: null, p99: null, count: 0 } }));
    const last = new LastStatistics(RAW_METRICS);
    expect(last.table()).toEqual([]);
    const { statistics } = state();
    last.see(statistics, 7);
    expect(last.table()).toEqual(switchTable(statistics, RAW_METRICS));
    last.see({ ...statistics, timeMs: 20_000, switches: silent }, 7);
    expect(last.table()).toEqual([
      'switches at 1970-01-01T00:00:00.000Z, the time of the last reports:',
      ...switchTable(statistics, RAW_METRICS),
    ]);
    last.see({ ...statistics, timeMs: 30_000 }, 8);
    expect(last.table()).toEqual(switchTable(statistics, RAW_METRICS));
  });

  test('has words for a log', () => {
    expect(logLine(state())).toBe(
      '1:02:05  120 reports/s  1,010 received  1,000 decoded  10 dropped  42 kernel drops  3 switches  ' +
        'latency p99 20,000 at switch 15308642  queue peak there 16.8M',
    );
    expect(logLine({ ...state(), detection: detection(1, 0) })).toMatch(
      / {2}queue peak there 16\.8M {2}90 events {2}4\.00 % of reports have events: 1 in 25\.0$/,
    );
    expect(totalText(totals)).toBe('1010 received, 1000 decoded, 10 dropped');
    const clean = { ...totals, dropped: { ...totals.dropped, truncated: 0, malformed: 0, overrun: 0 }, errors: {} };
    expect(dropText(clean)).toBe('none');
    expect(logLine({ ...state({ switches: switches(1) }), totals: { ...clean, kernelDropped: null } })).toContain(
      'unknown kernel drops  1 switch  ',
    );
  });
});

describe('sparklines', () => {
  test('have one bar for each of the last values', () => {
    expect(sparkline([1, 2, 3, 4, 5, 6, 7, 8], 8)).toBe('▂▃▄▅▆▇██');
    expect(sparkline([5, null, 0, 5], 6)).toBe('  █ ▁█');
    expect(sparkline([9, 1, 1], 2)).toBe('██');
    expect(sparkline([0, 0], 2)).toBe('▁▁');
    expect(sparkline([], 3)).toBe('   ');
  });
});

describe('numbers', () => {
  test('fit narrow columns', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2 ** 40, noNaN: true }), (value) => {
        expect(compact(value).length).toBeLessThanOrEqual(7);
      }),
      { seed: SEED },
    );
    expect([0, 999.5, 99_999, 100_000, 999_999, 12_345_678, 4_294_967_295].map(compact)).toEqual([
      '0',
      '1,000',
      '99,999',
      '100k',
      '1.0M',
      '12.3M',
      '4.3G',
    ]);
    expect(compact(null)).toBe('-');
  });

  test('tell shares and factors', () => {
    expect([0, 0.00001, 0.0791, 1].map(percent)).toEqual(['0.00 %', '<0.01 %', '7.91 %', '100.00 %']);
    expect([1, 12.64, 99.94, 99.96, 12_345.6].map(factor)).toEqual(['1.0', '12.6', '99.9', '100', '12,346']);
  });

  test('have units', () => {
    expect([12, 2048, 33_554_432].map(bytes)).toEqual(['12 B', '2 KiB', '32 MiB']);
    expect([counted(1, 'frame'), counted(2000, 'frame')]).toEqual(['1 frame', '2,000 frames']);
  });
});
