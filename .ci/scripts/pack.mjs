// @ts-check
import { spawnSync } from 'node:child_process';
import { repository } from './workspaces.mjs';

/**
 * Packs workspaces into tarballs as npm would publish them, in one run of npm, which takes as long as one package alone.
 *
 * @param {readonly import('./workspaces.mjs').Workspace[]} packages each built
 * @param {string} folder where the tarballs go
 * @returns {Map<string, { filename: string, size: number }>} by package name: the file's name in the folder, its size in bytes
 * @throws Error if npm refuses one
 */
export function pack(packages, folder) {
  if (packages.length === 0) return new Map();
  const chosen = packages.flatMap(({ manifest }) => ['--workspace', manifest.name]);
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...chosen],
    { cwd: repository, encoding: 'utf8', shell: process.platform === 'win32' },
  );
  if (status !== 0) throw new Error(`npm pack failed:\n${stderr}`);
  /** @type {{ name: string, filename: string, size: number }[]} */
  const tarballs = JSON.parse(stdout);
  return new Map(tarballs.map((tarball) => [tarball.name, tarball]));
}
