// @ts-check
// What is kept of the runs: benchmarks/results/mutants.json, by label.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beginRun, contentOf, readResults as readFile, writeResults } from '../../benchmarks/harness/src/index.mjs';
import { repository } from '../scripts/workspaces.mjs';
import { mutants } from './list.mjs';

/**
 * `killed`: a test failed. `timed out`: a test did not end, which counts as killed. `survived`: all tests were green.
 * `unclear`: something else went wrong, such as a file that could not be loaded; it counts as a survivor.
 * @typedef {'killed' | 'timed out' | 'survived' | 'unclear'} Outcome
 */

/**
 * @typedef {object} Result
 * @property {Outcome} outcome
 * @property {number} seconds
 * @property {string} [by] the test file that found it
 * @property {string} [test] in that file
 * @property {string} [why] what the test said, or what went wrong
 */

/**
 * All runs of one label over one tree.
 * @typedef {object} Labelled
 * @property {string} tree its name
 * @property {string} commit
 * @property {string | null} date of the last run
 * @property {string} tests which ones were run
 * @property {string | null} node
 * @property {import('../../benchmarks/harness/src/results.mjs').Machine | null} machine
 * @property {Record<string, Result>} mutants by id
 */

/** @type {(() => import('../../benchmarks/harness/src/results.mjs').Surroundings) | undefined} */
let around;
const FILE = join(repository, 'benchmarks', 'results', 'mutants.json');

/** How many mutants fewer may be found after a change of the tests than before. */
export const MAY_FALL_BY = 1;

/** @returns {Record<string, Labelled>} */
export function readResults() {
  return existsSync(FILE) ? contentOf(/** @type {typeof readFile<Record<string, Labelled>>} */ (readFile)(FILE)) : {};
}

/**
 * Adds a result to those of its label; results over another tree, with other tests, or of mutants that are no more, are dropped.
 *
 * @param {string} label
 * @param {Pick<Labelled, 'tree' | 'commit' | 'tests'>} about
 * @param {string} id
 * @param {Result} result
 */
export function keepResult(label, about, id, result) {
  around ??= beginRun('.ci/mutants/run.mjs');
  const head = around();
  const all = readResults();
  const old = all[label];
  const isSame = old !== undefined && old.tree === about.tree && old.tests === about.tests;
  const kept = isSame
    ? Object.entries(old.mutants).filter(([each]) => mutants.some((mutant) => mutant.id === each))
    : [];
  all[label] = {
    ...about,
    date: head.date,
    node: head.node,
    machine: head.machine,
    mutants: { ...Object.fromEntries(kept), [id]: result },
  };
  writeResults(FILE, head, all);
}

/** @param {Result | undefined} result */
export const isFound = (result) => result?.outcome === 'killed' || result?.outcome === 'timed out';

/**
 * How two labels compare, over the mutants that both have.
 *
 * @param {Labelled} before
 * @param {Labelled} after
 * @returns {{ mutants: number, foundBefore: number, foundAfter: number, lost: string[], won: string[] }}
 */
export function compare(before, after) {
  const both = Object.keys(before.mutants).filter((id) => after.mutants[id] !== undefined);
  /** @param {Labelled} labelled @param {string} id */
  const found = (labelled, id) => isFound(labelled.mutants[id]);
  return {
    mutants: both.length,
    foundBefore: both.filter((id) => found(before, id)).length,
    foundAfter: both.filter((id) => found(after, id)).length,
    lost: both.filter((id) => found(before, id) && !found(after, id)),
    won: both.filter((id) => !found(before, id) && found(after, id)),
  };
}
