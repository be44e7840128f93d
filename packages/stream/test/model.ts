/**
 * What a stream processor finds, computed slowly from all reports at once: from definitions, not by keeping state.
 * Reports are those of `reports.ts`; every hop names itself.
 */
import type { FlowWindow, ImmediateEvent, Summary } from '@int/stream';
import type { TestHop, TestReport } from './reports.js';

const SLICE_US = 250_000;
export const WINDOW_US = 1_000_000;
export const GRACE_US = 250_000;
const SECOND_US = 1_000_000;
const THRESHOLD = 500;

const sliceOf = (timeUs: number): number => Math.floor(timeUs / SLICE_US);
const windowOf = (timeUs: number): number => Math.floor(timeUs / WINDOW_US);
const ns = (timeUs: number): string => `${timeUs}000`;

/** Node ids in path order; the reporting node last, unless it is the last hop anyway. */
function pathOf({ hops, nodeId }: TestReport): number[] {
  const path = hops.map((hop) => hop.nodeId!);
  const merged = path.filter((id, index) => !(index === path.length - 1 && index > 0 && id === path[index - 1]));
  return nodeId === undefined || merged[merged.length - 1] === nodeId ? merged : [...merged, nodeId];
}

/** The position of the first node that was there before, or -1. */
function repeatedIn(path: readonly number[]): number {
  return path.findIndex((id, index) => path.indexOf(id) < index);
}

function summaryOf(values: readonly (number | undefined)[]): Summary | null {
  const known = values.filter((value): value is number => value !== undefined);
  if (known.length === 0) return null;
  return {
    count: known.length,
    sum: known.reduce((a, b) => a + b, 0),
    min: Math.min(...known),
    max: Math.max(...known),
  };
}

interface Arrival {
  readonly report: TestReport;
  readonly path: readonly number[];
  readonly loops: boolean;
  /** The packet's whole way. */
  readonly isPath: boolean;
  /** The latest time of this and all before. */
  readonly clock: number;
  readonly isLate: boolean;
}

/** Reports in order of arrival, with what follows from those before. */
export function arrivalsOf(reports: readonly TestReport[]): Arrival[] {
  let clock = 0;
  return reports.map((report) => {
    clock = Math.max(clock, report.timeUs);
    const path = pathOf(report);
    const isPath =
      report.mode === 'md' && report.dropped !== true && report.intermediate !== true && report.cut !== true;
    const isLate = sliceOf(report.timeUs) < sliceOf(clock - GRACE_US);
    return { report, path, loops: repeatedIn(path) >= 0, isPath, clock, isLate };
  });
}

/** Arrivals that move the flow to a path: whole, without a loop, and none later before them. */
function pathsOf(arrivals: readonly Arrival[], flow: number): Arrival[] {
  const whole = arrivals.filter(({ report, isPath, loops }) => report.flow === flow && isPath && !loops);
  return whole.filter((one, index) => whole.slice(0, index).every(({ report }) => report.timeUs <= one.report.timeUs));
}

export type ModelFlowWindow = Pick<
  FlowWindow,
  'startNs' | 'reports' | 'drops' | 'late' | 'path' | 'pathChanges' | 'hops' | 'endToEnd'
> & { readonly sourcePort: number };

