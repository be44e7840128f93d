import { type Bits, bitAt, half, meet, portBits, portRange, prefixText } from './bits.js';
import { Forecast } from './forecast.js';

/** A flow that is too small to be moved alone. */
export interface SmallFlow {
  /** 4 or 16 bytes, as `destination`. */
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  readonly sourcePort: number;
  readonly bps: number;
  /** An aggregate with this flow shall have no more than so much. */
  readonly mostBps: number;
  /** Prefixes of addresses that enter and leave the network where this flow does; `null`: nobody knows where that is. */
  readonly within: { readonly source: Bits; readonly destination: Bits } | null;
}

/** Flows by prefixes and ports. */
export interface FlowSet {
  readonly source: Bits;
  readonly destination: Bits;
  /** Inclusive. */
  readonly sourcePorts: readonly [low: number, high: number];
}

/** Flows that one match means, and that can be moved together. */
export interface Aggregate<Flow> {
  /** Its prefixes and ports as text. The same flows have the same key in each window. */
  readonly key: string;
  /** An address, or a prefix `<address>/<length>`. */
  readonly source: string;
  readonly destination: string;
  /** `null`: all. */
  readonly sourcePorts: readonly [low: number, high: number] | null;
  readonly flows: readonly Flow[];
  /** As measured in this window. */
  readonly bps: number;
  /** How much it is expected to rise until a move takes effect; 0 where it falls: what is there now needs a place now. */
  readonly riseBps: number;
  /** Mean deviation of the rate from what was expected, as a share of it. */
  readonly variation: number;
}

export interface Clustered<Flow> {
  readonly aggregates: readonly Aggregate<Flow>[];
  /** Flows in no aggregate, by the reason. `held`: another match has them. `restless`: they vary too much. */
  readonly left: Readonly<Record<'unplaced' | 'full' | 'held' | 'restless', { flows: number; bps: number }>>;
}

/** Aggregates at most. */
const MOST = 256;
/** An aggregate that was divided is one again when it has fallen below this share of what it may have. */
const MERGE = 0.5;
/** Moving what varies by more than this is no use. */
const RESTLESS = 0.5;
/** Weight of the past in the variation. */
const PAST = 0.8;
/** A forecast is for so long ahead: until a move has taken effect. */
const AHEAD_MS = 1000;
/** Prefixes are divided rather than ports, unless the parts become more equal by this share. */
const PORTS_GAIN = 0.15;
/** What was not seen for so long is forgotten. */
const FORGET_MS = 60_000;

/** Source, destination and source port. */
type Space = readonly [source: Bits, destination: Bits, port: Bits];
const ANY_PORT: Bits = { bytes: new Uint8Array(2), length: 0 };

class Cluster {
  parts: readonly [Cluster, Cluster] | null = null;
  /** The dimension in which it is divided. */
  by = 0;
  forecast = new Forecast();
  variation: number;
  seenMs = Number.NEGATIVE_INFINITY;

  constructor(
    readonly space: Space,
    variation = 0,
  ) {
    this.variation = variation;
  }

  divide(by: number): readonly [Cluster, Cluster] {
    const part = (bit: 0 | 1): Cluster => {
      const space = this.space.map((bits, index) => (index === by ? half(bits, bit) : bits)) as unknown as Space;
      return new Cluster(space, this.variation);
    };
    this.by = by;
    this.parts = [part(0), part(1)];
    return this.parts;
  }

  follow(bps: number, timeMs: number): void {
    const expected = this.forecast.at(timeMs);
    const off = Number.isNaN(expected) || expected === 0 ? 0 : Math.abs(bps - expected) / expected;
    this.variation = PAST * this.variation + (1 - PAST) * Math.min(1, off);
    this.forecast.add(timeMs, bps);
    this.seenMs = timeMs;
  }
}

/**
 * Clusters the many small flows into few aggregates: by where they enter and leave the network, then by the bits of their
 * addresses and source ports, until none has more than a move may shift. Each is one match, no two have a flow in common, and
 * together they are all flows of their prefixes. They stay the same from window to window, as long as the rates are alike: what
 * was divided is put together when it has fallen far. A function of flows and times.
 */
