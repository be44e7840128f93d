/** What happens to the fabric on purpose happens, and can be seen in its reports. */
import { readFileSync } from 'node:fs';
import { decodeReport } from '@int/codec';
import { Collector, DetectionStage, FrameSlab, type Push, type Sink, type Source } from '@int/collector';
import { readRules } from '@int/detect/yaml';
import { udpPayload } from '@int/netsim';
import { expect, test } from 'vitest';
import { NODE_IDS } from '../src/fabric/commands.js';
import { type Incident, Incidents } from '../src/fabric/incidents.js';
import { buildFabric, droppedIn } from '../src/fabric/network.js';
import { Traffic } from '../src/fabric/traffic.js';

const RATE = 80;
/** All four, once. */
const UNTIL_S = 110;
/** Packets a second of the demonstration, and the time at which its first fault comes. */
const DEMO_RATE = 20_000;
const CALM_S = process.env.INT_LONG === '1' ? 9 : 0.5;
const EPOCH_MS = 1_700_000_000_000;
/** What the demonstration is: see `SHOWN_RATE_BPS`. */
const SHAPE = { leaves: 4, spines: 2, hosts: 4, rateBps: 1e8 };
const RULES = readFileSync(new URL('../demo-rules.yaml', import.meta.url), 'utf8');

interface Frame {
  readonly frame: Uint8Array;
  readonly timeS: number;
}

interface Found {
  readonly timeS: number;
  readonly rule: string | null;
  readonly state: string;
}

/** Reports that are there already, as a source. */
class Reports implements Source {
  readonly name = 'fabric';
  readonly overrun = 0;
  readonly kernelDropped = null;
  readonly finished: Promise<void> = Promise.resolve();
  readonly #frames: readonly Frame[];

  constructor(frames: readonly Frame[]) {
    this.#frames = frames;
  }

