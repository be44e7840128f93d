import type { SwitchStatistics } from '@int/collector';
import { DeviceProfile, Topology } from '@int/network';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Controls, FIRST_CONTROLS, PANELS, SORTS } from '../../src/live/controls.js';
import { HELP } from '../../src/live/help.js';
import { liveView, type Size } from '../../src/live/live-view.js';
import { shareLines } from '../../src/live/panel.js';
import { RecentCounts } from '../../src/live/recent-counts.js';
import { fit, inLines, widthOf } from '../../src/live/text-width.js';
import { colours } from '../../src/output/colour.js';
import { type LiveState, logLine } from '../../src/output/live-state.js';
import { type MetricText, measuredText, RAW_METRICS } from '../../src/output/metric-text.js';
import { SEED } from '../seed.js';
import { congested, detection, state, switches, totals } from './live-states.js';

const PLAIN = colours(false);

function view(of: LiveState, size: Size, controls: Partial<Controls> = {}): readonly string[] {
  return liveView(of, 'int collect  udp', { ...FIRST_CONTROLS, ...controls }, size, true, PLAIN).lines;
}
const text = (...args: Parameters<typeof view>): string => view(...args).join('\n');

/** Switches of equal figures, some of which differ. */
function fabric(count: number, differing: Readonly<Record<number, Partial<SwitchStatistics>>> = {}) {
  return Array.from({ length: count }, (_, index) => ({
    ...switches(2)[1]!,
    nodeId: index + 1,
    reportsPerSecond: 100,
    hopLatency: { p50: 10, p99: 100, count: 5 },
    queueOccupancy: { now: 3, peak: 40 },
    history: Array.from({ length: 60 }, () => 100),
    ...differing[index + 1],
  }));
}

/** What a fabric in trouble looks like: switch 17 with events, 12 with drops, 9 slow, 3 with a full link, 20 congested. */
const busy: LiveState = {
  ...state({
    timeMs: 1_700_000_000_000,
    switches: fabric(30, {
      12: { dropReports: 40, dropReportsPerSecond: 2.5 },
      9: { hopLatency: { p50: 20, p99: 900, count: 5 } },
      3: { egressUtilization: { now: 50, peak: 97 } },
    }),
    congested: [{ ...congested[1]!, nodeId: 20, depth: 900, peak: 1000, path: [1, 20] }],
  }),
  detection: detection(3, 12),
  recentEvents: new Map([[17, 5]]),
  metrics: { ...RAW_METRICS, share: (_metric, value) => value / 100 },
};

