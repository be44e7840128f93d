import { PassThrough } from 'node:stream';
import { main } from '@int/cli';
import { encodeFrame } from '@int/codec';
import { beforeAll, describe, expect, test } from 'vitest';
import { inTime } from '../../../.ci/test/until.js';
import { coalescedFrame, malformedFrame, pcap, plainFrame, record, reportFrame, START_NS } from './captures.js';
import {
  type Cells,
  EXACT,
  type Line,
  movingAverage,
  type PlainRule,
  perFlow,
  perHop,
  plainEvents,
  registers,
  threshold,
  waitedOrNth,
} from './plain-detection.js';
import { ndjson, Running, run, runBin, temporaryFolder } from './run.js';

const files = temporaryFolder();

interface Summary {
  readonly type: 'summary';
  readonly reports: number;
  readonly events: number;
  readonly survivors: number;
  readonly byRule: Readonly<Record<string, { reports: number; events: number }>>;
  readonly [name: string]: unknown;
}

/** Runs `int detect --json` on a capture, with rules as text. */
async function detect(
  capture: string,
  rules: string,
  ...options: string[]
): Promise<{ events: Record<string, unknown>[]; summary: Summary; code: number | null; stderr: string }> {
  const path = await files.write('rules.yaml', rules);
  const { stdout, code, stderr } = await run(['detect', capture, '--rules', path, '--json', ...options]);
  const events = ndjson(stdout);
  return { summary: events.pop() as unknown as Summary, events, code, stderr };
}

const UNITS = 'units: { hopLatency: ns, queueOccupancy: { cell: 80B }, egressUtilization: { full: 10000 } }';
const one = (detector: string): string =>
  `version: 1\n${UNITS}\nrules:\n  - { name: one, priority: 1, match: any, detect: { ${detector} } }\n`;

