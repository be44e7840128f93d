/** How the slots that have a key's checksum decide (section 4 of the DART paper). */

/** `plurality`: the value that most slots hold, none if two values tie. `single`: the value if there is only one. */
export type Policy = 'single' | 'plurality' | Consensus;

/** The value that most slots hold if at least `slots` hold it, none if two values tie. */
export interface Consensus {
  readonly consensus: number;
}

/** A policy as one number: 0 for `single`, else how many slots have to agree (1 for `plurality`). */
export function policyNumber(policy: Policy): number {
  if (policy === 'single') return 0;
  if (policy === 'plurality') return 1;
  const { consensus } = policy;
  if (!(Number.isInteger(consensus) && consensus >= 1)) {
    throw new RangeError(`consensus must be a whole number of slots, not ${consensus}`);
  }
  return consensus;
}
