import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { leftOut, mutants, packageOf, testsFor } from '../mutants/list.mjs';
import { compare, type Labelled, type Outcome } from '../mutants/results.mjs';
import { runTests } from '../mutants/tests.mjs';
import { plant, type Tree } from '../mutants/tree.mjs';
import { repository } from '../scripts/workspaces.mjs';

const PACKAGES = ['codec', 'collector', 'dart', 'detect', 'flowcache', 'gpint', 'p4vm', 'stream'];

describe('the list of mutants', () => {
  it('has sixty, with names of their own, over eight packages, and a third of them rare', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(60);
    expect(new Set(mutants.map(({ id }) => id)).size).toBe(mutants.length);
    expect([...new Set(mutants.map(packageOf))].sort()).toEqual(PACKAGES);
    for (const name of PACKAGES) {
      expect(mutants.filter((mutant) => packageOf(mutant) === name).length, name).toBeGreaterThanOrEqual(7);
    }
    expect(mutants.filter(({ rare }) => rare).length).toBeGreaterThanOrEqual(20);
  });

  it.each(mutants.map((mutant) => [mutant.id, mutant] as const))('%s changes one place', (id, mutant) => {
    const { file, find, put } = mutant;
    expect(id).toMatch(new RegExp(`^${packageOf(mutant)}-[a-z0-9-]+$`));
    expect(file).toMatch(/^packages\/[a-z0-9]+\/src\/.*(?<!\.wasm)\.ts$/);
    expect(readFileSync(join(repository, file), 'utf8').split(find)).toHaveLength(2);
    expect(put).not.toBe(find);
  });

  it('leaves out tests that are there', () => {
    for (const file of leftOut) expect(testsFor([file], packageOf({ ...mutants[0]!, file }), 'package')).toEqual([]);
    for (const file of leftOut) expect(readFileSync(join(repository, file), 'utf8')).toContain('assembly/build.mjs');
  });
});

describe('running tests on a mutant', () => {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'int-mutants-test-'));
  afterAll(() => rmSync(root, { recursive: true }));

  /** A tree of a source and of test files. */
  function tree(files: Record<string, string>): Tree {
    const at = mkdtempSync(join(root, 'of-'));
    const made: Tree = { folder: join(at, 'tree'), temporary: join(at, 'tmp'), files: Object.keys(files) };
    for (const folder of [made.folder, made.temporary]) mkdirSync(folder);
    symlinkSync(join(repository, 'node_modules'), join(made.folder, 'node_modules'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(made.folder, name), text);
    return made;
  }

  const VITEST = "import { expect, it } from 'vitest';\n";
  const GREEN = `${VITEST}import { half } from './source.js';\nit('is green', () => expect(half(0)).toBe(0));\n`;
  const HALF = `${VITEST}import { half } from './source.js';\nit('halves', () => expect(half(8)).toBe(4));\n`;
  const SOURCE = 'export const half = (x) => x >>> 1;\n';
  const mutant = { id: 'x', file: 'source.js', find: '>>> 1', put: '>>> 2', defect: 'a quarter' };
  const options = { isWhole: false, signal: new AbortController().signal };

  it('ends with the first failed test, and says which', async () => {
    const made = tree({ 'source.js': SOURCE, 'a.test.js': GREEN, 'b.test.js': HALF });
    const remove = plant(made, mutant);
    const found = await runTests(made, ['a.test.js', 'b.test.js'], options);
    expect(found.failed[0]).toMatchObject({
      file: 'b.test.js',
      test: 'halves',
      why: 'expected 2 to be 4 // Object.is equality',
    });
    remove();
    expect(readFileSync(join(made.folder, 'source.js'), 'utf8')).toBe(SOURCE);
    const { failed, hung, broken, ended } = await runTests(made, ['a.test.js', 'b.test.js'], options);
    expect([failed, hung, broken, ended.size]).toEqual([[], undefined, [], 2]);
  });

  it('ends a test that never ends', async () => {
    const made = tree({ 'a.test.js': `${VITEST}it('hangs', () => { for (;;); });\n` });
    const { failed, hung } = await runTests(made, ['a.test.js'], { ...options, limits: new Map([['a.test.js', 1]]) });
    expect([failed, hung]).toEqual([[], 'a.test.js']);
  });

  it('does not take a file that cannot be loaded for a failed test', async () => {
    const made = tree({ 'a.test.js': "import './gone.js';\n" });
    const { failed, broken } = await runTests(made, ['a.test.js'], options);
    expect(failed).toEqual([]);
    expect(broken.join()).toContain('gone.js');
  });

  it('refuses a mutant whose text is not there once', () => {
    const made = tree({ 'source.js': SOURCE + SOURCE });
    expect(() => plant(made, mutant)).toThrow('x: its text is in source.js 2 times, not once');
    expect(() => plant(made, { ...mutant, file: 'gone.js' })).toThrow('0 times');
  });
});

it('two labels are compared over the mutants that both have', () => {
  const labelled = (...outcomes: Outcome[]): Labelled => ({
    tree: '',
    commit: '',
    date: '',
    tests: 'package',
    node: '',
    machine: { cpu: '', cpus: 0, memoryGiB: 0 },
    mutants: Object.fromEntries(outcomes.map((outcome, at) => [`m${at}`, { outcome, seconds: 1 }])),
  });
  expect(
    compare(
      labelled('killed', 'timed out', 'survived', 'killed', 'killed'),
      labelled('unclear', 'killed', 'killed', 'survived'),
    ),
  ).toEqual({ mutants: 4, foundBefore: 3, foundAfter: 2, lost: ['m0', 'm3'], won: ['m2'] });
});
