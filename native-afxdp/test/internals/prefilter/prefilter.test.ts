import { encodeFrame } from '@int/codec';
import { Detector } from '@int/detect';
import { describe, expect, test } from 'vitest';
import { XdpError } from '../../../src/errors.js';
import { Prefilter, readVerdict, rulesBehind } from '../../../src/prefilter/index.js';
import { VERDICT } from '../../../src/prefilter/layout.js';
import { Finder } from '../../prefilter/behind.js';
import { loadFilter } from '../../prefilter/kernel.js';
import { frameOf, type Report, recordOf } from '../../prefilter/reports.js';
import { ANY, rule, ruleSet } from '../../prefilter/rules.js';

const perHop = { kind: 'perHop', metric: 'hopLatency', threshold: 10 } as const;
const perFlow = { kind: 'perFlow', metric: 'hopLatency', threshold: 10 } as const;
const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, sourcePort: 1, destinationPort: 80 } as const;

/** A report of switches 1, 2, ... with these latencies. */
function latencies(...values: number[]): Report {
  return { flow, hops: values.map((hopLatency, k) => ({ nodeId: k + 1, hopLatency })) };
}

/** A tag in front of what an Ethernet frame carries. */
function tagged(bytes: Uint8Array, type: number): Uint8Array {
  const out = new Uint8Array(bytes.length + 4);
  out.set(bytes.subarray(0, 12));
  out.set([type >>> 8, type & 255, 0, 7], 12);
  out.set(bytes.subarray(12), 16);
  return out;
}

