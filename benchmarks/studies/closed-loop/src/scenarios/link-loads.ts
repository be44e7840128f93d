/** What links between switches carry, by windows: counted at the links, not by telemetry. */
import type { Fabric } from '@int/example-closed-loop';
import { sourcePortOf } from './surroundings.js';

const CAPACITY_BPS = 10e6;

/** Bits of a link in one direction, by the window in which they came; and those of some flows, by source port. */
interface Carried {
  readonly all: number[];
  readonly byPort: Map<number, number[]>;
}

export class LinkLoads {
  /** By link and direction, such as `leaf1:spine2 ab`. */
  readonly #carried = new Map<string, Carried>();
  readonly #windowNs: number;
  readonly #fromNs: number;

  constructor({ network, links }: Fabric, windowMs: number, ports: ReadonlySet<number>) {
    this.#windowNs = 1e6 * windowMs;
    this.#fromNs = network.nowNs;
    for (const [name, link] of links) {
      if (!name.includes(':spine')) continue;
      for (const direction of ['ab', 'ba'] as const) {
        const carried: Carried = { all: [], byPort: new Map() };
        this.#carried.set(`${name} ${direction}`, carried);
        network.tap(link, direction, (frame, timeNs) => {
          const window = Math.floor((timeNs - this.#fromNs) / this.#windowNs);
          carried.all[window] = (carried.all[window] ?? 0) + 8 * frame.length;
          const port = sourcePortOf(frame);
          if (!ports.has(port)) return;
          const own = carried.byPort.get(port) ?? [];
          carried.byPort.set(port, own);
          own[window] = (own[window] ?? 0) + 8 * frame.length;
        });
      }
    }
  }

  /** The highest load of all links in each window. */
  highest(windows: number): number[] {
    return Array.from({ length: windows }, (_, window) =>
      Math.max(...[...this.#carried.values()].map(({ all }) => this.#share(all[window] ?? 0, 1))),
    );
  }

  /** Mean loads over some windows: of each link, without the given flows; and of each such flow, on the links that it was on. */
  mean(
    from: number,
    to: number,
  ): { readonly rest: ReadonlyMap<string, number>; readonly flows: ReadonlyMap<number, number> } {
    const rest = new Map<string, number>();
    const flows = new Map<number, number>();
    for (const [name, { all, byPort }] of this.#carried) {
      let left = this.#share(sum(all, from, to), to - from);
      for (const [port, bits] of byPort) {
        const share = this.#share(sum(bits, from, to), to - from);
        left -= share;
        flows.set(port, Math.max(flows.get(port) ?? 0, share));
      }
      rest.set(name, left);
    }
    return { rest, flows };
  }

  /** The highest mean load of a link over some windows. */
  highestMean(from: number, to: number): number {
    return Math.max(...[...this.#carried.values()].map(({ all }) => this.#share(sum(all, from, to), to - from)));
  }

  #share(bits: number, windows: number): number {
    return bits / ((windows * this.#windowNs * CAPACITY_BPS) / 1e9);
  }
}

function sum(values: readonly (number | undefined)[], from: number, to: number): number {
  let total = 0;
  for (let k = from; k < to; k++) total += values[k] ?? 0;
  return total;
}
