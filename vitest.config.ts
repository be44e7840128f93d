import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { entryPoints, sourceOf, workspaces } from './.ci/scripts/workspaces.mjs';
import { LongestFirst } from './.ci/test/longest-first.js';

/** Tests read the sources, so that a failing line is the line one edits; the tarball tests read the build. */
const sources = workspaces().flatMap((workspace) =>
  entryPoints(workspace.manifest).map((path) => ({
    find: new RegExp(`^${workspace.manifest.name}${path.slice(1)}$`),
    replacement: sourceOf(workspace, path) ?? `${workspace.path}/src/index.ts`,
  })),
);

/** Two for each core: tests of programs, brokers and networks wait for most of their time. */
const cores = availableParallelism();
const maxWorkers = 2 * cores;

// Where a company's certificates are set, every node of a test would parse them all before it begins: 45 ms, more than all else
// of its start. No test speaks with anyone whom they are for.
delete process.env.NODE_EXTRA_CA_CERTS;

/**
 * `*.test.ts`: what `npm test` runs. `*.soak.ts`: systems under faults and load, and statistics, which `npm run soak:short` runs.
 * The long form has both.
 */
const kinds = process.env.INT_LONG === '1' ? '{test,soak}' : process.env.INT_SOAK === '1' ? 'soak' : 'test';

export default defineConfig({
  resolve: { alias: sources },
  test: {
    include: [
      `packages/*/test/**/*.${kinds}.ts`,
      `examples/*/test/**/*.${kinds}.ts`,
      `native-afxdp/test/**/*.${kinds}.ts`,
      `p4/test/**/*.${kinds}.ts`,
      `benchmarks/test/**/*.${kinds}.ts`,
      `benchmarks/harness/test/**/*.${kinds}.ts`,
      `benchmarks/studies/*/test/**/*.${kinds}.ts`,
      `.ci/test/**/*.${kinds}.ts`,
    ],
    maxWorkers,
    // A process for each worker, not for each file: modules are loaded once. A test puts back what it changes for all.
    pool: 'forks',
    isolate: false,
    // Random inputs are garbage at once: a larger young generation spares collections.
    execArgv: ['--max-semi-space-size=64'],
    // Time belongs to others on a machine that is shared. What passes only on its second try is told at the end of `.ci/run`.
    retry: process.env.CI === 'true' ? 1 : 0,
    globalSetup: './.ci/test/shared.ts',
    sequence: { sequencer: LongestFirst },
    // What rightly takes longer says so where it stands; the long form of anything may take an hour.
    testTimeout: process.env.INT_LONG === '1' ? 3_600_000 : 60_000,
    hookTimeout: 60_000,
  },
});