describe('the live view', () => {
  test('has keys that are explained in 80 columns', () => {
    expect(HELP.filter((line) => line.length > 80)).toEqual([]);
  });

  test.each(SORTS)(
    'gives switches with trouble their room also in the order by %s, and when another part is marked',
    (sort) => {
      const many = { ...busy, recentEvents: new Map(busy.statistics.switches.map(({ nodeId }) => [nodeId!, 1])) };
      const rows = (panel: Controls['panel']): number =>
        view(many, { columns: 80, rows: 24 }, { sort, panel }).filter((line) => line.includes('1 event')).length;
      expect(rows('switches')).toBeGreaterThanOrEqual(8);
      expect(rows('rules')).toBeGreaterThanOrEqual(6);
    },
  );

  test('at 80x24 shows every switch with trouble first, worst first, and events with their whole flow', () => {
    const lines = view(busy, { columns: 80, rows: 24 });
    expect(lines).toHaveLength(24);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(80);
    const from = lines.findIndex((line) =>
      line.startsWith('> Switches 30, 5 with trouble  lat, queue, util in device units'),
    );
    expect(lines[from + 1]).toMatch(/^ +switch +rep\/s +lat p50 +lat p99 +queue +peak +util {2}trouble 10 s$/);
    expect(lines.slice(from + 2, from + 7).map((line) => line.trim().split(/ {2,}|(?<=^\d+) /)[0])).toEqual([
      '17',
      '12',
      '9',
      '3',
      '20',
    ]);
    expect(lines[from + 2]).toMatch(/ 5 events$/);
    expect(lines[from + 3]).toMatch(/ 2\.5 drops\/s$/);
    expect(lines[from + 4]).toMatch(/ lat 9\.0x$/);
    expect(lines[from + 5]).toMatch(/ util 97 %$/);
    expect(lines[from + 6]).toMatch(/ queue deep$/);
    const all = lines.join('\n');
    expect(all).toContain('  Events 270  4.00 % of reports have events: 1 in 25.0');
    expect(all).toMatch(/^ {2}22:13:20\.000 {2}rule-1 {2}perHop hopLatency at switch 2, hop 1: 1,200 to 5,400$/m);
    expect(all).toContain('    (threshold 1,000)  10.0.1.1:4000 > 10.0.2.2:80 udp\n');
    expect(all).toMatch(/^ {2}Rules 3 {2}1-2 of 4$/m);
    expect(all).toContain('with events  1 report in\n');
    expect(lines.at(-1)).toBe('? keys  q quit  Tab next part  / filter  s sort (trouble)  p pause');
  });

  test('cuts no flow of an event, however long', () => {
    const found = detection(1, 1);
    const flow = {
      source: '2001:db8:1111:2222:3333:4444:5555:6666',
      destination: '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff',
    };
    const event = {
      ...found.recent[0]!.event,
      flow: { ...flow, protocol: 6, sourcePort: 65_001, destinationPort: 65_002 },
    };
    const long = { ...state(), detection: { ...found, recent: [{ ...found.recent[0]!, event }] } };
    const small = view(long, { columns: 80, rows: 24 });
    expect(small).toContain('    [2001:db8:1111:2222:3333:4444:5555:6666]:65001 >');
    expect(small).toContain('    [2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff]:65002 tcp');
  });

  test.each([
    { columns: 80, rows: 24 },
    { columns: 120, rows: 40 },
    { columns: 40, rows: 10 },
    { columns: 300, rows: 100 },
  ])('fills $columns x $rows', (size) => {
    const lines = view(busy, size);
    expect(lines).toHaveLength(size.rows);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(size.columns);
    const all = lines.join('\n');
    expect(all).toContain('Switches 30');
    expect(all).toMatch(/^[ >]*17 .*5 events/m);
    if (size.columns >= 80) expect(all).toContain('10.0.1.1:4000 > 10.0.2.2:80 udp');
    if (size.columns >= 120) expect(all).toMatch(/lat p99 by second, \d+ s/);
    if (size.columns === 300) {
      // Two columns: all switches at the left, all events at the right.
      expect(lines.filter((line) => /^ +\d+ +100 /.test(line))).toHaveLength(30);
      expect(lines.filter((line) => line.includes('10.0.1.1:4000'))).toHaveLength(12);
      expect(all).toContain('lat p99 by second, 60 s');
    }
  });

  test('never writes a line wider than the terminal, or more lines than it has', () => {
    const metrics: MetricText = { ...RAW_METRICS, switchName: (id) => `葉\x1b-é-${id}-${'x'.repeat(id % 40)}` };
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 320 }),
        fc.integer({ min: 1, max: 110 }),
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 0, max: 32 }),
        fc.option(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 64 }), fc.boolean())),
        fc.record({
          panel: fc.constantFrom(...PANELS),
          sort: fc.constantFrom(...SORTS),
          filter: fc.constantFrom('', '10.0', 'rule-1', '2', 'no such'),
          isHelp: fc.boolean(),
          isEditing: fc.boolean(),
          isPaused: fc.boolean(),
          by: fc.nat({ max: 100 }),
        }),
        (columns, rows, switchCount, pathCount, found, { by, ...controls }) => {
          const notice = { text: `rules.yaml:1:2: ${'x'.repeat(200)}`, isProblem: true };
          const scroll = Object.fromEntries(Object.keys(FIRST_CONTROLS.scroll).map((name) => [name, by]));
          const { lines } = liveView(
            {
              ...state({ switches: switches(switchCount), congested: congested.slice(0, pathCount) }),
              detection: found === null ? null : detection(found[0], found[1], found[2] ? notice : null),
              recentEvents: new Map([[7_654_321, 3]]),
              metrics,
            },
            'int collect  udp://127.0.0.1:32766',
            { ...FIRST_CONTROLS, ...controls, scroll: { ...FIRST_CONTROLS.scroll, ...scroll } },
            { columns, rows },
            true,
            PLAIN,
          );
          expect(lines.length).toBeLessThanOrEqual(rows);
          for (const line of lines) {
            expect(widthOf(line)).toBeLessThanOrEqual(columns);
            expect(line).not.toContain('\x1b');
          }
        },
      ),
      { seed: SEED },
    );
  });

  test('marks lines with colours that change no width', () => {
    const size = { columns: 80, rows: 24 };
    const painted = liveView(busy, 'int collect  udp', FIRST_CONTROLS, size, true, colours(true)).lines.join('\n');
    expect(painted).toContain('\x1b[33m');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
    expect(painted.replaceAll(/\x1b\[\d+m/g, '')).toBe(text(busy, size));
  });

  test('says what the figures are in, unless each has its unit', () => {
    const size = { columns: 120, rows: 30 };
    expect(text(busy, size)).toContain('with trouble  lat, queue, util in device units');
    const metrics: MetricText = {
      ...RAW_METRICS,
      cell: (metric, value) => (metric === 'hopLatency' && value !== null ? `${value} us` : String(value ?? '-')),
      value: (_metric, value) => `${value} us`,
      unit: (metric) => (metric === 'hopLatency' ? '' : metric === 'queueOccupancy' ? 'cells' : 'device units'),
      switchName: (id) => `leaf-${id}`,
    };
    const named = text({ ...busy, metrics }, size);
    expect(named).toContain('queue in cells; util in device units');
    expect(named).toMatch(/ leaf-17 +100 +10 us +100 us /);
    expect(named).toContain('perHop hopLatency at switch leaf-2, hop 1: 1200 us to 5400 us (threshold 1000 us)');
    expect(named).toContain('at leaf-20: queue 900 us, peak 1000 us  path leaf-1 > leaf-20');
  });

  test('shows values with units, of each switch its own, and compares switches by them', () => {
    const device = new DeviceProfile({
      units: { hopLatency: 'us', queueOccupancy: 'cells', egressUtilization: '0.01%' },
      switches: { 15308642: { units: { hopLatency: 'ns' } } },
    });
    const known = {
      ...state({ congested: [{ ...congested[1]!, nodeId: 7_654_321 }] }),
      detection: detection(1, 1),
      metrics: measuredText({ device, topology: Topology.NONE }),
    };
    const shown = text(known, { columns: 140, rows: 40 }, { sort: 'latency' });
    // 20,000 ns are less than 10,000 us.
    expect(shown).toMatch(
      / 7654321 +1,235 +100 µs +10 ms +3 cells +16\.8M cells [\s\S]* 15308642 +2,469 +100 ns +20 µs /,
    );
    expect(shown).toContain('queue 900 cells, peak 1,000 cells');
    expect(shown).toContain('perHop hopLatency at switch 2, hop 1: 1.2 ms to 5.4 ms (threshold 1 ms)');
    expect(shown).not.toContain('device units');
    expect(logLine(known)).toContain('latency p99 10 ms at switch 7654321  queue peak there 16.8M cells');
    expect(known.metrics.share('egressUtilization', 9500, 1)).toBeCloseTo(0.95);
    expect(RAW_METRICS.share('egressUtilization', 9500, 1)).toBeNull();
  });

  test('filters by switch, rule and address', () => {
    const size = { columns: 120, rows: 40 };
    const bySwitch = text(busy, size, { filter: '20' });
    expect(bySwitch).toMatch(/^ +20 .*queue deep/m);
    expect(bySwitch).not.toMatch(/^ +17 /m);
    expect(bySwitch).toContain('no event matches the filter');
    expect(bySwitch).toContain('filter: 20 (Esc shows all)');
    const byRule = text(busy, size, { filter: 'RULE-1' });
    expect(byRule).toContain('no switch matches the filter');
    expect(byRule.split('\n').filter((line) => line.includes('perHop'))).toHaveLength(3);
    const byAddress = text(busy, size, { filter: '2001:db8::2' });
    expect(byAddress).toContain('at 20: queue 900, peak 1,000');
    expect(byAddress).toContain('no event matches the filter');
  });

  test('sorts the switches, scrolls the chosen part, and says where it is', () => {
    const size = { columns: 80, rows: 24 };
    const first = (lines: readonly string[]): string | undefined =>
      lines.find((line) => /^ +\d+ +100 /.test(line))?.trim();
    expect(first(view(busy, size, { sort: 'switch' }))).toMatch(/^1 /);
    expect(first(view(busy, size, { sort: 'latency' }))).toMatch(/^9 /);
    const scrolled = view(busy, size, { sort: 'switch', scroll: { ...FIRST_CONTROLS.scroll, switches: 4 } });
    expect(first(scrolled)).toMatch(/^5 /);
    expect(scrolled.join('\n')).toMatch(/^> Switches .* 5-\d+ of 30$/m);
    const end = view(busy, size, { sort: 'switch', scroll: { ...FIRST_CONTROLS.scroll, switches: 999 } });
    expect(end.join('\n')).toMatch(/-30 of 30$/m);
    const events = view(busy, size, { panel: 'events' }).join('\n');
    expect(events).toMatch(/^> Events/m);
    expect(events.split('10.0.1.1:4000').length).toBeGreaterThan(text(busy, size).split('10.0.1.1:4000').length);
  });

  test('has a help that says all keys, also where it must be scrolled', () => {
    const large = text(busy, { columns: 80, rows: 40 }, { isHelp: true });
    for (const key of ['PgUp', 'Tab', '/', 's ', 'p ', '? or h', 'q, Ctrl-C']) expect(large).toContain(key);
    for (const word of ['lat p99', 'queue', 'util', 'with events', '1 report in']) expect(large).toContain(word);
    const small = { columns: 80, rows: 8 };
    const most = liveView(busy, 't', { ...FIRST_CONTROLS, isHelp: true }, small, true, PLAIN).extents.help!.most;
    const last = view(busy, small, { isHelp: true, scroll: { ...FIRST_CONTROLS.scroll, help: most } }).join('\n');
    expect(last).toContain('1 report in');
  });

  test('says what is lost, degraded, wrong with the rules, filtered and paused', () => {
    const part = (name: string) => ({ where: 'udp', name, since: 0, text: `${name} text\x1b[2J` });
    const degraded = ['shedding', 'untracked', 'damaged', 'outage', 'outage'].map(part);
    const notice = { text: 'rules.yaml:3:1: no', isProblem: true };
    const lines = view(
      { ...state(), degraded, filtered: 12_345, detection: detection(30, 5, notice) },
      { columns: 140, rows: 40 },
      { isPaused: true },
    );
    expect(lines.slice(0, 8)).toEqual([
      'int collect  udp  1:02:05  PAUSED',
      '120 reports/s  received 1,010  decoded 1,000  dropped 10  kernel drops 42  filtered 12,345',
      'dropped: truncated 3, malformed 6, overrun 1 (TRUNCATED 3, BAD_STACK 6)',
      'degraded: udp: shedding: shedding text\ufffd[2J',
      'degraded: udp: untracked: untracked text\ufffd[2J',
      'degraded: udp: damaged: damaged text\ufffd[2J',
      'degraded: and 2 more',
      'rules.yaml:3:1: no',
    ]);
    const sinks = { kafka: { reports: { offered: 1300, delivered: 1200, pending: 70, dropped: { overflow: 30 } } } };
    expect(text({ ...state(), totals: { ...totals, sinks } }, { columns: 140, rows: 40 })).toContain(
      'kafka: reports 1,200 delivered, 70 pending, 30 dropped (overflow 30)',
    );
  });

  test('says Ctrl-C where the terminal gives no keys', () => {
    const { lines } = liveView(busy, 'int collect', FIRST_CONTROLS, { columns: 80, rows: 24 }, false, PLAIN);
    expect(lines.at(-1)).toBe('Ctrl-C stops');
  });
});

