// @ts-check
// Builds the C code, on Linux: the addon of native-afxdp, and what benchmarks compare with: `npm run build:native`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { repository } from './workspaces.mjs';

if (process.platform !== 'linux') {
  console.log('build:native: AF_XDP is a feature of Linux; nothing is built on this system.');
} else {
  for (const folder of ['native-afxdp', 'benchmarks/native']) {
    const make = ['-C', join(repository, folder), ...process.argv.slice(2)];
    const { status, error } = spawnSync('make', make, { stdio: 'inherit' });
    if (error !== undefined)
      console.error(`build:native: cannot run make (${error.message}). See: npm run setup:system`);
    process.exitCode = status ?? 1;
    if (process.exitCode !== 0) break;
  }
}
