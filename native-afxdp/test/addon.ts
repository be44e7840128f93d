import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { makeAddon } from '../../.ci/test/native.js';
import { requires, skip } from '../../.ci/test/requires.js';

/** `sanitized`: with the address and undefined-behaviour sanitizers. */
export type Build = 'plain' | 'sanitized';

/**
 * Builds the addon from its C sources if they have changed; INT_AFXDP_ADDON in the environment names another one, as
 * everywhere. Call it inside a test: without a compiler the test is skipped.
 *
 * @returns the path of the addon
 * @throws Error with the compiler's words if it does not build
 */
export function addon(build: Build = 'plain'): string {
  const given = process.env.INT_AFXDP_ADDON;
  if (build === 'plain' && given !== undefined && given !== '') return given;
  if (build === 'sanitized') return join(makeAddon('addon_asan'), 'build', 'afxdp_asan.node');
  return join(makeAddon('addon'), 'prebuilds', `linux-${process.arch}`, 'afxdp.node');
}

/** The address sanitizer's library, which a process must load before everything else. Skips the test if there is none. */
export function sanitizerLibrary(): string {
  const cc = requires('cc', 'npm run setup:system');
  const path = spawnSync(cc, ['-print-file-name=libasan.so'], { encoding: 'utf8', timeout: 30_000 }).stdout.trim();
  // A compiler that does not have the file answers with its bare name.
  return path.includes('/') ? path : skip('the address sanitizer is not installed (npm run setup:system)');
}
