// Stands in for `node:assert/strict` when README examples are bundled for a browser: the calls that examples use.

function fail(message: string | undefined, otherwise: string): never {
  throw new Error(message ?? otherwise);
}

function show(value: unknown): string {
  return typeof value === 'object'
    ? JSON.stringify(value, (_key, v) => (typeof v === 'bigint' ? `${v}n` : v))
    : String(value);
}

function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Map && b instanceof Map) return same([...a], [...b]);
  if (a instanceof Set && b instanceof Set) return same([...a], [...b]);
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same(a[key as keyof typeof a], b[key as keyof typeof b]))
  );
}

/** A check of what was thrown: a class, a pattern for the message, or properties that it must have. */
type Expected = RegExp | (new (...args: never[]) => unknown) | Record<string, unknown>;

function check(error: unknown, expected: Expected | undefined): void {
  if (expected === undefined) return;
  if (expected instanceof RegExp) match(String(error), expected);
  else if (typeof expected === 'function') ok(error instanceof expected, `threw ${String(error)}`);
  else {
    for (const [key, value] of Object.entries(expected)) {
      const actual = (error as Record<string, unknown>)[key];
      if (value instanceof RegExp) match(String(actual), value);
      else deepEqual(actual, value);
    }
  }
}

export function ok(value: unknown, message?: string): void {
  if (!value) fail(message, `${show(value)} is not true`);
}
export function equal(actual: unknown, expected: unknown, message?: string): void {
  if (!Object.is(actual, expected)) fail(message, `${show(actual)} is not ${show(expected)}`);
}
export function notEqual(actual: unknown, expected: unknown, message?: string): void {
  if (Object.is(actual, expected)) fail(message, `both are ${show(actual)}`);
}
export function deepEqual(actual: unknown, expected: unknown, message?: string): void {
  if (!same(actual, expected)) fail(message, `${show(actual)} is not ${show(expected)}`);
}
export function notDeepEqual(actual: unknown, expected: unknown, message?: string): void {
  if (same(actual, expected)) fail(message, `both are ${show(actual)}`);
}
export function match(actual: string, pattern: RegExp, message?: string): void {
  if (!pattern.test(actual)) fail(message, `${actual} does not match ${pattern}`);
}
export function throws(run: () => unknown, expected?: Expected): void {
  try {
    run();
  } catch (error) {
    check(error, expected);
    return;
  }
  fail(undefined, 'nothing was thrown');
}
export async function rejects(run: Promise<unknown> | (() => Promise<unknown>), expected?: Expected): Promise<void> {
  try {
    await (typeof run === 'function' ? run() : run);
  } catch (error) {
    check(error, expected);
    return;
  }
  fail(undefined, 'nothing was thrown');
}
export const strictEqual: typeof equal = equal;
export const notStrictEqual: typeof notEqual = notEqual;
export const deepStrictEqual: typeof deepEqual = deepEqual;

// biome-ignore lint/style/noDefaultExport: examples write `import assert from 'node:assert/strict'`
export default Object.assign(ok, {
  ok,
  equal,
  notEqual,
  deepEqual,
  notDeepEqual,
  match,
  throws,
  rejects,
  strictEqual,
  notStrictEqual,
  deepStrictEqual,
});
