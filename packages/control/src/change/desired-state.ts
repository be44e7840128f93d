import type { Entity } from '@int/p4runtime';

/** An entity that a switch shall have, and why. */
export interface DesiredEntity {
  readonly entity: Entity;
  /** The intents behind it; empty: it belongs to the network's own routes. */
  readonly intents: readonly string[];
  /** Entities of smaller stages are there before those of larger ones, in the whole network: downstream first, ingress last. */
  readonly stage: number;
}

/** By id of the switch: what each shall have, of all that belongs to this controller. */
export type DesiredState = ReadonlyMap<number, readonly DesiredEntity[]>;
