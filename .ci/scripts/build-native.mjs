// @ts-check
// Builds native-afxdp with its own Makefile, on Linux: `npm run build:native`.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './workspaces.mjs';

const folder = join(repository, 'native-afxdp');
if (!existsSync(join(folder, 'Makefile'))) {
  console.log('build:native: native-afxdp has no Makefile, so there is nothing to build.');
} else if (process.platform !== 'linux') {
  console.log('build:native: AF_XDP is a feature of Linux; nothing is built on this system.');
} else {
  const { status, error } = spawnSync('make', ['-C', folder, ...process.argv.slice(2)], { stdio: 'inherit' });
  if (error !== undefined) console.error(`build:native: cannot run make (${error.message}). See: npm run setup:system`);
  process.exitCode = status ?? 1;
}
