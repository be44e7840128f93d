import { describe, expect, it } from 'vitest';
import { batchOf, pathReport, postcard, START_US, type TestReport } from './reports.js';
import { Findings, processorOf, run } from './run.js';

const MS = 1000;
const FLOW = { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 5001, destinationPort: 80 };

/** Every `stepUs` from `fromUs` on, before `toUs`. */
function every(fromUs: number, toUs: number, stepUs: number, make: (timeUs: number) => TestReport[]): TestReport[] {
  const reports: TestReport[] = [];
  for (let timeUs = fromUs; timeUs < toUs; timeUs += stepUs) reports.push(...make(START_US + timeUs));
  return reports;
}

describe('loop', () => {
  it('is a switch twice in one path, told once until the flow has been quiet for a second', () => {
    const reports = [
      pathReport(START_US, 1, [1, 2, 3]),
      ...every(10 * MS, 100 * MS, 10 * MS, (t) => [pathReport(t, 1, [1, 2, 3, 2, 4])]),
      ...every(100 * MS, 3000 * MS, 50 * MS, (t) => [pathReport(t, 1, [1, 2, 3])]),
      pathReport(START_US + 3000 * MS, 1, [1, 2, 1]),
    ];
    const [began, ended, again, ...rest] = run(reports).of('loop');
    expect(began).toMatchObject({ nodeId: 2, path: [1, 2, 3, 2, 4], flow: FLOW, timeNs: `${START_US + 10 * MS}000` });
    expect(began).not.toHaveProperty('ended');
    expect(ended).toMatchObject({ id: `${began?.id}/end`, ended: true, timeNs: `${START_US + 90 * MS}000`, nodeId: 2 });
    expect(again).toMatchObject({ nodeId: 1, path: [1, 2, 1] });
    expect(again?.id).not.toBe(began?.id);
    expect(rest.filter((event) => event.ended !== true)).toEqual([]);
  });

  it('is seen in reports about dropped packets', () => {
    const report = pathReport(START_US, 1, [1, 2, 3, 1, 2, 3, 1], { dropped: true });
    expect(run([report]).of('loop')[0]).toMatchObject({ nodeId: 1 });
  });

  it('is seen in reports that do not tell the flow', () => {
    const report = pathReport(START_US, 1, [1, 2, 1], { flow: null, nodeId: 9, own: false });
    const findings = run([report, report]);
    expect(findings.of('loop')[0]).toMatchObject({ nodeId: 1, flow: null, path: [1, 2, 1, 9] });
    expect(findings.of('loop').filter(({ ended }) => ended !== true)).toHaveLength(1);
    expect(findings.flowWindows).toEqual([]);
  });

  it('is found in long paths as in short ones', () => {
    const path = [...Array.from({ length: 40 }, (_, index) => 100 + index), 107];
    expect(run([pathReport(START_US, 1, path)]).of('loop')[0]).toMatchObject({ nodeId: 107, path });
  });

  it('is none when a sink that has pushed values into the stack reports others of its own', () => {
    const hops = [1, 2, 3, 3].map((nodeId) => ({ nodeId, latency: 5 }));
    const findings = run([pathReport(START_US, 1, [], { hops, nodeId: 3 })]);
    expect(findings.events).toEqual([]);
    expect(findings.flowWindows[0]).toMatchObject({ path: [1, 2, 3], endToEnd: { sum: 15 } });
  });

  it('is none among hops that do not name themselves', () => {
    const hops = [{ latency: 1 }, { latency: 2 }, { latency: 3 }];
    expect(run([pathReport(START_US, 1, [], { hops, nodeId: undefined, own: false })]).events).toEqual([]);
  });
});

describe('pathChange', () => {
  it('is told with the path before', () => {
    const reports = [
      pathReport(START_US, 1, [1, 2, 3]),
      pathReport(START_US + 5, 2, [1, 4, 3]),
      pathReport(START_US + 10, 1, [1, 2, 3]),
      pathReport(START_US + 20, 1, [1, 4, 3]),
      pathReport(START_US + 30, 1, [1, 4, 3]),
    ];
    const findings = run(reports);
    expect(findings.events).toMatchObject([
      { kind: 'pathChange', path: [1, 4, 3], previous: [1, 2, 3], flow: FLOW, timeNs: `${START_US + 20}000` },
    ]);
    expect(findings.flowWindows.find(({ flow }) => flow.sourcePort === 5001)).toMatchObject({
      path: [1, 4, 3],
      pathChanges: 1,
    });
  });

  it('is not told of postcards, dropped packets, stacks cut short, or reports that come late', () => {
    const reports = [
      pathReport(START_US + 10, 1, [1, 2, 3]),
      postcard(START_US + 20, 1, 2),
      pathReport(START_US + 30, 1, [1, 5], { dropped: true }),
      pathReport(START_US + 40, 1, [1, 2, 7], { cut: true }),
      pathReport(START_US + 50, 1, [1, 2], { intermediate: true }),
      pathReport(START_US + 5, 1, [1, 4, 3]),
    ];
    expect(run(reports).events).toEqual([]);
  });
});

