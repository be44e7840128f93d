// @ts-check
// Runs a command with another version of Node: `node .ci/scripts/on-node.mjs 24 -- npx vitest run packages/codec`. The
// binary comes by npm, in the packages that the package `node` is made of, into int/node in the user's cache.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { constants, homedir } from 'node:os';
import { delimiter, join } from 'node:path';

const isWindows = process.platform === 'win32';
const [version = '', separator, command, ...args] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(version) || separator !== '--' || command === undefined) {
  console.error(
    'on-node: Usage: node .ci/scripts/on-node.mjs VERSION -- COMMAND [ARGUMENTS], VERSION as in 24 or 20.19.0',
  );
  process.exit(2);
}

const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'int', 'node');
const folder = join(cache, version);
const bin = join(folder, 'node_modules', name, 'bin');

/** Fetches it beside its place, which only a whole one takes. */
function fetchNode() {
  console.error(`on-node: getting Node ${version} into ${folder}`);
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(`${folder}.`);
  const options = ['--prefix', made, '--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'];
  const { status } = spawnSync('npm', ['install', ...options, `${name}@${version}`], {
    cwd: made,
    // What npm says goes where messages go; the command's output stands alone.
    stdio: ['ignore', 2, 2],
    shell: isWindows,
  });
  if (status === 0 && !existsSync(folder)) renameSync(made, folder);
  else rmSync(made, { recursive: true });
  if (status !== 0) {
    console.error(`on-node: npm could not get ${name}@${version}`);
    process.exit(3);
  }
}

if (!existsSync(bin)) fetchNode();
const child = spawn(command, args, {
  env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` },
  stdio: 'inherit',
  shell: isWindows,
});
// This ends when the command has. What comes from the keyboard reaches both; the rest is handed on.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('error', (error) => {
  console.error(`on-node: ${error.message}`);
  process.exitCode = 127;
});
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 128 + constants.signals[signal]);
});
