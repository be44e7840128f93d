// @ts-check
// Builds the JavaScript that one workspace needs in order to run, without declarations: `node .ci/scripts/build-for.mjs
// FOLDER`. Unlike turbo's own filter, it leaves out what tests and optional peers add. Says on standard error what it does.
import { spawnSync } from 'node:child_process';
import { repository, workspaces } from './workspaces.mjs';

const [folder = ''] = process.argv.slice(2);
const byName = new Map(workspaces().map((workspace) => [workspace.manifest.name, workspace]));
const wanted = workspaces().find((workspace) => workspace.folder === folder);
if (wanted === undefined) throw new TypeError(`${folder} is no workspace`);

/** The workspace and what it depends on at run time. @type {Set<string>} */
const needed = new Set([wanted.manifest.name]);
for (const name of needed) {
  for (const dependency of Object.keys(byName.get(name)?.manifest.dependencies ?? {})) {
    if (byName.has(dependency)) needed.add(dependency);
  }
}

process.stderr.write(`Building the JavaScript of ${needed.size} packages: some seconds the first time.\n`);
const began = performance.now();
const filters = [...needed].map((name) => `--filter=${name}`);
const { status, stdout, error } = spawnSync('turbo', ['run', 'build', '--output-logs=errors-only', ...filters], {
  cwd: repository,
  stdio: ['ignore', 'pipe', 'inherit'],
  encoding: 'utf8',
  shell: process.platform === 'win32',
});
if (status === 0) process.stderr.write(`Done after ${((performance.now() - began) / 1000).toFixed(1)} s.\n`);
else {
  process.stderr.write(`failed.\n${error?.message ?? stdout}\n`);
  process.exitCode = 1;
}
