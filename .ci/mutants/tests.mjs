// @ts-check
// Runs tests in a tree, and watches them: a test that never ends is ended here.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./tree.mjs').Tree} Tree */
/** @typedef {import('./vitest.mjs').Told} Told */

/**
 * @typedef {object} Run
 * @property {Extract<Told, { event: 'failed' }>[]} failed tests that failed, the first one first
 * @property {string | undefined} hung a file that did not end in time; empty if no file was running
 * @property {string[]} broken what else went wrong
 * @property {Map<string, number>} ended how long each file took that ended, in seconds
 */

/**
 * @typedef {object} RunOptions
 * @property {boolean} isWhole whether to go on when a test has failed
 * @property {ReadonlyMap<string, number>} [limits] seconds that a file may take; one that is not there has no limit
 * @property {AbortSignal} signal ends all at once
 */

const PROGRAM = fileURLToPath(new URL('vitest.mjs', import.meta.url));

/** How long vitest may need to start and to end, in seconds. */
const ALLOWED_SECONDS = 60;

/** How long tests have to clean up after the first one failed, in milliseconds. */
const CLEANING_UP_MS = 10_000;

/**
 * Runs test files.
 *
 * @param {Tree} tree
 * @param {readonly string[]} files relative to the tree, in the order in which to run them
 * @param {RunOptions} options
 * @returns {Promise<Run>}
 * @throws the signal's reason
 */
export function runTests(tree, files, { isWhole, limits, signal }) {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const seconds = () => (performance.now() - start) / 1000;
    /** @type {Run} */
    const run = { failed: [], hung: undefined, broken: [], ended: new Map() };
    /** @type {Map<string, { began: number, until: number }>} */
    const running = new Map();
    const isEnding = () => !isWhole && run.failed.length > 0;
    let lastNews = 0;
    let errors = '';

    const { INT_REQUIRE_ALL: _, ...environment } = process.env;
    // A group of its own, so that the tests' processes end with it; their temporary files go with the tree.
    const child = spawn(process.execPath, [PROGRAM, isWhole ? '0' : '1', ...files], {
      cwd: tree.folder,
      env: { ...environment, TMPDIR: tree.temporary },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true,
    });
    const kill = () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // Gone already.
      }
    };
    signal.addEventListener('abort', kill);

    const watch = setInterval(() => {
      if (isEnding()) return;
      const late = [...running].find(([, { until }]) => seconds() > until)?.[0];
      if (late === undefined && (running.size > 0 || seconds() < lastNews + ALLOWED_SECONDS)) return;
      run.hung = late ?? '';
      kill();
    }, 1000);

    child.stderr?.on('data', (piece) => {
      errors = (errors + piece).slice(-2000);
    });
    child.on('message', (/** @type {Told} */ told) => {
      lastNews = seconds();
      if (told.event === 'begun') {
        const limit = limits?.get(told.file) ?? Number.POSITIVE_INFINITY;
        running.set(told.file, { began: lastNews, until: lastNews + limit });
      } else if (told.event === 'ended') {
        run.ended.set(told.file, lastNews - (running.get(told.file)?.began ?? lastNews));
        running.delete(told.file);
      } else if (told.event === 'failed') {
        run.failed.push(told);
        if (!isWhole) setTimeout(kill, CLEANING_UP_MS).unref();
      } else run.broken.push(`${told.file ?? 'outside any file'}: ${told.why}`);
    });
    child.on('error', reject);
    child.on('close', () => {
      clearInterval(watch);
      signal.removeEventListener('abort', kill);
      if (signal.aborted) return reject(signal.reason);
      // Whatever outlived the tests.
      kill();
      const isComplete = isEnding() || run.hung !== undefined || files.every((file) => run.ended.has(file));
      if (!isComplete && run.broken.length === 0)
        run.broken.push(`vitest ended before its files did: ${errors.trim()}`);
      resolve(run);
    });
  });
}
