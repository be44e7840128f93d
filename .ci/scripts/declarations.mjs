// @ts-check
// Writes the declarations of every package into its dist/, beside the JavaScript that tsup writes: `npm run declarations`.
// One compiler run over all sources (TypeScript 7, without checking: `npm run typecheck` does that) makes a .d.ts per
// source; rollup joins those of an entry point into one file, with its comments, and leaves out what it does not export.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { entryPoints, repository, sourceOf, workspaces } from './workspaces.mjs';

/**
 * Sources whose declarations are copied, each to a file of its own: those that a program has generated, and modules of
 * which a package exports all as one name. Rollup cannot make such a name where two entry points share its types.
 */
const COPIED = /\/src\/((?:generated|messages)\/.+)\.d\.ts$/;

/** Whatever offers modules: the packages and `p4`. */
const libraries = workspaces().filter(({ manifest, begun }) => begun && entryPoints(manifest).length > 0);

/**
 * Compiles all sources in one program.
 * @param {string} out folder for the declarations, laid out as the repository
 */
function emit(out) {
  const project = join(out, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    allowJs: false,
    rootDir: repository,
    outDir: out,
    typeRoots: [join(repository, 'node_modules', '@types')],
  };
  const include = libraries.map(({ path }) => join(path, 'src'));
  // The page of the dashboard is no module that anyone imports.
  const exclude = libraries.map(({ path }) => join(path, 'src', 'page', '*.tsx'));
  writeFileSync(
    project,
    JSON.stringify({ extends: join(repository, 'tsconfig.json'), compilerOptions, include, exclude }),
  );
  const compiler = dirname(createRequire(import.meta.url).resolve('typescript-7/package.json'));
  const { status } = spawnSync(process.execPath, [join(compiler, 'bin', 'tsc'), '-p', project], { stdio: 'inherit' });
  if (status !== 0) throw new Error('declarations: the compiler failed');
}

/**
 * Joins the declarations of a package. What two entry points share goes into a file of its own, so that a class is the
 * same type from both.
 * @param {string} out as filled by {@link emit}
 * @param {import('./workspaces.mjs').Workspace} workspace
 */
async function bundle(out, workspace) {
  const input = Object.fromEntries(
    entryPoints(workspace.manifest).flatMap((path) => {
      const source = sourceOf(workspace, path);
      const name = path === '.' ? 'index' : path.slice(2);
      return source === undefined ? [] : [[name, join(out, relative(repository, source).replace(/\.ts$/, '.d.ts'))]];
    }),
  );
  const bundled = await rollup({
    input,
    plugins: [dts()],
    external: (id, _importer, isResolved) =>
      isResolved ? !id.startsWith(out) || COPIED.test(id) : !id.startsWith('.') && !id.startsWith(out),
    onwarn: ({ message }) => {
      // Types that a signature mentions and the index does not name: a choice of the package.
      if (message.includes('private shared type exports')) return;
      throw new Error(`declarations: ${workspace.folder}: ${message}`);
    },
  });
  const { output } = await bundled.generate({
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'shared-[hash].d.ts',
    paths: (id) => id.replace(new RegExp(`^.*${COPIED.source}`), './$1.js'),
  });
  await bundled.close();

  const dist = join(workspace.path, 'dist');
  mkdirSync(dist, { recursive: true });
  for (const stale of readdirSync(dist).filter((file) => /\.d\.c?ts$/.test(file))) rmSync(join(dist, stale));
  const commonJs = JSON.stringify(workspace.manifest.exports).includes('"require"');
  for (const file of output) {
    if (file.type !== 'chunk') continue;
    writeFileSync(join(dist, file.fileName), file.code);
    if (!commonJs) continue;
    writeFileSync(join(dist, file.fileName.replace(/\.ts$/, '.cts')), asCommonJs(file.code));
  }
  copy(join(out, relative(repository, workspace.path), 'src'), dist, commonJs);
}

/** @param {string} code declarations of a module @returns {string} those of its CommonJS form */
function asCommonJs(code) {
  return code.replace(/((?:from|import) ['"]\.\.?\/[^'"]+)\.js(['"])/g, '$1.cjs$2');
}

/**
 * @param {string} source folder of the declarations of a package's sources
 * @param {string} dist
 * @param {boolean} commonJs whether they are wanted for CommonJS, too
 */
function copy(source, dist, commonJs) {
  for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!COPIED.test(`/src/${file}`)) continue;
    const target = join(dist, file);
    mkdirSync(dirname(target), { recursive: true });
    const code = readFileSync(join(source, file), 'utf8');
    writeFileSync(target, code);
    if (commonJs) writeFileSync(target.replace(/\.ts$/, '.cts'), asCommonJs(code));
  }
}

const out = realpathSync(mkdtempSync(join(tmpdir(), 'int-declarations-')));
try {
  emit(out);
  for (const workspace of libraries) await bundle(out, workspace);
} finally {
  rmSync(out, { recursive: true });
}
