/** Checks of a sink's options. Each returns the value. */

/** The longest time that timers accept, in ms. */
export const MAX_MS: number = 2 ** 31 - 1;

/** @throws RangeError that names the option */
export function integer(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
  }
  return value;
}

/** @throws TypeError that names the option */
export function oneOf<const T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw new TypeError(`${name} must be one of ${allowed.join(', ')}, not ${value}`);
  return found;
}

/** @throws TypeError that names the option */
export function text(name: string, value: string): string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a text that is not empty`);
  return value;
}
