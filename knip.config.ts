import { relative } from 'node:path';
import type { KnipConfig } from 'knip';
import { entryPoints, sourceOf, workspaces } from './scripts/workspaces.mjs';

/** Per package, the sources of what it exports, and no other barrel file. */
const packages = workspaces()
  .filter(({ folder }) => folder.startsWith('packages/'))
  .map((workspace) => {
    const sources = entryPoints(workspace.manifest).flatMap((path) => sourceOf(workspace, path) ?? []);
    return [
      workspace.folder,
      {
        entry: sources.map((source) => relative(workspace.path, source)),
        project: ['src/**/*.ts', 'test/**/*.ts'],
      },
    ] as const;
  });

const config: KnipConfig = {
  tags: ['-internal'],
  ignoreBinaries: ['make'],
  workspaces: {
    '.': {
      entry: ['scripts/*.mjs'],
      project: ['scripts/**/*.mjs', 'test/**/*.ts', '*.ts', '*.mjs'],
      // Found at run time by scripts/check-packages.mjs.
      ignoreDependencies: ['@arethetypeswrong/cli'],
    },
    ...Object.fromEntries(packages),
    'examples/*': { entry: ['src/*.ts'], project: ['src/**/*.ts', 'test/**/*.ts'] },
    benchmarks: { entry: ['src/*.ts'], project: ['src/**/*.ts', 'test/**/*.ts'] },
  },
};

export default config;