export function flowWindowsOf(arrivals: readonly Arrival[]): ModelFlowWindow[] {
  const windows: ModelFlowWindow[] = [];
  const ofFlows = arrivals.filter(({ report }) => report.flow !== null);
  // What comes late is told with the first window that is open then.
  const windowFor = ({ report, clock, isLate }: Arrival): number =>
    windowOf(isLate ? sliceOf(clock - GRACE_US) * SLICE_US : report.timeUs);
  const names = new Set(ofFlows.map((one) => `${one.report.flow} ${windowFor(one)}`));
  for (const name of names) {
    const [flow, window] = name.split(' ').map(Number) as [number, number];
    const there = ofFlows.filter((one) => one.report.flow === flow && windowFor(one) === window);
    const own = there.filter(({ isLate }) => !isLate);
    const paths = pathsOf(arrivals, flow);
    const before = pathsOf(arrivals.slice(0, arrivals.indexOf(there[0]!)), flow);
    const within = own.filter(({ isPath, loops }) => isPath && !loops);
    const latest = Math.max(...within.map(({ report }) => report.timeUs));
    const known = [...before, ...within.filter(({ report }) => report.timeUs === latest)];
    const changes = paths.filter(
      (one, index) => index > 0 && own.includes(one) && one.path.join() !== paths[index - 1]!.path.join(),
    );
    const rows = own.flatMap(({ report }) => rowsOf(report).map((row, index) => ({ row, index, report })));
    const nodes = [...new Set(rows.map(({ row }) => row.nodeId!))];
    const sums = own
      .filter(({ isPath, report }) => isPath && rowsOf(report).some(({ latency }) => latency !== undefined))
      .map(({ report }) => rowsOf(report).reduce((sum, { latency }) => sum + (latency ?? 0), 0));
    windows.push({
      sourcePort: 5000 + flow,
      startNs: ns(window * WINDOW_US),
      reports: own.length,
      drops: own.filter(({ report }) => report.dropped === true).length,
      late: there.length - own.length,
      path: known.length === 0 ? null : [...known[known.length - 1]!.path],
      pathChanges: changes.length,
      hops: nodes.map((nodeId) => {
        const there = rows.filter(({ row }) => row.nodeId === nodeId);
        return {
          nodeId,
          latency: summaryOf(there.map(({ row }) => row.latency)),
          queueOccupancy: summaryOf(there.map(({ row }) => row.occupancy)),
          congested: there.filter(({ row, index, report }) => isCongested(row, index, report)).length,
        };
      }),
      endToEnd: summaryOf(sums),
    });
  }
  return windows;
}

/** Hop rows; the own row of a node that is the last hop anyway adds only what that one lacks. */
function rowsOf({ hops }: TestReport): TestHop[] {
  const last = hops[hops.length - 1];
  const before = hops[hops.length - 2];
  if (last === undefined || before === undefined || last.nodeId !== before.nodeId) return [...hops];
  return [
    ...hops.slice(0, -2),
    {
      ...before,
      latency: before.latency ?? last.latency,
      queueId: before.occupancy === undefined ? last.queueId : before.queueId,
      occupancy: before.occupancy ?? last.occupancy,
      congestion: before.congestion ?? last.congestion,
    },
  ];
}

/** The last node of the path is the one that reports. */
function isCongested(row: TestHop, index: number, report: TestReport): boolean {
  const isLast = index === pathOf(report).length - 1;
  return (row.congestion ?? 0) !== 0 || (report.queueCongested === true && isLast);
}

type Told = Pick<ImmediateEvent, 'kind' | 'timeNs' | 'sinceNs'> & { readonly ended?: true } & Record<string, unknown>;

export function pathChangesOf(arrivals: readonly Arrival[]): Told[] {
  const flows = new Set(arrivals.map(({ report }) => report.flow).filter((flow) => flow !== null));
  return [...flows].flatMap((flow) => {
    const paths = pathsOf(arrivals, flow);
    return paths.flatMap((one, index): Told[] => {
      const previous = paths[index - 1]?.path;
      if (previous === undefined || previous.join() === one.path.join()) return [];
      const timeNs = ns(one.report.timeUs);
      return [
        {
          kind: 'pathChange',
          timeNs,
          sinceNs: timeNs,
          port: 5000 + flow,
          path: [...one.path],
          previous: [...previous],
        },
      ];
    });
  });
}

/** The times at which silence is looked for, until the end. */
function ticks(arrivals: readonly Arrival[], endUs: number): number[] {
  const first = sliceOf(arrivals[0]!.clock - GRACE_US);
  const times: number[] = [];
  for (let slice = first; (slice + 1) * SLICE_US + GRACE_US <= endUs; slice++) {
    times.push((slice + 1) * SLICE_US + GRACE_US);
  }
  return times;
}

