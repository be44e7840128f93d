/** Why a value cannot be used. */
export type ValueProblem = 'BAD_QUANTITY' | 'BAD_VALUE' | 'INEXACT_QUANTITY' | 'WRONG_UNIT';

/** A value that somebody wrote and that cannot be used. Who reads the value adds where it stands. */
export class ValueError<Code extends string = ValueProblem> extends Error {
  override readonly name = 'ValueError';

  constructor(
    readonly code: Code,
    message: string,
  ) {
    super(message);
  }
}