describe('int detect over generated reports', () => {
  let fabric = '';
  let lines: Line[] = [];

  beforeAll(async () => {
    fabric = files.path('fabric.pcap');
    const made = await run(['generate', '--packets', '4000', '--flows', '200', '--seed', '11', '-o', fabric]);
    expect(made.code).toBe(0);
    lines = ndjson((await run(['decode', fabric, '--json'])).stdout) as unknown as Line[];
    expect(lines).toHaveLength(4000);
  });

  const DETECTORS: Record<string, { spec: string; plain: (cells: Cells) => Omit<PlainRule, 'name' | 'matches'> }> = {
    perHop: {
      spec: 'perHop: { metric: hopLatency, threshold: 2us }',
      plain: (cells) => ({
        detector: 'perHop',
        metric: 'hopLatency',
        threshold: 2000,
        find: perHop('hopLatency', 2000, cells),
      }),
    },
    perFlow: {
      spec: 'perFlow: { metric: hopLatency, threshold: 3us }',
      plain: (cells) => ({
        detector: 'perFlow',
        metric: 'hopLatency',
        threshold: 3000,
        find: perFlow('hopLatency', 3000, cells),
      }),
    },
    movingAverage: {
      spec: 'movingAverage: { metric: queueOccupancy, threshold: 800B, weight: 3 }',
      plain: (cells) => ({
        detector: 'movingAverage',
        metric: 'queueOccupancy',
        threshold: 10,
        find: movingAverage('queueOccupancy', 10, 3, cells),
      }),
    },
    threshold: {
      spec: 'threshold: { metric: egressUtilization, threshold: 35% }',
      plain: () => ({
        detector: 'threshold',
        metric: 'egressUtilization',
        threshold: 3500,
        find: threshold('egressUtilization', 3500),
      }),
    },
    complex: {
      spec: 'complex: "sum(hopLatency) > 3us and (max(queueOccupancy) > 100 or count() == 2)"',
      plain: (cells) => ({
        detector: 'complex',
        metric: null,
        threshold: null,
        find: waitedOrNth(3000, 100, 2, cells),
      }),
    },
  };
  const STATES: Record<string, { options: string[]; cells: Cells }> = {
    'registers as in a switch': { options: [], cells: registers(65_536, 4096) },
    'few registers, which flows share': {
      options: ['--state', 'register', '--flow-cells', '13', '--switch-cells', '4'],
      cells: registers(13, 4),
    },
    'exact state': { options: ['--state', 'exact'], cells: EXACT },
  };

  describe.each(Object.keys(STATES))('with %s', (state) => {
    test.each(Object.keys(DETECTORS))('%s finds what a plain evaluation of the decoded reports finds', async (name) => {
      const { options, cells } = STATES[state]!;
      const { spec, plain } = DETECTORS[name]!;
      const { events, summary, code } = await detect(fabric, one(spec), ...options);
      const expected = plainEvents(lines, [{ name: 'one', matches: () => true, ...plain(cells) }]);
      expect(expected.length).toBeGreaterThan(10);
      expect(expected.length).toBeLessThan(3 * lines.length);
      expect(events).toEqual(expected);
      const survivors = new Set(expected.map(({ frame }) => frame)).size;
      expect(code).toBe(0);
      expect(summary).toMatchObject({
        type: 'summary',
        reports: lines.length,
        events: expected.length,
        survivors: survivors / lines.length,
        byRule: { one: { reports: lines.length, events: expected.length } },
        survivorsByRule: { one: survivors / lines.length },
      });
    });
  });

  const MIXED = `version: 1
default: drop
${UNITS}
rules:
  - { name: never, priority: 900, match: { source: 192.0.2.0/24 }, detect: { noop: {} } }
  - name: web
    priority: 100
    match: { protocol: tcp, destinationPort: 80-443 }
    detect: { perHop: { metric: hopLatency, threshold: 2us } }
  - name: smooth
    priority: 50
    match: { source: 10.1.0.0/16 }
    detect: { movingAverage: { metric: queueOccupancy, threshold: 10, weight: 3 } }
  - name: both
    priority: -3
    match: { protocol: udp }
    detect: { complex: "sum(hopLatency) > 3us and (max(queueOccupancy) > 100 or count() == 2)" }
`;

  test('lets the first rule that matches decide, by priority, and lists all rules, also those with nothing', async () => {
    const cells = registers(65_536, 4096);
    const rules: PlainRule[] = [
      {
        ...DETECTORS.perHop!.plain(cells),
        name: 'web',
        matches: ({ flow }) => flow!.protocol === 6 && flow!.destinationPort >= 80 && flow!.destinationPort <= 443,
      },
      {
        ...DETECTORS.movingAverage!.plain(cells),
        name: 'smooth',
        matches: ({ flow }) => flow!.source.startsWith('10.1.'),
      },
      { ...DETECTORS.complex!.plain(cells), name: 'both', matches: ({ flow }) => flow!.protocol === 17 },
    ];
    const { events, summary } = await detect(fabric, MIXED);
    const expected = plainEvents(lines, rules);
    expect(events).toEqual(expected);
    const decided = lines.map((line) => rules.find(({ matches }) => matches(line))?.name ?? null);
    const figures = (name: string): { reports: number; events: number } => ({
      reports: decided.filter((rule) => rule === name).length,
      events: expected.filter(({ rule }) => rule === name).length,
    });
    expect(Object.entries(summary.byRule)).toEqual([
      ['never', { reports: 0, events: 0 }],
      ['web', figures('web')],
      ['smooth', figures('smooth')],
      ['both', figures('both')],
    ]);
    for (const name of ['web', 'smooth', 'both']) expect(figures(name).events).toBeGreaterThan(0);
    expect(summary).toMatchObject({
      reports: 4000,
      default: { reports: 0, events: 0 },
      unmatched: decided.filter((rule) => rule === null).length,
      frames: 4000,
    });
  });

  test('reports what no rule matches, without the name of a rule, unless told to drop it', async () => {
    const { events, summary } = await detect(fabric, 'version: 1\nrules: []\n');
    expect(events).toEqual(
      plainEvents(lines, [
        {
          name: null,
          detector: 'noop',
          metric: null,
          threshold: null,
          matches: () => true,
          find: () => [{ scope: 'flow' }],
        },
      ]),
    );
    expect(summary).toMatchObject({ survivors: 1, byRule: {}, default: { reports: 4000, events: 4000 }, unmatched: 0 });
    const dropped = await detect(fabric, 'version: 1\ndefault: drop\nrules: []\n');
    expect(dropped.events).toEqual([]);
    expect(dropped.summary).toMatchObject({ survivors: 0, default: { reports: 0, events: 0 }, unmatched: 4000 });
  });

  test('reads postcards, and the capture and the rules from standard input', async () => {
    const postcards = await run(['generate', '--mode', 'xd', '--packets', '500', '--seed', '3', '-o', '-']);
    const decoded = ndjson((await run(['decode', '-', '--json'], { input: postcards.bytes })).stdout);
    const rules = await files.write('postcards.yaml', one(DETECTORS.perHop!.spec));
    const { stdout, code } = await run(['detect', '-', '--rules', rules, '--json'], { input: postcards.bytes });
    const events = ndjson(stdout);
    expect(events.pop()).toMatchObject({ type: 'summary', reports: 500 });
    const plain: PlainRule = { name: 'one', matches: () => true, ...DETECTORS.perHop!.plain(registers(65_536, 4096)) };
    expect(events).toEqual(plainEvents(decoded as unknown as Line[], [plain]));
    expect(events.length).toBeGreaterThan(5);
    expect(code).toBe(0);
    const byInput = await run(['detect', fabric, '--rules', '-', '--json'], { input: MIXED });
    expect(ndjson(byInput.stdout)).toEqual(
      ndjson((await run(['detect', fabric, '--rules', await files.write('mixed.yaml', MIXED), '--json'])).stdout),
    );
  });

  test('counts what sampling passes over, and raises nothing for it', async () => {
    const rules = `version: 1\nrules:\n  - { name: few, priority: 1, match: any, detect: { noop: {} }, sample: { oneIn: 10 } }\n`;
    const { events, summary } = await detect(fabric, rules, '--state', 'exact');
    const seen = new Map<string, number>();
    const expected = lines.filter(({ flow }) => {
      const key = JSON.stringify(flow);
      const count = seen.get(key) ?? 0;
      seen.set(key, count + 1);
      return count % 10 === 0;
    });
    expect(events.map(({ frame }) => frame)).toEqual(expected.map(({ frame }) => frame));
    expect(summary).toMatchObject({ unsampled: 4000 - expected.length, byRule: { few: { reports: 4000 } } });
  });

  test('samples by the time of the capture', async () => {
    const rules = `version: 1\nrules:\n  - { name: slow, priority: 1, match: any, detect: { noop: {} }, sample: { every: 5ms } }\n`;
    const { events, summary } = await detect(fabric, rules, '--state', 'exact');
    const last = new Map<string, bigint>();
    const expected = lines.filter(({ flow, timeNs }) => {
      const key = JSON.stringify(flow);
      const now = BigInt(timeNs);
      if (last.has(key) && now - last.get(key)! < 5_000_000n) return false;
      last.set(key, now);
      return true;
    });
    expect(events.map(({ frame }) => frame)).toEqual(expected.map(({ frame }) => frame));
    expect(summary.unsampled).toBe(4000 - expected.length);
    expect(expected.length).toBeLessThan(3000);
  });

  test('in exact state forgets what was idle, and what has no room, and counts both', async () => {
    const rules = one(DETECTORS.perFlow!.spec);
    const roomy = (await detect(fabric, rules, '--state', 'exact', '--idle', '0')).summary;
    expect(roomy).toMatchObject({ aged: 0, evicted: 0 });
    const idle = (await detect(fabric, rules, '--state', 'exact', '--idle', '4ms')).summary;
    expect(idle.aged).toBeGreaterThan(100);
    expect(idle.evicted).toBe(0);
    const tight = (await detect(fabric, rules, '--state', 'exact', '--flow-cells', '16', '--idle', '0')).summary;
    expect(tight.aged).toBe(0);
    expect(tight.evicted).toBeGreaterThan(100);
    // A flow that was forgotten is new again, and its first value is above the threshold.
    expect(idle.events).toBeGreaterThan(roomy.events);
    expect(tight.events).toBeGreaterThan(roomy.events);
  });

  test('moves thresholds that adapt, in the time of the capture', async () => {
    const rules = `version: 1
rules:
  - name: held
    priority: 1
    match: any
    detect: { threshold: { metric: hopLatency, threshold: 0 } }
    adapt: { target: 2000/s, min: 0, max: 4000000000 }
`;
    const { events, summary } = await detect(fabric, rules);
    // A threshold that stayed at 0 would be exceeded by every hop.
    expect(events.length).toBeLessThan(2000);
    const [held] = summary.adaptation as { rule: string; target: number; threshold: number }[];
    expect(held).toMatchObject({ rule: 'held', target: 2000 });
    expect(held!.threshold).toBeGreaterThan(500);
    const path = await files.write('held.yaml', rules);
    const { stdout } = await run(['detect', fabric, '--rules', path]);
    expect(stdout).toMatch(/\nheld: [\d,]+ of 2,000 events\/s at threshold [\d,]+, [a-z-]+\n$/);
  });

  test('has a readable view, with colour only in a terminal', async () => {
    const rules = await files.write('mixed.yaml', MIXED);
    const { stdout, stderr } = await run(['detect', fabric, '--rules', rules]);
    const { events, summary } = await detect(fabric, MIXED);
    const shown = stdout.trimEnd().split('\n');
    expect(stderr).toBe('');
    expect(shown.filter((line) => line.startsWith('#'))).toHaveLength(events.length);
    expect(shown[0]).toMatch(/^#\d+ {2}2023-11-14 22:13:20\.\d{9} {2}\S+ {2}/);
    expect(stdout).toMatch(
      / {2}web {2}perHop hopLatency at switch \d+, hop \d+: [\d,]+ to [\d,]+ \(threshold 2,000\) {2}/,
    );
    expect(stdout).toMatch(/ {2}smooth {2}movingAverage queueOccupancy: [\d,]+ to [\d,]+ \(threshold 10\) {2}10\.1\./);
    expect(stdout).toMatch(
      / {2}both {2}complex: sum\(hopLatency\) [\d,]+, max\(queueOccupancy\) [\d,]+ at switch \d+, hop \d+ {2}10\.\d/,
    );
    const times = (1 / summary.survivors).toFixed(1);
    expect(stdout).toContain(
      `\n4,000 reports, ${summary.events} events: ${(summary.survivors * 100).toFixed(2)} % of reports have events: 1 in ${times}`,
    );
    expect(stdout).toMatch(/\nnot counted by a rule's detector: [\d,]+ matched no rule\n/);
    expect(stdout).toMatch(/\nrule +reports +events +with events +1 report in\n/);
    expect(stdout).toMatch(/\nnever +0 +0 +0\.00 % +-\n/);
    expect(stdout).not.toContain('\x1b');
    const coloured = await run(['detect', fabric, '--rules', rules], { terminal: { columns: 80, rows: 24 } });
    expect(coloured.stdout).toContain('\x1b[');
  });
});

describe('int detect', () => {
  const everything = 'version: 1\nrules:\n  - { name: all, priority: 1, match: any, detect: { noop: {} } }\n';

  test('takes reports and INT packets alike, and numbers frames and their individual reports', async () => {
    const packet = encodeFrame({ ...record(0), report: null, path: [1, 2] });
    const path = await files.write('mixed.pcap', pcap([plainFrame(), reportFrame(), coalescedFrame(), packet]));
    const { events, summary, code } = await detect(path, everything);
    expect(code).toBe(0);
    expect(events.map(({ frame, index }) => [frame, index])).toEqual([
      [2, 0],
      [3, 0],
      [3, 1],
      [3, 2],
      [4, 0],
    ]);
    expect(Object.keys(events[0]!)).toEqual([
      'type',
      'timeNs',
      'frame',
      'index',
      'rule',
      'detector',
      'metric',
      'scope',
      'nodeId',
      'hop',
      'value',
      'previous',
      'threshold',
      'evidence',
      'state',
      'firstSight',
      'flow',
    ]);
    expect(events[4]).toEqual({
      type: 'event',
      timeNs: String(START_NS + 3000n),
      frame: 4,
      index: 0,
      rule: 'all',
      detector: 'noop',
      metric: null,
      scope: 'flow',
      nodeId: null,
      hop: null,
      value: null,
      previous: null,
      threshold: null,
      evidence: null,
      state: 'once',
      firstSight: false,
      flow: { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 40_000, destinationPort: 80 },
    });
    expect(Object.keys(summary).slice(0, 5)).toEqual(['type', 'reports', 'events', 'survivors', 'byRule']);
    expect(summary).toMatchObject({
      reports: 5,
      events: 5,
      survivors: 1,
      frames: 4,
      dropped: { truncated: 0, malformed: 0, unsupported: 0, 'not-int': 1 },
    });
  });

  test('ends with code 1 if frames were malformed, like int decode, and leaves them alone', async () => {
    const path = await files.write('bad.pcap', pcap([reportFrame(), malformedFrame(), reportFrame()]));
    const { events, summary, code, stderr } = await detect(path, everything);
    expect(code).toBe(1);
    expect(stderr).toBe('int: of 3 frames, 0 truncated, 1 malformed, 0 unsupported\n');
    expect(events.map(({ frame }) => frame)).toEqual([1, 3]);
    expect(summary).toMatchObject({ reports: 2, frames: 3, dropped: { malformed: 1 } });
  });

  test('takes the decode options', async () => {
    const path = await files.write('port.pcap', pcap([reportFrame()]));
    expect((await detect(path, everything, '--report-port', '7')).summary).toMatchObject({ reports: 0, frames: 1 });
  });

  test('of an empty capture prints a summary of nothing', async () => {
    const path = await files.write('empty.pcap', pcap([]));
    const { events, summary, code } = await detect(path, everything);
    expect(code).toBe(0);
    expect(events).toEqual([]);
    expect(summary).toMatchObject({ reports: 0, events: 0, survivors: 0, byRule: { all: { reports: 0, events: 0 } } });
    const rules = await files.write('all.yaml', everything);
    const words = await run(['detect', path, '--rules', rules]);
    expect(words.stdout).toMatch(/^0 reports, 0 events: no reports\n/);
  });

  test('finds what comes before damage, and says where it is', async () => {
    const path = await files.write('cut.pcap', pcap([reportFrame(), reportFrame()]).subarray(0, -1));
    const { events, summary, code, stderr } = await detect(path, everything);
    expect(code).toBe(1);
    expect(events).toHaveLength(1);
    expect(summary).toMatchObject({ reports: 1 });
    expect(stderr).toMatch(/^int: .*cut\.pcap: .*, after 1 frame\n$/);
  });

  test('names every problem of a rules file with its line and column, before it reads anything', async () => {
    const path = await files.write(
      'broken.yaml',
      'version: 1\nrules:\n  - name: a\n    priority: 1\n    match: any\n    detect: { perHop: { metric: hoplatency, threshold: 1 } }\n' +
        '  - name: b\n    priority: two\n    match: { source: 10.0.0.300 }\n    detect: { noop: {} }\n',
    );
    const { code, stdout, stderr } = await run(['detect', files.path('missing.pcap'), '--rules', path]);
    // The file was read, but something in it was wrong.
    expect(code).toBe(1);
    expect(stdout).toBe('');
    const problems = stderr.trimEnd().split('\n');
    expect(problems).toHaveLength(3);
    for (const problem of problems) expect(problem.startsWith(`${path}:`)).toBe(true);
    expect(problems.map((problem) => problem.slice(path.length + 1).split(' ')[0])).toEqual([
      '6:33:',
      '8:15:',
      '9:22:',
    ]);
    expect(problems[0]).toContain('hopLatency');
  });

  test('ends with code 3 if the rules or the capture cannot be opened', async () => {
    const capture = await files.write('some.pcap', pcap([reportFrame()]));
    const rules = await files.write('all.yaml', everything);
    for (const [file, by] of [
      [capture, files.path('missing.yaml')],
      [files.path('missing.pcap'), rules],
      [capture, files.path('.')],
    ] as const) {
      const { code, stdout, stderr } = await run(['detect', file, '--rules', by]);
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(/^int: .*(missing|int-cli-).*\n$/);
    }
  });
});

describe('int detect as a process', () => {
  const everything = 'version: 1\nrules:\n  - { name: all, priority: 1, match: any, detect: { noop: {} } }\n';

  test('gives the events of a pipe as they come, and the summary when interrupted', async () => {
    const rules = await files.write('pipe.yaml', everything);
    const process = new Running(['detect', '-', '--rules', rules, '--json'], { open: true });
    process.child.stdin!.write(pcap([reportFrame(), reportFrame(), coalescedFrame()]));
    await process.until(() => ndjson(process.stdout).length >= 5);
    process.child.kill('SIGINT');
    const { code, stdout, stderr } = await process.end();
    expect(code).toBe(0);
    expect(stderr).toBe('int: interrupted after 3 frames\n');
    expect(ndjson(stdout).at(-1)).toMatchObject({ type: 'summary', reports: 5, events: 5, frames: 3 });
  });

  test('stops cleanly while it waits for its rules', async () => {
    const capture = await files.write('waiting.pcap', pcap([reportFrame()]));
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const stopping = new AbortController();
    const ended = main(['node', 'int', 'detect', capture, '--rules', '-'], {
      stdin: new PassThrough(),
      stdout,
      stderr,
      env: {},
      signal: stopping.signal,
    });
    stopping.abort('SIGTERM');
    expect(await inTime('the end of int detect', ended)).toBe(143);
    expect(stdout.read()).toBeNull();
    expect(String(stderr.read())).toBe('int: interrupted before the rules file was read\n');
  });

  test('gives what it gives in this process', async () => {
    const capture = await files.write('real.pcap', pcap([reportFrame(), coalescedFrame(), plainFrame()]));
    const rules = await files.write('real.yaml', everything);
    const args = ['detect', capture, '--rules', rules, '--json'];
    expect(await runBin(args)).toEqual(await run(args));
  });
});
