// @ts-check
// The process that runs tests for tests.mjs: `node vitest.mjs BAIL FILE...` in the root of a tree. The files run in this order
// until BAIL tests have failed (0: all); what happens is told to the parent process as it happens.
import { resolve } from 'node:path';
import { startVitest } from 'vitest/node';

/**
 * What is told. `failed`: a test that failed. `broken`: something else went wrong, such as a file that cannot be loaded.
 * @typedef {{ event: 'begun', file: string } | { event: 'ended', file: string }
 *   | { event: 'failed', file: string, test: string, why: string }
 *   | { event: 'broken', file: string | null, why: string }} Told
 */

const [bail, ...files] = process.argv.slice(2);
const places = new Map(files.map((file, at) => [resolve(file), at]));

/** @param {Told} message */
function tell(message) {
  process.send?.(message);
}
/** @param {{ moduleId: string }} module */
const nameOf = ({ moduleId }) => files[places.get(moduleId) ?? -1] ?? moduleId;
/** @param {readonly { message?: string }[]} errors */
const reason = (errors) => errors[0]?.message ?? 'no message';

/** @type {import('vitest/node').Reporter} */
const reporter = {
  onTestModuleQueued: (module) => tell({ event: 'begun', file: nameOf(module) }),
  onTestCaseResult(test) {
    const result = test.result();
    if (result.state !== 'failed') return;
    tell({ event: 'failed', file: nameOf(test.module), test: test.fullName, why: reason(result.errors) });
  },
  // A hook that failed.
  onTestSuiteResult(suite) {
    const errors = suite.errors();
    if (errors.length > 0) tell({ event: 'broken', file: nameOf(suite.module), why: reason(errors) });
  },
  onTestModuleEnd(module) {
    const errors = module.errors();
    if (errors.length > 0) tell({ event: 'broken', file: nameOf(module), why: reason(errors) });
    tell({ event: 'ended', file: nameOf(module) });
  },
  onTestRunEnd(_modules, errors) {
    if (errors.length > 0) tell({ event: 'broken', file: null, why: reason(errors) });
  },
};

class InOrder {
  /** @param {import('vitest/node').TestSpecification[]} specifications */
  async shard(specifications) {
    return specifications;
  }

  /** @param {import('vitest/node').TestSpecification[]} specifications */
  async sort(specifications) {
    /** @param {{ moduleId: string }} specification */
    const place = ({ moduleId }) => places.get(moduleId) ?? files.length;
    return [...specifications].sort((a, b) => place(a) - place(b));
  }
}

const vitest = await startVitest('test', files, {
  watch: false,
  bail: Number(bail),
  reporters: [reporter],
  sequence: { sequencer: InOrder },
});
await vitest.close();
process.disconnect?.();
