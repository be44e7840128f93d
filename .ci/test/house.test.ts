import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minVersion, satisfies } from 'semver';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  entryPoints,
  type Manifest,
  publicPackages,
  repository,
  sourceOf,
  workspaces,
} from '../scripts/workspaces.mjs';
import { requires, skip } from './requires.js';

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const code = /\.[cm]?[jt]sx?$/;

/** What no file may contain. The patterns are written such that they do not match themselves. */
const forbidden: readonly { what: string; pattern: RegExp; files?: RegExp }[] = [
  { what: 'a package registry by its host name', pattern: /\bregistry\.[a-z0-9-]+\.(?:org|com|net|io|dev|cloud)\b/ },
  {
    what: 'a resolved download address in the lock file',
    pattern: /"resolved": "https?:/,
    files: /^package-lock\.json$/,
  },
  { what: 'an absolute path of one machine', pattern: /(?<![\w.~$}*-])\/(?:work|root|tmp|home)\// },
  { what: 'a compiler error that is switched off', pattern: /@ts-(?:ignore|nocheck)\b/, files: code },
  { what: 'a test that runs alone', pattern: /\.only\(/, files: code },
  {
    what: 'a test that is left out; see .ci/test/requires.ts',
    pattern: /\b(?:it|test|describe)\.(?:skip|todo)\(/,
    files: code,
  },
  {
    what: 'a wait without an end; see .ci/test/until.ts',
    pattern: /\bwhile \(.*\) await .*(?:\bsleep\(|\bdelay\(|setTimeout|setImmediate|nextTurn)/,
    files: /(?:^|\/)test\/.*\.ts$/,
  },
  {
    what: 'a number of runs that may be a fraction, with which fast-check never ends; see runs in .ci/test/length.ts',
    pattern: /\bnumRuns: [^,}(]*\/ /,
    files: /(?:^|\/)test\/.*\.ts$/,
  },
  {
    what: 'a test that reaches into src without lying in a folder internals: import the package by its name',
    pattern:
      /(?:\b(?:from|import)\s|\b(?:import|importActual|mock)\(\s*)\s*['"`]\.\.?\/(?:\.\.\/)*(?:src['"`/]|(?:[\w-]+\/)*internals\/)/,
    files: /^(?:packages\/[^/]+|native-afxdp|p4|benchmarks(?:\/.+)?)\/test\/(?!(?:.*\/)?internals\/).*\.[cm]?[jt]s$/,
  },
  {
    what: 'a member that only the compiler keeps private: its name begins with #',
    pattern: /^\s+(?:private|[^*/'"]*\(private) (?!constructor\b)/,
    files: /\.[cm]?tsx?$/,
  },
  { what: 'a cast to any', pattern: /\bas any\b(?=\s*[;,)\].}>]|$)/m, files: /\.[cm]?tsx?$/ },
];

describe('every file', () => {
  let files: string[] = [];
  beforeAll(() => {
    // Files not added yet count as well, so that a mistake shows before the commit.
    const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: repository,
      encoding: 'utf8',
      timeout: 30_000,
    });
    files = (stdout ?? '').split('\0').filter((file) => file !== '' && existsSync(join(repository, file)));
  });

  it.each(forbidden.map((rule) => [rule.what, rule] as const))('is free of %s', (_what, { pattern, files: which }) => {
    requires('git', 'for instance: apt-get install git');
    expect(files).toContain('package.json');
    const found = files
      .filter((file) => which?.test(file) ?? true)
      .map((file) => [file, readFileSync(join(repository, file))] as const)
      .filter(([, bytes]) => !bytes.subarray(0, 8192).includes(0))
      .flatMap(([file, bytes]) =>
        bytes
          .toString('utf8')
          .split('\n')
          .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [])),
      );
    expect(found).toEqual([]);
  });
});

describe.each(publicPackages().map((workspace) => [workspace.manifest.name, workspace] as const))(
  '%s',
  (name, workspace) => {
    const { manifest, folder, begun } = workspace;

    it('says what npm and its readers need to know', () => {
      const root = JSON.parse(read('package.json')) as { license: string; engines: { node: string } };
      expect(manifest).toMatchObject({
        name,
        description: expect.stringMatching(/\.$/) as unknown,
        license: root.license,
        type: 'module',
        sideEffects: false,
        engines: { node: root.engines.node },
        types: './dist/index.d.ts',
        publishConfig: { access: 'public' },
      });
      expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'src']));
      expect(manifest.exports).toMatchObject({ './package.json': './package.json' });
    });

    it('gives types first in each branch of its exports', () => {
      const conditions = (value: unknown): string[][] =>
        typeof value !== 'object' || value === null
          ? []
          : [Object.keys(value), ...Object.values(value).flatMap((inner) => conditions(inner))];
      const branches = entryPoints(manifest).flatMap((path) => conditions(manifest.exports?.[path]));
      expect(branches.length).toBeGreaterThan(0);
      for (const branch of branches.filter((keys) => keys.includes('default'))) expect(branch[0]).toBe('types');
    });

    it('has the licence of the repository', () => {
      expect(read(`${folder}/LICENSE`)).toBe(read('LICENSE'));
    });

    it('asks for the current versions of the packages it uses', () => {
      const versions = new Map(workspaces().map((other) => [other.manifest.name, other.manifest.version]));
      const own = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies }).filter(([key]) =>
        versions.has(key),
      );
      expect(own).toEqual(own.map(([key]) => [key, `^${versions.get(key)}`]));
    });

    it('has a README, and a source file that tests and the compiler find for each entry point', () => {
      if (!begun) skip(`${name} has no src/index.ts yet`);
      expect(read(`${folder}/README.md`)).toMatch(new RegExp(`^# ${name}\n`));
      const { compilerOptions } = JSON.parse(read('tsconfig.base.json')) as {
        compilerOptions: { paths: Record<string, string[]> };
      };
      for (const path of entryPoints(manifest)) {
        const source = sourceOf(workspace, path);
        expect(source, `${name}: source of ${path}`).toBeDefined();
        if (path === '.') continue;
        const mapped = compilerOptions.paths[name + path.slice(1)];
        expect(
          mapped?.map((file) => join(repository, file)),
          `tsconfig.base.json: paths of ${path}`,
        ).toEqual([source]);
      }
    });
  },
);

