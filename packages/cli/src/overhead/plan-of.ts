import { overheadOf, planWatching, type TelemetryHeader, type WatchChoice } from '@int/control';
import type { FlowCache } from '@int/flowcache';
import type { Topology } from '@int/network';
import { flowsInOrder } from '../output/flow-order.js';
import { flowText } from '../output/record-text.js';

/** What a network has and may spend. */
interface PlanOptions {
  /** Share of each link's capacity. */
  readonly budget: number;
  /** Most items of a hop. */
  readonly fields: number;
  /** Flows that are planned. */
  readonly most: number;
}

export interface OverheadPlan {
  readonly flows: readonly (WatchChoice & { readonly packetsPerSecond: number; readonly bps: number })[];
  readonly links: readonly { readonly link: string; readonly bps: number; readonly share: number }[];
  readonly value: number;
  readonly isBest: boolean;
  /** Flows beyond those that are planned. */
  readonly untracked: number;
  readonly budget: number;
}

/** Instruction bits of INT 2.1 in the order in which they are taken: node id, hop latency, queue, utilization, interfaces, times, level 2. */
const BITS = [0, 2, 3, 7, 1, 5, 4, 6] as const;
const ONE_IN = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
/** Work of the exact search: branches times flows. */
const WORK = 2_000_000;

/** The instructions with the first so many bits. */
function headerOf(fields: number): TelemetryHeader {
  const instructions = BITS.slice(0, fields).reduce<number>((bitmap, bit) => bitmap | (0x8000 >>> bit), 0);
  return { kind: 'int-md', instructions };
}

/** Fields and sampling for the flows of a cache; `null`: none has a path, or all came at one time. */
export function planOf(
  cache: FlowCache,
  topology: Topology,
  { budget, fields, most }: PlanOptions,
): OverheadPlan | null {
  const entries = [...flowsInOrder(cache, 'packets', most)].filter(({ path }) => path.length > 0);
  let [first, last] = [entries[0]?.firstNs ?? 0n, entries[0]?.lastNs ?? 0n];
  for (const { firstNs, lastNs } of entries) {
    if (firstNs < first) first = firstNs;
    if (lastNs > last) last = lastNs;
  }
  const seconds = Number(last - first) / 1e9;
  if (!(seconds > 0)) return null;
  const candidates = entries.map(({ flow, packets, path }) => ({
    name: flowText(flow),
    packetsPerSecond: packets / seconds,
    links: linksOf(path, topology),
    weight: 1,
  }));
  const speeds = new Map<string, number>();
  for (const { id, name, ports } of topology.switches.values()) {
    for (const { number, to, speedBps } of ports.values()) {
      if (to?.kind === 'switch' && speedBps !== null) speeds.set(`${name ?? id}:${number}`, speedBps);
    }
  }
  const budgetBps = new Map([...speeds].map(([link, bps]) => [link, bps * budget]));
  const fieldSets = Array.from({ length: fields }, (_, i) => ({ header: headerOf(i + 1), value: i + 1 }));
  const branches = Math.max(100, Math.floor(WORK / candidates.length / ONE_IN.length));
  const { choices, value, isBest } = planWatching({ flows: candidates, budgetBps, fieldSets, oneIn: ONE_IN, branches });
  const watched = choices.flatMap(({ fieldSet, oneIn }, at) =>
    fieldSet === null ? [] : [{ ...candidates[at]!, oneIn, header: fieldSet.header }],
  );
  const cost = overheadOf(watched);
  return {
    flows: choices.map((choice, at) => ({
      ...choice,
      packetsPerSecond: candidates[at]!.packetsPerSecond,
      bps: cost.flows.get(choice.name) ?? 0,
    })),
    links: [...cost.links]
      .map(([link, bps]) => ({ link, bps, share: bps / (speeds.get(link) ?? Number.POSITIVE_INFINITY) }))
      .sort((a, b) => b.share - a.share || (a.link < b.link ? -1 : 1)),
    value,
    isBest,
    untracked: cache.size - entries.length,
    budget,
  };
}

/** The links between the switches of a path, by the port that sends; of those that the topology does not have, the switches. */
function linksOf(path: readonly (number | null)[], topology: Topology): string[] {
  return path.slice(1).map((to, at) => {
    const from = path[at] ?? null;
    if (from === null || to === null) return '?';
    const ports = topology.switches.get(from)?.ports.values() ?? [];
    for (const { number, to: peer } of ports) {
      if (peer?.kind === 'switch' && peer.switchId === to) return `${topology.switchText(from)}:${number}`;
    }
    return `${topology.switchText(from)}-${topology.switchText(to)}`;
  });
}