describe('the parts of the view', () => {
  test('take not a line more than there are, and the chosen one is there', () => {
    const panel = (name: (typeof PANELS)[number], entries: number) => ({
      name,
      title: name,
      heading: name === 'events' ? null : 'heading',
      entries: Array.from({ length: entries }, () =>
        name === 'events' ? [{ text: 'a' }, { text: 'b' }] : [{ text: 'a' }],
      ),
      urgent: name === 'switches' ? Math.min(entries, 5) : 0,
      nothing: '',
    });
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 60 }), { minLength: 5, maxLength: 5 }),
        fc.constantFrom(...PANELS),
        fc.nat({ max: 120 }),
        (counts, chosen, lines) => {
          const shares = shareLines(
            PANELS.map((name, index) => panel(name, counts[index]!)),
            chosen,
            lines,
          );
          expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(lines);
          if (lines >= 3) expect(shares[PANELS.indexOf(chosen)]).toBeGreaterThan(1);
        },
      ),
      { seed: SEED },
    );
  });
});

describe('events of the last ten seconds', () => {
  test('are counted by switch, as a plain list of them is', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 4000 })), { maxLength: 60 }), (steps) => {
        const counts = new RecentCounts();
        const plain: { key: number; second: number }[] = [];
        let now = 1_700_000_000_000;
        for (const [key, later] of steps) {
          now += later;
          counts.add(key, now);
          plain.push({ key, second: Math.floor(now / 1000) });
        }
        const recent = plain.filter(({ second }) => second > Math.floor(now / 1000) - 10);
        const expected = new Map<number, number>();
        for (const { key } of recent) expected.set(key, (expected.get(key) ?? 0) + 1);
        expect([...counts.counts(now)].sort()).toEqual([...expected].sort());
      }),
      { seed: SEED },
    );
  });

  test('are bounded by the number of ids', () => {
    const counts = new RecentCounts();
    for (let id = 0; id < 100_000; id++) counts.add(id, 5000);
    expect(counts.counts(5000).size).toBe(4096);
  });
});

describe('widths of texts', () => {
  test('count characters of two columns, and cut at the right one', () => {
    expect(widthOf('葉-1')).toBe(4);
    expect(fit('葉葉葉', 5)).toBe('葉葉…');
    expect(fit('葉葉葉', 4)).toBe('葉…');
    expect(fit('a\x1bb', 5)).toBe('a\ufffdb');
    expect([0, 1, 2].map((width) => fit('abc', width))).toEqual(['', '…', 'a…']);
    expect(inLines(['aaa', 'bbb', 'ccc'], 8)).toEqual(['aaa  bbb', 'ccc']);
  });
});