/** Loops of reports in the order of their times. */
export function loopsOf(arrivals: readonly Arrival[], endUs: number): Told[] {
  const flows = new Set(arrivals.map(({ report }) => report.flow).filter((flow) => flow !== null));
  return [...flows].flatMap((flow) => {
    const looping = arrivals.filter(({ report, loops }) => report.flow === flow && loops);
    const told: Told[] = [];
    let at = 0;
    while (at < looping.length) {
      const first = looping[at]!;
      const nodeId = first.path[repeatedIn(first.path)]!;
      const since = first.report.timeUs;
      const common = { kind: 'loop' as const, sinceNs: ns(since), port: 5000 + flow, nodeId, path: [...first.path] };
      told.push({ ...common, timeNs: ns(since) });
      // The first moment at which nothing has looped for a second.
      const end = ticks(arrivals, endUs).find((now) => {
        const before = looping.slice(at).filter(({ report }) => report.timeUs < now);
        return before.length > 0 && now - before[before.length - 1]!.report.timeUs >= SECOND_US;
      });
      if (end === undefined) break;
      const within = looping.slice(at).filter(({ report }) => report.timeUs < end);
      told.push({ ...common, timeNs: ns(within[within.length - 1]!.report.timeUs), ended: true });
      at += within.length;
    }
    return told;
  });
}

/** Black holes of reports in the order of their times. */
export function holesOf(arrivals: readonly Arrival[], endUs: number): Told[] {
  const flows = new Set(arrivals.map(({ report }) => report.flow).filter((flow) => flow !== null));
  return [...flows].flatMap((flow) => {
    const own = arrivals.filter(({ report }) => report.flow === flow);
    const sightings: { timeUs: number; node: number; isSink: boolean }[] = [];
    let sink: number | null = null;
    for (const { report, path, isPath } of own) {
      const last = path[path.length - 1]!;
      const hasLeft = report.mode === 'md' && report.dropped !== true && report.intermediate !== true;
      if (isPath) sink = last;
      else if (hasLeft && report.nodeId !== undefined) sink = report.nodeId;
      const node = report.nodeId ?? last;
      if (hasLeft || (node === sink && report.dropped !== true)) {
        sightings.push({ timeUs: report.timeUs, node: sink!, isSink: true });
      } else if (node !== sink) {
        sightings.push({ timeUs: report.timeUs, node, isSink: false });
      }
    }
    const told: Told[] = [];
    let raised: { since: number; sink: number } | null = null;
    const at = (timeUs: number): typeof sightings => sightings.filter((one) => one.timeUs < timeUs);
    const moments = [...ticks(arrivals, endUs), Number.POSITIVE_INFINITY];
    let before = 0;
    for (const now of moments) {
      const hole: { since: number; sink: number } | null = raised;
      const back =
        hole &&
        sightings.find(({ timeUs, isSink }) => isSink && timeUs >= before && timeUs < now && timeUs >= hole.since);
      if (hole && back) {
        told.push({
          kind: 'blackHole',
          sinceNs: ns(hole.since),
          timeNs: ns(back.timeUs),
          port: 5000 + flow,
          nodeId: back.node,
          ended: true,
        });
        raised = null;
      }
      before = now;
      if (now === Number.POSITIVE_INFINITY || raised !== null) continue;
      const seen = at(now);
      const atSink = seen.filter(({ isSink }) => isSink);
      if (atSink.length === 0) continue;
      const last = Math.max(...atSink.map(({ timeUs }) => timeUs));
      const after = seen.filter(({ timeUs, isSink }) => !isSink && timeUs > last).map(({ timeUs }) => timeUs);
      const gaps = atSink
        .slice(1)
        .map((one, index) => one.timeUs - atSink[index]!.timeUs)
        .slice(-15)
        .sort((a, b) => a - b);
      const median = gaps.length === 0 ? 0 : gaps[(gaps.length - 1) >>> 1]!;
      const limit = Math.max(SECOND_US, 10 * median);
      if (after.length === 0 || now - after[0]! < limit || after[after.length - 1]! - after[0]! < limit / 2) continue;
      const node = atSink[atSink.length - 1]!.node;
      raised = { since: after[0]!, sink: node };
      told.push({ kind: 'blackHole', sinceNs: ns(after[0]!), timeNs: ns(now), port: 5000 + flow, nodeId: node });
    }
    return told;
  });
}