describe('blackHole', () => {
  /** A flow that its source and its sink report, the sink not between two times. */
  const flow = (stepUs: number, holeFromUs: number, holeToUs: number, endUs: number): TestReport[] =>
    every(0, endUs, stepUs, (t) => {
      const isLost = t - START_US >= holeFromUs && t - START_US < holeToUs;
      return [postcard(t, 1, 1), ...(isLost ? [] : [pathReport(t + 200, 1, [1, 2, 3])])];
    });

  it('is a flow seen upstream and not at its sink for a second, told once, and when it is over', () => {
    const [began, ended, ...rest] = run(flow(10 * MS, 1000 * MS, 4000 * MS, 5000 * MS)).of('blackHole');
    expect(began).toMatchObject({
      nodeId: 3,
      seenBy: 1,
      flow: FLOW,
      sinceNs: `${START_US + 1000 * MS}000`,
      lastSinkNs: `${START_US + 990 * MS + 200}000`,
    });
    const delayMs = Number(began?.timeNs) / 1e6 - (START_US + 1000 * MS) / 1000;
    expect(delayMs).toBeGreaterThanOrEqual(1000);
    expect(delayMs).toBeLessThanOrEqual(1250);
    expect(ended).toMatchObject({ id: `${began?.id}/end`, ended: true, timeNs: `${START_US + 4000 * MS + 200}000` });
    expect(rest).toEqual([]);
  });

  it('takes ten median packet gaps where that is more than a second', () => {
    const [began] = run(flow(300 * MS, 6000 * MS, 20_000 * MS, 20_000 * MS)).of('blackHole');
    const delayMs = Number(began?.timeNs) / 1e6 - (START_US + 6000 * MS) / 1000;
    expect(delayMs).toBeGreaterThanOrEqual(3000);
    expect(delayMs).toBeLessThanOrEqual(3250);
  });

  it('is not a flow that has come to its end, even if the last report of its sink was lost', () => {
    const reports = [...flow(10 * MS, 2000 * MS, 2020 * MS, 2020 * MS)];
    expect(run(reports, {}, START_US + 10_000 * MS).of('blackHole')).toEqual([]);
  });

  it('is not a flow that pauses and goes on', () => {
    const reports = [
      ...flow(10 * MS, 0, 0, 1000 * MS),
      ...every(6000 * MS, 8000 * MS, 10 * MS, (t) => [postcard(t, 1, 1), pathReport(t + 200, 1, [1, 2, 3])]),
    ];
    expect(run(reports).of('blackHole')).toEqual([]);
  });

  it('is not told of flows that nobody watches, and needs a sink that is known', () => {
    const hole = flow(10 * MS, 1000 * MS, 4000 * MS, 4000 * MS);
    const watched: number[] = [];
    const watch = ({ sourcePort }: { sourcePort: number }): boolean => {
      watched.push(sourcePort);
      return false;
    };
    expect(run(hole, { watch }).of('blackHole')).toEqual([]);
    expect(watched).toEqual([5001]);
    const upstreamOnly = every(0, 3000 * MS, 10 * MS, (t) => [postcard(t, 1, 1)]);
    expect(run(upstreamOnly).of('blackHole')).toEqual([]);
    expect(run(upstreamOnly, { sinkOf: () => 3 }).of('blackHole')).toMatchObject([{ nodeId: 3, lastSinkNs: null }]);
  });
});

