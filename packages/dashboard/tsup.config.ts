import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';
import { defineConfig, type Options } from 'tsup';
import { library } from '../../tsup.config.base.js';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const here = dirname(fileURLToPath(import.meta.url));
/** Files of the page that are as they are. */
const STATIC = ['icon.svg'];
const LICENCE_FILES = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license'];

/**
 * The page: one script and one style sheet for the first view, and a script per view that is loaded when it opens. All have
 * names with hashes. There is nothing inline, so that the page may be served under `default-src 'self'`.
 *
 * @param outDir where it goes, absolute
 */
export function page(outDir: string = join(here, 'dist', 'page')): Options {
  return {
    entry: { page: join(here, 'src/page/main.tsx') },
    outDir,
    format: ['esm'],
    platform: 'browser',
    target: 'es2022',
    minify: true,
    splitting: true,
    clean: true,
    noExternal: [/./],
    tsconfig: join(here, 'src', 'page', 'tsconfig.json'),
    esbuildOptions: (options) => {
      options.entryNames = '[name]-[hash]';
      options.chunkNames = '[name]-[hash]';
      options.jsx = 'automatic';
      options.jsxImportSource = 'preact';
      options.legalComments = 'none';
    },
    esbuildPlugins: [documents(outDir)],
  };
}

/** Writes what is no script or style: the document that loads them, the icon, the licences of what is bundled. */
function documents(outDir: string): Plugin {
  return {
    name: 'documents',
    setup(build) {
      build.initialOptions.metafile = true;
      build.onEnd(({ metafile, errors }) => {
        if (metafile === undefined || errors.length > 0) return;
        mkdirSync(outDir, { recursive: true });
        const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith('main.tsx'));
        if (entry === undefined) throw new Error('the page has no entry');
        const [script, { cssBundle = '' }] = entry;
        const address = (file: string): string => relative(outDir, resolve(file)).replaceAll('\\', '/');
        const document = readFileSync(join(here, 'src/page/index.html'), 'utf8')
          .replace('SCRIPT', address(script))
          .replace('STYLE', address(cssBundle))
          .replace(
            'PRELOADS',
            chunksOf(script, metafile.outputs)
              .map((file) => `<link rel="modulepreload" href="${address(file)}">`)
              .join('\n'),
          );
        writeFileSync(join(outDir, 'index.html'), document);
        for (const file of STATIC) writeFileSync(join(outDir, file), readFileSync(join(here, 'src/page', file)));
        writeFileSync(join(outDir, 'LICENSES.txt'), licences(Object.keys(metafile.inputs)));
      });
    },
  };
}

/** What a script imports before it runs, and what that imports: a browser may load all of it at once. */
function chunksOf(script: string, outputs: Metafile['outputs']): string[] {
  const found = new Set([script]);
  for (const file of found) {
    for (const { kind, path } of outputs[file]?.imports ?? []) if (kind === 'import-statement') found.add(path);
  }
  found.delete(script);
  return [...found];
}

/** Name, version and licence of each package that some input is of. */
function licences(inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(resolve(input).replaceAll('\\', '/')) ?? []),
  );
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
        string,
        string
      >;
      for (const file of LICENCE_FILES) {
        try {
          return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
        } catch {
          // Another name.
        }
      }
      throw new Error(`${name} has no licence file`);
    })
    .join('\n----\n\n');
}

// The first clears dist, the second its own folder.
const libraries = library(
  { index: 'src/index.ts', client: 'src/client/index.ts', 'dashboard-thread': 'src/thread/dashboard-thread.ts' },
  { clean: ['!**/*.d.ts', '!**/*.d.cts', '!page/**'] },
) as Options;

export default defineConfig([libraries, page()]);
