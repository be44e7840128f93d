/** A link in one direction. */
export interface LinkCapacity {
  readonly key: string;
  readonly capacityBps: number;
}

/** What a flow, or an aggregate of flows that move together, wants, and over which paths it may go. */
export interface Demand {
  readonly key: string;
  readonly bps: number;
  /** Index in {@link paths} of the one it takes; -1: it is an aggregate that is spread over several. */
  readonly path: number;
  /** Keys of links, in order. */
  readonly paths: readonly (readonly string[])[];
  /** Where `path` is -1: bits a second on each of the paths, in their order, `bps` together. A move puts all of it on one path. */
  readonly spread?: readonly number[];
}

/** Links as numbers, and which share of a demand each of them carries; `null`: all of it. */
export interface Way {
  readonly links: Int32Array;
  readonly shares: Float64Array | null;
}

/** Loads of links when every demand takes one path. Links are numbers here, in the order in which they are given. */
export class NetworkLoad {
  /** Of each demand, its paths; behind them, of an aggregate that is spread, that. */
  readonly ways: readonly (readonly Way[])[];
  readonly #links: readonly LinkCapacity[];
  readonly #bps: Float64Array;
  readonly #capacity: Float64Array;

  /** @throws RangeError for a link without capacity, a path over a link that is not there, and a spread without a rate for each path */
  constructor(links: readonly LinkCapacity[], demands: readonly Demand[]) {
    const numbers = new Map<string, number>();
    for (const [number, { key, capacityBps }] of links.entries()) {
      if (!(capacityBps > 0)) throw new RangeError(`link ${key} has no capacity`);
      numbers.set(key, number);
    }
    this.#links = links;
    this.#bps = new Float64Array(links.length);
    this.#capacity = Float64Array.from(links, ({ capacityBps }) => capacityBps);
    this.ways = demands.map((demand) => {
      const ways = demand.paths.map((path): Way => {
        const found = Int32Array.from(path, (link) => {
          const number = numbers.get(link);
          if (number === undefined)
            throw new RangeError(`a path of ${demand.key} uses link ${link}, which is not there`);
          return number;
        });
        return { links: found, shares: null };
      });
      return demand.path === -1 && demand.spread !== undefined ? [...ways, spreadOf(demand, ways)] : ways;
    });
    for (const [index, demand] of demands.entries())
      this.add(this.ways[index]![placeOf(demand)] ?? NOWHERE, demand.bps);
  }

  /** Adds a rate to all links of a way; a negative one takes it away. */
  add({ links, shares }: Way, bps: number): void {
    if (shares === null) for (let k = 0; k < links.length; k++) this.#bps[links[k]!] = this.#bps[links[k]!]! + bps;
    else for (let k = 0; k < links.length; k++) this.#bps[links[k]!] = this.#bps[links[k]!]! + bps * shares[k]!;
  }

  /** The link with the highest load; of several the one that comes first. */
  hottest(): { readonly number: number; readonly link: string; readonly load: number } {
    let number = -1;
    let load = -1;
    for (let k = 0; k < this.#bps.length; k++) {
      const share = this.#bps[k]! / this.#capacity[k]!;
      if (share > load) {
        load = share;
        number = k;
      }
    }
    return { number, link: this.#links[number]?.key ?? '', load };
  }

  /** What all links cost together, in the sense of {@link cost}. */
  total(): number {
    let sum = 0;
    for (let k = 0; k < this.#bps.length; k++) sum += sixteenth(this.#bps[k]! / this.#capacity[k]!);
    return sum;
  }

  /**
   * What a way costs with a rate in addition: the sum of its loads to the sixteenth power, so that the hottest links count for
   * almost all, and several of them count together.
   */
  cost({ links, shares }: Way, bps = 0): number {
    let sum = 0;
    for (let k = 0; k < links.length; k++) {
      const more = shares === null ? bps : bps * shares[k]!;
      sum += sixteenth((this.#bps[links[k]!]! + more) / this.#capacity[links[k]!]!);
    }
    return sum;
  }
}

/** Index of the way that a demand takes; behind its paths, where it is spread. */
export function placeOf({ path, paths, spread }: Demand): number {
  return path === -1 && spread !== undefined ? paths.length : path;
}

function spreadOf({ key, bps, spread = [] }: Demand, ways: readonly Way[]): Way {
  if (spread.length !== ways.length) throw new RangeError(`the spread of ${key} has not one rate for each path`);
  const shares = new Map<number, number>();
  for (const [index, rate] of spread.entries()) {
    if (!(rate > 0) || !(bps > 0)) continue;
    for (const link of ways[index]!.links) shares.set(link, (shares.get(link) ?? 0) + rate / bps);
  }
  return { links: Int32Array.from(shares.keys()), shares: Float64Array.from(shares.values()) };
}

/** A load to the sixteenth power. */
function sixteenth(load: number): number {
  const square = load * load;
  const fourth = square * square;
  const eighth = fourth * fourth;
  return eighth * eighth;
}

/** The way of a demand that takes none. */
export const NOWHERE: Way = /* @__PURE__ */ { links: new Int32Array(0), shares: null };