describe('linkFailure', () => {
  const flows = [1, 2, 3];
  /** Flows from 1 over 2 to 3; other traffic that keeps the ends in sight; the link from 1 to 2 is gone for a while. */
  const network = (count: number, fromUs: number, toUs: number, endUs: number, isSeen = true): TestReport[] =>
    every(0, endUs, 50 * MS, (t) => {
      const isDown = t - START_US >= fromUs && t - START_US < toUs;
      const path = isDown ? [1, 4, 3] : [1, 2, 3];
      const own = flows.slice(0, count).map((flow) => pathReport(t, flow, path));
      return isSeen ? [...own, pathReport(t, 10, [5, 2, 6])] : own;
    });

  it('is a link that carried three flows and is silent for a second while both its ends report', () => {
    const [began, ended, ...rest] = run(network(3, 2000 * MS, 6000 * MS, 8000 * MS))
      .of('linkFailure')
      .filter(({ link }) => link.join() === '1,2');
    expect(began).toMatchObject({ link: [1, 2], flows: 3, sinceNs: `${START_US + 1950 * MS}000` });
    expect(Number(began?.timeNs) / 1e6).toBe((START_US + 3000 * MS) / 1000);
    expect(ended).toMatchObject({ id: `${began?.id}/end`, ended: true });
    expect(rest).toEqual([]);
  });

  it('needs three flows, and both ends', () => {
    expect(run(network(2, 2000 * MS, 6000 * MS, 8000 * MS)).of('linkFailure')).toEqual([]);
    const unseen = run(network(3, 2000 * MS, 8000 * MS, 8000 * MS, false)).of('linkFailure');
    expect(unseen).toEqual([]);
  });

  it('is none when the whole network is silent, or has just come back', () => {
    const reports = [
      ...network(3, 0, 0, 2000 * MS),
      ...every(60_000 * MS, 60_600 * MS, 50 * MS, () => []),
      ...every(60_000 * MS, 60_500 * MS, 50 * MS, (t) => [pathReport(t, 10, [5, 2, 6]), pathReport(t, 11, [7, 1, 8])]),
      ...every(60_500 * MS, 62_000 * MS, 50 * MS, (t) => flows.map((flow) => pathReport(t, flow, [1, 2, 3]))),
    ];
    expect(run(reports).of('linkFailure')).toEqual([]);
  });

  it('does not count flows that had ended before the link fell silent', () => {
    const reports = [
      ...every(0, 1000 * MS, 50 * MS, (t) => flows.map((flow) => pathReport(t, flow, [1, 2, 3]))),
      ...every(1000 * MS, 4000 * MS, 50 * MS, (t) => [pathReport(t, 1, [1, 2, 3])]),
      ...every(4000 * MS, 8000 * MS, 50 * MS, (t) => [pathReport(t, 10, [5, 2, 6]), pathReport(t, 11, [7, 1, 8])]),
    ];
    expect(run(reports).of('linkFailure')).toEqual([]);
  });
});

describe('persistentCongestion', () => {
  const hops = (occupancy: number) => [{ nodeId: 1, queueId: 2, occupancy }];
  const filled = (fromUs: number, toUs: number, occupancy: number): TestReport[] =>
    every(fromUs, toUs, 100 * MS, (t) => [pathReport(t, 1, [], { hops: hops(occupancy), nodeId: 1 })]);

  it('is a queue above its threshold in three windows in a row, and ends after three that are not', () => {
    const reports = [
      ...filled(0, 1000 * MS, 5),
      ...filled(1000 * MS, 5000 * MS, 600),
      ...filled(5000 * MS, 9000 * MS, 500),
    ];
    const findings = run(reports);
    const [began, ended, ...rest] = findings.of('persistentCongestion');
    expect(began).toMatchObject({
      nodeId: 1,
      queueId: 2,
      occupancy: 600,
      threshold: 500,
      windows: 3,
      sinceNs: `${START_US + 1000 * MS}000`,
      timeNs: `${START_US + 4000 * MS}000`,
    });
    expect(ended).toMatchObject({ id: `${began?.id}/end`, ended: true, timeNs: `${START_US + 8000 * MS}000` });
    expect(rest).toEqual([]);
    expect(findings.switches.map(({ queues }) => queues[0]?.status)).toEqual([
      'clear',
      'above',
      'above',
      'persistent',
      'persistent',
      'persistent',
      'persistent',
      'clear',
      'clear',
    ]);
  });

  it('is none after two windows, or when a window between has nothing to show', () => {
    const reports = [
      ...filled(0, 2000 * MS, 600),
      ...filled(3000 * MS, 5000 * MS, 600),
      ...filled(5000 * MS, 6000 * MS, 1),
    ];
    expect(run(reports).of('persistentCongestion')).toEqual([]);
  });

  it('compares means, or maxima, with a threshold that may depend on the queue', () => {
    const burst = every(0, 4000 * MS, 100 * MS, (t) => {
      const isBurst = (t / MS) % 1000 === 0;
      return [pathReport(t, 1, [], { hops: hops(isBurst ? 2000 : 0), nodeId: 1 })];
    });
    expect(run(burst).of('persistentCongestion')).toEqual([]);
    expect(run(burst, { queueStatistic: 'max' }).of('persistentCongestion')[0]).toMatchObject({ occupancy: 2000 });
    const queueThreshold = (nodeId: number, queueId: number): number => (nodeId === 1 && queueId === 2 ? 199 : 1e6);
    expect(run(burst, { queueThreshold }).of('persistentCongestion')[0]).toMatchObject({ occupancy: 200 });
  });

  it('has beside it how often a switch said by itself that it was congested', () => {
    const reports = [
      postcard(START_US, 1, 4, { queueCongested: true }),
      pathReport(START_US, 1, [], { nodeId: 4, hops: [{ nodeId: 4, queueId: 1, occupancy: 3, congestion: 1 }] }),
      postcard(START_US, 1, 4),
    ];
    const { switches, flowWindows } = run(reports);
    expect(switches[0]?.queues).toMatchObject([{ queueId: 1, congested: 2, status: 'clear' }]);
    expect(flowWindows[0]?.hops).toMatchObject([{ nodeId: 4, congested: 2 }]);
  });
});