/** What the network side finds, of reports that came in time; until the end of the last slice that was closed. */
export function networkOf(
  arrivals: readonly Arrival[],
  endUs: number,
): { events: Told[]; switches: unknown[]; links: unknown[] } {
  const inTime = arrivals.filter(({ isLate }) => !isLate).map(({ report, path }) => ({ report, path }));
  const first = Math.min(...arrivals.map(({ clock }) => sliceOf(clock - GRACE_US)));
  const last = sliceOf(endUs) - 1;
  const events: Told[] = [];
  const sawNode = (node: number, slice: number): boolean =>
    inTime.some(({ report, path }) => sliceOf(report.timeUs) === slice && path.includes(node));

  const crossings = inTime.flatMap(({ report, path }) =>
    report.mode !== 'md'
      ? []
      : path.slice(1).flatMap((to, index) => {
          const isUnknown = report.cut === true && index === path.length - 2 && path.length > embeddedOf(report);
          const from = path[index]!;
          return isUnknown || from === to ? [] : [{ timeUs: report.timeUs, flow: report.flow, link: `${from},${to}` }];
        }),
  );
  for (const link of new Set(crossings.map((one) => one.link))) {
    const [from, to] = link.split(',').map(Number) as [number, number];
    const own = crossings.filter((one) => one.link === link);
    let failed: number | null = null;
    let silent = 0;
    for (let slice = first; slice <= last; slice++) {
      const until = own.filter(({ timeUs }) => sliceOf(timeUs) <= slice);
      if (until.length === 0) continue;
      const seen = Math.max(...until.map(({ timeUs }) => timeUs));
      if (sliceOf(seen) === slice) {
        if (failed !== null) {
          events.push({ kind: 'linkFailure', link: [from, to], sinceNs: ns(failed), timeNs: ns(seen), ended: true });
        }
        failed = null;
        silent = 0;
        continue;
      }
      if (sawNode(from, slice) && sawNode(to, slice)) silent++;
      const flows = new Set(
        until.filter(({ timeUs, flow }) => flow !== null && timeUs >= seen - SECOND_US).map(({ flow }) => flow),
      );
      if (failed !== null || silent * SLICE_US < SECOND_US || flows.size < 3) continue;
      failed = seen;
      events.push({ kind: 'linkFailure', link: [from, to], sinceNs: ns(seen), timeNs: ns((slice + 1) * SLICE_US) });
    }
  }

  const rows = inTime.flatMap(({ report }) => rowsOf(report).map((row) => ({ row, report })));
  for (const queue of new Set(
    rows.filter(({ row }) => row.occupancy !== undefined).map(({ row }) => `${row.nodeId},${row.queueId ?? 0}`),
  )) {
    const [nodeId, queueId] = queue.split(',').map(Number) as [number, number];
    const own = rows.filter(
      ({ row }) => row.occupancy !== undefined && row.nodeId === nodeId && (row.queueId ?? 0) === queueId,
    );
    let above: number[] = [];
    let below = 0;
    let since: number | null = null;
    for (let window = windowOf(first * SLICE_US); (window + 1) * WINDOW_US <= (last + 1) * SLICE_US; window++) {
      const values = own.filter(({ report }) => windowOf(report.timeUs) === window).map(({ row }) => row.occupancy!);
      const mean = values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
      const timeNs = ns((window + 1) * WINDOW_US);
      if (mean > THRESHOLD) {
        above.push(window);
        below = 0;
        if (since === null && above.length === 3) {
          since = above[0]!;
          events.push({
            kind: 'persistentCongestion',
            nodeId,
            queueId,
            sinceNs: ns(since * WINDOW_US),
            timeNs,
            occupancy: mean,
          });
        }
      } else {
        above = [];
        below++;
        if (since !== null && below === 3) {
          events.push({
            kind: 'persistentCongestion',
            nodeId,
            queueId,
            sinceNs: ns(since * WINDOW_US),
            timeNs,
            occupancy: mean,
            ended: true,
          });
          since = null;
        }
      }
    }
  }

  const numbered = arrivals.filter(({ report }) => report.nodeId !== undefined);
  for (const reporter of new Set(numbered.map(({ report }) => `${report.nodeId},${report.hwId ?? 0}`))) {
    const [nodeId, hwId] = reporter.split(',').map(Number) as [number, number];
    // A late report's number counts in the slice that is open.
    const own = numbered
      .filter(({ report }) => report.nodeId === nodeId && (report.hwId ?? 0) === hwId)
      .map(({ report, clock, isLate }) => ({
        sequence: report.sequence!,
        slice: isLate ? sliceOf(clock - GRACE_US) : sliceOf(report.timeUs),
      }));
    const start = Math.min(...own.map(({ slice }) => slice));
    const lowest = Math.min(...own.filter(({ slice }) => slice === start).map(({ sequence }) => sequence));
    const highest = Math.max(...own.map(({ sequence }) => sequence));
    const losses = new Map<number, { numbers: number[]; since: number }>();
    for (let sequence = lowest; sequence < highest; sequence++) {
      const missed = Math.min(...own.filter((one) => one.sequence > sequence).map(({ slice }) => slice));
      const lost = missed + 4;
      if (lost > last || own.some((one) => one.sequence === sequence && one.slice <= lost)) continue;
      const loss = losses.get(lost) ?? { numbers: [], since: missed };
      losses.set(lost, loss);
      loss.numbers.push(sequence);
    }
    for (const [slice, { numbers, since }] of losses) {
      events.push({
        kind: 'reportLoss',
        nodeId,
        hwId,
        lost: numbers.length,
        firstSequence: numbers[0]!,
        lastSequence: numbers[numbers.length - 1]!,
        sinceNs: ns(since * SLICE_US),
        timeNs: ns((slice + 1) * SLICE_US),
      });
    }
  }

  const switches: unknown[] = [];
  const links: unknown[] = [];
  for (let window = windowOf(first * SLICE_US); (window + 1) * WINDOW_US <= (last + 1) * SLICE_US; window++) {
    const own = inTime.filter(({ report }) => windowOf(report.timeUs) === window);
    for (const nodeId of [...new Set(own.flatMap(({ path }) => path))].sort((a, b) => a - b)) {
      const there = own.flatMap(({ report }) => rowsOf(report).filter((row) => row.nodeId === nodeId));
      const alone = own.filter(
        ({ report, path }) => path.length > rowsOf(report).length && path[path.length - 1] === nodeId,
      );
      const queues = [
        ...new Set(there.filter((row) => row.occupancy !== undefined).map(({ queueId }) => queueId ?? 0)),
      ];
      switches.push({
        nodeId,
        startNs: ns(window * WINDOW_US),
        reports: there.length + alone.length,
        lastSeenNs: ns(Math.max(...own.filter(({ path }) => path.includes(nodeId)).map(({ report }) => report.timeUs))),
        latency: summaryOf(there.map(({ latency }) => latency)),
        queues: queues
          .sort((a, b) => a - b)
          .map((queueId) => ({
            queueId,
            occupancy: summaryOf(
              there.filter((row) => (row.queueId ?? 0) === queueId).map(({ occupancy }) => occupancy),
            ),
          })),
      });
    }
    const crossed = crossings.filter(({ timeUs }) => windowOf(timeUs) === window);
    for (const link of new Set(crossed.map((one) => one.link))) {
      const there = crossed.filter((one) => one.link === link);
      links.push({ link: link.split(',').map(Number), startNs: ns(window * WINDOW_US), packets: there.length });
    }
  }
  return { events, switches, links };
}

/** Hops that have travelled with the packet. */
function embeddedOf({ hops, own }: TestReport): number {
  return own === true ? hops.length - 1 : hops.length;
}
