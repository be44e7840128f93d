import type { ObservedFlow } from './rehearsal.js';
import type { Representative } from './representative.js';
import { type Entrance, type Ground, type Treated, type Walk, walk } from './walk.js';

/** A flow of the minute in the twin: how it goes before the change, and now. */
export class FlowState {
  readonly before: Walk;
  now: Walk;
  /** Share of its packets that the meters of a switch let pass, by the switch's id; no other switch holds any back. */
  readonly metered = new Map<number, number>();
  #meteredBefore: ReadonlyMap<number, number> = new Map();
  readonly #gapUs: number;
  readonly #treated = new Map<string, Treated>();

  constructor(
    ground: Ground,
    readonly flow: ObservedFlow,
    readonly representative: Representative,
    readonly entrance: Entrance,
    seconds: number,
  ) {
    this.#gapUs = (seconds * 1e6) / Math.max(1, flow.packets);
    this.before = walk(ground, representative, entrance, flow.packets, this.#gapUs, this.#treated);
    this.now = this.before;
  }

  /** Keeps what meters do as what they did before the change. */
  keepMetered(): void {
    this.#meteredBefore = new Map(this.metered);
  }

  /** Share of its packets that no meter has held back on a path. */
  passing(path: readonly number[], when: 'before' | 'now'): number {
    const shares = when === 'before' ? this.#meteredBefore : this.metered;
    let share = 1;
    if (shares.size > 0) for (const id of path) share *= shares.get(id) ?? 1;
    return share;
  }

  /** Whether it passes one of the switches now. */
  passes(switches: ReadonlySet<number>): boolean {
    return this.now.hops.some(({ switchId }) => switches.has(switchId));
  }

  rewalk(ground: Ground): void {
    this.metered.clear();
    this.now = walk(ground, this.representative, this.entrance, this.flow.packets, this.#gapUs, this.#treated);
  }
}
