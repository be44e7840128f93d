import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requires } from './requires.js';

/** `@int/afxdp`, and what benchmarks and tests compare with. */
const ADDON = fileURLToPath(new URL('../../native-afxdp', import.meta.url));
const COMPARISON = fileURLToPath(new URL('../../benchmarks/native', import.meta.url));

const made = new Set<string>();

/** Makes targets of a folder's Makefile where `npm run build:native` makes them, if their sources have changed. */
function make(folder: string, targets: readonly string[]): string {
  const missing = targets.filter((target) => !made.has(join(folder, target)));
  if (missing.length === 0) return folder;
  requires(process.env.CC ?? 'cc', 'npm run setup:system');
  const command = requires('make', 'npm run setup:system');
  const lock = requires('flock', 'npm run setup:system');
  mkdirSync(join(folder, 'build'), { recursive: true });
  // Test files run side by side: one of them makes, the others wait.
  const { status, stderr, stdout } = spawnSync(lock, [join('build', 'test.lock'), command, '-s', '-j2', ...missing], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`make ${missing.join(' ')} failed:\n${stdout}${stderr}`);
  for (const target of missing) made.add(join(folder, target));
  return folder;
}

/**
 * Makes targets of `native-afxdp/Makefile`. Call it inside a test: without a compiler the test is skipped.
 *
 * @returns the folder `native-afxdp`
 * @throws Error with the compiler's words if one does not build
 */
export function makeAddon(...targets: string[]): string {
  return make(ADDON, targets);
}

/**
 * Makes C programs of `benchmarks/native`, as {@link makeAddon} does.
 *
 * @returns the folder that they are in, which is `build` beside their Makefile
 */
export function nativePrograms(...names: string[]): string {
  const targets = names.map((name) => `build/${name}`);
  return join(make(COMPARISON, targets), 'build');
}