describe('types', () => {
  it.each(workspaces().map(({ folder }) => folder))('an editor in %s reads the sources of other packages', (folder) => {
    const file = join(repository, folder, 'tsconfig.json');
    if (!existsSync(file)) return skip(`${folder} has no tsconfig.json`);
    const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} };
    const options = ts.getParsedCommandLineOfConfigFile(file, {}, host)?.options ?? {};
    const importer = join(repository, folder, 'src', 'index.ts');
    for (const other of publicPackages().filter((each) => each.begun && each.folder !== folder)) {
      for (const path of entryPoints(other.manifest)) {
        const found = ts.resolveModuleName(other.manifest.name + path.slice(1), importer, options, ts.sys);
        expect(found.resolvedModule?.resolvedFileName).toBe(sourceOf(other, path));
      }
    }
  });

  it('of packages for browsers are checked without those of Node: tsconfig.browser.json leaves out the others', () => {
    const { exclude } = JSON.parse(read('tsconfig.browser.json')) as { exclude: string[] };
    const { node } = JSON.parse(read('.ci/scripts/layers.json')) as { node: string[] };
    const inPackages = node.filter((name) => existsSync(join(repository, 'packages', name)));
    expect(exclude).toEqual(['packages/*/src/node', ...inPackages.map((name) => `packages/${name}`)]);
  });
});

describe('package-lock.json', () => {
  it('knows every workspace as it is, without which npm ci fails; run npm install', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Partial<Manifest>> };
    const wants = ({ dependencies = {}, devDependencies = {}, peerDependencies = {} }: Partial<Manifest>): unknown => ({
      dependencies,
      devDependencies,
      peerDependencies,
    });
    for (const { folder, manifest } of workspaces()) {
      expect(wants(packages[folder] ?? {}), folder).toEqual(wants(manifest));
    }
  });

  it('has an entry for every optional dependency, without which npm ci fails; see .ci/scripts/complete-lock.mjs', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const entries = new Set(Object.keys(packages).map((key) => key.slice(key.lastIndexOf('node_modules/') + 13)));
    const wanted = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    expect(wanted.filter((name) => !entries.has(name))).toEqual([]);
  });

  it('has the hash of everything that comes from a registry; see .ci/scripts/complete-lock.mjs', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { link?: boolean; integrity?: string }>;
    };
    const fetched = Object.entries(packages).filter(
      ([key, { link }]) => key.includes('node_modules/') && link !== true,
    );
    expect(fetched.length).toBeGreaterThan(500);
    const bare = fetched.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
    expect(bare.map(([key]) => key)).toEqual([]);
  });

  describe('on the oldest Node', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    const floor = minVersion(engines.node)!;
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { version?: string; engines?: { node?: string } }>;
    };

    it('asks for no newer one, of which npm would warn', () => {
      const newer = Object.entries(packages).filter(([, entry]) => !satisfies(floor, entry.engines?.node ?? '*'));
      expect(newer.map(([key, { version, engines: wish }]) => `${key} ${version} ${wish?.node}`)).toEqual([]);
    });

    it('has no engines for the packages in .ci/scripts/engines.json, which are there and ask for a newer one', () => {
      const { packages: quiet } = JSON.parse(read('.ci/scripts/engines.json')) as { packages: Record<string, string> };
      for (const name of Object.keys(quiet)) {
        const at = name.lastIndexOf('@');
        const entry = packages[`node_modules/${name.slice(0, at)}`];
        expect(entry, name).toMatchObject({ version: name.slice(at + 1) });
        expect(entry, `${name}: run .ci/scripts/complete-lock.mjs`).not.toHaveProperty('engines');
        // What is installed still says it: without that, the line in engines.json is for nothing.
        const manifest = JSON.parse(read(`node_modules/${name.slice(0, at)}/package.json`)) as Partial<Manifest>;
        expect(satisfies(floor, manifest.engines?.node ?? '*'), name).toBe(false);
      }
    });
  });
});

describe('changesets', () => {
  const files = readdirSync(join(repository, '.changeset')).filter(
    (file) => file.endsWith('.md') && file !== 'README.md',
  );
  const names = publicPackages().map(({ manifest }) => manifest.name);

  it('name packages that exist, and say what changed', () => {
    for (const file of files) {
      const [, head = '', text = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(read(`.changeset/${file}`)) ?? [];
      const bumps = head.split('\n').map((line) => /^["'](.+)["']: (?:patch|minor|major)$/.exec(line)?.[1]);
      expect(bumps.length, file).toBeGreaterThan(0);
      for (const name of bumps) expect(names, file).toContain(name);
      expect(text.trim(), file).not.toBe('');
    }
  });
});
