import { decodeReport, type Flow, type TelemetryRecord } from '@int/codec';
import {
  type Label,
  runScenario,
  SCENARIO_KINDS,
  SCENARIO_NETWORK,
  Scenario,
  type ScenarioKind,
  type ScenarioResult,
} from '@int/netsim';
import { describe, expect, it } from 'vitest';
import { SEED } from '../seed.js';

interface Told {
  readonly timeNs: number;
  readonly record: TelemetryRecord;
}

interface Run extends ScenarioResult {
  readonly told: readonly Told[];
}

/** Later than anything is on its way, with full queues on a path. */
const TRANSIT_NS = 400e6;

function run(kind: ScenarioKind): Run {
  const result = runScenario({ kind, seed: SEED, flows: 64, durationNs: 9e9 });
  const told = result.reports.flatMap(({ timeNs, bytes }) =>
    decodeReport(bytes).records.map((record) => ({ timeNs, record })),
  );
  expect(told.every(({ record }) => record.status === 'ok' && record.flow !== null)).toBe(true);
  return { ...result, told };
}

function of({ labels }: ScenarioResult, kind: Label['kind']): readonly Label[] {
  return labels.filter((label) => label.kind === kind);
}

function isOf(flow: Flow | undefined): (told: Told) => boolean {
  return ({ record }) => record.flow!.sourcePort === flow!.sourcePort && record.flow!.source === flow!.source;
}

function isDelivered({ record }: Told): boolean {
  return record.report!.type === 'int-md' && !record.report!.dropped;
}

const crosses = ({ path }: TelemetryRecord, [a, b]: readonly [number, number]): boolean =>
  path.some((node, i) => node === a && path[i + 1] === b);

/** Numbers missing of each (node, hardware id), as sequences of a run begin with 0 and are followed to the highest. */
function missing(told: readonly Told[]): Map<string, number> {
  const seen = new Map<string, Set<number>>();
  for (const { record } of told) {
    const key = `${record.report!.nodeId} ${record.report!.hwId}`;
    seen.set(key, (seen.get(key) ?? new Set()).add(record.report!.sequence));
  }
  const gaps = new Map<string, number>();
  for (const [key, numbers] of seen) {
    const gap = Math.max(...numbers) + 1 - numbers.size;
    if (gap > 0) gaps.set(key, gap);
  }
  return gaps;
}