export class TrafficClusters {
  readonly #most: number;
  readonly #roots = new Map<string, Cluster>();
  #room = 0;

  /** @param most aggregates at most. @throws RangeError if it is not 2 to 65,536 */
  constructor(most = MOST) {
    if (!(Number.isInteger(most) && most >= 2 && most <= 65_536)) {
      throw new RangeError(`aggregates must be a whole number from 2 to 65,536, not ${most}`);
    }
    this.#most = most;
  }

  /** Takes the small flows of a window. @param held flows that other matches have: none of them is in an aggregate */
  update<Flow extends SmallFlow>(
    flows: readonly Flow[],
    timeMs: number,
    held: readonly FlowSet[] = [],
  ): Clustered<Flow> {
    const none = () => ({ flows: 0, bps: 0 });
    const result = {
      aggregates: [] as Aggregate<Flow>[],
      left: { unplaced: none(), full: none(), held: none(), restless: none() },
    };
    const groups = this.#groupsOf(flows, result.left);
    for (const [key, { seenMs }] of this.#roots) {
      if (!groups.has(key) && timeMs - seenMs > FORGET_MS) this.#roots.delete(key);
    }
    // The largest first: those for which there is no room are the smallest.
    const sorted = [...groups].sort(([, a], [, b]) => b.bps - a.bps);
    const places = Math.max(1, this.#most >>> 1);
    this.#room = this.#most - Math.min(places, sorted.length);
    for (const [index, [key, group]] of sorted.entries()) {
      let root = this.#roots.get(key);
      if (index >= places || (root === undefined && this.#roots.size >= this.#most && !this.#forgetOldest(groups))) {
        count(result.left.full, group.flows, group.bps);
        continue;
      }
      if (root === undefined) {
        root = new Cluster(group.space);
        this.#roots.set(key, root);
      }
      root.seenMs = timeMs;
      this.#settle(root, group.flows, timeMs, held, result);
    }
    return result;
  }

  #groupsOf<Flow extends SmallFlow>(
    flows: readonly Flow[],
    left: Clustered<Flow>['left'],
  ): Map<string, { readonly space: Space; readonly flows: Flow[]; bps: number }> {
    const groups = new Map<string, { readonly space: Space; readonly flows: Flow[]; bps: number }>();
    for (const flow of flows) {
      const { within, bps } = flow;
      if (within === null) {
        count(left.unplaced, [flow], bps);
        continue;
      }
      const space: Space = [within.source, within.destination, ANY_PORT];
      const key = keyOf(space);
      let group = groups.get(key);
      if (group === undefined) {
        group = { space, flows: [], bps: 0 };
        groups.set(key, group);
      }
      group.flows.push(flow);
      group.bps += bps;
    }
    return groups;
  }

  #forgetOldest(wanted: ReadonlyMap<string, unknown>): boolean {
    let oldest: string | null = null;
    for (const [key, { seenMs }] of this.#roots) {
      if (wanted.has(key)) continue;
      if (oldest === null || seenMs < this.#roots.get(oldest)!.seenMs) oldest = key;
    }
    return oldest !== null && this.#roots.delete(oldest);
  }

  #settle<Flow extends SmallFlow>(
    cluster: Cluster,
    flows: readonly Flow[],
    timeMs: number,
    held: readonly FlowSet[],
    result: Clustered<Flow> & { readonly aggregates: Aggregate<Flow>[] },
  ): void {
    if (flows.length === 0) {
      // A part without flows has no history, and its parts are of no use.
      cluster.parts = null;
      cluster.forecast = new Forecast();
      return;
    }
    let bps = 0;
    let mostBps = Number.POSITIVE_INFINITY;
    for (const flow of flows) {
      bps += flow.bps;
      mostBps = Math.min(mostBps, flow.mostBps);
    }
    const own = held.filter((set) => isShared(cluster.space, set));
    if (own.some((set) => isWithin(cluster.space, set))) {
      count(result.left.held, flows, bps);
      return;
    }
    // Also where it is divided: then it has a history when it is one again.
    cluster.follow(bps, timeMs);
    if (own.length === 0 && bps < MERGE * mostBps) cluster.parts = null;
    if (cluster.parts === null) {
      const by =
        own.length > 0
          ? apartFrom(cluster.space, own[0]!)
          : bps > mostBps
            ? dimensionOf(cluster.space, flows, bps)
            : null;
      if (by !== null) cluster.divide(by);
      else if (own.length > 0) {
        count(result.left.held, flows, bps);
        return;
      }
    }
    if (cluster.parts !== null) {
      const at = cluster.space[cluster.by]!.length;
      const [first, second]: [Flow[], Flow[]] = [[], []];
      for (const flow of flows) (bitAt(bytesOf(flow, cluster.by), at) === 0 ? first : second).push(flow);
      const isMore = first.length > 0 && second.length > 0;
      if (!isMore || this.#room > 0) {
        if (isMore) this.#room--;
        this.#settle(cluster.parts[0], first, timeMs, held, result);
        this.#settle(cluster.parts[1], second, timeMs, held, result);
        return;
      }
      // There is no room for two: they stay one.
      cluster.parts = null;
      if (own.length > 0) {
        count(result.left.held, flows, bps);
        return;
      }
    }
    if (cluster.variation > RESTLESS) {
      count(result.left.restless, flows, bps);
      return;
    }
    const [source, destination, port] = cluster.space;
    result.aggregates.push({
      key: keyOf(cluster.space),
      ...{ source: prefixText(source), destination: prefixText(destination), flows, bps },
      sourcePorts: port.length === 0 ? null : portRange(port),
      riseBps: Math.max(0, cluster.forecast.at(timeMs + AHEAD_MS) - cluster.forecast.at(timeMs)),
      variation: cluster.variation,
    });
  }
}

