import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createContext, Script } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { entryPoints, publicPackages, repository } from '../scripts/workspaces.mjs';
import { type BrowserReport, browserPaths, bundle, isPortable, minify } from './browser.js';
import { compile } from './compile.js';
import { type Consumer, installTarballs } from './consumer.js';
import { blocksOf, readmes } from './readmes.js';
import { find, requires, skip } from './requires.js';

// All packages are packed and installed, and a browser is started.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

/** Any of them is the browser. */
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const IS_LONG = process.env.INT_LONG === '1';

/** Packages without sources yet cannot be packed; each is reported by a test of its own. */
const packages = publicPackages();
const begun = packages.filter((workspace) => workspace.begun);
const pathsOf = ({ manifest }: (typeof packages)[number]): string[] =>
  entryPoints(manifest).map((path) => manifest.name + path.slice(1));
/** Import paths of all packages; and of those that CommonJS can use. */
const paths = begun.flatMap(pathsOf);
const commonPaths = begun
  .filter(({ manifest }) => JSON.stringify(manifest.exports).includes('"require"'))
  .flatMap(pathsOf);
const { node: nodeOnly } = JSON.parse(readFileSync(join(repository, '.ci', 'scripts', 'layers.json'), 'utf8')) as {
  node: string[];
};

let consumer: Consumer;
/** By import path: the names it exports, or why it cannot be loaded. */
let imported: Record<string, string[] | string>;
let required: Record<string, string[] | string>;
beforeAll(async () => {
  consumer = await installTarballs();
  imported = evaluate('module', paths, 'import(path)');
  required = evaluate('commonjs', commonPaths, 'require(path)');
});

/** Loads each path in a program of the consumer's project. */
function evaluate(
  type: 'module' | 'commonjs',
  from: readonly string[],
  load: string,
): Record<string, string[] | string> {
  const code = `(async () => {
    const names = {};
    for (const path of ${JSON.stringify(from)}) {
      try { names[path] = Object.keys(await ${load}); } catch (error) { names[path] = String(error?.stack ?? error); }
    }
    console.log(JSON.stringify(names));
  })();`;
  const { status, stdout, stderr } = consumer.run(process.execPath, [`--input-type=${type}`, '--eval', code]);
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as Record<string, string[] | string>;
}

/** The names of a path that could be loaded. */
function namesOf(loaded: string[] | string | undefined): string[] {
  expect(loaded).toBeInstanceOf(Array);
  return loaded as string[];
}

/** What CommonJS interop adds to a module's own names. */
const isOwn = (name: string): boolean => !['default', '__esModule', 'module.exports'].includes(name);

describe('the packed packages', () => {
  it.each(packages.map((workspace) => [workspace.manifest.name, workspace.begun]))(
    '%s has sources to pack',
    (name, has) => {
      if (!has) skip(`${name} has no src/index.ts yet`);
      expect(consumer.packages.map(({ manifest }) => manifest.name)).toContain(name);
    },
  );

  it.each(paths)('import %s gives its exports', (path) => {
    const names = namesOf(imported[path]);
    expect(names.filter(isOwn).length).toBeGreaterThan(0);
    expect(names, 'packages have named exports only').not.toContain('default');
  });

  it.each(commonPaths)('require %s gives the same exports as import', (path) => {
    expect(namesOf(required[path]).filter(isOwn).sort()).toEqual(namesOf(imported[path]).filter(isOwn).sort());
  });

  it.each(begun.map(({ manifest }) => [manifest.name]))('%s carries its licence, README and sources', (name) => {
    const installed = join(consumer.folder, 'node_modules', name);
    expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).toBe(readFileSync(join(repository, 'LICENSE'), 'utf8'));
    expect(readFileSync(join(installed, 'README.md'), 'utf8')).toContain(name);
    expect(readFileSync(join(installed, 'src', 'index.ts'), 'utf8')).not.toBe('');
  });
});

