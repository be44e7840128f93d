import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pack } from '../scripts/pack.mjs';
import { publicPackages, repository, type Workspace } from '../scripts/workspaces.mjs';
import { shared } from './shared.js';
import { unpack } from './unpack.js';

/** A project outside the repository in which the packed packages are installed, as a user has them. */
export interface Consumer {
  /** Absolute path of the project. */
  readonly folder: string;
  /** The packages that have sources, in alphabetical order. */
  readonly packages: readonly Workspace[];
  /** Size of each tarball in bytes, by package name. */
  readonly packedBytes: ReadonlyMap<string, number>;
  /** Runs a program in the project, with the installed commands in PATH; `input` is always empty. */
  run(
    command: string,
    args: readonly string[],
    cwd?: string,
  ): { status: number | null; stdout: string; stderr: string };
}

/** Longer than any README example or command may take, in milliseconds. */
const PATIENCE_MS = 180_000;

/**
 * Packs every public package with `npm pack` and installs the tarballs into an empty project, without network: our own
 * packages are unpacked, and the third-party packages that they declare, and no others, are links to the repository's.
 * All test files of a run share the project: each keeps to folders of its own.
 *
 * @throws Error if a package is not built, cannot be packed, or declares a dependency that is not installed
 */
export async function installTarballs(): Promise<Consumer> {
  const { folder, packedBytes } = await shared('consumer', install);
  return {
    folder,
    packages: publicPackages().filter(({ begun }) => begun),
    packedBytes: new Map(packedBytes),
    run(command, args, cwd = folder) {
      const commands = join(folder, 'node_modules', '.bin');
      const PATH = `${commands}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`;
      // The test runner's own settings (NODE_OPTIONS, VITEST...) are not the user's.
      const { NODE_OPTIONS: _options, NODE_ENV: _env, VITEST: _vitest, ...env } = process.env;
      const { status, stdout, stderr, error } = spawnSync(command, args, {
        cwd,
        encoding: 'utf8',
        env: { ...env, PATH },
        input: '',
        timeout: PATIENCE_MS,
      });
      return { status, stdout, stderr: error === undefined ? stderr : `${stderr}${error.message}` };
    },
  };
}

/** Makes the project, and says where, and how large each tarball is. */
function install(given: string): { folder: string; packedBytes: [string, number][] } {
  const packages = publicPackages().filter(({ begun }) => begun);
  // The real path, because a link in it (as on macOS) makes modules load twice under two names.
  const folder = realpathSync(given);
  const modules = join(folder, 'node_modules');
  const packedBytes: [string, number][] = [];

  mkdirSync(join(modules, '.bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }\n');

  for (const { manifest, path } of packages) {
    if (!existsSync(join(path, 'dist'))) throw new Error(`${manifest.name} is not built; run: npm run build`);
  }
  const tarballs = pack(packages, folder);

  for (const workspace of packages) {
    const { manifest } = workspace;
    const tarball = tarballs.get(manifest.name);
    if (tarball === undefined) throw new Error(`npm pack left out ${manifest.name}`);
    packedBytes.push([manifest.name, tarball.size]);

    const target = join(modules, manifest.name);
    unpack(readFileSync(join(folder, tarball.filename)), target);
    rmSync(join(folder, tarball.filename));

    for (const [name, file] of Object.entries(manifest.bin ?? {})) {
      chmodSync(join(target, file), 0o755);
      symlinkSync(join(target, file), join(modules, '.bin', name));
    }
    linkDependencies(workspace, modules);
  }
  // What a TypeScript user has besides.
  link(join(repository, 'node_modules', '@types', 'node'), join(modules, '@types', 'node'));

  return { folder, packedBytes };
}

/** Links the declared third-party dependencies where npm would put them. */
function linkDependencies({ manifest, path }: Workspace, modules: string): void {
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    if (name.startsWith('@int/')) continue;
    const own = join(path, 'node_modules', name);
    const shared = join(repository, 'node_modules', name);
    // npm nests a dependency when another package wants another version of it.
    if (existsSync(own)) link(own, join(modules, manifest.name, 'node_modules', name));
    else if (existsSync(shared)) link(shared, join(modules, name));
    else if (manifest.peerDependenciesMeta?.[name]?.optional !== true) {
      throw new Error(`${manifest.name} needs ${name}, which is not installed; run: npm ci`);
    }
  }
}

function link(target: string, path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, 'junction');
}
