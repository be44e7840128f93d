import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { newDirectory } from './node/support.js';

/** DuckDB stays where it is installed; packages of this repository are read from their sources. */
const places = (hasDuckDb: boolean) => ({
  name: 'places',
  setup(bundler: {
    onResolve: (
      options: { filter: RegExp },
      resolve: (args: { path: string }) => { path: string; external?: boolean },
    ) => void;
  }): void {
    bundler.onResolve({ filter: /^@duckdb\/node-api$/ }, ({ path }) => ({
      path: hasDuckDb ? pathToFileURL(createRequire(import.meta.url).resolve(path)).href : path,
      external: true,
    }));
    bundler.onResolve({ filter: /^@int\/[a-z-]+$/ }, ({ path }) => ({
      path: fileURLToPath(new URL(`../../${path.slice('@int/'.length)}/src/index.ts`, import.meta.url)),
    }));
  },
});

/**
 * A program of these tests (`*.program.ts`) as plain JavaScript, for a process or a thread of its own. Lies in a directory that
 * `removeDirectories` removes.
 *
 * @param file such as `new URL('writer.program.ts', import.meta.url)`
 * @param hasDuckDb false: as if it were not installed
 * @returns its path
 */
export async function bundle(file: URL, hasDuckDb = true): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(file)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
    plugins: [places(hasDuckDb)],
  });
  const path = join(newDirectory(), basename(file.pathname).replace(/ts$/, 'mjs'));
  writeFileSync(path, outputFiles[0]!.text);
  return path;
}
