/** What the paper states of its figures, each statement as a check. */

import { type Lookup, NotMeasured } from './lookup.js';

export interface Expectation {
  /** Figure of the paper. */
  readonly figure: string;
  /** What the paper (or the text that goes with a number) states. */
  readonly claim: string;
  /** Whether it is so here, and the numbers. */
  readonly check: (look: Lookup) => { readonly holds: boolean; readonly measured: string };
  /** Why it is otherwise, where it is. */
  readonly why: string;
}

export interface Outcome {
  readonly figure: string;
  readonly claim: string;
  readonly outcome: 'as in the paper' | 'differs' | 'not measured';
  readonly measured: string;
  /** Empty unless it differs. */
  readonly why: string;
}

/** Checks all expectations. */
export function judge(expectations: readonly Expectation[], look: Lookup): Outcome[] {
  return expectations.map(({ figure, claim, check, why }) => {
    try {
      const { holds, measured } = check(look);
      if (holds) return { figure, claim, outcome: 'as in the paper', measured, why: '' };
      return { figure, claim, outcome: 'differs', measured, why };
    } catch (error) {
      if (error instanceof NotMeasured) return { figure, claim, outcome: 'not measured', measured: '', why: '' };
      throw error;
    }
  });
}
