/**
 * What a dashboard tells of a packet is what happened to it: path, latencies, times on links and neighbours in queues, against
 * what went over the simulated links.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Collector, FrameSlab, type Push, type Source } from '@int/collector';
import { type Biography, Dashboard, type ReportsAnswer, type Status } from '@int/dashboard';
import { udpPayload } from '@int/netsim';
import { DeviceProfile } from '@int/network';
import { expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { buildFabric, droppedIn } from '../src/fabric/network.js';
import { Traffic } from '../src/fabric/traffic.js';
import { SEED } from './seed.js';
import { numberOf, type Visit, Witness } from './witness.js';

/** Node id, interfaces, hop latency, queue, both timestamps. */
const ITEMS = 0xfc00;
const PACKETS = 600;
/** Reports at a time: no more than the dashboard's thread has room for. */
const PORTION = 40;
const PAUSE_MS = 120;
/** What the dashboard calls near. */
const NEAR_US = 1000;
/** Time of the simulated network's start. */
const EPOCH_NS = 1_700_000_000_000_000_000n;
const DIST = new URL('../../../packages/dashboard/dist/', import.meta.url);

interface Report {
  readonly frame: Uint8Array;
  readonly timeMs: number;
}

/** A source of reports that are there already. */
class Reports implements Source {
  readonly name = 'fabric';
  readonly overrun = 0;
  readonly kernelDropped = null;
  readonly finished = new Promise<void>((resolve) => {
    this.#end = resolve;
  });
  #end: () => void = () => {};
  #push: Push = () => undefined;
  #timeMs = 0;
  readonly #slab = new FrameSlab({ frames: 64, bytes: 1 << 20 }, 'ethernet');

  async start(push: Push): Promise<void> {
    this.#push = push;
  }

  send(reports: readonly Report[]): void {
    this.#slab.clear();
    for (const { frame, timeMs } of reports) {
      this.#slab.append(frame, timeMs);
      this.#timeMs = timeMs;
    }
    this.#push(this.#slab);
  }

  /** Lets time pass. */
  pass(milliseconds: number): void {
    this.#timeMs += milliseconds;
  }

  lowTimeMs(): number {
    return this.#timeMs;
  }

  async stop(): Promise<void> {
    this.#end();
  }
}

/** The monitored packet within a report: behind group, individual header and main contents. */
const packetOf = (frame: Uint8Array): Uint8Array => {
  const report = udpPayload(frame)!;
  return report.subarray(8 + 4 + 8 + 4 * report[10]!);
};

const flowOf = (packet: Uint8Array): string => {
  const view = new DataView(packet.buffer, packet.byteOffset);
  const address = (at: number): string => [...packet.subarray(at, at + 4)].join('.');
  return `${address(26)}:${view.getUint16(34)} > ${address(30)}:${view.getUint16(36)}/17`;
};

/** Flows in the same queue within a millisecond, with their packets, by the witness alone. */
function neighboursOf(
  number: number,
  hop: number,
  visits: ReadonlyMap<number, readonly Visit[]>,
  flows: ReadonlyMap<number, string>,
): Record<string, number> {
  const own = visits.get(number)![hop]!;
  const found: Record<string, number> = {};
  for (const [other, passed] of visits) {
    if (other === number) continue;
    for (const each of passed) {
      const isSame = each.nodeId === own.nodeId && each.l1EgressInterface === own.l1EgressInterface;
      if (!isSame || Math.abs(each.leftUs - own.leftUs) > NEAR_US) continue;
      const flow = flows.get(other)!;
      found[flow] = (found[flow] ?? 0) + 1;
    }
  }
  return found;
}

/** Nearest rank. */
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;

