/** Checks of arguments. */

/** @throws RangeError unless `value` is an integer from `least` to `most` */
export function checkInteger(
  name: string,
  value: number,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
  }
  return value;
}

/** @throws RangeError unless `value` is a probability */
export function checkProbability(name: string, value: number): number {
  if (!(value >= 0 && value <= 1)) throw new RangeError(`${name} must be a number from 0 to 1, not ${value}`);
  return value;
}

/** @throws RangeError unless `value` is a positive number or Infinity */
export function checkRate(name: string, value: number): number {
  if (!(value > 0)) throw new RangeError(`${name} must be a positive number or Infinity, not ${value}`);
  return value;
}

/** @throws RangeError unless `value` is an integer from `least`, or Infinity */
export function checkLimit(name: string, value: number, least: number): number {
  return value === Number.POSITIVE_INFINITY ? value : checkInteger(name, value, least);
}
