import type { CollectorTotals, StatisticsSnapshot, SwitchStatistics } from '@int/collector';
import { DeviceProfile, Topology } from '@int/network';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { totalJson } from '../../src/output/collect-json.js';
import { colours } from '../../src/output/colour.js';
import { detectionJson, detectionTable } from '../../src/output/detection-summary.js';
import type { DetectionState } from '../../src/output/detection-view.js';
import { LastStatistics } from '../../src/output/last-statistics.js';
import { dropText, type LiveState, liveView, logLine, switchTable, totalText } from '../../src/output/live-view.js';
import { bytes, compact, counted, factor, percent } from '../../src/output/numbers.js';
import { sparkline } from '../../src/output/sparkline.js';
import { SEED } from '../seed.js';

const totals: CollectorTotals = {
  received: 1010,
  decoded: 1000,
  reports: 1200,
  dropped: { truncated: 3, malformed: 6, unsupported: 0, 'not-int': 0, overrun: 1 },
  errors: { TRUNCATED: 3, BAD_STACK: 6 },
  kernelDropped: 42,
  stages: {},
  sinks: {},
};

function switches(count: number): SwitchStatistics[] {
  return Array.from({ length: count }, (_, index) => ({
    nodeId: index * 7_654_321,
    reportsPerSecond: 1234.5 * index,
    hopLatency: { p50: 100, p99: 10_000 * index, count: 5 },
    queueOccupancy: { now: 3, peak: 16_777_214 },
    egressUtilization: { now: null, peak: null },
    dropReports: 0,
    history: [null, 10, 20, 40],
  }));
}

function state(statistics: Partial<StatisticsSnapshot> = {}): LiveState {
  return {
    source: 'udp://127.0.0.1:32766',
    elapsedMs: 3_725_000,
    totals,
    receivedPerSecond: 100,
    reportsPerSecond: 120,
    statistics: { timeMs: 0, switches: switches(3), other: null, congested: [], ...statistics },
    detection: null,
    degraded: [],
  };
}

function detection(rules: number, events: number, notice: DetectionState['notice'] = null): DetectionState {
  const none = { reports: 0, events: 0, survivors: 0 };
  const figures = { reports: 1000, events: 90, survivors: 40 };
  return {
    totals: {
      reports: 1000 * rules,
      survivors: 40 * rules,
      events: 90 * rules,
      notOk: 1,
      unmatched: 2,
      unsampled: 0,
      withoutFlow: 0,
      beyondPositions: 0,
      aged: 0,
      evicted: 0,
      untracked: 0,
      untold: 0,
      byRule: new Map(Array.from({ length: rules }, (_, index) => [`rule-${index}`, figures] as const)),
      byDefault: none,
      removed: none,
    },
    filtered: 0,
    tracked: null,
    adaptation: [{ rule: 'rule-0', target: 1000, rate: 998, status: 'holding', threshold: 12_345 }],
    recent: Array.from({ length: events }, (_, index) => ({
      frame: index + 1,
      index: 0,
      timeNs: 1_700_000_000_000_000_000n + BigInt(index),
      event: {
        rule: index % 3 === 0 ? null : `rule-${index}`,
        detector: 'perHop',
        metric: 'hopLatency',
        scope: 'hop',
        nodeId: 2,
        hop: 1,
        value: 5400,
        previous: 1200,
        threshold: 1000,
        evidence: null,
        state: 'once',
        firstSight: false,
        flow: { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 4000, destinationPort: 80 },
      },
    })),
    notShown: 0,
    notice,
  };
}

const congested = Array.from({ length: 32 }, (_, index) => ({
  timeMs: 1_700_000_000_000 + index,
  path: [1, null, 3],
  hop: 1,
  nodeId: null,
  depth: index % 2 === 0 ? null : 900,
  peak: index % 2 === 0 ? null : 1000,
  reports: 5,
  flow: { source: '2001:db8::1', destination: '2001:db8::2', protocol: 6, sourcePort: 1, destinationPort: 2 },
}));