test('the biography of a packet is what the network has seen', async () => {
  const reports: (Report & { readonly number: number; readonly timeNs: number })[] = [];
  const fabric = buildFabric({
    ...{ leaves: 3, spines: 2, hosts: 3, items: ITEMS, seed: SEED },
    onReport: (frame) => {
      const timeNs = fabric.network.nowNs;
      const timeMs = Number(EPOCH_NS / 1_000_000n) + timeNs / 1e6;
      reports.push({ frame: frame.slice(), timeMs, timeNs, number: numberOf(packetOf(frame)) });
    },
  });
  const witness = new Witness(fabric);
  const traffic = new Traffic(fabric.network, { hosts: fabric.hosts, packetsPerSecond: 600, packets: PACKETS });
  fabric.network.run(Number.POSITIVE_INFINITY);
  expect([traffic.sent, droppedIn(fabric), reports.length]).toEqual([PACKETS, 0, PACKETS]);
  const hops = witness.hops();
  const visits = witness.visits();
  const flows = new Map(reports.map(({ number, frame }) => [number, flowOf(packetOf(frame))]));

  const device = new DeviceProfile({ units: { hopLatency: 'us', timestamps: 'us' } });
  const dashboard = await Dashboard.open({
    ...{ port: 0, network: { device }, retention: { seconds: 60, memoryBytes: 32 << 20, flows: 1024 } },
    thread: new URL('dashboard-thread.js', DIST),
  });
  const source = new Reports();
  const collector = new Collector({ sources: [source], sinks: [dashboard] });
  const ask = async <T>(path: string): Promise<T> => (await (await fetch(new URL(path, dashboard.url))).json()) as T;
  await collector.start();
  try {
    for (let from = 0; from < reports.length; from += PORTION) {
      source.send(reports.slice(from, from + PORTION));
      await sleep(PAUSE_MS);
    }
    source.pass(1500);
    const areThere = async (): Promise<boolean> => (await ask<Status>('api/v1/status')).retained.reports === PACKETS;
    await until('all reports', areThere, { everyMs: 100 });
    const { rows } = await ask<ReportsAnswer>('api/v1/reports?limit=1000');
    expect(rows.length).toBe(PACKETS);
    const byTime = new Map(rows.map((row) => [Math.round(Number(BigInt(row.timeNs) - EPOCH_NS)), row]));
    // The packets that waited longest, and some others.
    const slowest = reports
      .toSorted((a, b) => longest(hops.get(b.number)!) - longest(hops.get(a.number)!))
      .filter((_, index) => index < 6 || index % 60 === 0);
    let neighbours = 0;
    for (const { number, timeNs } of slowest) {
      const row = nearest(byTime, timeNs);
      const { hops: told, links } = await ask<Biography>(`api/v1/reports/${row.id}/biography`);
      const truth = hops.get(number)!;
      // The reporting node's own values beside its hop are no other hop.
      expect(told.slice(0, truth.length).map(({ switchId }) => switchId)).toEqual(truth.map(({ nodeId }) => nodeId));
      for (const [hop, seen] of truth.entries()) {
        expect(told[hop]!.values).toMatchObject(seen);
        expect(told[hop]!.latencyNs).toBe(seen.hopLatency * 1000);
        const near = neighboursOf(number, hop, visits, flows);
        expect(Object.fromEntries(told[hop]!.neighbours.map(({ flow, reports: count }) => [flow, count]))).toEqual(
          near,
        );
        neighbours += Object.keys(near).length;
        const before = reports
          .filter((each) => each.timeNs < timeNs)
          .flatMap((each) => hops.get(each.number)!)
          .filter((each) => each.nodeId === seen.nodeId && each.l1EgressInterface === seen.l1EgressInterface)
          .map((each) => each.hopLatency * 1000)
          .sort((a, b) => a - b);
        expect(told[hop]!.usual).toEqual(
          before.length === 0
            ? null
            : { p50: quantile(before, 0.5), p99: quantile(before, 0.99), samples: before.length },
        );
      }
      const passed = visits.get(number)!;
      expect(links.slice(0, passed.length - 1)).toEqual(
        passed.slice(1).map((to, index) => ({
          from: passed[index]!.nodeId,
          to: to.nodeId,
          timeNs: (to.cameUs - passed[index]!.leftUs) * 1000,
          doubt: null,
        })),
      );
    }
    expect(neighbours).toBeGreaterThan(20);
  } finally {
    await collector.stop();
  }
});

const longest = (path: readonly { readonly hopLatency: number }[]): number =>
  Math.max(...path.map(({ hopLatency }) => hopLatency));

/** The report of a time: milliseconds as a number are off by some hundred nanoseconds. */
function nearest<T>(byTime: ReadonlyMap<number, T>, timeNs: number): T {
  const [, row] = [...byTime].reduce((best, each) =>
    Math.abs(each[0] - timeNs) < Math.abs(best[0] - timeNs) ? each : best,
  );
  return row;
}