describe('Prefilter', () => {
  test('drops reports without an event and says of the others what it was', () => {
    const filter = loadFilter({ rules: ruleSet([rule('hops', perHop)]) });
    const { action, verdict } = filter.run(frameOf(latencies(5, 11, 12)));
    expect(action).toBe('pass');
    expect(verdict).toEqual({
      outcome: 'event',
      generation: 1,
      rule: 0,
      detector: 'perHop',
      events: 2,
      hop: 1,
      nodeId: 2,
      value: 11,
      previous: 0,
      threshold: 10,
    });
    expect(filter.ruleName(verdict!)).toBe('hops');
    expect(filter.run(frameOf(latencies(5, 21, 2)))).toMatchObject({ action: 'drop', verdict: null });
    expect(filter.counts()).toEqual({
      passed: 0,
      reports: 2,
      events: 1,
      handedOn: 0,
      filtered: 1,
      filteredHops: 3,
      undecided: 0,
      unknownSource: 0,
      unknownSwitch: 0,
      noSocket: 1,
      withoutVerdict: 0,
      stateFull: 0,
      bySwitch: new Map([
        [1, 1],
        [2, 1],
        [3, 1],
      ]),
    });
    expect(filter.program.counters()).toEqual({ steered: 0, passed: 0, noSocket: 1 });
    filter.close();
  });

  test('counts hops by switch only if it is to, and by cells that switches share', () => {
    const rules = ruleSet([rule('hops', { ...perHop, threshold: 1000 })]);
    const cells = loadFilter({ rules, switchCells: 2 });
    cells.run(frameOf(latencies(1, 2, 3)));
    cells.run(frameOf(latencies(1)));
    expect(cells.counts().bySwitch).toEqual(
      new Map([
        [0, 1],
        [1, 3],
      ]),
    );
    cells.close();
    const without = loadFilter({ rules, countHops: false });
    without.run(frameOf(latencies(1, 2, 3)));
    expect(without.counts()).toMatchObject({ filtered: 1, bySwitch: new Map() });
    without.close();
  });

  test('keeps the state of a detector and a metric when its rules go and come back', () => {
    const flows = ruleSet([rule('flows', perFlow)]);
    const filter = loadFilter({ rules: flows });
    expect(filter.run(frameOf(latencies(50))).verdict).toMatchObject({ generation: 1, value: 50, previous: 0 });
    filter.setRules(ruleSet([rule('hops', { ...perHop, metric: 'queueOccupancy' })]));
    expect(filter.run(frameOf(latencies(90))).action).toBe('drop');
    filter.setRules(ruleSet([rule('again', { ...perFlow, threshold: 5 })]));
    expect(filter.run(frameOf(latencies(55))).action).toBe('drop');
    const { verdict } = filter.run(frameOf(latencies(56)));
    expect(verdict).toMatchObject({ generation: 3, value: 56, previous: 50, threshold: 5 });
    expect(filter.ruleName(verdict!)).toBe('again');
    filter.close();
  });

  test('refuses rules that need the state of one metric too many, and keeps those it has', () => {
    const filter = loadFilter({ rules: ruleSet([rule('flows', perFlow)]), metricsPerDetector: 1 });
    const other = ruleSet([rule('other', { ...perFlow, metric: 'queueId' })]);
    expect(() => filter.setRules(other)).toThrow(RangeError);
    expect(() => filter.setRules(other)).toThrow(/perFlow on 1 metrics \(hopLatency\)/);
    expect(filter.plan.rules.map(({ rule: { name } }) => name)).toEqual(['flows']);
    expect(filter.run(frameOf(latencies(50))).verdict).toMatchObject({ generation: 1, detector: 'perFlow' });
    filter.setRules(ruleSet([rule('average', { ...perFlow, kind: 'movingAverage', weight: 2, metric: 'queueId' })]));
    expect(filter.run(frameOf(latencies(90))).action).toBe('drop');
    filter.close();
  });

  test('looks at each frame by one whole set of rules, however fast they change', () => {
    const all = ruleSet([rule('all', { kind: 'noop' })]);
    const none = ruleSet([]);
    const filter = loadFilter({ rules: all });
    for (let turn = 0; turn < 20; turn++) {
      expect(filter.run(frameOf(latencies(1))).verdict).toMatchObject({ generation: 2 * turn + 1, detector: 'noop' });
      filter.setRules(none);
      expect(filter.run(frameOf(latencies(1))).action).toBe('drop');
      filter.setRules(all);
    }
    filter.close();
  });

  test('finds reports behind VLAN tags and in IPv6, at the ports it is given', () => {
    const filter = loadFilter({ rules: ruleSet([rule('hops', perHop)]), ports: [9000, 9555] });
    const reporter = { reporter: '2001:db8::1', collector: '2001:db8::2', reportPort: 9555 };
    const frames = [
      encodeFrame(recordOf(latencies(20)), { reportPort: 9000 }),
      encodeFrame(recordOf(latencies(40)), reporter),
      tagged(encodeFrame(recordOf(latencies(60)), reporter), 0x8100),
      tagged(tagged(encodeFrame(recordOf(latencies(80)), { reportPort: 9000 }), 0x8100), 0x88a8),
    ];
    expect(frames.map((bytes) => filter.run(bytes).verdict?.value)).toEqual([20, 40, 60, 80]);
    expect(filter.run(frameOf(latencies(100))).verdict).toBeNull();
    expect(filter.counts()).toMatchObject({ passed: 1, events: 4 });
    filter.close();
  });

  test('finds INT by the ports and the DSCP it is given', () => {
    const marked = loadFilter({
      rules: ruleSet([rule('hops', perHop)]),
      intPorts: [6000],
      intDscp: { value: 0x21, mask: 0x31 },
    });
    const tcp: Report = { ...latencies(20), flow: { ...flow, protocol: 6 } };
    const outcomes = [
      encodeFrame(recordOf(latencies(40)), { intPorts: [6000] }),
      encodeFrame(recordOf(latencies(60)), { intPorts: [5000] }),
      encodeFrame(recordOf(tcp), { intDscp: 0x2f }),
      encodeFrame(recordOf(tcp), { intDscp: 0x17 }),
    ].map((bytes) => marked.run(bytes).verdict?.outcome);
    expect(outcomes).toEqual(['event', 'undecided', 'event', 'undecided']);
    marked.close();
    const unmarked = loadFilter({ rules: ruleSet([rule('hops', perHop)]), intPorts: [], intDscp: null });
    expect(unmarked.run(frameOf(tcp)).verdict?.outcome).toBe('undecided');
    expect(unmarked.run(frameOf(latencies(40))).verdict?.outcome).toBe('undecided');
    unmarked.close();
  });

  test('takes flows that have no room in the hash form for new ones each time, and counts them', () => {
    const filter = loadFilter({
      rules: ruleSet([rule('flows', perFlow)]),
      state: 'hash',
      flowCells: 4,
      metricsPerDetector: 1,
    });
    const run = () =>
      Array.from({ length: 6 }, (_, host) => {
        const report = { ...latencies(20), flow: { ...flow, source: `10.0.1.${host}` } };
        return filter.run(frameOf(report)).verdict?.previous;
      });
    expect(run()).toEqual([0, 0, 0, 0, 0, 0]);
    expect(run()).toEqual([undefined, undefined, undefined, undefined, 0, 0]);
    expect(filter.counts()).toMatchObject({ events: 8, filtered: 4, undecided: 0, stateFull: 4 });
    filter.close();
  });

  test('hands on all reports of rules that it cannot run, and of what comes behind the sixteenth', () => {
    const port = (n: number) => ({ ...ANY, protocol: 17, destinationPort: { from: n, to: n } });
    const filter = loadFilter({
      rules: ruleSet([
        rule('paths', { kind: 'pathChange' }, { priority: 100, match: port(80) }),
        ...Array.from({ length: 16 }, (_, n) => rule(`rule ${n}`, perHop, { priority: 99 - n, match: port(1000 + n) })),
      ]),
    });
    const run = (destinationPort: number) =>
      filter.run(frameOf({ ...latencies(1), flow: { ...flow, destinationPort } })).verdict;
    expect(run(80)).toMatchObject({ outcome: 'handedOn', rule: 0 });
    expect(run(1015)).toMatchObject({ outcome: 'handedOn', rule: null });
    expect(filter.counts()).toMatchObject({ handedOn: 2, filtered: 0 });
    filter.close();
  });

  test('refuses options out of range, before the kernel is asked', () => {
    const rules = ruleSet([]);
    const wrong = [
      { flowCells: 0 },
      { switchCells: 1.5 },
      { flowCells: 2 ** 22 + 1 },
      { metricsPerDetector: 18 },
      { ports: [65_536] },
      { intPorts: [1, 2, 3] },
      { intPorts: [-1] },
      { intDscp: { value: 64, mask: 63 } },
      { state: 'map' as 'hash' },
    ];
    for (const options of wrong)
      expect(() => Prefilter.load({ rules, ...options }), JSON.stringify(options)).toThrow(RangeError);
  });

  test('says which interface it cannot be attached to', () => {
    const rules = ruleSet([]);
    loadFilter({ rules }).close();
    let error: unknown;
    try {
      Prefilter.attach({ rules, interface: 'no-such-if' });
    } catch (thrown) {
      error = thrown;
    }
    expect(XdpError.is(error) && [error.code, error.message.includes('no-such-if')]).toEqual([
      'ERR_XDP_NO_DEVICE',
      true,
    ]);
  });

  test('does nothing any more once it is closed, and says so', () => {
    const filter = loadFilter({ rules: ruleSet([]) });
    filter.close();
    filter.close();
    for (const use of [
      () => filter.run(new Uint8Array(64)),
      () => filter.counts(),
      () => filter.setRules(ruleSet([])),
    ]) {
      let error: unknown;
      try {
        use();
      } catch (thrown) {
        error = thrown;
      }
      expect(XdpError.is(error) && error.code).toBe('ERR_XDP_CLOSED');
    }
  });
});

