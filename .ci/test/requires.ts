import { accessSync, constants, writeSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { TestRunner } from 'vitest';

/** Reasons given so far, so that each is one line however many tests share it. */
const printed = new Set<string>();

/**
 * Skips the running test, loudly: one line `skipped: ...` on standard output per reason.
 * With `INT_REQUIRE_ALL=1` in the environment, as in CI, the test fails instead.
 *
 * @param reason what is missing and how to get it, without a full stop
 * @throws Error under `INT_REQUIRE_ALL=1`, or if no test is running
 */
export function skip(reason: string): never {
  if (process.env.INT_REQUIRE_ALL === '1') throw new Error(`required by INT_REQUIRE_ALL=1: ${reason}`);
  return leaveOut(reason);
}

/**
 * Skips the running test for a limit of the kernel or of the rights that the tests have, which nothing can be installed
 * against: also with `INT_REQUIRE_ALL=1`.
 *
 * @param reason the limit, without a full stop
 */
export function limit(reason: string): never {
  return leaveOut(reason);
}

function leaveOut(reason: string): never {
  const test = TestRunner.getCurrentTest();
  if (test === undefined) throw new Error(`skipping belongs inside a test: ${reason}`);
  if (!printed.has(reason)) {
    printed.add(reason);
    writeSync(1, `skipped: ${reason}\n`);
  }
  return test.context.skip(reason);
}

/**
 * Finds a program that a test needs besides Node; call it first thing in the test. Without the program the test is
 * skipped as {@link skip} says.
 *
 * @param tool a command's name; or several, of which the first one found is taken
 * @param howToInstall what to type, such as `npm run setup:system`
 * @returns the program's full path
 */
export function requires(tool: string | readonly string[], howToInstall: string): string {
  const names = typeof tool === 'string' ? [tool] : tool;
  for (const name of names) {
    const found = find(name);
    if (found !== undefined) return found;
  }
  return skip(`${names[0]} is not installed (${howToInstall})`);
}

/** Looks a command up in PATH without running it. @returns its full path */
export function find(name: string): string | undefined {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const ending of endings) {
      const path = join(folder, name + ending);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not in this folder.
      }
    }
  }
  return undefined;
}
