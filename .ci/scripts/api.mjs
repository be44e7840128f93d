// @ts-check
/**
 * What the packages offer, written down: a list of each entry point's exports in `.ci/api`, so that a change of the surface is
 * seen in review. Without an argument the lists are compared; with `--write` (`npm run api`) they are written.
 *
 * A value that is exported is named in the package's README, or used by another package, an example or a benchmark. There are at
 * most as many as LIMIT says.
 *
 * `/internals` is what the repository's packages and tests need of each other. It makes no promise to others, so its exports are
 * neither listed nor counted.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { entryPoints, publicPackages, repository, sourceOf, workspaces } from './workspaces.mjs';

const FOLDER = join(repository, '.ci', 'api');
/** Values that all packages export together, at most. */
const LIMIT = 470;
/** The entry point without a promise. */
const INTERNALS = './internals';

/**
 * One export.
 * @typedef {object} Export
 * @property {string} name
 * @property {string} kind such as `class`, `function`, `type`
 * @property {boolean} isValue whether it is there at run time
 */

/** @type {Record<number, string>} */
const KINDS = {
  [ts.SyntaxKind.ClassDeclaration]: 'class',
  [ts.SyntaxKind.FunctionDeclaration]: 'function',
  [ts.SyntaxKind.VariableDeclaration]: 'const',
  [ts.SyntaxKind.EnumDeclaration]: 'enum',
  [ts.SyntaxKind.InterfaceDeclaration]: 'interface',
  [ts.SyntaxKind.TypeAliasDeclaration]: 'type',
};

const packages = publicPackages().map((workspace) => ({
  workspace,
  entries: entryPoints(workspace.manifest).flatMap((path) => {
    if (path === INTERNALS) return [];
    const source = sourceOf(workspace, path);
    return source === undefined ? [] : [{ path, source }];
  }),
}));

const config = ts.readConfigFile(join(repository, 'tsconfig.json'), ts.sys.readFile).config;
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository);
const program = ts.createProgram(
  packages.flatMap(({ entries }) => entries.map(({ source }) => source)),
  { ...options, noEmit: true, skipLibCheck: true },
);
const checker = program.getTypeChecker();

/**
 * @param {string} source
 * @returns {Export[]}
 */
function exportsOf(source) {
  const file = program.getSourceFile(source);
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) return [];
  return checker
    .getExportsOfModule(module)
    .map((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const isTypeOnly = symbol.declarations?.some(ts.isTypeOnlyExportDeclaration) ?? false;
      const isValue = !isTypeOnly && (target.flags & ts.SymbolFlags.Value) !== 0;
      const declaration = target.valueDeclaration ?? target.declarations?.[0];
      return { name: symbol.name, kind: (declaration && KINDS[declaration.kind]) ?? 'namespace', isValue };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The words of all sources that import a package, by package, without its own.
 * @returns {Map<string, Set<string>>}
 */
function wordsOfUsers() {
  const found = new Map(publicPackages().map(({ manifest }) => [manifest.name, new Set()]));
  for (const { path, manifest } of workspaces()) {
    for (const file of sourcesBelow(path)) {
      const text = readFileSync(file, 'utf8');
      const used = new Set(Array.from(text.matchAll(/'(@int\/[\w-]+)/g), ([, name]) => name));
      for (const name of used) {
        if (name === manifest.name) continue;
        const words = found.get(/** @type {string} */ (name));
        for (const word of text.match(/\w+/g) ?? []) words?.add(word);
      }
    }
  }
  return found;
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function sourcesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist' || entry.name.startsWith('.')) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sourcesBelow(path) : /\.(ts|mjs|mts)$/.test(entry.name) ? [path] : [];
  });
}

const users = wordsOfUsers();
/** @type {string[]} */
const problems = [];
let values = 0;
/** @type {Map<string, string>} */
const lists = new Map();
for (const { workspace, entries } of packages) {
  const readme = readFileSync(join(workspace.path, 'README.md'), 'utf8');
  const words = new Set(readme.match(/\w+/g));
  const seen = new Set();
  let text = '';
  for (const { path, source } of entries) {
    const list = exportsOf(source);
    text += `${workspace.manifest.name}${path.slice(1)}\n${list.map(({ name, kind }) => `  ${kind} ${name}\n`).join('')}`;
    for (const { name, isValue } of list) {
      if (!isValue || seen.has(name)) continue;
      seen.add(name);
      values++;
      if (!words.has(name) && !users.get(workspace.manifest.name)?.has(name)) {
        problems.push(
          `${workspace.manifest.name}${path.slice(1)}: nobody uses ${name}, and the README does not show it`,
        );
      }
    }
  }
  lists.set(`${workspace.short}.txt`, text);
}
if (values > LIMIT) problems.push(`${values} values are exported, and ${LIMIT} are the limit`);

if (process.argv.includes('--write')) {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of lists) writeFileSync(join(FOLDER, name), text);
} else {
  const there = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
  for (const name of new Set([...lists.keys(), ...there])) {
    const path = join(FOLDER, name);
    if (!there.includes(name) || readFileSync(path, 'utf8') !== lists.get(name)) {
      problems.push(`${relative(repository, path)} is not current: npm run api`);
    }
  }
}
for (const problem of problems) console.error(problem);
console.log(`${values} values exported by ${packages.length} packages`);
process.exitCode = problems.length > 0 ? 1 : 0;
