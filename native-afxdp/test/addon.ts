import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requires, skip } from '../../.ci/test/requires.js';

/** Folder of the package. */
const PACKAGE: string = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** `sanitized`: with the address and undefined-behaviour sanitizers. */
export type Build = 'plain' | 'sanitized';

const built = new Map<Build, string>();

/**
 * Builds the addon from its C sources if they have changed; INT_AFXDP_ADDON in the environment names another one, as
 * everywhere. Call it inside a test: without a compiler the test is skipped.
 *
 * @returns the path of the addon
 * @throws Error with the compiler's words if it does not build
 */
export function addon(build: Build = 'plain'): string {
  const known = built.get(build);
  if (known !== undefined) return known;
  const given = process.env.INT_AFXDP_ADDON;
  if (build === 'plain' && given !== undefined && given !== '') return given;
  requires('cc', 'npm run setup:system');
  const make = requires('make', 'npm run setup:system');
  const lock = requires('flock', 'npm run setup:system');
  const target = build === 'plain' ? 'addon' : 'addon_asan';
  mkdirSync(join(PACKAGE, 'build'), { recursive: true });
  // Test files run side by side: one of them builds, the others wait.
  const { status, stderr, stdout } = spawnSync(lock, [join('build', 'test.lock'), make, '-s', target], {
    cwd: PACKAGE,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`make ${target} failed:\n${stdout}${stderr}`);
  const path =
    build === 'plain'
      ? join(PACKAGE, 'prebuilds', `linux-${process.arch}`, 'afxdp.node')
      : join(PACKAGE, 'build', 'afxdp_asan.node');
  built.set(build, path);
  return path;
}

/** The address sanitizer's library, which a process must load before everything else. Skips the test if there is none. */
export function sanitizerLibrary(): string {
  const cc = requires('cc', 'npm run setup:system');
  const path = spawnSync(cc, ['-print-file-name=libasan.so'], { encoding: 'utf8', timeout: 30_000 }).stdout.trim();
  // A compiler that does not have the file answers with its bare name.
  return path.includes('/') ? path : skip('the address sanitizer is not installed (npm run setup:system)');
}
