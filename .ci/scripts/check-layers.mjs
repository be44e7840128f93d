// @ts-check
// Checks that dependencies point down: `node .ci/scripts/check-layers.mjs [ROOT]`. The layers are in layers.json.
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';
import { repository, workspaces } from './workspaces.mjs';

/** @typedef {import('./workspaces.mjs').Workspace} Workspace */
/**
 * @typedef {object} Rules
 * @property {{ name: string, holds: string, packages: string[] }[]} layers lowest first; packages need not exist yet
 * @property {Record<string, string[]>} uses packages that may use less than everything below them
 * @property {string[]} testing packages that the tests of every package may use without listing them: tests read sources,
 *   and a package that lists what is built from it could not be built
 * @property {string[]} node packages that may use Node's own modules; all others must also run in a browser
 */

const root = resolve(process.argv[2] ?? repository);
/** @type {Rules} */
const rules = JSON.parse(readFileSync(join(root, '.ci', 'scripts', 'layers.json'), 'utf8'));
const all = workspaces(root);
const byName = new Map(all.map((workspace) => [workspace.manifest.name, workspace]));
/** @type {string[]} */
const problems = [];

/** @param {string} short */
const layerOf = (short) => rules.layers.findIndex(({ packages }) => packages.includes(short));

/** The P4 programs, whose tests hold them to the packages, and what measurements share stand above every layer; examples and
 * benchmarks above them; studies, which may measure an example, above those.
 * @param {Workspace} workspace */
const rank = (workspace) => {
  if (workspace.isPackage) return layerOf(workspace.short);
  if (['p4', 'benchmarks/harness'].includes(workspace.folder)) return rules.layers.length;
  return rules.layers.length + (workspace.folder.startsWith('benchmarks/studies/') ? 2 : 1);
};

/** A workspace may lie in another one's folder, which then is not its own. */
const folders = new Set(all.map(({ path }) => path));

/**
 * Why `from` may not depend on `to`; undefined if it may.
 * @param {Workspace} from
 * @param {Workspace} to
 * @returns {string | undefined}
 */
function objection(from, to) {
  const uses = rules.uses[from.short];
  if (uses !== undefined && from.isPackage && !uses.includes(to.short)) {
    return `${from.manifest.name} may use ${uses.length === 0 ? 'no other package' : `only ${uses.join(', ')}`}`;
  }
  if (rank(to) < rank(from)) return undefined;
  const direction = rank(to) === rank(from) ? 'beside' : 'above';
  return `${to.manifest.name} (${place(to)}) is ${direction} ${from.manifest.name} (${place(from)})`;
}

/** @param {Workspace} workspace */
const place = (workspace) => {
  const layer = rules.layers[rank(workspace)];
  return layer === undefined ? 'above all layers' : `layer "${layer.name}"`;
};

/**
 * Every file of code below a folder, build output and installed packages left out.
 * @param {string} folder absolute
 * @returns {string[]}
 */
function codeBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const isOther = ['node_modules', 'dist', 'build', '.turbo'].includes(entry.name) || folders.has(path);
      return isOther ? [] : codeBelow(path);
    }
    return /\.(?:[cm]?[jt]s|tsx)$/.test(entry.name) ? [path] : [];
  });
}

/**
 * One import in one file.
 * @param {Workspace} from
 * @param {string} file absolute
 * @param {string} specifier
 */
function checkImport(from, file, specifier) {
  const where = relative(root, file).split(sep).join('/');
  const inSource = file.startsWith(join(from.path, 'src') + sep);

  if (specifier.startsWith('.')) {
    const target = resolve(dirname(file), specifier);
    const owners = all.filter((workspace) => target.startsWith(workspace.path + sep));
    const other = owners.sort((a, b) => b.path.length - a.path.length)[0];
    if (other !== undefined && other !== from) {
      problems.push(`${where}: reaches into ${other.folder} by a path; import ${other.manifest.name} by its name`);
    }
    return;
  }

  if (inSource && from.isPackage && !rules.node.includes(from.short)) {
    const nodeOnly = /[/\\]src[/\\]node([/\\]|\.ts$)/.test(file);
    if (!nodeOnly && (specifier.startsWith('node:') || builtinModules.includes(specifier))) {
      problems.push(`${where}: imports ${specifier}, but ${from.manifest.name} must also run in a browser`);
    }
  }

  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const to = byName.get(name);
  if (to === undefined) {
    if (name.startsWith('@int/')) problems.push(`${where}: imports ${name}, and there is no such package`);
    return;
  }
  // A package's own name is used in its tests, to read it as others do.
  const isForTests = file.startsWith(join(from.path, 'test') + sep) && rules.testing.includes(to.short);
  if (to !== from && !isForTests) {
    const reason = objection(from, to);
    if (reason !== undefined) problems.push(`${where}: imports ${specifier}, but ${reason}`);
    const { dependencies, peerDependencies, optionalDependencies, devDependencies } = from.manifest;
    const declared = {
      ...dependencies,
      ...peerDependencies,
      ...optionalDependencies,
      ...(inSource ? {} : devDependencies),
    };
    if (declared[name] === undefined) {
      problems.push(`${where}: imports ${name}, which ${from.folder}/package.json does not list`);
    }
  }
  const entryPoint = `.${specifier.slice(name.length)}`;
  if (to.manifest.exports?.[entryPoint] === undefined) {
    problems.push(`${where}: imports ${specifier}, which ${name} does not export`);
  }
}

for (const workspace of all) {
  const { folder, short, manifest, isPackage } = workspace;
  if (isPackage) {
    if (manifest.name !== `@int/${short}`) problems.push(`${folder}: is named ${manifest.name}, not @int/${short}`);
    if (layerOf(short) < 0) {
      problems.push(`${folder}: has no layer; add "${short}" to one in .ci/scripts/layers.json`);
      continue;
    }
  }
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest;
  for (const name of Object.keys({
    ...dependencies,
    ...devDependencies,
    ...peerDependencies,
    ...optionalDependencies,
  })) {
    const to = byName.get(name);
    if (to === undefined || to === workspace) continue;
    const reason = objection(workspace, to);
    if (reason !== undefined) problems.push(`${folder}/package.json: depends on ${name}, but ${reason}`);
  }
  for (const file of codeBelow(workspace.path)) {
    const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true);
    for (const { fileName } of importedFiles) checkImport(workspace, file, fileName);
  }
}

if (problems.length > 0) {
  console.error([...new Set(problems)].join('\n'));
  console.error('\nA package may use the layers below its own, and nothing beside or above it. See ARCHITECTURE.md.');
  process.exitCode = 1;
} else {
  console.error(`check-layers: ${all.length} workspaces, every dependency points down.`);
}
