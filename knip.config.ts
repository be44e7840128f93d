import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KnipConfig } from 'knip';
import { repository, workspaces } from './.ci/scripts/workspaces.mjs';

/** Tests use these without listing them; see .ci/scripts/check-layers.mjs. */
const { testing } = JSON.parse(readFileSync(join(repository, '.ci', 'scripts', 'layers.json'), 'utf8')) as {
  testing: readonly string[];
};

/** Dependencies that something else than TypeScript uses, by folder. */
const usedOtherwise: Readonly<Record<string, readonly string[]>> = {
  // Headers, for the Makefile.
  'native-afxdp': ['node-api-headers'],
};

/**
 * Per package, the sources that its tsup.config.ts builds: what it exports, and what it starts by itself, such as a
 * worker. No other barrel file counts, so that an export which nobody can import is found.
 */
const packages = workspaces()
  .filter(({ isPackage }) => isPackage)
  .map(({ folder, path }) => {
    const file = join(path, 'tsup.config.ts');
    const built = existsSync(file) ? readFileSync(file, 'utf8').matchAll(/'(src\/[^']+\.tsx?)'/g) : [];
    const entry = ['src/index.ts', ...[...built].flatMap(([, source]) => source ?? [])];
    return [
      folder,
      {
        // A test makes a process or a thread of a *.program.ts.
        entry: [...new Set(entry), 'test/**/*.program.ts', 'test/**/*.soak.ts'],
        project: ['src/**/*.{ts,tsx}', 'test/**/*.ts'],
        ignoreDependencies: [...testing.map((name) => `@int/${name}`), ...(usedOtherwise[folder] ?? [])],
      },
    ] as const;
  });

const config: KnipConfig = {
  tags: ['-internal'],
  // Installed by .ci/scripts/setup-system.sh.
  ignoreBinaries: [
    'java',
    'make',
    'tshark',
    'editcap',
    'redis-cli',
    'taskset',
    'ethtool',
    'unshare',
    'mkfifo',
    'mount',
    'umount',
    'ip',
  ],
  // A type that a signature of the same file mentions is exported with it.
  ignoreExportsUsedInFile: { interface: true, type: true },
  workspaces: {
    '.': {
      entry: ['.ci/scripts/*.mjs', '.ci/java/archive.mjs', '.ci/kafka/run.mjs', '.ci/mutants/{run,vitest}.mjs'],
      project: [
        '.ci/scripts/**/*.mjs',
        '.ci/{java,kafka,mutants,opensearch}/**/*.{mjs,ts}',
        '.ci/test/**/*.ts',
        '*.ts',
        '*.mjs',
      ],
      // Found at run time by .ci/scripts/declarations.mjs and protobuf.mjs.
      ignoreDependencies: ['typescript-7', '@bufbuild/buf', '@bufbuild/protoc-gen-es'],
    },
    ...Object.fromEntries(packages),
    'examples/*': { entry: ['src/*.ts', 'test/**/*.soak.ts'], project: ['src/**/*.ts', 'test/**/*.ts'] },
    p4: { entry: ['src/index.ts'], project: ['src/**/*.ts', 'test/**/*.ts'] },
    'benchmarks/studies/*': { entry: ['src/*.ts', 'test/**/*.soak.ts'], project: ['src/**/*.ts', 'test/**/*.ts'] },
    benchmarks: { entry: ['src/*.ts'], project: ['src/**/*.ts', 'test/**/*.ts'] },
  },
};

export default config;
