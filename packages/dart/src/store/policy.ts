/** Policies: rules by which slots with a key's checksum determine the answer (section 4 of the DART paper). */

/**
 * `plurality`: the value that most slots hold; no answer if two values tie. `single`: the value, if all slots hold the
 * same.
 */
export type Policy = 'single' | 'plurality' | Consensus;

/** The value that most slots hold, if at least `slots` slots hold it; no answer if two values tie. */
export interface Consensus {
  readonly consensus: number;
}

/** A policy as one number: 0 for `single`, else the least number of agreeing slots (1 for `plurality`). */
export function policyNumber(policy: Policy): number {
  if (policy === 'single') return 0;
  if (policy === 'plurality') return 1;
  const { consensus } = policy;
  if (!(Number.isInteger(consensus) && consensus >= 1)) {
    throw new RangeError(`consensus must be a whole number of slots, not ${consensus}`);
  }
  return consensus;
}
