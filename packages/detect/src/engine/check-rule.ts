import { MAX_CLAUSES, MAX_CONDITIONS } from '../expression/model.js';
import type { Rule } from '../rules/model.js';

function integer(what: string, value: number, minimum: number, maximum: number): void {
  if (!Number.isInteger(value) || value < minimum || value > maximum) {
    throw new RangeError(`${what} must be an integer from ${minimum} to ${maximum}, not ${value}`);
  }
}

/** Checks the numbers of a rule that a program has made by itself. @throws RangeError for one out of range */
export function checkRule({ name, priority, detector, sample }: Rule): void {
  const where = `rule '${name}':`;
  if (name === '') throw new RangeError('a rule needs a name');
  integer(`${where} priority`, priority, -(2 ** 31), 2 ** 31 - 1);
  if ('threshold' in detector) integer(`${where} threshold`, detector.threshold, 0, 0xffffffff);
  if ('weight' in detector) integer(`${where} weight`, detector.weight, 0, 15);
  if ('alpha' in detector && !(detector.alpha > 0 && detector.alpha <= 1)) {
    throw new RangeError(`${where} alpha must be above 0 and at most 1, not ${detector.alpha}`);
  }
  if (detector.kind === 'complex') {
    integer(`${where} clauses`, detector.expression.length, 1, MAX_CLAUSES);
    for (const clause of detector.expression) {
      integer(`${where} conditions of a clause`, clause.length, 1, MAX_CONDITIONS);
      for (const { constant } of clause) integer(`${where} constant`, constant, 0, 0xffffffff);
    }
  }
  if (sample !== null && 'oneIn' in sample) integer(`${where} oneIn`, sample.oneIn, 1, 0xffffffff);
  if (sample !== null && 'everyNs' in sample) integer(`${where} everyNs`, sample.everyNs, 1, Number.MAX_SAFE_INTEGER);
}
