/** A link in one direction. */
export interface LinkCapacity {
  readonly key: string;
  readonly capacityBps: number;
}

/** What a flow, or an aggregate of flows that move together, wants, and over which paths it may go. */
export interface Demand {
  readonly key: string;
  readonly bps: number;
  /** Index in {@link paths} of the one it takes. */
  readonly path: number;
  /** Keys of links, in order. */
  readonly paths: readonly (readonly string[])[];
}

/** Loads of links when every demand takes one path. Links are numbers here, in the order in which they are given. */
export class NetworkLoad {
  /** Of each demand, its paths as numbers of links. */
  readonly paths: readonly (readonly Int32Array[])[];
  readonly #links: readonly LinkCapacity[];
  readonly #bps: Float64Array;
  readonly #capacity: Float64Array;

  /** @throws RangeError for a link without capacity, and for a path over a link that is not there */
  constructor(links: readonly LinkCapacity[], demands: readonly Demand[]) {
    const numbers = new Map<string, number>();
    for (const [number, { key, capacityBps }] of links.entries()) {
      if (!(capacityBps > 0)) throw new RangeError(`link ${key} has no capacity`);
      numbers.set(key, number);
    }
    this.#links = links;
    this.#bps = new Float64Array(links.length);
    this.#capacity = Float64Array.from(links, ({ capacityBps }) => capacityBps);
    this.paths = demands.map(({ key, paths }) =>
      paths.map((path) =>
        Int32Array.from(path, (link) => {
          const number = numbers.get(link);
          if (number === undefined) throw new RangeError(`a path of ${key} uses link ${link}, which is not there`);
          return number;
        }),
      ),
    );
    for (const [index, { bps, path }] of demands.entries()) this.add(this.paths[index]![path] ?? NOWHERE, bps);
  }

  /** Adds a rate to all links of a path; a negative one takes it away. */
  add(path: Int32Array, bps: number): void {
    for (let k = 0; k < path.length; k++) this.#bps[path[k]!] = this.#bps[path[k]!]! + bps;
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
   * What a path costs with a rate in addition: the sum of its loads to the sixteenth power, so that the hottest links count for
   * almost all, and several of them count together.
   */
  cost(path: Int32Array, bps = 0): number {
    let sum = 0;
    for (let k = 0; k < path.length; k++) {
      sum += sixteenth((this.#bps[path[k]!]! + bps) / this.#capacity[path[k]!]!);
    }
    return sum;
  }
}

/** A load to the sixteenth power. */
function sixteenth(load: number): number {
  const square = load * load;
  const fourth = square * square;
  const eighth = fourth * fourth;
  return eighth * eighth;
}

/** The path of a demand that takes none. */
export const NOWHERE: Int32Array = /* @__PURE__ */ new Int32Array(0);
