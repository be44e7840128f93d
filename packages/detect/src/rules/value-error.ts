import type { RuleProblemCode } from '../errors.js';

/** A value of a rule set that cannot be used. Who reads the value adds where it stands. */
export class ValueError extends Error {
  override readonly name = 'ValueError';

  constructor(
    readonly code: RuleProblemCode,
    message: string,
  ) {
    super(message);
  }
}