describe('a scenario', () => {
  it('is the same for the same seed, also when it is run in steps, and another for another', () => {
    const follow = (seed: string, stepNs: number): { times: string; bytes: Buffer; labels: readonly Label[] } => {
      const times: number[] = [];
      const payloads: Uint8Array[] = [];
      const scenario = new Scenario({ kind: 'loop', seed, flows: 64, durationNs: 9e9 }, (bytes, timeNs) => {
        times.push(timeNs);
        payloads.push(bytes);
      });
      // Loops begin before 4 s.
      for (let timeNs = stepNs; timeNs <= 4.2e9; timeNs += stepNs) scenario.run(timeNs);
      return { times: times.join(), bytes: Buffer.concat(payloads), labels: scenario.labels() };
    };
    const first = follow('again', 4.2e9);
    const stepped = follow('again', 0.1e9);
    expect(first.labels.length).toBeGreaterThanOrEqual(2);
    expect(first.bytes.length).toBeGreaterThan(200_000);
    expect(stepped.times === first.times && stepped.bytes.equals(first.bytes)).toBe(true);
    expect(stepped.labels).toEqual(first.labels);
    const other = follow('other', 4.2e9);
    expect(other.bytes.equals(first.bytes)).toBe(false);
    expect(other.labels).not.toEqual(first.labels);
  });

  it('refuses options out of range', () => {
    expect(() => runScenario({ kind: 'calm', seed: 1, flows: 3 })).toThrow(RangeError);
    expect(() => runScenario({ kind: 'calm', seed: 1, durationNs: 1e9 })).toThrow('durationNs');
    expect(SCENARIO_KINDS).toHaveLength(7);
  });

  it('that is calm has no label, loses no report, and lets reports overtake each other', () => {
    const { labels, told, flows, startNs, endNs } = run('calm');
    expect(labels).toEqual([]);
    expect(missing(told)).toEqual(new Map());
    const highest = new Map<string, number>();
    let overtaken = 0;
    for (const { record } of told) {
      const key = `${record.report!.nodeId} ${record.report!.hwId}`;
      const before = highest.get(key) ?? -1;
      if (record.report!.sequence < before) overtaken++;
      highest.set(key, Math.max(before, record.report!.sequence));
    }
    expect(overtaken).toBeGreaterThan(100);
    expect(
      told.some(({ record }) => record.hops.some((hop) => hop.queueOccupancy! > SCENARIO_NETWORK.congestedPackets)),
    ).toBe(true);
    expect(told.some(({ record }) => record.report!.dropped)).toBe(false);
    expect(flows.some((flow) => flow.startNs > startNs + 1e9) && flows.some((flow) => flow.endNs < endNs - 1e9)).toBe(
      true,
    );
    expect(told.filter(isDelivered).every(({ record }) => new Set(record.path).size === record.path.length)).toBe(true);
  });

  it('with a failed link has no packet cross it afterwards, and new paths as labelled', () => {
    const result = run('link-failure');
    const [label, more] = of(result, 'linkFailure');
    expect(more).toBeUndefined();
    const link = label!.link!;
    const crossing = result.told
      .filter(({ record }) => crosses(record, link) || crosses(record, [link[1], link[0]]))
      .map(({ timeNs }) => timeNs);
    expect(crossing.filter((timeNs) => timeNs < label!.fromNs).length).toBeGreaterThan(20);
    expect(Math.max(...crossing)).toBeLessThan(label!.fromNs + TRANSIT_NS);
    const after = result.told.filter(({ timeNs }) => timeNs > label!.fromNs + 1e9);
    for (const end of link) expect(after.some(({ record }) => record.path.includes(end))).toBe(true);
    const changes = of(result, 'pathChange');
    expect(changes.length).toBeGreaterThanOrEqual(3);
    expectChanges(result, changes);
    for (const { link: moved } of result.drained) {
      const late = after.filter(({ record }) => crosses(record, moved));
      expect(late.map(({ record }) => record.path.join())).toEqual([]);
    }
  });

  it('with changed paths has packets take them as labelled, and no other', () => {
    const result = run('path-change');
    const changes = of(result, 'pathChange');
    expect(changes).toHaveLength(6);
    expect(result.labels).toHaveLength(6);
    expectChanges(result, changes);
  });

  it('with black holes has flows that are seen at the source and not at the sink', () => {
    const result = run('black-hole');
    const holes = of(result, 'blackHole');
    expect(holes.length).toBe(result.labels.length);
    expect(holes.length).toBeGreaterThan(0);
    for (const hole of holes) expectHole(result, hole);
  });

  it('with loops has drop reports in which switches come twice', () => {
    const result = run('loop');
    const loops = of(result, 'loop');
    expect(loops.length).toBeGreaterThan(0);
    expect(of(result, 'blackHole')).toHaveLength(loops.length);
    for (const hole of of(result, 'blackHole')) expectHole(result, hole);
    const dropped = result.told.filter(({ record }) => record.report!.dropped);
    for (const { timeNs, record } of dropped) {
      const label = loops.find(({ flow }) => isOf(flow)({ timeNs, record }));
      expect(label).toBeDefined();
      expect(timeNs >= label!.fromNs && timeNs <= label!.toNs + TRANSIT_NS).toBe(true);
      expect(record.path.filter((node) => node === label!.link![0]).length).toBeGreaterThan(1);
    }
    for (const { flow } of loops) expect(dropped.filter(isOf(flow)).length).toBeGreaterThan(5);
  });

  it('with persistent congestion has one queue that stays long, and bursts elsewhere', () => {
    const result = run('persistent-congestion');
    expect(result.labels).toHaveLength(1);
    const [label] = result.labels;
    const { fromNs, toNs, nodeId, queueId } = label!;
    const sums = new Map<string, number[]>();
    for (const { timeNs, record } of result.told) {
      if (timeNs < fromNs + 5e8 || timeNs > toNs) continue;
      for (const hop of record.hops) {
        const key = `${hop.nodeId} ${hop.queueId}`;
        sums.set(key, [...(sums.get(key) ?? []), hop.queueOccupancy!]);
      }
    }
    const congested = [...sums]
      .filter(
        ([, values]) =>
          values.reduce((sum, value) => sum + value, 0) / values.length > SCENARIO_NETWORK.congestedPackets,
      )
      .map(([key]) => key);
    expect(congested).toEqual([`${nodeId} ${queueId}`]);
  });

  it('with lost reports has exactly the gaps that are labelled', () => {
    const result = run('report-loss');
    const losses = of(result, 'reportLoss');
    expect(losses.length).toBeGreaterThanOrEqual(2);
    expect(result.labels).toEqual(losses);
    const labelled = new Map<string, number>();
    for (const { nodeId, hwId, lost } of losses) {
      const key = `${nodeId} ${hwId}`;
      labelled.set(key, (labelled.get(key) ?? 0) + lost!);
    }
    expect(new Map([...missing(result.told)].sort())).toEqual(new Map([...labelled].sort()));
  });
});

/** Each flow's delivered packets take the labelled path before and after, and flows without a label one path only. */
function expectChanges({ told, flows }: Run, changes: readonly Label[]): void {
  for (const { flow } of flows) {
    const own = changes.filter((change) => change.flow!.sourcePort === flow.sourcePort);
    const delivered = told.filter(isDelivered).filter(isOf(flow));
    for (const { timeNs, record } of delivered) {
      const last = own.findLast(({ fromNs }) => fromNs <= timeNs - TRANSIT_NS);
      const next = own.find(({ fromNs }) => fromNs > timeNs - TRANSIT_NS);
      // Between the two either may be true.
      const paths = [last?.after, next?.before, next !== undefined && next.fromNs <= timeNs ? next.after : undefined];
      const possible = paths.filter((path) => path !== undefined).map((path) => path.join());
      if (possible.length > 0) expect(possible).toContain(record.path.join());
    }
    if (own.length === 0) expect(new Set(delivered.map(({ record }) => record.path.join())).size).toBeLessThan(2);
    else expect(delivered.some(({ timeNs }) => timeNs > own.at(-1)!.fromNs + TRANSIT_NS)).toBe(true);
  }
}

function expectHole({ told }: Run, { flow, fromNs, toNs }: Label): void {
  const within = told.filter(isOf(flow)).filter(({ timeNs }) => timeNs > fromNs + TRANSIT_NS && timeNs < toNs);
  expect(within.filter(isDelivered)).toEqual([]);
  expect(within.filter(({ record }) => record.report!.type === 'int-xd').length).toBeGreaterThan(0);
  const healed = told.filter(isOf(flow)).filter(({ timeNs }) => timeNs > toNs);
  expect(healed.some(isDelivered)).toBe(true);
}