describe('applyVerdicts', () => {
  const average = ruleSet([
    rule('average', { kind: 'movingAverage', metric: 'queueOccupancy', threshold: 2, weight: 1 }),
  ]);
  const report: Report = { flow, hops: [{ nodeId: 1, queueId: 0, queueOccupancy: 10 }] };
  const bytes = frameOf(report);

  test('gives an average its values back, also when the rules have changed since', () => {
    const filter = loadFilter({ rules: average });
    const behind = new Finder(new Detector(rulesBehind(average), filter.detectorOptions));
    const { meta } = filter.run(bytes);
    const found = () => behind.find([{ number: 0, bytes, meta }], filter);
    const event = {
      report: 0,
      rule: 'average',
      detector: 'movingAverage',
      metric: 'queueOccupancy',
      scope: 'flow',
      nodeId: null,
      hop: null,
      value: 5,
      previous: 0,
      firstSight: false,
      state: 'once',
      threshold: 2,
      evidence: null,
    };
    expect(found()).toEqual([event]);
    filter.setRules(ruleSet([rule('other', perHop)]));
    expect(found()).toEqual([event]);
    // Verdicts of rules that are long gone mean nothing any more.
    for (let turn = 0; turn < 16; turn++) filter.setRules(average);
    expect(found()).toMatchObject([{ detector: 'noop', value: null }]);
    filter.close();
  });

  test('leaves events alone that are of another rule than the verdict, or without one', () => {
    const filter = loadFilter({ rules: average });
    const { meta } = filter.run(bytes);
    const other = new Finder(new Detector(ruleSet([rule('other', { kind: 'noop' })])));
    expect(other.find([{ number: 0, bytes, meta }], filter)).toMatchObject([{ rule: 'other', detector: 'noop' }]);
    const behind = new Finder(new Detector(rulesBehind(average)));
    const bare = [{ number: 0, bytes, meta: new Uint8Array(0) }];
    expect(behind.find(bare, filter)).toMatchObject([{ rule: 'average', detector: 'noop', value: null }]);
    const undecided = frameOf({ ...report, hops: Array.from({ length: 40 }, () => report.hops[0]!) });
    const run = filter.run(undecided);
    expect(run.verdict?.outcome).toBe('undecided');
    const handed = behind.find([{ number: 0, bytes: undecided, meta: run.meta }], filter);
    expect(handed).toMatchObject([{ rule: 'average', detector: 'noop' }]);
    filter.close();
  });
});

describe('readVerdict', () => {
  test('finds what lies before a frame, and only if it is of that frame', () => {
    const filter = loadFilter({ rules: ruleSet([rule('hops', perHop)]) });
    const bytes = frameOf(latencies(5, 30));
    const { meta, verdict } = filter.run(bytes);
    filter.close();
    expect(meta.length).toBe(VERDICT.BYTES);
    const memory = new Uint8Array(5000).subarray(11);
    const offset = 2048 + 256;
    memory.set(meta, offset - VERDICT.BYTES);
    memory.set(bytes, offset);
    expect(verdict).not.toBeNull();
    expect(readVerdict(memory, offset)).toEqual(verdict);
    expect(readVerdict(memory, offset, bytes.length)).toEqual(verdict);
    expect(readVerdict(memory, offset, bytes.length + 1)).toBeNull();
    for (const other of [0, 31, 32, 256, offset - 1, offset + 1, memory.length, memory.length + 1, -1, Number.NaN]) {
      expect(readVerdict(memory, other), String(other)).toBeNull();
    }
  });
});
