import type { ObservedFlow } from './rehearsal.js';
import type { Representative } from './representative.js';
import { type Entrance, type Ground, type Walk, walk } from './walk.js';

/** A flow of the minute in the twin: how it goes before the change, and now. */
export class FlowState {
  readonly before: Walk;
  now: Walk;
  readonly #gapUs: number;

  constructor(
    ground: Ground,
    readonly flow: ObservedFlow,
    readonly representative: Representative,
    readonly entrance: Entrance,
    seconds: number,
  ) {
    this.#gapUs = (seconds * 1e6) / Math.max(1, flow.packets);
    this.before = walk(ground, representative, entrance, this.#gapUs);
    this.now = this.before;
  }

  /** Whether it passes one of the switches now. */
  passes(switches: ReadonlySet<number>): boolean {
    return this.now.hops.some(({ switchId }) => switches.has(switchId));
  }

  rewalk(ground: Ground): void {
    this.now = walk(ground, this.representative, this.entrance, this.#gapUs);
  }
}
