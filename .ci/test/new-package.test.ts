import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { repository } from '../scripts/workspaces.mjs';

// It builds, checks and packs a package.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let root: string;

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'int-new-package-')));
  for (const file of [
    'package.json',
    'LICENSE',
    'biome.json',
    '.gitignore',
    'tsconfig.base.json',
    'tsup.config.base.ts',
    '.ci/scripts',
    '.ci/test/durations.json',
    '.ci/test/longest-first.ts',
    '.ci/test/shared.ts',
  ]) {
    cpSync(join(repository, file), join(root, file), { recursive: true });
  }
  cpSync(join(repository, 'vitest.config.ts'), join(root, 'vitest.config.ts'));
  mkdirSync(join(root, 'packages'));
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'), 'junction');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Runs a Node program in the copy. */
function node(...args: string[]): { status: number | null; output: string } {
  const { NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env,
    timeout: 100_000,
  });
  return { status, output: stdout + stderr };
}
const newPackage = (...args: string[]): { status: number | null; output: string } =>
  node(join(repository, '.ci', 'scripts', 'new-package.mjs'), '--root', root, ...args);
const tool = (path: string, ...args: string[]): { status: number | null; output: string } =>
  node(join(repository, 'node_modules', path), ...args);
const good = { status: 0, output: expect.any(String) as unknown };

describe('npm run new-package', () => {
  it('writes a package that passes every check as it is', () => {
    expect(newPackage('flow-keys', 'Keys of flows.', '--layer', 'codec')).toMatchObject(good);
    expect(existsSync(join(root, '.changeset', 'new-flow-keys.md'))).toBe(true);
    expect(node('.ci/scripts/check-layers.mjs')).toMatchObject(good);
    expect(tool('@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', 'packages', '.ci/scripts')).toMatchObject(
      good,
    );
    expect(tool('typescript/bin/tsc', '-p', 'packages/flow-keys')).toMatchObject(good);
    expect(tool('vitest/vitest.mjs', 'run', 'packages/flow-keys')).toMatchObject(good);
  });

  it('refuses a second package of that name, a bad name, a bad layer', () => {
    expect(newPackage('flow-keys', 'Keys of flows.')).toMatchObject({ status: 2 });
    expect(newPackage('../evil', 'Evil.')).toMatchObject({ status: 2 });
    expect(newPackage('fine', 'Fine.', '--layer', 'attic')).toMatchObject({
      status: 2,
      output: expect.stringContaining('there is no layer "attic"') as unknown,
    });
  });
});

describe('npm run lint, dependencies between packages', () => {
  const change = (path: string, from: string, to: string): void => {
    const file = join(root, path);
    const text = readFileSync(file, 'utf8');
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
  };

  beforeAll(() => {
    for (const [name, layer] of [
      ['arbitraries', 'methods'],
      ['low', 'bytes'],
      ['left', 'methods'],
      ['right', 'methods'],
    ] as const) {
      expect(newPackage(name, `A package of ${layer}.`, '--layer', layer)).toMatchObject(good);
    }
  });

  it('may point down', () => {
    change(
      'packages/left/package.json',
      '"publishConfig"',
      '"dependencies": { "@int/low": "^0.0.0" }, "publishConfig"',
    );
    change('packages/left/src/index.ts', '/**', "import '@int/low';\n/**");
    expect(node('.ci/scripts/check-layers.mjs')).toMatchObject(good);
  });

  it('may point anywhere from a test to what makes test inputs', () => {
    change('packages/low/test/index.test.ts', 'import', "import '@int/arbitraries';\nimport");
    expect(node('.ci/scripts/check-layers.mjs')).toMatchObject(good);
  });

  it('may point neither up nor sideways, nor reach into a folder, nor need Node in a browser package', () => {
    change('packages/low/src/index.ts', '/**', "import type { x } from '@int/left';\nimport '@int/arbitraries';\n/**");
    change(
      'packages/low/package.json',
      '"publishConfig"',
      '"devDependencies": { "@int/right": "^0.0.0" }, "publishConfig"',
    );
    change('packages/right/src/index.ts', '/**', "import '@int/left';\nimport '../../low/src/index.js';\n/**");
    change(
      'packages/right/test/index.test.ts',
      'import',
      "import 'node:fs';\nimport '@int/low/inside';\nimport '@int/ghost';\nimport",
    );
    change('packages/left/src/index.ts', '/**', "import 'node:fs';\n/**");
    const { status, output } = node('.ci/scripts/check-layers.mjs');
    expect(status).toBe(1);
    const lines = output.split('\n\n')[0]!.split('\n');
    expect(lines.sort()).toEqual(
      [
        'packages/left/src/index.ts: imports node:fs, but @int/left must also run in a browser',
        'packages/low/package.json: depends on @int/right, but @int/right (layer "methods") is above @int/low (layer "bytes")',
        'packages/low/src/index.ts: imports @int/arbitraries, but @int/arbitraries (layer "methods") is above @int/low (layer "bytes")',
        'packages/low/src/index.ts: imports @int/arbitraries, which packages/low/package.json does not list',
        'packages/low/src/index.ts: imports @int/left, but @int/left (layer "methods") is above @int/low (layer "bytes")',
        'packages/low/src/index.ts: imports @int/left, which packages/low/package.json does not list',
        'packages/right/src/index.ts: imports @int/left, but @int/left (layer "methods") is beside @int/right (layer "methods")',
        'packages/right/src/index.ts: imports @int/left, which packages/right/package.json does not list',
        'packages/right/src/index.ts: reaches into packages/low by a path; import @int/low by its name',
        'packages/right/test/index.test.ts: imports @int/ghost, and there is no such package',
        'packages/right/test/index.test.ts: imports @int/low, which packages/right/package.json does not list',
        'packages/right/test/index.test.ts: imports @int/low/inside, which @int/low does not export',
      ].sort(),
    );
  });

  it('needs a layer for every package', () => {
    change('.ci/scripts/layers.json', '"low", ', '');
    const { status, output } = node('.ci/scripts/check-layers.mjs');
    expect(status).toBe(1);
    expect(output).toContain('packages/low: has no layer; add "low" to one in .ci/scripts/layers.json');
  });
});
