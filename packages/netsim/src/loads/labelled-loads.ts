import { Random } from '@int/random';
import { FAT_TREE, fatTreeLinks, type LoadLink, pathsBetween } from './fat-tree.js';

/** What a scenario of loads is of. The last one is harmless and looks like something. */
export const LOAD_KINDS = ['link-slow-down', 'polarised-ecmp', 'elephant-collision', 'day-and-night'] as const;
export type LoadKind = (typeof LOAD_KINDS)[number];

/** How {@link labelledLoads} is set up. */
export interface LabelledLoadsOptions {
  readonly kind: LoadKind;
  readonly seed: number;
  /** Length of it all. Default 60 s; 86,400 s for `day-and-night`. */
  readonly seconds?: number;
  /** Flows without what the scenario is about. Default 240. */
  readonly flows?: number;
}

/** A flow between two edge switches. */
export interface LoadFlow {
  readonly key: string;
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  /** IP protocol number. */
  readonly protocol: 6;
  /** On average, before what the time of day makes of it. */
  readonly bps: number;
  /** The paths that it could take, as keys of links, and the one that it takes. */
  readonly paths: readonly (readonly string[])[];
  readonly path: number;
  /** Milliseconds from the beginning. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether it is a cause of what {@link LoadTruth} says: the ground truth of each of its packets. */
  readonly isCause: boolean;
}

/** What is wrong, where and when. */
export interface LoadTruth {
  readonly kind: Exclude<LoadKind, 'day-and-night'>;
  /** Links that suffer. */
  readonly links: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
}

/** A packet of a flow, as its first switch sees it. */
export interface LoadPacket {
  readonly timeMs: number;
  readonly flow: LoadFlow;
  /** Of the IP packet. */
  readonly lengthBytes: number;
}

const GBPS = 1e9;
const CAPACITY_BPS = 10 * GBPS;
const PACKET_BYTES = 1500;
const DAY_MS = 86_400_000;

/** A network whose links are loaded, with the truth about it. All of it follows from the seed. */
export class LabelledLoads {
  readonly links: readonly LoadLink[] = fatTreeLinks(CAPACITY_BPS);
  readonly flows: readonly LoadFlow[];
  readonly truth: readonly LoadTruth[];
  readonly endMs: number;
  readonly #kind: LoadKind;
  readonly #random: Random;

  /** @internal */
  constructor({ kind, seed, seconds, flows: count = 240 }: LabelledLoadsOptions) {
    this.#kind = kind;
    this.#random = new Random(seed).derive(`loads ${kind}`);
    this.endMs = 1000 * (seconds ?? (kind === 'day-and-night' ? 86_400 : 60));
    const flows = Array.from({ length: count }, (_, k) => this.#background(k));
    const [fromMs, toMs] = [Math.round(0.3 * this.endMs), Math.round(0.8 * this.endMs)];
    const scene = SCENES[kind](flows, this.#random.derive('scene'), fromMs, toMs);
    this.flows = scene.flows;
    this.truth = scene.truth;
  }

  /** Bits a second that a link can carry at a time. @param link its key */
  capacityAt(link: string, timeMs: number): number {
    const { capacityBps } = this.links.find(({ key }) => key === link)!;
    const isSlow = this.truth.some(
      ({ kind, links, fromMs, toMs }) =>
        kind === 'link-slow-down' && links.includes(link) && timeMs >= fromMs && timeMs < toMs,
    );
    return isSlow ? capacityBps * SLOW : capacityBps;
  }

  /** Bits a second that a flow sends at a time. */
  rateAt(flow: LoadFlow, timeMs: number): number {
    if (timeMs < flow.fromMs || timeMs >= flow.toMs) return 0;
    if (this.#kind !== 'day-and-night') return flow.bps;
    // A third at four in the night, all at four in the afternoon.
    return flow.bps * (2 / 3 - Math.cos(((timeMs - DAY_MS / 6) / DAY_MS) * 2 * Math.PI) / 3);
  }

  /** Bits a second on every link at a time, if every flow takes its path: what is above the capacity is lost. */
  loadsAt(timeMs: number): Map<string, number> {
    const loads = new Map(this.links.map(({ key }) => [key, 0]));
    for (const flow of this.flows) {
      const bps = this.rateAt(flow, timeMs);
      for (const link of flow.paths[flow.path]!) loads.set(link, loads.get(link)! + bps);
    }
    return loads;
  }

  /** The packets of a time, in its order: times between packets are exponential. One of `oneIn` is there. */
  *packets(fromMs: number, toMs: number, oneIn = 1): Generator<LoadPacket> {
    const packets = this.flows.flatMap((flow, index) => {
      const random = this.#random.derive('packets', index).derive('from', fromMs);
      const most = flow.bps / (8 * PACKET_BYTES) / 1000 / oneIn;
      const found: LoadPacket[] = [];
      for (let timeMs = fromMs + random.exponential(1 / most); timeMs < toMs; timeMs += random.exponential(1 / most)) {
        // Thinned to the rate of the time.
        if (random.uniform() * flow.bps < this.rateAt(flow, timeMs))
          found.push({ timeMs, flow, lengthBytes: PACKET_BYTES });
      }
      return found;
    });
    yield* packets.sort((a, b) => a.timeMs - b.timeMs);
  }

  #background(k: number): LoadFlow {
    const random = this.#random.derive('flow', k);
    const bps = (0.02 + 0.18 * random.uniform()) * GBPS;
    return flowBetween(k, random, 0, this.endMs, bps, random.integer(4), false);
  }
}

/** A link that is slow has this share of its capacity. */
const SLOW = 0.2;

function flowBetween(
  k: number,
  random: Random,
  fromMs: number,
  toMs: number,
  bps: number,
  path: number,
  isCause: boolean,
  from: number = random.integer(FAT_TREE.edges),
  to: number = (from + 2 + random.integer(FAT_TREE.edges - 3)) % FAT_TREE.edges,
): LoadFlow {
  const [source, destination] =
    Math.floor(from / 2) === Math.floor(to / 2) ? [from, (to + 2) % FAT_TREE.edges] : [from, to];
  return {
    key: `f${k}`,
    source: `10.${source}.0.${1 + (k % 250)}`,
    destination: `10.${destination}.0.${1 + ((k * 7) % 250)}`,
    sourcePort: 1024 + random.integer(60_000),
    destinationPort: 5000 + (k % 100),
    protocol: 6,
    ...{ bps, path, fromMs, toMs, isCause },
    paths: pathsBetween(source, destination),
  };
}

interface Scene {
  /** All flows, those of the scene among them. */
  readonly flows: readonly LoadFlow[];
  readonly truth: readonly LoadTruth[];
}
type MakeScene = (flows: readonly LoadFlow[], random: Random, fromMs: number, toMs: number) => Scene;

/** The link that carries most loses four fifths of its capacity. */
const slowDown: MakeScene = (flows, _, fromMs, toMs) => {
  const loads = new Map<string, number>();
  for (const { paths, path, bps } of flows) {
    // A link at an edge has no other way around.
    for (const link of paths[path]!) if (!link.includes('e')) loads.set(link, (loads.get(link) ?? 0) + bps);
  }
  const [[link]] = [...loads].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)) as [[string, number]];
  const isCause = ({ paths, path }: LoadFlow): boolean => paths[path]!.includes(link);
  return {
    flows: flows.map((flow) => ({ ...flow, isCause: isCause(flow) })),
    truth: [{ kind: 'link-slow-down', links: [link], fromMs, toMs }],
  };
};

