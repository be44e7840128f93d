import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requires } from './requires.js';

const NATIVE = fileURLToPath(new URL('../../native-afxdp', import.meta.url));

const made = new Set<string>();

/**
 * Makes targets of `native-afxdp/Makefile` where `npm run build:native` makes them, if their sources have changed. Call it
 * inside a test: without a compiler the test is skipped.
 *
 * @returns the folder `native-afxdp`, in whose `build` they are
 * @throws Error with the compiler's words if one does not build
 */
export function makeNative(...targets: string[]): string {
  const missing = targets.filter((target) => !made.has(target));
  if (missing.length === 0) return NATIVE;
  requires(process.env.CC ?? 'cc', 'npm run setup:system');
  const make = requires('make', 'npm run setup:system');
  const lock = requires('flock', 'npm run setup:system');
  mkdirSync(join(NATIVE, 'build'), { recursive: true });
  // Test files run side by side: one of them makes, the others wait.
  const { status, stderr, stdout } = spawnSync(lock, [join('build', 'test.lock'), make, '-s', '-j2', ...missing], {
    cwd: NATIVE,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`make ${missing.join(' ')} failed:\n${stdout}${stderr}`);
  for (const target of missing) made.add(target);
  return NATIVE;
}

/**
 * Makes C programs, as {@link makeNative} does.
 *
 * @returns the folder that they are in
 */
export function nativePrograms(...names: string[]): string {
  return join(makeNative(...names.map((name) => `build/${name}`)), 'build');
}