  async start(push: Push): Promise<void> {
    const slab = new FrameSlab({ frames: 256, bytes: 1 << 20 }, 'ethernet');
    for (let at = 0; at < this.#frames.length; at += 256) {
      slab.clear();
      for (const { frame, timeS } of this.#frames.slice(at, at + 256)) slab.append(frame, EPOCH_MS + timeS * 1000);
      await push(slab);
    }
  }

  async stop(): Promise<void> {}
}

/** The events that the rules of the demonstration find. */
async function detect(frames: readonly Frame[], rules: string): Promise<Found[]> {
  const found: Found[] = [];
  const sink: Sink = {
    name: 'events',
    write: () => undefined,
    writeEvents: (events) => {
      for (let row = 0; row < events.count; row++) {
        const { rule, state } = events.event(row);
        found.push({ rule, state, timeS: Number(events.timeNs(row)) / 1e9 - EPOCH_MS / 1000 });
      }
      return undefined;
    },
  };
  const stages = [new DetectionStage(readRules(rules))];
  const collector = new Collector({ sources: [new Reports(frames)], stages, sinks: [sink] });
  await collector.start();
  await collector.finished;
  await collector.stop();
  return found;
}

interface Seen {
  readonly timeS: number;
  readonly path: readonly (number | null)[];
  readonly deepest: number;
}

interface Run {
  readonly told: (Incident & { readonly timeS: number })[];
  readonly seen: Seen[];
  readonly frames: Frame[];
}

function run(seed: number): Run {
  const seen: Seen[] = [];
  const frames: Frame[] = [];
  const told: (Incident & { timeS: number })[] = [];
  const fabric = buildFabric({
    ...SHAPE,
    seed,
    onReport: (frame) => {
      frames.push({ frame: frame.slice(), timeS: fabric.network.nowNs / 1e9 });
      const [record] = decodeReport(udpPayload(frame)!).records;
      const deepest = Math.max(...record!.hops.map(({ queueOccupancy }) => queueOccupancy ?? 0));
      seen.push({ timeS: fabric.network.nowNs / 1e9, path: record!.path, deepest });
    },
  });
  const traffic = new Traffic(fabric.network, {
    hosts: fabric.hosts,
    packetsPerSecond: RATE,
    packets: Number.POSITIVE_INFINITY,
    isCalm: true,
  });
  new Incidents(fabric, traffic, (incident) => told.push({ ...incident, timeS: fabric.network.nowNs / 1e9 }));
  // In the loop: leaf 3 does not send these back.
  fabric.network.run(70.3e9);
  traffic.add({ from: fabric.hosts[3]![0]!, to: fabric.hosts[1]![0]!, sourcePort: 40_000, packets: 5 });
  fabric.network.run(UNTIL_S * 1e9);
  return { told, seen, frames };
}

test('a burst, a failing link, a loop and a noisy neighbour come every half minute, and events show them', async () => {
  const { told, seen, frames } = run(1);
  expect(told.map(({ timeS, text }) => [timeS, text.split(/[: ]/)[1]])).toEqual([
    [10, 'burst'],
    [40, 'link'],
    [70, 'loop'],
    [100, 'noisy'],
  ]);
  const within = (from: number, to: number): Seen[] => seen.filter(({ timeS }) => timeS >= from && timeS < to);
  const deepest = (of: readonly Seen[]): number => Math.max(...of.map((each) => each.deepest));
  // Queues have room for 64 packets.
  expect(deepest(within(10, 11.5))).toBeGreaterThan(40);
  expect(within(100, 106).filter((each) => each.deepest > 35).length).toBeGreaterThan(500);
  const crosses = ({ path }: Seen): boolean => {
    const at = path.indexOf(NODE_IDS.spine(1));
    return at > 0 && (path[at - 1] === NODE_IDS.leaf(2) || path[at + 1] === NODE_IDS.leaf(2));
  };
  expect(within(34, 40).filter(crosses).length).toBeGreaterThan(20);
  expect(within(40.1, 46).filter(crosses)).toEqual([]);
  expect(within(46.1, 52).filter(crosses).length).toBeGreaterThan(20);
  const detours = seen.filter(({ path }) => path.length > 3);
  expect(detours.length).toBeGreaterThanOrEqual(5);
  expect(detours.every(({ timeS }) => timeS >= 70 && timeS < 71.1)).toBe(true);
  expect(new Set(detours.map(({ path }) => path[2]))).toEqual(new Set([NODE_IDS.leaf(2)]));

  // So few packets leave flows silent by themselves.
  const found = await detect(frames, RULES.replace(/ {2}- name: silent-flow[\s\S]*/, ''));
  const during = (from: number, to: number): Set<string | null> =>
    new Set(found.filter(({ timeS }) => timeS >= from && timeS < to).map(({ rule }) => rule));
  expect(during(0, 10)).toEqual(new Set());
  expect(during(10, 12)).toEqual(new Set(['deep-queue']));
  expect(during(13, 70)).toEqual(new Set());
  expect(during(70, 76)).toContain('another-path');
  // A flow tells that its way is the old one again when it sends next.
  expect(during(78, 100)).not.toContain('deep-queue');
  expect(during(100, 106)).toContain('deep-queue');
  // Few enough to look at: each fault makes some events, not one a packet.
  expect(found.length).toBeLessThan(200);
  // Some 45,000 packets through three switches each.
}, 180_000);

test('without faults the rules find nothing, and loads are such that one sees them', async () => {
  const frames: Frame[] = [];
  const loads: number[] = [];
  const fabric = buildFabric({
    ...SHAPE,
    seed: 1,
    onReport: (frame) => {
      frames.push({ frame: frame.slice(), timeS: fabric.network.nowNs / 1e9 });
      const [record] = decodeReport(udpPayload(frame)!).records;
      for (const { egressUtilization } of record!.hops) loads.push(egressUtilization ?? Number.NaN);
    },
  });
  new Traffic(fabric.network, {
    hosts: fabric.hosts,
    packetsPerSecond: DEMO_RATE,
    packets: Number.POSITIVE_INFINITY,
    isCalm: true,
  });
  fabric.network.run(CALM_S * 1e9);
  expect(frames.length).toBeGreaterThan(CALM_S * DEMO_RATE * 0.7);
  expect(droppedIn(fabric)).toBe(0);
  expect(await detect(frames, RULES)).toEqual([]);
  // Hundredths of a percent; the first window of a port tells nothing.
  const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length;
  expect(mean).toBeGreaterThan(300);
  expect(mean).toBeLessThan(3000);
});