describe('reportLoss', () => {
  const numbered = (fromUs: number, numbers: readonly number[], more: Partial<TestReport> = {}): TestReport[] =>
    numbers.map((sequence, index) => postcard(START_US + fromUs + index * MS, 1, 7, { sequence, hwId: 3, ...more }));
  const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index);

  it('is a gap that is still open after the reordering window, told in one event', () => {
    const reports = [
      ...numbered(0, [...range(100, 20), ...range(125, 10), 136]),
      ...numbered(3000 * MS, range(137, 5)),
    ];
    expect(run(reports).of('reportLoss')).toMatchObject([
      {
        nodeId: 7,
        hwId: 3,
        lost: 6,
        firstSequence: 120,
        lastSequence: 135,
        sinceNs: `${START_US}000`,
        timeNs: `${START_US + 1250 * MS}000`,
      },
    ]);
  });

  it('is none when what was missing comes within the window, in whatever order', () => {
    const reports = [
      ...numbered(0, [1, 5, 3, 9, 2]),
      ...numbered(700 * MS, [8, 7, 6, 4]),
      ...numbered(3000 * MS, [10]),
    ];
    expect(run(reports).of('reportLoss')).toEqual([]);
  });

  it('is told when it comes too late', () => {
    const reports = [...numbered(0, [1, 3]), ...numbered(2000 * MS, [2, 4]), ...numbered(4000 * MS, [5])];
    expect(run(reports).of('reportLoss')).toMatchObject([{ lost: 1, firstSequence: 2, lastSequence: 2 }]);
  });

  it('goes with numbers that wrap around, at 22 bits and at 32', () => {
    const last22 = 2 ** 22 - 1;
    const reports = [...numbered(0, [last22 - 2, last22 - 1, 0, 1, 4]), ...numbered(3000 * MS, [5])];
    expect(run(reports).of('reportLoss')).toMatchObject([{ lost: 3, firstSequence: last22, lastSequence: 3 }]);
    const long = [...numbered(0, [2 ** 32 - 2, 1], { version: 2 }), ...numbered(3000 * MS, [2], { version: 2 })];
    expect(run(long).of('reportLoss')).toMatchObject([{ lost: 2, firstSequence: 2 ** 32 - 1, lastSequence: 0 }]);
  });

  it('is none when a reporter begins anew', () => {
    const reports = [
      ...numbered(0, range(1_000_000, 20)),
      ...numbered(500 * MS, range(0, 20)),
      ...numbered(3000 * MS, range(20, 20)),
    ];
    expect(run(reports).of('reportLoss')).toEqual([]);
  });

  it('is counted by node and hardware id, and not for nodes without a name', () => {
    const reports = [
      ...numbered(0, [1, 2, 3]),
      ...numbered(0, [50, 51, 53], { hwId: 4 }),
      ...numbered(0, [7, 9], { nodeId: undefined }),
      ...numbered(3000 * MS, [4]),
    ];
    expect(run(reports).of('reportLoss')).toMatchObject([{ hwId: 4, lost: 1, firstSequence: 52 }]);
  });
});

describe('events', () => {
  it('are JSON objects as they stand, and equal however the reports are cut into batches', () => {
    const reports = [
      ...every(0, 3000 * MS, 20 * MS, (t) => [postcard(t, 1, 1), pathReport(t, 2, [1, 2, 1])]),
      ...every(3000 * MS, 5000 * MS, 20 * MS, (t) => [pathReport(t, 1, [1, 2, 3]), pathReport(t, 2, [3, 2, 1])]),
    ];
    const whole = run(reports, { sinkOf: () => 3 });
    expect(JSON.parse(JSON.stringify(whole.events))).toEqual(whole.events);
    expect(new Set(whole.events.map(({ id }) => id)).size).toBe(whole.events.length);
    const findings = new Findings();
    const processor = processorOf(findings, { sinkOf: () => 3 });
    for (let at = 0; at < reports.length; at += 7) {
      const batch = batchOf(reports.slice(at, at + 7));
      processor.observe(batch);
    }
    processor.flush();
    expect(findings.events).toEqual(whole.events);
    expect(whole.events.length).toBeGreaterThan(2);
  });
});
