import type { FlowWindow, ImmediateEvent } from '@int/stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { arrivalsOf, flowWindowsOf, GRACE_US, holesOf, loopsOf, networkOf, pathChangesOf, WINDOW_US } from './model.js';
import type { TestReport } from './reports.js';
import { type Findings, run } from './run.js';
import { SEED } from './seed.js';
import { traffic, unorderedTraffic } from './traffic.js';

const RUNS = { seed: SEED, numRuns: runs(120) };

const usable = (reports: readonly TestReport[]): TestReport[] => reports.filter(({ code }) => (code ?? 0) === 0);

/** The end of all windows that `flush` closes, and the time it goes on to. */
function endOf(reports: readonly TestReport[]): { closedUs: number; nowUs: number } {
  const latest = Math.max(...reports.map(({ timeUs }) => timeUs));
  const closedUs = (Math.floor(latest / WINDOW_US) + 1) * WINDOW_US;
  return { closedUs, nowUs: closedUs + GRACE_US };
}

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
const sorted = <T>(list: readonly T[]): T[] => [...list].sort(byText);

function flowEvent(event: ImmediateEvent): unknown {
  if (event.kind === 'pathChange') {
    const { kind, timeNs, sinceNs, flow, path, previous } = event;
    return { kind, timeNs, sinceNs, port: flow?.sourcePort, path, previous };
  }
  if (event.kind === 'loop') {
    const { kind, timeNs, sinceNs, flow, path, nodeId, ended } = event;
    return { kind, sinceNs, port: flow?.sourcePort, nodeId, path, timeNs, ...(ended === true ? { ended } : {}) };
  }
  if (event.kind === 'blackHole') {
    const { kind, timeNs, sinceNs, flow, nodeId, ended } = event;
    return { kind, sinceNs, timeNs, port: flow?.sourcePort, nodeId, ...(ended === true ? { ended } : {}) };
  }
  return null;
}

function networkEvent(event: ImmediateEvent): unknown {
  const ended = event.ended === true ? { ended: true } : {};
  const { kind, sinceNs, timeNs } = event;
  if (kind === 'linkFailure') return { kind, link: event.link, sinceNs, timeNs, ...ended };
  if (kind === 'persistentCongestion') {
    const { nodeId, queueId, occupancy } = event;
    return { kind, nodeId, queueId, sinceNs, timeNs, occupancy, ...ended };
  }
  if (kind === 'reportLoss') {
    const { nodeId, hwId, lost, firstSequence, lastSequence } = event;
    return { kind, nodeId, hwId, lost, firstSequence, lastSequence, sinceNs, timeNs };
  }
  return null;
}

const flowEventsOf = (findings: Findings, kind: string): unknown[] =>
  findings.events.filter((event) => event.kind === kind && 'flow' in event && event.flow !== null).map(flowEvent);

const shown = ({ flow, startNs, reports, drops, late, path, pathChanges, hops, endToEnd }: FlowWindow): unknown => ({
  sourcePort: flow.sourcePort,
  startNs,
  reports,
  drops,
  late,
  path,
  pathChanges,
  hops,
  endToEnd,
});

describe('against a model that looks at all reports at once', () => {
  it('windows of flows and changes of path agree, also of reports out of order', () => {
    fc.assert(
      fc.property(unorderedTraffic, (reports) => {
        const findings = run(reports);
        const arrivals = arrivalsOf(usable(reports));
        expect(sorted(findings.flowWindows.map(shown))).toEqual(sorted(flowWindowsOf(arrivals)));
        expect(sorted(flowEventsOf(findings, 'pathChange'))).toEqual(sorted(pathChangesOf(arrivals)));
      }),
      RUNS,
    );
  });

  it('loops and black holes agree', () => {
    const told = { loops: 0, holes: 0 };
    fc.assert(
      fc.property(traffic, (reports) => {
        const findings = run(reports);
        const arrivals = arrivalsOf(usable(reports));
        const { nowUs } = endOf(usable(reports));
        const loops = loopsOf(arrivals, nowUs);
        const holes = holesOf(arrivals, nowUs);
        told.loops += loops.length;
        told.holes += holes.length;
        expect(sorted(flowEventsOf(findings, 'loop'))).toEqual(sorted(loops));
        expect(sorted(flowEventsOf(findings, 'blackHole'))).toEqual(sorted(holes));
      }),
      RUNS,
    );
    expect(told.loops).toBeGreaterThan(5);
    expect(told.holes).toBeGreaterThan(5);
  });

  it('failed links, persistent congestion, report loss and windows of the network agree, also out of order', () => {
    const told = new Map<string, number>();
    fc.assert(
      fc.property(unorderedTraffic, (reports) => {
        const findings = run(reports);
        const { closedUs } = endOf(usable(reports));
        const { events, switches, links } = networkOf(arrivalsOf(usable(reports)), closedUs);
        for (const { kind } of events) told.set(kind, (told.get(kind) ?? 0) + 1);
        const own = findings.events.map(networkEvent).filter((event) => event !== null);
        expect(sorted(own)).toEqual(sorted(events));
        const windows = findings.switches.map(({ nodeId, startNs, reports: count, lastSeenNs, latency, queues }) => ({
          nodeId,
          startNs,
          reports: count,
          lastSeenNs,
          latency:
            latency === null ? null : { count: latency.count, sum: latency.sum, min: latency.min, max: latency.max },
          queues: queues
            .filter((queue) => queue.occupancy !== null)
            .map(({ queueId, occupancy }) => ({ queueId, occupancy })),
        }));
        expect(sorted(windows)).toEqual(sorted(switches));
        expect(sorted(findings.links.map(({ link, startNs, packets }) => ({ link, startNs, packets })))).toEqual(
          sorted(links),
        );
      }),
      RUNS,
    );
    for (const kind of ['linkFailure', 'persistentCongestion', 'reportLoss']) expect(told.get(kind)).toBeGreaterThan(5);
  });
});