function count(counts: { flows: number; bps: number }, flows: readonly unknown[], bps: number): void {
  counts.flows += flows.length;
  counts.bps += bps;
}

const keyOf = ([source, destination, port]: Space): string =>
  `${prefixText(source)} to ${prefixText(destination)}${port.length === 0 ? '' : ` from port ${portRange(port).join('-')}`}`;

function bytesOf({ source, destination, sourcePort }: SmallFlow, dimension: number): Uint8Array {
  if (dimension === 0) return source;
  return dimension === 1 ? destination : Uint8Array.of(sourcePort >>> 8, sourcePort & 255);
}

/** A range of ports that are not those with some first bits counts as all ports. */
const spaceOf = ({ source, destination, sourcePorts }: FlowSet): Space => [
  source,
  destination,
  portBits(sourcePorts) ?? ANY_PORT,
];

const isShared = (space: Space, set: FlowSet): boolean =>
  spaceOf(set).every((bits, index) => meet(bits, space[index]!));

const isWithin = (space: Space, set: FlowSet): boolean =>
  spaceOf(set).every((bits, index) => bits.length <= space[index]!.length && meet(bits, space[index]!));

/** The dimension in which a division tells more of a space from a set that it shares; it is not within it. */
function apartFrom(space: Space, set: FlowSet): number | null {
  const by = spaceOf(set).findIndex((bits, index) => bits.length > space[index]!.length);
  return by < 0 ? null : by;
}

/** The dimension in which the flows are divided most equally; `null`: they are all alike. */
function dimensionOf(space: Space, flows: readonly SmallFlow[], bps: number): number | null {
  let found: number | null = null;
  let least = 1;
  for (const [dimension, bits] of space.entries()) {
    const values = flows.map((flow) => bytesOf(flow, dimension));
    for (let at = bits.length; at < 8 * bits.bytes.length; at++) {
      let ones = 0;
      let count = 0;
      for (const [index, bytes] of values.entries()) {
        if (bitAt(bytes, at) === 0) continue;
        ones += flows[index]!.bps;
        count++;
      }
      if (count === 0 || count === flows.length) continue;
      const larger = Math.max(ones, bps - ones) / bps + (dimension === 2 ? PORTS_GAIN : 0);
      if (found === null || larger < least) {
        least = larger;
        found = dimension;
      }
      break;
    }
  }
  return found;
}
