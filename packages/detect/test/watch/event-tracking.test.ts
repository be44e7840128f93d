import { TelemetryBatch } from '@int/codec';
import { Detector, EventBatch, EventTracking, type RuleSet } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import { describe, expect, it } from 'vitest';
import { fillBatch } from '../reference/fill-batch.js';
import type { ReferenceReport } from '../reference/reference.js';

const HTTPS = {
  source: [10, 1, 2, 3],
  destination: [192, 0, 2, 1],
  protocol: 6,
  sourcePort: 40000,
  destinationPort: 443,
};
const START = 1_700_000_000_000;

interface Seen {
  readonly flow?: Partial<typeof HTTPS>;
  /** Switch, queue and its occupancy. */
  readonly hops: readonly (readonly [nodeId: number, queueId: number, queueOccupancy: number])[];
}

/** A report of each, a tenth of a second apart, looked at in batches. */
function run(
  rules: RuleSet,
  seen: readonly Seen[],
  size = 4,
): { told: string[]; left: string[]; rows: string[]; tracking: EventTracking } {
  const detector = new Detector(rules);
  const tracking = new EventTracking(rules);
  const events = new EventBatch();
  const batch = new TelemetryBatch({ frames: size });
  const told: string[] = [];
  const left: string[] = [];
  /** What those who write events get. */
  const rows: string[] = [];
  const take = (written: EventBatch): void => {
    for (let row = 0; row < written.count; row++) {
      const { eventId, isFirst, key, timeNs, findings } = written.life(row)!;
      const { rule, state, value, flow } = written.event(row);
      const batch = written.batch;
      expect(batch.timeNs(written.report[row]!)).toBe(timeNs);
      expect(flow?.destinationPort).toBeTypeOf('number');
      const first = batch.hopStart[written.report[row]!]!;
      const path = batch.hop.nodeId.slice(first, first + batch.hopCount[written.report[row]!]!);
      const where = `${written.isApart ? 'apart' : 'in place'} ${path.join('-')}`;
      const word = state === 'open' && !isFirst ? 'on' : state;
      rows.push(`${eventId.slice(-3)} ${rule} ${word} ${key} ${value} ${findings} ${where}`);
    }
  };
  const reports = seen.map(
    ({ flow, hops }, index): ReferenceReport => ({
      flow: { ...HTTPS, ...flow },
      hops: hops.map(([nodeId, queueId, queueOccupancy]) => ({ nodeId, queueId, queueOccupancy })),
      hasOwnHop: false,
      nodeId: null,
      timeNs: BigInt(START + 100 * index) * 1_000_000n,
    }),
  );
  for (let from = 0; from < reports.length; from += size) {
    const part = reports.slice(from, from + size);
    fillBatch(batch, part);
    events.clear();
    detector.detect(batch, events);
    const all = tracking.after(events, 0, part.length);
    for (const { state, isFirst, rule, timeMs, finding } of all) {
      const word = state === 'open' && !isFirst ? 'on' : state;
      told.push(`${rule.name} ${word} ${finding.key} ${Math.round(timeMs) - START} ${finding.event.value}`);
    }
    for (const event of events) left.push(`${event.rule} ${event.nodeId}`);
    tracking.leaveOut(events);
    const others = [...events].findIndex((_, row) => events.life(row) === null);
    if (others < 0) take(events);
    tracking.giveRows(all, detector, take);
  }
  return { told, left, rows, tracking };
}

