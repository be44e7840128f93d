// @ts-check
// npm run mutants: does each of the mutants in list/ make a test fail?
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureTests } from './baseline.mjs';
import { mutants, packageOf, testsFor } from './list.mjs';
import { compare, isFound, keepResult, MAY_FALL_BY, readResults } from './results.mjs';
import { runTests } from './tests.mjs';
import { commitOf, makeTree, nameOf, plant } from './tree.mjs';

/** @typedef {import('./list.mjs').Mutant} Mutant */
/** @typedef {import('./results.mjs').Result} Result */
/** @typedef {import('./tree.mjs').Tree} Tree */

const USAGE = `npm run mutants -- [--package NAME]... [--mutant ID]... [--tests package|all] [--jobs N] [--ref COMMIT]
                   [--label before|after]

Makes each mutant of .ci/mutants/list in a copy of the repository, one at a time, and runs tests there until one fails.
--package, --mutant  only these
--tests all          the tests of all packages that need no build, instead of those of the mutant's package
--jobs N             so many mutants at a time, each in a copy of its own; default 1
--ref COMMIT         the sources and tests of a commit instead of those of the working tree
--label LABEL        keeps the results in benchmarks/results/mutants.json and compares them with those of the other label`;

const LABELS = ['before', 'after'];

/** A test file may take this often its usual time, and so many seconds more. */
const ALLOWED_FACTOR = 5;
const ALLOWED_SECONDS = 60;

/** A test file that is named like the mutant's counts as so much cheaper when it comes to the order. */
const NEARNESS = 0.2;

/** @param {string[]} args */
async function main(args) {
  const options = read(args);
  if (options === undefined) return console.log(USAGE);
  const ending = new AbortController();
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.once(name, () => ending.abort(new Error(`ended by ${name}`)));
  }
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'int-mutants-'));
  try {
    const results = await tryAll(options, folder, ending.signal);
    const found = results.filter((result) => isFound(result)).length;
    const late = results.filter(({ outcome }) => outcome === 'timed out').length;
    console.log(`\n${found} of ${results.length} mutants found, ${late} of them because a test did not end`);
    if (results.some(({ outcome }) => outcome === 'unclear')) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (options.label !== undefined) printDifference();
}

/**
 * @param {string[]} args
 * @returns {{ chosen: Mutant[], tests: 'package' | 'all', jobs: number, ref?: string, label?: string } | undefined} the
 *   options; undefined if only help is wanted
 */