describe('TypeScript', () => {
  const all = [
    ['ECMAScript and CommonJS modules under node16', ['mts', 'cts'], 'node16', 'node16', 'native'],
    ['a module under bundler', ['ts'], 'esnext', 'bundler', 'native'],
    // It takes ten times as long: whether it can read the declarations, not whether they agree with each other.
    ['a module with TypeScript 5', ['mts'], 'nodenext', 'nodenext', 'classic'],
  ] as const;

  // The long form has it: packaging checks resolve everything with that compiler's library in any case.
  const kinds = all.filter(([, , , , compiler]) => compiler === 'native' || IS_LONG);

  /** A program that imports everything. */
  function consumerOf(extension: 'mts' | 'cts' | 'ts'): string {
    const file = join(consumer.folder, 'typescript', `consumer.${extension}`);
    const code = (extension === 'cts' ? commonPaths : paths).map((path, index) =>
      extension === 'cts'
        ? `import m${index} = require('${path}');\nexport const n${index}: string[] = Object.keys(m${index});`
        : `import * as m${index} from '${path}';\nexport const n${index}: string[] = Object.keys(m${index});`,
    );
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${code.join('\n')}\n`);
    return file;
  }

  it.each(kinds)('compiles %s', (_title, extensions, module, moduleResolution, compiler) => {
    const configuration = {
      files: extensions.map(consumerOf),
      compilerOptions: {
        module,
        moduleResolution,
        exactOptionalPropertyTypes: true,
        // Our declarations are part of what is checked.
        skipLibCheck: compiler === 'classic',
        noEmit: true,
      },
    };
    const path = join(consumer.folder, 'typescript', `${moduleResolution}.json`);
    const messages = compile(consumer, path, configuration, compiler);
    // Those of other packages are theirs.
    expect(messages.filter(({ file }) => !/\/node_modules\/(?!@int\/)/.test(file))).toEqual([]);
  });
});

describe('in a browser', () => {
  const examples = begun
    .filter(({ short }) => !nodeOnly.includes(short))
    .map(({ folder }) => `${folder}/README.md`)
    .filter((file) => readmes().includes(file))
    .flatMap(blocksOf)
    .filter((block) => block.language === 'ts' && isPortable(block));

  let script: string;
  beforeAll(async () => {
    script = await bundle(consumer, browserPaths(consumer, nodeOnly), examples);
  });

  function expectGood({ exports, examples: results }: BrowserReport): void {
    expect(Object.keys(exports)).toEqual(browserPaths(consumer, nodeOnly));
    for (const [path, names] of Object.entries(exports)) expect(names.length, path).toBeGreaterThan(0);
    expect(results).toEqual(Object.fromEntries(examples.map(({ file, line }) => [`${file}:${line}`, 'ok'])));
  }

  // Chromium, where it is installed, has nothing of Node either.
  it.runIf(IS_LONG || !BROWSERS.some((name) => find(name) !== undefined))(
    'the bundle and the README examples run without anything of Node',
    async () => {
      // What a browser has and a bare context has not; no process, no Buffer, no require.
      const { TextEncoder, TextDecoder, URL, crypto, performance, setTimeout, clearTimeout, queueMicrotask } =
        globalThis;
      const standard = { TextEncoder, TextDecoder, URL, crypto, performance, setTimeout, clearTimeout, queueMicrotask };
      const quiet = { log() {}, table() {}, info() {}, warn() {}, error() {} };
      const context = createContext({ ...standard, console: quiet });
      new Script(script, { filename: 'bundle.js' }).runInContext(context);
      // Through JSON: objects of another context have other prototypes.
      expectGood(JSON.parse(JSON.stringify(await context.report)) as BrowserReport);
    },
  );

  it('the bundle and the README examples run in Chromium', () => {
    const chromium = requires(BROWSERS, 'npm run setup:system');
    const page = join(consumer.folder, 'page.html');
    writeFileSync(join(consumer.folder, 'bundle.js'), script);
    writeFileSync(
      page,
      `<!doctype html><meta charset="utf-8"><pre></pre>
<script>window.onerror = (message) => { document.querySelector('pre').textContent = message; };</script>
<script src="bundle.js"></script>
<script>report.then((all) => { document.querySelector('pre').textContent = '<<' + encodeURIComponent(JSON.stringify(all)) + '>>'; });</script>
`,
    );
    const flags =
      '--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage --virtual-time-budget=10000 --dump-dom';
    const profile = `--user-data-dir=${join(consumer.folder, 'profile')}`;
    const { stdout, stderr } = spawnSync(chromium, [...flags.split(' '), profile, pathToFileURL(page).href], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    const [, report] = /&lt;&lt;(.*)&gt;&gt;/.exec(stdout) ?? [];
    expect(report, `${stdout}\n${stderr}`).toBeDefined();
    expectGood(JSON.parse(decodeURIComponent(report!)) as BrowserReport);
  });

  it.runIf(IS_LONG)('sizes are printed', async () => {
    const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`;
    const rows = [...consumer.packedBytes].map(([name, bytes]) => `${name}: ${kib(bytes)} packed`);
    for (const path of browserPaths(consumer, nodeOnly)) {
      const code = await minify(consumer, path);
      expect(code.length, path).toBeGreaterThan(0);
      rows.push(`${path}: ${kib(code.length)} bundled and minified, ${kib(gzipSync(code).length)} gzipped`);
    }
    console.log(rows.join('\n'));
  });
});

describe('the int command', () => {
  const cli = begun.find(({ manifest }) => manifest.bin?.int !== undefined);

  it('says its version when run from the installed tarball', () => {
    if (cli === undefined) return skip('@int/cli has no src/index.ts yet');
    const said = (): unknown => consumer.run('int', ['--version']);
    expect(said()).toEqual({ status: 0, stdout: `${cli.manifest.version}\n`, stderr: '' });
    // All packages have the same version here until one is released: the next one shows where it comes from.
    const file = join(consumer.folder, 'node_modules', cli.manifest.name, 'package.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/"version": ".*"/, '"version": "12.3.4"'));
    expect(said()).toEqual({ status: 0, stdout: '12.3.4\n', stderr: '' });
    writeFileSync(file, text);
  });
});
