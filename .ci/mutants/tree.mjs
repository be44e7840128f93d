// @ts-check
// Copies of the repository's files, in which mutants live: the working tree itself is never changed.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { repository, workspaces } from '../scripts/workspaces.mjs';

/**
 * @typedef {object} Tree
 * @property {string} folder absolute
 * @property {string} temporary absolute; for the temporary files of its tests
 * @property {string[]} files all files, relative, with forward slashes
 */

/** What no test of a package reads: it does not count for a tree's name. */
const NOT_COUNTED = /^(?:\.ci\/(?:mutants\/|test\/mutants)|benchmarks\/results\/|[^/]*\.md$)/;

/** @param {string[]} args */
const git = (...args) => execFileSync('git', args, { cwd: repository, encoding: 'utf8', maxBuffer: 1 << 28 });

/**
 * The commit that a tree comes from.
 * @param {string} [ref] by default HEAD
 * @returns {string} its full name, with `+` behind it if the working tree has changes that are not in it, results aside
 */
export function commitOf(ref) {
  const commit = git('rev-parse', '--verify', `${ref ?? 'HEAD'}^{commit}`).trim();
  const isChanged = ref === undefined && git('status', '--porcelain', '--', '.', ':!benchmarks/results') !== '';
  return isChanged ? `${commit}+` : commit;
}

/**
 * Copies the files that Git knows, or would add, as they are in the working tree; or those of a commit.
 *
 * @param {string} at an absolute path, where there is nothing yet
 * @param {string} [ref] a commit
 * @returns {Tree}
 */
export function makeTree(at, ref) {
  const folder = join(at, 'tree');
  const temporary = join(at, 'tmp');
  mkdirSync(folder, { recursive: true });
  mkdirSync(temporary);
  const listed =
    ref === undefined
      ? ['ls-files', '--cached', '--others', '--exclude-standard']
      : ['ls-tree', '-r', '--name-only', ref];
  const files = git(...listed, '-z')
    .split('\0')
    .filter((file) => file !== '' && (ref !== undefined || existsSync(join(repository, file))));
  if (ref === undefined) {
    for (const file of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(repository, file), join(folder, file));
    }
  } else {
    const archive = join(temporary, 'files.tar');
    git('archive', '--format=tar', `--output=${archive}`, ref);
    execFileSync('tar', ['-xf', archive, '-C', folder]);
    rmSync(archive);
  }
  link(folder);
  return { folder, temporary, files };
}

/** Dependencies are shared with the repository, but for its own packages: they are the tree's.
 * @param {string} folder */
function link(folder) {
  const own = workspaces(folder);
  const scopes = new Set(own.map(({ manifest }) => manifest.name.split('/')[0]));
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(repository, 'node_modules'))) {
    if (!scopes.has(name)) symlinkSync(join(repository, 'node_modules', name), join(folder, 'node_modules', name));
  }
  for (const scope of scopes) mkdirSync(join(folder, 'node_modules', scope ?? ''));
  for (const { manifest, path, folder: name } of own) {
    symlinkSync(path, join(folder, 'node_modules', manifest.name));
    const nested = join(repository, name, 'node_modules');
    if (existsSync(nested)) symlinkSync(nested, join(path, 'node_modules'));
  }
}

/**
 * A name for all that tests can read in a tree; equal for equal trees.
 * @param {Tree} tree
 * @returns {string}
 */
export function nameOf({ folder, files }) {
  const hash = createHash('sha256').update(process.version);
  for (const file of [...files].sort()) {
    if (NOT_COUNTED.test(file) || !statSync(join(folder, file)).isFile()) continue;
    hash.update(`\0${file}\0`).update(readFileSync(join(folder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * Puts a mutant into a tree.
 *
 * @param {Tree} tree
 * @param {import('./list.mjs').Mutant} mutant
 * @returns {() => void} takes it out again
 * @throws Error if the text to replace is not there exactly once
 */
export function plant({ folder }, { id, file, find, put }) {
  const path = join(folder, file);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${id}: its text is in ${file} ${text.split(find).length - 1} times, not once`);
  }
  writeFileSync(path, before + put + after);
  return () => writeFileSync(path, text);
}