describe('the live view', () => {
  test('fits any terminal', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 20, max: 250 }),
        fc.integer({ min: 3, max: 80 }),
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 32 }),
        fc.option(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 64 }), fc.boolean())),
        (columns, rows, switchCount, pathCount, found) => {
          const notice = { text: `rules.yaml:1:2: ${'x'.repeat(200)}`, isProblem: true };
          const view = liveView(
            {
              ...state({ switches: switches(switchCount), congested: congested.slice(0, pathCount) }),
              detection: found === null ? null : detection(found[0], found[1], found[2] ? notice : null),
            },
            columns,
            rows,
            colours(false),
          );
          expect(view.length).toBeLessThanOrEqual(rows);
          for (const line of view) expect([...line].length).toBeLessThanOrEqual(columns);
        },
      ),
      { seed: SEED },
    );
  });

  test('shows what became of records, by sink, and so does the log', () => {
    const reports = { offered: 1300, delivered: 1200, pending: 70, dropped: { overflow: 30, closed: 0 } };
    const flows = { offered: 2, delivered: 2, pending: 0, dropped: {} };
    const sinks = { kafka: { reports }, parquet: { reports: { ...flows }, flows } };
    const shown = { ...state(), totals: { ...totals, sinks } };
    const view = liveView(shown, 140, 40, colours(false)).join('\n');
    expect(view).toContain('kafka: reports 1,200 delivered, 70 pending, 30 dropped (overflow 30)');
    expect(view).toContain(
      'parquet: reports 2 delivered, 0 pending, 0 dropped; flows 2 delivered, 0 pending, 0 dropped',
    );
    expect(logLine(shown)).toContain('  sinks 1,204 delivered 70 pending 30 dropped');
    expect(liveView(shown, 40, 8, colours(false)).length).toBeLessThanOrEqual(8);
    expect(logLine(state())).not.toContain('sinks');
  });

  test('shows rates, drops by reason, switches and congested paths', () => {
    const view = liveView(state({ congested }), 140, 40, colours(false)).join('\n');
    expect(view).toContain('1:02:05');
    expect(view).toContain('120 reports/s   received 1,010   decoded 1,000   dropped 10   kernel drops 42');
    expect(view).toContain('dropped: truncated 3, malformed 6, overrun 1 (TRUNCATED 3, BAD_STACK 6)');
    expect(view).toMatch(/ 7654321 +1,235 +100 +10,000 +3 +16\.8M +- .*▃▅█$/m);
    expect(view).toContain('1 > ? > 3  at ?  depth 900 (peak 1,000)  [2001:db8::1]:1 > [2001:db8::2]:2 tcp');
    expect(view).toContain('flagged');
    expect(view).toContain('lat, queue, peak, util: as the switches count; name a unit with --unit hopLatency=UNIT');
  });

  test('shows values with units, of each switch its own, and finds the worst by them', () => {
    const device = new DeviceProfile({
      units: { hopLatency: 'us', queueOccupancy: 'cells', egressUtilization: '0.01%' },
      switches: { 15308642: { units: { hopLatency: 'ns' } } },
    });
    const network = { device, topology: Topology.NONE };
    const known = { ...state({ congested }), network };
    const lines = liveView(known, 140, 40, colours(true));
    const view = lines.join('\n');
    expect(view).toMatch(/ 7654321 +1,235 +100 µs +10 ms +3 cells +16\.8M cells +- .*▃▅█/m);
    // 20,000 ns are less than 10,000 µs.
    expect(view).toMatch(/ 15308642 +2,469 +100 ns +20 µs /m);
    expect(lines.find((line) => line.startsWith('\x1b[33m'))).toContain(' 7654321 ');
    expect(view).toContain('depth 900 cells (peak 1,000 cells)');
    expect(view).not.toContain('--unit');
    expect(logLine(known)).toContain('worst p99 10 ms at switch 7654321  queue peak 16.8M cells');
    const events = liveView({ ...known, detection: detection(1, 1) }, 140, 40, colours(false)).join('\n');
    expect(events).toContain('perHop hopLatency at switch 2, hop 1: 1.2 ms to 5.4 ms (threshold 1 ms)');
  });

  test('shows rules, survivors, thresholds that adapt and the most recent events', () => {
    const view = liveView({ ...state({ congested }), detection: detection(2, 64) }, 140, 50, colours(false));
    const from = view.indexOf('events 180  4.00 % survive: 25.0 times fewer reports');
    expect(from).toBeGreaterThan(0);
    expect(view.slice(from + 1, from + 7)).toEqual([
      '  rule            reports       events    survivors     capacity',
      '  rule-0            1,000           90       4.00 %   25.0 times',
      '  rule-1            1,000           90       4.00 %   25.0 times',
      '  rule-0: 998 of 1,000 events/s at threshold 12,345, holding',
      expect.stringMatching(
        /^ {2}22:13:20\.000 {2}\(no rule\) {2}perHop hopLatency at switch 2, hop 1: 1,200 to 5,400/,
      ),
      expect.stringMatching(
        /^ {2}22:13:20\.000 {2}rule-1 .*\(threshold 1,000\) {2}10\.0\.1\.1:4000 > 10\.0\.2\.2:80 udp$/,
      ),
    ]);
    expect(view).toContain('recently congested');
    const many = { ...state(), detection: detection(30, 5, { text: 'rules.yaml:3:1: no', isProblem: true }) };
    const small = liveView(many, 100, 30, colours(false)).join('\n');
    expect(small).toContain('rules.yaml:3:1: no');
    expect(small).toMatch(/and \d+ more rules/);
    expect(small).toContain('rule-1  perHop');
  });

  test('says how many switches it leaves out, and counts others', () => {
    const other = { ...switches(1)[0]!, nodeId: null };
    expect(liveView(state({ switches: switches(50), other }), 100, 24, colours(false)).join('\n')).toMatch(
      /and \d+ more/,
    );
    expect(liveView(state({ other }), 100, 24, colours(false)).join('\n')).toContain('others');
  });

  test('says what a pre-filter has kept back, if there is one', () => {
    const filtering = { ...state(), filtered: 12_345 };
    expect(liveView(filtering, 140, 40, colours(false))[1]).toMatch(/kernel drops 42 {3}filtered 12,345$/);
    expect(logLine(filtering)).toContain('  42 kernel drops  12,345 filtered  3 switches');
    expect(totalJson(totals, 12_345)).toEqual({ ...totalJson(totals), filtered: 12_345 });
    for (const without of [state(), { ...state(), filtered: null }]) {
      expect([...liveView(without, 140, 40, colours(false)), logLine(without)].join()).not.toContain('filtered');
    }
    expect(totalJson(totals, null)).not.toHaveProperty('filtered');
  });

  test('counts what a pre-filter has kept back among what there was', () => {
    const kept = { ...state(), filtered: 8000, detection: { ...detection(2, 0), filtered: 8000 } };
    expect(logLine(kept)).toMatch(/180 events {2}0\.80 % survive: 125 times fewer reports$/);
    expect(detectionTable(kept.detection, colours(false))[0]).toBe(
      '2,000 reports, 180 events: 0.80 % survive: 125 times fewer reports',
    );
    expect(detectionJson(kept.detection).survivors).toBe(0.008);
  });

  test('ends with the switches as they were when the last reports came', () => {
    const silent = switches(2).map((one) => ({ ...one, hopLatency: { p50: null, p99: null, count: 0 } }));
    const last = new LastStatistics();
    expect(last.table()).toEqual([]);
    const { statistics } = state();
    last.see(statistics, 7);
    expect(last.table()).toEqual(switchTable(statistics));
    last.see({ ...statistics, timeMs: 20_000, switches: silent }, 7);
    expect(last.table()).toEqual([
      'switches at 1970-01-01T00:00:00.000Z, the time of the last reports:',
      ...switchTable(statistics),
    ]);
    last.see({ ...statistics, timeMs: 30_000 }, 8);
    expect(last.table()).toEqual(switchTable(statistics));
  });

  test('names what the command suffers from, and no more than there is room for', () => {
    const part = (name: string) => ({ where: 'udp', name, since: 0, text: `${name} text\x1b[2J` });
    const degraded = ['shedding', 'untracked', 'damaged', 'outage', 'outage'].map(part);
    const lines = liveView({ ...state(), degraded }, 140, 40, colours(false));
    expect(lines.slice(3, 7)).toEqual([
      'degraded: udp: shedding: shedding text\ufffd[2J',
      'degraded: udp: untracked: untracked text\ufffd[2J',
      'degraded: udp: damaged: damaged text\ufffd[2J',
      'degraded: and 2 more',
    ]);
    expect(logLine({ ...state(), degraded })).toContain('  degraded: shedding, untracked, damaged, outage');
    expect(liveView({ ...state({ switches: switches(50) }), degraded }, 100, 24, colours(false))).toHaveLength(24);
  });

  test('shows what frames that are not read look like', () => {
    const hint = '44 reports look like --int-dscp 0x20';
    const lines = liveView({ ...state(), hint }, 140, 40, colours(false));
    expect(lines[3]).toBe(hint);
    expect(liveView({ ...state({ switches: switches(50) }), hint }, 100, 24, colours(false))).toHaveLength(24);
  });

  test('shows the switches that report most, where there is no room for all', () => {
    const busy = switches(50).map((one, index) => ({
      ...one,
      reportsPerSecond: index === 40 ? 1e6 : one.reportsPerSecond / 50,
    }));
    const view = liveView(state({ switches: busy }), 100, 24, colours(false)).join('\n');
    expect(view).toContain(String(40 * 7_654_321));
    expect(view).not.toContain(`\n ${String(7_654_321).padStart(9)} `);
  });

  test('has words for a log', () => {
    expect(logLine(state())).toBe(
      '1:02:05  120 reports/s  1,010 received  1,000 decoded  10 dropped  42 kernel drops  3 switches  ' +
        'worst p99 20,000 at switch 15308642  queue peak 16.8M',
    );
    expect(logLine({ ...state(), detection: detection(1, 0) })).toMatch(
      / {2}queue peak 16\.8M {2}90 events {2}4\.00 % survive: 25\.0 times fewer reports$/,
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
