import { TelemetryBatch } from '@int/codec';
import { Detector, type DetectorConfig, EventBatch } from '@int/detect';
import { describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../.ci/test/length.js';
import { fillBatch } from '../reference/fill-batch.js';
import { latencies, record, single } from './reports.js';

const PER_HOP: DetectorConfig = { kind: 'perHop', metric: 'hopLatency', threshold: 100 };
const PER_FLOW: DetectorConfig = { kind: 'perFlow', metric: 'hopLatency', threshold: 100 };
const MAX = 0xffffffff;
/** Small: making the state of 65,536 flows takes longer than most of these tests. */
const SIZES = { flowCells: 1024, switchCells: 64 };
const WEIGHTS = Array.from({ length: 16 }, (_, weight) => weight);
/** The flow of record number 0. */
const FLOW = {
  source: [10, 0, 0, 0],
  destination: [10, 255, 0, 1],
  protocol: 17,
  sourcePort: 5000,
  destinationPort: 80,
};

/** What happened, in short: value <- previous at hop (switch). */
function told(detector: Detector, hops: Parameters<typeof record>[0], flow: number | null = 0): string[] {
  return detector.observe(record(hops, flow)).map(({ value, previous, hop, nodeId }) => {
    const place = hop === null ? '' : ` at ${hop} (${nodeId})`;
    return `${value} <- ${previous}${place}`;
  });
}

/** Shows a detector many reports of one value; the value of its last event, or `before` if there was none. */
function repeat(detector: Detector, value: number, times: number, before: number): number {
  const report = { flow: FLOW, hops: [{ nodeId: 1, hopLatency: value }], hasOwnHop: false, nodeId: null, timeNs: 1n };
  const rows = Math.min(times, 4096);
  const batch = new TelemetryBatch({ frames: rows });
  fillBatch(
    batch,
    Array.from({ length: rows }, () => report),
  );
  const events = new EventBatch();
  let last = before;
  for (let left = times; left > 0; left -= rows) {
    events.clear();
    expect(detector.detect(batch, events, 0, Math.min(rows, left))).toBe(Math.min(rows, left));
    if (events.count > 0) last = events.value[events.count - 1]!;
  }
  return last;
}

describe.each(['register', 'exact'] as const)('%s state', (state) => {
  /** What a first value is compared with. */
  const none = state === 'exact' ? null : 0;
  const of = (config: DetectorConfig): Detector => Detector.of(config, { state, ...SIZES });

  it('fires at first sight if the value is above the threshold, as a zeroed register does', () => {
    expect(told(of(PER_HOP), latencies(100, 101))).toEqual([`101 <- ${none} at 1 (2)`]);
    expect(told(of(PER_FLOW), latencies(50, 50))).toEqual([]);
    expect(told(of(PER_FLOW), latencies(50, 51))).toEqual([`101 <- ${none}`]);
  });

  it('compares strictly, and remembers only what it has told', () => {
    const detector = of(PER_HOP);
    expect(told(detector, latencies(200))).toEqual([`200 <- ${none} at 0 (1)`]);
    expect(told(detector, latencies(300))).toEqual([]);
    expect(told(detector, latencies(301))).toEqual(['301 <- 200 at 0 (1)']);
    expect(told(detector, latencies(201))).toEqual([]);
    expect(told(detector, latencies(200))).toEqual(['200 <- 301 at 0 (1)']);
  });

  it('skips a hop that lacks the metric, or whose item is all ones', () => {
    const detector = of(PER_HOP);
    expect(told(detector, latencies(500, undefined, null))).toEqual([`500 <- ${none} at 0 (1)`]);
    expect(told(of(PER_FLOW), latencies(undefined, 101, null))).toEqual([`101 <- ${none}`]);
  });

  it('does nothing for a report in which no hop carries the metric', () => {
    for (const config of [
      PER_FLOW,
      { kind: 'movingAverage', metric: 'hopLatency', threshold: 0, weight: 1 },
    ] as const) {
      const detector = of(config);
      told(detector, latencies(1000));
      expect(told(detector, latencies(null, undefined))).toEqual([]);
      expect(told(detector, [])).toEqual([]);
      // The state is what it was: the same sum again differs from nothing.
      expect(told(detector, latencies(1000))).toEqual(config.kind === 'perFlow' ? [] : ['750 <- 500']);
    }
  });

  it('skips a hop whose switch id is not known, for there is no register to look at', () => {
    expect(told(of(PER_HOP), [{ hopLatency: 500 }, { nodeId: null, hopLatency: 500 }])).toEqual([]);
  });

  it('sees in a loop what it has written at the same switch in the same report', () => {
    const loop = [1, 2, 1].map((nodeId, k) => ({ nodeId, hopLatency: [500, 500, 700][k]! }));
    expect(told(of(PER_HOP), loop)).toEqual([
      `500 <- ${none} at 0 (1)`,
      `500 <- ${none} at 1 (2)`,
      '700 <- 500 at 2 (1)',
    ]);
  });

  it('lets sums saturate at 2^32 - 1', () => {
    const detector = of(PER_FLOW);
    expect(told(detector, latencies(MAX - 1, MAX - 1))).toEqual([`${MAX} <- ${none}`]);
    expect(told(detector, latencies(MAX - 1, 2, 50))).toEqual([]);
    expect(told(detector, latencies(MAX - 101))).toEqual([`${MAX - 101} <- ${MAX}`]);
  });

  it('takes a saturated sum for a sum, not for one that is missing', () => {
    expect(told(of({ ...PER_FLOW, threshold: MAX - 1 }), latencies(MAX - 1, 1))).toEqual([`${MAX} <- ${none}`]);
  });

  it('can take every threshold: 0 fires on any difference, 2^32 - 1 never', () => {
    const any = of({ ...PER_HOP, threshold: 0 });
    expect(told(any, latencies(1))).toHaveLength(1);
    expect(told(any, latencies(1))).toHaveLength(0);
    expect(told(any, latencies(0))).toHaveLength(1);
    expect(told(of({ ...PER_HOP, threshold: MAX }), latencies(MAX - 1))).toEqual([]);
    expect(told(of({ ...PER_FLOW, threshold: MAX }), latencies(MAX - 1, MAX - 1))).toEqual([]);
  });

  it.each(LENGTH > 1 ? WEIGHTS : WEIGHTS.filter((weight) => weight < 9 || weight === 15))(
    'brings the moving average to within 1 of a steady input, without a dead zone: w = %i',
    (weight) => {
      // A large weight takes hundreds of thousands of reports.
      const inputs = weight < 9 || LENGTH > 1 ? [0, 1, 7, 1000, 0x7fffffff, MAX - 1] : [0x7fffffff];
      for (const steady of inputs) {
        const detector = of({ kind: 'movingAverage', metric: 'hopLatency', threshold: 0, weight });
        // Down from the largest value as well as up from 0.
        const high = repeat(detector, MAX - 1, 40, 0);
        const average = repeat(detector, steady, 2 ** weight * 25, high);
        expect(Math.abs(average - steady)).toBeLessThanOrEqual(1);
      }
    },
  );

  it('takes the moving average with w = 0 for the sum itself', () => {
    const detector = of({ kind: 'movingAverage', metric: 'hopLatency', threshold: 10, weight: 0 });
    expect(told(detector, latencies(11))).toEqual(['11 <- 0']);
    expect(told(detector, latencies(21))).toEqual([]);
    expect(told(detector, latencies(22))).toEqual(['22 <- 11']);
  });

  it('keeps the float average in full and tells it rounded down', () => {
    const detector = of({ kind: 'movingAverage', metric: 'hopLatency', threshold: 1, alpha: 0.25 });
    expect(told(detector, latencies(10))).toEqual(['2 <- 0']);
    expect(told(detector, latencies(10))).toEqual(['4 <- 2']);
  });

  it('fires a threshold on every packet above it, at each hop or for the sum', () => {
    const hop = of({ kind: 'threshold', metric: 'hopLatency', threshold: 100, scope: 'hop' });
    for (let k = 0; k < 2; k++)
      expect(told(hop, latencies(101, 100, 102))).toEqual(['101 <- null at 0 (1)', '102 <- null at 2 (3)']);
    const end = of({ kind: 'threshold', metric: 'hopLatency', threshold: 100, scope: 'endToEnd' });
    for (let k = 0; k < 2; k++) expect(told(end, latencies(60, 41))).toEqual(['101 <- null']);
    expect(told(end, latencies(60, 40))).toEqual([]);
  });

  it('tells a threshold at a hop that does not name itself', () => {
    const detector = of({ kind: 'threshold', metric: 'hopLatency', threshold: 100, scope: 'hop' });
    expect(told(detector, [{ hopLatency: 101 }])).toEqual(['101 <- null at 0 (null)']);
  });

  it('fires no change at first sight, nor where the switch has changed', () => {
    const detector = of({ kind: 'change', metric: 'hopLatency', threshold: 10, scope: 'hop' });
    expect(told(detector, latencies(500, 500))).toEqual([]);
    expect(
      told(detector, [
        { nodeId: 1, hopLatency: 400 },
        { nodeId: 9, hopLatency: 400 },
      ]),
    ).toEqual(['400 <- 500 at 0 (1)']);
    // The value is the previous one from now on, told or not.
    expect(
      told(detector, [
        { nodeId: 1, hopLatency: 410 },
        { nodeId: 9, hopLatency: 389 },
      ]),
    ).toEqual(['389 <- 400 at 1 (9)']);
    const end = of({ kind: 'change', metric: 'hopLatency', threshold: 10, scope: 'endToEnd' });
    expect([told(end, latencies(50, 50)), told(end, latencies(50, 60)), told(end, latencies(50, 71))]).toEqual([
      [],
      [],
      ['121 <- 110'],
    ]);
  });

  it('counts hops beyond the positions it follows', () => {
    const detector = Detector.of(
      { kind: 'change', metric: 'hopLatency', threshold: 0, scope: 'hop' },
      { state, positions: 2 },
    );
    told(detector, latencies(1, 1, 1));
    expect(told(detector, latencies(2, 2, 2))).toEqual(['2 <- 1 at 0 (1)', '2 <- 1 at 1 (2)']);
    expect(detector.totals().beyondPositions).toBe(2);
  });

  it('tells a path that has changed: other switches, their order, fewer, or another reporting node', () => {
    const detector = of({ kind: 'pathChange' });
    const path = (...ids: number[]): number => detector.observe(record(ids.map((nodeId) => ({ nodeId })))).length;
    expect([path(1, 2, 3), path(1, 2, 3), path(1, 3, 2), path(1, 3), path(1, 3), path(1, 3, 4)]).toEqual([
      0, 0, 1, 1, 0, 1,
    ]);
    expect([path(1, 0x80000001), path(0x80000001, 1), path(4097, 1), path(1, 4097)]).toEqual([1, 1, 1, 1]);
  });

  it('counts reports whose flow it would need to know', () => {
    const detector = of(PER_FLOW);
    expect(told(detector, latencies(1000), null)).toEqual([]);
    expect(detector.totals()).toMatchObject({ reports: 1, withoutFlow: 1 });
    expect(told(of(PER_HOP), latencies(1000), null)).toHaveLength(1);
  });

  it('leaves alone and counts what was not decoded to its end', () => {
    const detector = of(PER_HOP);
    expect(detector.observe({ ...record(latencies(1000)), status: 'truncated' })).toEqual([]);
    expect(detector.totals()).toMatchObject({ reports: 0, notOk: 1, survivors: 0 });
  });

  it('reports everything with noop', () => {
    expect(of({ kind: 'noop' }).observe(record([]))).toMatchObject([
      { rule: 'noop', detector: 'noop', metric: null, scope: 'flow', value: null, threshold: null, hop: null },
    ]);
  });

  it('looks at the first report of a flow, then at every n-th', () => {
    const detector = new Detector(single({ kind: 'noop' }, { oneIn: 3 }), { state });
    const seen = (flow: number): number => detector.observe(record([], flow)).length;
    expect([seen(0), seen(0), seen(1), seen(0), seen(0), seen(1), seen(0)]).toEqual([1, 0, 1, 0, 1, 0, 0]);
    expect(detector.totals()).toMatchObject({ reports: 7, unsampled: 4, survivors: 3 });
  });

  it('looks at one report per interval, also after the clock was set back', () => {
    const detector = new Detector(single({ kind: 'noop' }, { everyNs: 1000 }), { state });
    const seen = (timeNs: bigint): number => detector.observe(record([]), 1_700_000_000_000_000_000n + timeNs).length;
    expect([
      seen(0n),
      seen(999n),
      seen(1000n),
      seen(1999n),
      seen(1500n),
      seen(2000n),
      seen(-5000n),
      seen(-4001n),
    ]).toEqual([1, 0, 1, 0, 0, 1, 1, 0]);
  });

  it('does not let what sampling passes over touch the state', () => {
    const detector = new Detector(single({ kind: 'perFlow', metric: 'hopLatency', threshold: 0 }, { oneIn: 2 }), {
      state,
    });
    const values = [10, 99, 10, 99, 11].map((value) => told(detector, latencies(value)));
    expect(values).toEqual([[`10 <- ${none}`], [], [], [], ['11 <- 10']]);
  });
});

describe('the first value in exact state', () => {
  const of = (config: DetectorConfig): Detector => Detector.of(config, { state: 'exact', ...SIZES });

  it('is remembered and raises no event, unless it is above the threshold by itself: then the event says so', () => {
    const hop = of(PER_HOP);
    expect(told(hop, latencies(90, 500))).toEqual(['500 <- null at 1 (2)']);
    expect(told(hop, latencies(190, 510))).toEqual([]);
    expect(told(hop, latencies(191, 399))).toEqual(['191 <- 90 at 0 (1)', '399 <- 500 at 1 (2)']);
    const flow = of(PER_FLOW);
    expect(told(flow, latencies(60))).toEqual([]);
    expect(told(flow, latencies(160))).toEqual([]);
    expect(told(flow, latencies(161))).toEqual(['161 <- 60']);
    expect(of(PER_FLOW).observe(record(latencies(200)))).toMatchObject([{ firstSight: true, previous: null }]);
    expect(told(flow, latencies(0), 1)).toEqual([]);
    const [event] = flow.observe(record(latencies(101), 1));
    expect(event).toMatchObject({ firstSight: false, previous: 0 });
  });

  it('is compared with zero, as a register does, if it is to be', () => {
    for (const config of [PER_HOP, PER_FLOW]) {
      const zero = Detector.of(config, { state: 'exact', firstSight: 'zero', ...SIZES });
      const register = Detector.of(config, { state: 'register', ...SIZES });
      for (const values of [
        [90, 500],
        [160, 510],
        [191, 399],
        [0, 0],
      ]) {
        const expected = register.observe(record(latencies(...values)));
        expect(zero.observe(record(latencies(...values)))).toEqual(expected);
        if (values[0] === 90) expect(expected).toMatchObject([{ firstSight: false, previous: 0 }]);
      }
    }
    expect(() => Detector.of(PER_HOP, { firstSight: 'never' as 'zero' })).toThrow(/firstSight must be marked or zero/);
  });
});

describe('register state', () => {
  it('lets switches whose ids are equal modulo the cells share a cell', () => {
    const detector = Detector.of(PER_HOP, { switchCells: 16 });
    expect(
      told(detector, [
        { nodeId: 3, hopLatency: 500 },
        { nodeId: 19, hopLatency: 501 },
      ]),
    ).toEqual(['500 <- 0 at 0 (3)']);
    expect(
      told(Detector.of(PER_HOP, { switchCells: 16, state: 'exact' }), [
        { nodeId: 3, hopLatency: 500 },
        { nodeId: 19, hopLatency: 501 },
      ]),
    ).toHaveLength(2);
  });

  it('lets flows whose hashes are equal modulo the cells share a cell', () => {
    const detector = Detector.of(PER_FLOW, { flowCells: 1 });
    expect(told(detector, latencies(500), 1)).toEqual(['500 <- 0']);
    expect(told(detector, latencies(700), 2)).toEqual(['700 <- 500']);
  });

  it('shares state between rules of one detector and metric, and saturates an average left too large by another weight', () => {
    const slow: DetectorConfig = { kind: 'movingAverage', metric: 'hopLatency', threshold: 0, weight: 15 };
    const detector = Detector.of(slow);
    repeat(detector, MAX - 1, 100_000, 0);
    const [rule] = detector.rules();
    detector.replaceRule({ ...rule!, detector: { ...slow, weight: 3 } });
    expect(told(detector, latencies(0))[0]).toMatch(new RegExp(`^${MAX} <- `));
  });
});

describe('thresholds of single switches', () => {
  it('apply where they are given, and move in proportion', () => {
    const detector = new Detector(
      single({ kind: 'perHop', metric: 'hopLatency', threshold: 100, switchThresholds: new Map([[2, 10]]) }),
    );
    expect(detector.observe(record(latencies(100, 11))).map(({ nodeId, threshold }) => [nodeId, threshold])).toEqual([
      [2, 10],
    ]);
    detector.setThreshold('perHop', 200);
    expect(detector.threshold('perHop')).toBe(200);
    expect(detector.observe(record(latencies(0, 32)))).toMatchObject([
      { nodeId: 2, threshold: 20, value: 32, previous: 11 },
    ]);
  });

  it('keeps room for the event of a report without hops, too', () => {
    const reports = Array.from({ length: 10 }, () => ({
      flow: FLOW,
      hops: [],
      hasOwnHop: false,
      nodeId: 7,
      timeNs: 1n,
    }));
    const batch = new TelemetryBatch({ frames: reports.length });
    fillBatch(batch, reports);
    const detector = new Detector(single({ kind: 'noop' }), SIZES);
    const events = new EventBatch(256);
    const found: number[] = [];
    for (let row = 0; row < reports.length; ) {
      // Room for three events more.
      events.attach(batch, detector);
      events.count = 253;
      row = detector.detect(batch, events, row);
      found.push(...events.report.subarray(253, events.count));
      expect(events.count).toBeLessThanOrEqual(256);
    }
    expect(found).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