function read(args) {
  const { values } = parseArgs({
    args,
    options: {
      package: { type: 'string', multiple: true, default: [] },
      mutant: { type: 'string', multiple: true, default: [] },
      tests: { type: 'string', default: 'package' },
      jobs: { type: 'string', default: '1' },
      ref: { type: 'string' },
      label: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const { tests, label, ref } = values;
  const jobs = Number(values.jobs);
  if (tests !== 'package' && tests !== 'all') throw new Error('--tests is package or all');
  if (!Number.isInteger(jobs) || jobs < 1) throw new Error('--jobs is a number from 1');
  if (label !== undefined && !LABELS.includes(label)) throw new Error(`--label is ${LABELS.join(' or ')}`);
  for (const name of values.package) {
    if (!mutants.some((mutant) => packageOf(mutant) === name)) throw new Error(`there is no mutant of ${name}`);
  }
  for (const id of values.mutant) {
    if (!mutants.some((mutant) => mutant.id === id)) throw new Error(`there is no mutant ${id}`);
  }
  const isAll = values.package.length + values.mutant.length === 0;
  const chosen = mutants.filter(
    (mutant) => isAll || values.package.includes(packageOf(mutant)) || values.mutant.includes(mutant.id),
  );
  return { chosen, tests, jobs, ...(ref !== undefined && { ref }), ...(label !== undefined && { label }) };
}

/**
 * @param {NonNullable<ReturnType<typeof read>>} options
 * @param {string} folder for the copies
 * @param {AbortSignal} signal
 * @returns {Promise<Result[]>}
 */
async function tryAll({ chosen, tests, jobs, ref, label }, folder, signal) {
  const trees = Array.from({ length: Math.min(jobs, chosen.length) }, (_, at) => makeTree(join(folder, `${at}`), ref));
  const [first] = trees;
  if (first === undefined) return [];
  for (const mutant of chosen) plant(first, mutant)();
  const about = { tree: nameOf(first), commit: commitOf(ref), tests };

  /** @type {Map<string, Map<string, number>>} */
  const usual = new Map();
  for (const name of new Set(chosen.map(packageOf))) {
    const files = testsFor(first.files, name, tests);
    usual.set(name, await measureTests(first, about.tree, files, signal));
    console.log(`${name}: ${files.length} test files are green without a mutant`);
  }

  const finders = earlierFinders();
  const width = Math.max(...chosen.map(({ id }) => id.length));
  const waiting = [...chosen];
  /** @type {Result[]} */
  const results = [];
  const workers = trees.map(async (tree) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const times = usual.get(packageOf(mutant)) ?? new Map();
      const result = await tryOne(tree, mutant, times, finders.get(mutant.id) ?? [], signal);
      results.push(result);
      if (label !== undefined) keepResult(label, about, mutant.id, result);
      const where = result.by === undefined ? '' : `  ${result.by}: ${result.test ?? 'did not end'}`;
      const seconds = `${result.seconds.toFixed(0)} s`.padStart(6);
      console.log(`${mutant.id.padEnd(width)}  ${result.outcome.padEnd(9)}${seconds}${where}`);
      if (result.outcome === 'unclear') console.log(`  ${result.why}`);
    }
  });
  await Promise.all(workers);
  return results;
}

/** The test files that found a mutant in runs that were kept: tried first. */
function earlierFinders() {
  /** @type {Map<string, string[]>} */
  const finders = new Map();
  for (const { mutants: kept } of Object.values(readResults())) {
    for (const [id, { by }] of Object.entries(kept)) {
      if (by !== undefined) finders.set(id, [...(finders.get(id) ?? []), by]);
    }
  }
  return finders;
}

/**
 * The names of folders and files below `src` or `test`, word by word: tests have those of what they test.
 * @param {string} file
 */
const wordsOf = (file) =>
  file
    .split('/')
    .slice(3)
    .flatMap((name) => name.replace(/(?:\.test)?\.ts$/, '').split('-'));

/**
 * @param {Tree} tree
 * @param {Mutant} mutant
 * @param {ReadonlyMap<string, number>} usual seconds by test file
 * @param {readonly string[]} finders files to run first; after them, the cheapest come first
 * @param {AbortSignal} signal
 * @returns {Promise<Result>}
 */
async function tryOne(tree, mutant, usual, finders, signal) {
  const words = wordsOf(mutant.file);
  /** @param {string} file */
  const cost = (file) => {
    if (finders.includes(file)) return -1;
    const isNear = wordsOf(file).some((word) => words.includes(word));
    return (usual.get(file) ?? 0) * (isNear ? NEARNESS : 1);
  };
  let files = [...usual.keys()].sort((a, b) => cost(a) - cost(b));
  const limits = new Map([...usual].map(([file, seconds]) => [file, seconds * ALLOWED_FACTOR + ALLOWED_SECONDS]));
  const began = performance.now();
  /** @param {Omit<Result, 'seconds'>} rest @returns {Result} */
  const result = (rest) => ({ ...rest, seconds: Math.round((performance.now() - began) / 100) / 10 });
  const remove = plant(tree, mutant);
  try {
    for (;;) {
      const { failed, hung, broken } = await runTests(tree, files, { isWhole: false, limits, signal });
      const [first] = failed;
      if (hung) return result({ outcome: 'timed out', by: hung });
      if (hung === '') return result({ outcome: 'unclear', why: 'vitest did not end' });
      if (first !== undefined) {
        const { file, test, why } = first;
        if (/^(?:Test|Hook) timed out/.test(why)) return result({ outcome: 'timed out', by: file, test });
        // Once may be the machine's fault.
        const again = await runTests(tree, [file], { isWhole: false, limits, signal });
        if (again.failed.length > 0) {
          return result({ outcome: 'killed', by: file, test, why: why.split('\n', 1)[0] ?? '' });
        }
        files = files.filter((each) => each !== file);
        continue;
      }
      if (broken.length > 0) return result({ outcome: 'unclear', why: broken.join('; ') });
      return result({ outcome: 'survived' });
    }
  } finally {
    remove();
  }
}

function printDifference() {
  const { before, after } = readResults();
  if (before === undefined || after === undefined) return;
  const { mutants: count, foundBefore, foundAfter, lost, won } = compare(before, after);
  console.log(`before ${foundBefore}, after ${foundAfter} of the ${count} mutants that both were tried with`);
  for (const id of lost) console.log(`no longer found: ${id}`);
  for (const id of won) console.log(`found now: ${id}`);
  if (foundAfter < foundBefore - MAY_FALL_BY) {
    console.log(`the score must not fall by more than ${MAY_FALL_BY}`);
    process.exitCode = 1;
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`mutants: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
