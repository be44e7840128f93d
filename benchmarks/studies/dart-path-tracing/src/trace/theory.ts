/**
 * What theory says about a store into which a part of the packets came. A socket whose buffer is full loses packets in
 * runs, much longer than the packets of a flow: flows are taken to be lost as a whole.
 */
import { type AgeRange, OutcomeModel, type Outcomes } from '@int/dart';
import { meanOutcomes } from '@int/dart/internals';

export interface TheoryInput {
  readonly flows: number;
  readonly slots: number;
  readonly copies: number;
  /** Share of the flows whose packets were lost on the way. */
  readonly loss: number;
}

/** The outcomes of queries, averaged over flows of some ages: 0 is the last one, 1 the first. */
export function theoryOf({ flows, slots, copies, loss }: TheoryInput, ages?: AgeRange): Outcomes {
  const model = new OutcomeModel({
    copies,
    written: Array.from({ length: copies + 1 }, (_, count) => (count === 0 ? loss : count === copies ? 1 - loss : 0)),
  });
  const written = (age: number): number => (copies * (1 - loss) * flows * age) / slots;
  const foreign = -Math.expm1(-written(1));
  return meanOutcomes((age) => model.distinct(-Math.expm1(-written(age)), foreign), ages);
}