/**
 * From a time on all flows between pods choose by the same bit of their hash at both tiers: only half of the links between
 * aggregation and core carry anything, twice as much as they should.
 */
const polarise: MakeScene = (flows, random, fromMs, toMs) => {
  const polarised = flows.flatMap((flow): LoadFlow[] => {
    // The hash of each flow, one bit of it at either tier.
    const bit = random.integer(2);
    const after = { ...flow, key: `${flow.key}p`, path: 3 * bit, fromMs, toMs, isCause: true };
    return [{ ...flow, toMs: fromMs }, after, { ...flow, key: `${flow.key}q`, fromMs: toMs }];
  });
  // More of it, so that half of the links are too few.
  const scaled = polarised.map((flow) => ({ ...flow, bps: 2.4 * flow.bps }));
  const links = fatTreeLinks(1)
    .filter(({ key }) => isPolarised(key))
    .map(({ key }) => key);
  return { flows: scaled, truth: [{ kind: 'polarised-ecmp', links, fromMs, toMs }] };
};

/** Whether a link between aggregation and core is one that polarised flows take: paths 0 and 3 alone. */
function isPolarised(key: string): boolean {
  const core = /c(\d)/.exec(key)?.[1];
  return core === '0' || core === '3';
}

/** Two large flows of different edges meet on one link from an aggregation switch to a core; each alone would have room. */
const collide: MakeScene = (flows, random, fromMs, toMs) => {
  const pod = random.integer(FAT_TREE.pods);
  const path = random.integer(4);
  const other = (pod + 1 + random.integer(FAT_TREE.pods - 1)) % FAT_TREE.pods;
  const elephants = [0, 1].map((edge) =>
    flowBetween(
      900 + edge,
      random,
      fromMs,
      toMs,
      (4.5 + 0.5 * random.uniform()) * GBPS,
      path,
      true,
      2 * pod + edge,
      2 * other + edge,
    ),
  );
  const shared = elephants[0]!.paths[path]!.filter((link) => elephants[1]!.paths[path]!.includes(link));
  return { flows: [...flows, ...elephants], truth: [{ kind: 'elephant-collision', links: shared, fromMs, toMs }] };
};

const SCENES: Readonly<Record<LoadKind, MakeScene>> = {
  'link-slow-down': slowDown,
  'polarised-ecmp': polarise,
  'elephant-collision': collide,
  'day-and-night': (flows) => ({ flows, truth: [] }),
};

/**
 * Flows over a fat tree whose links suffer in a known way, or over a day in which nothing is wrong. The same seed gives the same
 * flows and packets.
 *
 * @throws RangeError for an option out of range
 */
export function labelledLoads(options: LabelledLoadsOptions): LabelledLoads {
  const { seconds = 60, flows = 240 } = options;
  if (!(seconds >= 10)) throw new RangeError(`seconds is ${seconds}, and 10 is the least`);
  if (!Number.isInteger(flows) || flows < 32) throw new RangeError(`flows is ${flows}, and 32 is the least`);
  return new LabelledLoads(options);
}
