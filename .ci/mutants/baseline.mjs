// @ts-check
// What the tests do without a mutant: they have to be green, and the time that each file takes is needed later.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../scripts/workspaces.mjs';
import { runTests } from './tests.mjs';

/** Kept from run to run: the tests of an unchanged tree need not show twice that they are green. */
const KEPT = join(repository, 'node_modules', '.cache', 'int-mutants');

/**
 * Seconds that each test file takes.
 *
 * @param {import('./tree.mjs').Tree} tree
 * @param {string} name the tree's
 * @param {readonly string[]} files
 * @param {AbortSignal} signal
 * @returns {Promise<Map<string, number>>} one for each file
 * @throws Error if a test fails twice
 */
export async function measureTests(tree, name, files, signal) {
  const path = join(KEPT, `${name}.json`);
  /** @type {Record<string, number>} */
  const known = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  // What fails once may be the machine's fault.
  for (let attempt = 1; ; attempt++) {
    const missing = files.filter((file) => known[file] === undefined);
    if (missing.length === 0) break;
    const { failed, hung, broken, ended } = await runTests(tree, missing, { isWhole: true, signal });
    const [first] = failed;
    if (hung !== undefined) throw new Error('without a mutant, vitest does not end');
    if (broken.length > 0) throw new Error(`without a mutant, ${broken.join('; ')}`);
    if (first !== undefined && attempt === 2) {
      throw new Error(`without a mutant, ${first.file} fails: ${first.test}: ${first.why}`);
    }
    for (const [file, seconds] of ended) if (!failed.some((test) => test.file === file)) known[file] = seconds;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(known, null, 1));
  }
  return new Map(files.map((file) => [file, known[file] ?? 0]));
}
