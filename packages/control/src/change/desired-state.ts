import type { Entity } from '@int/p4runtime';

/** An entity that a switch shall have, and why. */
export interface DesiredEntity {
  readonly entity: Entity;
  /** The intents behind it; empty: it belongs to the network's own routes. */
  readonly intents: readonly string[];
  /**
   * An integer from 0 to 999,999,999. Entities of smaller stages are there before those of larger ones, in the whole network:
   * downstream first, ingress last; what is no longer wanted goes in the opposite order. The stages of a route decrease along the
   * path of its packets. What takes packets from another's way (a path from routes) has smaller stages than what it takes them
   * from.
   */
  readonly stage: number;
}

/** By id of the switch: what each shall have, of all that belongs to this controller. */
export type DesiredState = ReadonlyMap<number, readonly DesiredEntity[]>;
