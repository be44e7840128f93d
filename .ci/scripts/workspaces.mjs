// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The fields of a package.json that the scripts and proof tests read.
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} version
 * @property {boolean} [private]
 * @property {string} [description]
 * @property {string} [license]
 * @property {string} [type]
 * @property {string} [types]
 * @property {boolean} [sideEffects]
 * @property {string[]} [files]
 * @property {Record<string, string>} [engines]
 * @property {Record<string, string>} [bin]
 * @property {Record<string, unknown>} [exports]
 * @property {{ access?: string }} [publishConfig]
 * @property {Record<string, string>} [scripts]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, { optional?: boolean }>} [peerDependenciesMeta]
 * @property {Record<string, string>} [optionalDependencies]
 */

/**
 * One npm workspace.
 * @typedef {object} Workspace
 * @property {string} folder relative to the repository with forward slashes, such as `packages/codec`
 * @property {string} path absolute
 * @property {string} short the folder's last part, such as `codec`; of a package elsewhere, its name without the scope
 * @property {boolean} isPackage whether it is a library, with a layer: all in `packages/`, and `native-afxdp`
 * @property {Manifest} manifest
 * @property {boolean} begun false while the folder has a package.json and no sources
 */

/** The repository's root folder, without a slash at the end. */
export const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** The package that is not in `packages/`: its C code has the folder's first place. */
const NATIVE = 'native-afxdp';

/**
 * Every workspace: those in `packages/`, `examples/` and `benchmarks/studies/`, each in alphabetical order, then
 * `native-afxdp`, `p4`, `benchmarks` and what its measurements share.
 * @param {string} [root] another repository's root, for tests of the scripts
 * @returns {Workspace[]}
 */
export function workspaces(root = repository) {
  const folders = ['packages', 'examples', 'benchmarks/studies'].flatMap((parent) =>
    existsSync(join(root, parent))
      ? readdirSync(join(root, parent))
          .sort()
          .map((name) => `${parent}/${name}`)
      : [],
  );
  return [...folders, NATIVE, 'p4', 'benchmarks', 'benchmarks/harness']
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => ({
      folder,
      path: join(root, folder),
      short: folder === NATIVE ? 'afxdp' : folder.slice(folder.lastIndexOf('/') + 1),
      isPackage: folder.startsWith('packages/') || folder === NATIVE,
      manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
      begun: existsSync(join(root, folder, 'src', 'index.ts')),
    }));
}

/**
 * The packages that are published: libraries that are not private.
 * @param {string} [root]
 * @returns {Workspace[]}
 */
export function publicPackages(root = repository) {
  return workspaces(root).filter(({ isPackage, manifest }) => isPackage && manifest.private !== true);
}

/**
 * The modules a package offers, without JSON files: `.` and subpaths such as `./schema`.
 * @param {Manifest} manifest
 * @returns {string[]}
 */
export function entryPoints(manifest) {
  return Object.keys(manifest.exports ?? {}).filter((path) => !path.endsWith('.json'));
}

/**
 * Where the source of an entry point is: `src/index.ts`, `src/schema/index.ts` or `src/schema.ts`; `src/index.mjs` of what
 * runs without a build.
 * @param {Workspace} workspace
 * @param {string} entryPoint as in {@link entryPoints}
 * @returns {string | undefined} absolute; undefined if there is no such file
 */
export function sourceOf(workspace, entryPoint) {
  const base = join(workspace.path, 'src', entryPoint);
  return [join(base, 'index.ts'), `${base}.ts`, join(base, 'index.mjs')].find((file) => existsSync(file));
}
