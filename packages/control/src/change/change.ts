import type { Entity } from '@int/p4runtime';

/** An update of one switch. */
export interface Change {
  readonly switchId: number;
  readonly type: 'insert' | 'modify' | 'delete';
  /** What was there; `null` for an insertion. */
  readonly before: Entity | null;
  /** What will be there; `null` for a deletion. */
  readonly after: Entity | null;
  readonly intents: readonly string[];
}

/** Changes in the order in which they are installed: all of a step are acknowledged before the next begins. */
export type ChangePlan = readonly (readonly Change[])[];
