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

/** Loads of links when every demand takes one path. */
export class NetworkLoad {
  readonly #capacity = new Map<string, number>();
  readonly #bps = new Map<string, number>();

  /** @throws RangeError for a link without capacity, and for a path over a link that is not there */
  constructor(links: readonly LinkCapacity[], demands: readonly Demand[]) {
    for (const { key, capacityBps } of links) {
      if (!(capacityBps > 0)) throw new RangeError(`link ${key} has no capacity`);
      this.#capacity.set(key, capacityBps);
      this.#bps.set(key, 0);
    }
    for (const demand of demands) {
      for (const path of demand.paths) {
        const unknown = path.find((link) => !this.#capacity.has(link));
        if (unknown !== undefined)
          throw new RangeError(`a path of ${demand.key} uses link ${unknown}, which is not there`);
      }
      this.add(demand.paths[demand.path] ?? [], demand.bps);
    }
  }

  /** Adds a rate to all links of a path; a negative one takes it away. */
  add(path: readonly string[], bps: number): void {
    for (const link of path) this.#bps.set(link, this.#bps.get(link)! + bps);
  }

  /** The link with the highest load; of several the one that comes first. */
  hottest(): { readonly link: string; readonly load: number } {
    let link = '';
    let load = -1;
    for (const [key, bps] of this.#bps) {
      const share = bps / this.#capacity.get(key)!;
      if (share > load) {
        load = share;
        link = key;
      }
    }
    return { link, load };
  }

  /**
   * What a path costs: the sum of its loads to the sixteenth power, so that the hottest links count for almost all, and
   * several of them count together.
   */
  cost(path: readonly string[], bps = 0): number {
    let sum = 0;
    for (const link of path) {
      const square = ((this.#bps.get(link)! + bps) / this.#capacity.get(link)!) ** 2;
      const fourth = square * square;
      sum += fourth * fourth * fourth * fourth;
    }
    return sum;
  }
}
