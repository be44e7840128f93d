import { expect } from 'vitest';

/** Whether two values made of plain objects, arrays and primitives say the same. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let k = 0; k < a.length; k++) if (!isSame(a[k], b[k])) return false;
    return true;
  }
  const x = a as Record<string, unknown>;
  const y = b as Record<string, unknown>;
  let more = 0;
  for (const name in x) {
    if (!isSame(x[name], y[name])) return false;
    more++;
  }
  for (const _ in y) more--;
  return more === 0;
}

/** Many times as fast as `toEqual`, which has the last word where something seems to differ, and says what does. */
export function same(actual: unknown, expected: unknown): void {
  if (!isSame(actual, expected)) expect(actual).toEqual(expected);
}