describe('EventTracking', () => {
  it("'queue of switch 3 above 40 for tcp/443 from 10.0.0.0/8': no event of any other switch", () => {
    const rules = readRules(`
version: 2
default: drop
rules:
  - name: queue-of-3
    priority: 1
    match: { switch: 3, protocol: tcp, destinationPort: 443, source: 10.0.0.0/8 }
    detect: { threshold: { metric: queueOccupancy, threshold: 40 } }
    clear: 20
    severity: critical
`);
    const quiet = [4, 0, 500] as const;
    const { told, left } = run(rules, [
      { hops: [quiet, [3, 0, 41], quiet] },
      { hops: [quiet] },
      { hops: [[3, 1, 60], quiet], flow: { destinationPort: 80 } },
      { hops: [[3, 0, 21]] },
      { hops: [[3, 0, 99], quiet] },
      { hops: [quiet, [3, 0, 20]] },
      { hops: [[2, 0, 99]] },
      { hops: [[3, 0, 99]], flow: { source: [11, 0, 0, 1] } },
    ]);
    expect(told).toEqual(['queue-of-3 open switch 3 0 41', 'queue-of-3 close switch 3 500 41']);
    expect(left).toEqual(['queue-of-3 3']);
  });

  it("'a path changed' together with two other rules on the same flow", () => {
    const rules = readRules(`
version: 2
decide: all
default: drop
rules:
  - { name: path, match: any, detect: { pathChange: {} } }
  - { name: long, match: any, detect: { threshold: { metric: queueOccupancy, threshold: 100 } }, key: queue }
  - { name: every-report, match: { destinationPort: 443 }, detect: { noop: {} } }
`);
    const { told, left } = run(rules, [
      {
        hops: [
          [1, 0, 1],
          [2, 0, 1],
        ],
      },
      {
        hops: [
          [1, 0, 101],
          [3, 5, 200],
        ],
      },
      {
        hops: [
          [1, 0, 1],
          [3, 5, 1],
        ],
      },
    ]);
    expect(left).toEqual([
      'every-report null',
      'path null',
      'long 1',
      'long 3',
      'every-report null',
      'every-report null',
    ]);
    expect(told).toEqual(['long open switch 1 queue 0 100 101', 'long open switch 3 queue 5 100 200']);
  });

  it('waits for findings that go on, ends when they stop, and keeps other events as they are', () => {
    const rules = readRules(`
version: 2
default: drop
rules:
  - { name: long, priority: 1, match: any, detect: { threshold: { metric: queueOccupancy, threshold: 40 } }, for: 500ms, every: 300ms, key: flow }
`);
    const hot: Seen = {
      hops: [
        [1, 0, 50],
        [2, 0, 60],
      ],
    };
    const cold: Seen = { hops: [[1, 0, 1]] };
    const { told, left, tracking } = run(rules, [...Array<Seen>(10).fill(hot), ...Array<Seen>(13).fill(cold)]);
    const flow = '10.1.2.3 40000 > 192.0.2.1 443 protocol 6';
    expect(told).toEqual([`long open ${flow} 500 50`, `long on ${flow} 800 50`, `long close ${flow} 900 50`]);
    expect(left).toEqual(['long 1', 'long 1']);
    expect(tracking.totals).toEqual({ open: 0, untracked: 0 });
  });

  it('hands on all that is told as rows: what a report tells with that report, ends with a copy of it', () => {
    const rules = readRules(`
version: 2
default: drop
rules:
  - { name: q, priority: 1, match: any, detect: { threshold: { metric: queueOccupancy, threshold: 40 } }, clear: 20, every: 200ms, key: switch }
`);
    const path: Seen['hops'] = [
      [1, 0, 1],
      [2, 0, 50],
      [3, 0, 60],
    ];
    const calm: Seen['hops'] = [
      [2, 0, 5],
      [3, 0, 6],
    ];
    const { told, rows } = run(rules, [{ hops: path }, { hops: path }, { hops: path }, { hops: calm }, { hops: path }]);
    expect(rows).toEqual([
      '0-1 q open switch 2 50 1 in place 1-2-3',
      '0-2 q open switch 3 60 1 in place 1-2-3',
      '0-1 q on switch 2 50 3 in place 1-2-3',
      '0-2 q on switch 3 60 3 in place 1-2-3',
      '0-1 q close switch 2 50 3 apart 1-2-3',
      '0-2 q close switch 3 60 3 apart 1-2-3',
      '0-3 q open switch 2 50 1 in place 1-2-3',
      '0-4 q open switch 3 60 1 in place 1-2-3',
    ]);
    expect(told.length).toBe(rows.length);
  });

  it('ends the events of a rule that is not there any more', () => {
    const rules = readRules(
      'version: 2\nrules:\n  - { name: q, priority: 1, match: any, detect: { threshold: { metric: queueOccupancy, threshold: 4 } }, key: all }\n',
    );
    const { tracking } = run(rules, [{ hops: [[1, 0, 50]] }]);
    expect(tracking.setRules(rules)).toEqual([]);
    expect(tracking.setRules({ ...rules, rules: [] }).map(({ state, key }) => state + key)).toEqual(['close']);
    expect(tracking.isActive).toBe(false);
  });
});
