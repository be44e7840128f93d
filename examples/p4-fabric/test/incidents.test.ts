/** What happens to the fabric on purpose happens, and can be seen in its reports. */
import { decodeReport } from '@int/codec';
import { udpPayload } from '@int/netsim';
import { expect, test } from 'vitest';
import { NODE_IDS } from '../src/fabric/commands.js';
import { type Incident, Incidents } from '../src/fabric/incidents.js';
import { buildFabric } from '../src/fabric/network.js';
import { Traffic } from '../src/fabric/traffic.js';

const RATE = 80;
/** All four, once. */
const UNTIL_S = 110;

interface Seen {
  readonly timeS: number;
  readonly path: readonly (number | null)[];
  readonly deepest: number;
}

function run(seed: number): { readonly told: (Incident & { readonly timeS: number })[]; readonly seen: Seen[] } {
  const seen: Seen[] = [];
  const told: (Incident & { timeS: number })[] = [];
  const fabric = buildFabric({
    ...{ leaves: 4, spines: 2, hosts: 4, seed },
    onReport: (frame) => {
      const [record] = decodeReport(udpPayload(frame)!).records;
      const deepest = Math.max(...record!.hops.map(({ queueOccupancy }) => queueOccupancy ?? 0));
      seen.push({ timeS: fabric.network.nowNs / 1e9, path: record!.path, deepest });
    },
  });
  const traffic = new Traffic(fabric.network, {
    hosts: fabric.hosts,
    packetsPerSecond: RATE,
    packets: Number.POSITIVE_INFINITY,
  });
  new Incidents(fabric, traffic, (incident) => told.push({ ...incident, timeS: fabric.network.nowNs / 1e9 }));
  // In the loop: leaf 3 does not send these back.
  fabric.network.run(70.3e9);
  traffic.add({ from: fabric.hosts[3]![0]!, to: fabric.hosts[1]![0]!, sourcePort: 40_000, packets: 5 });
  fabric.network.run(UNTIL_S * 1e9);
  return { told, seen };
}

test('a burst, a failing link, a loop and a noisy neighbour come every half minute, and reports show them', () => {
  const { told, seen } = run(1);
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
});
