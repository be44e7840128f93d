import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { newDirectory } from './support.js';

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
      path: fileURLToPath(new URL(`../../../${path.slice('@int/'.length)}/src/index.ts`, import.meta.url)),
    }));
  },
});

/**
 * A file of this folder as plain JavaScript, for a process or a thread of its own.
 *
 * @param hasDuckDb false: as if it were not installed
 * @returns its path
 */
export async function bundle(file: string, hasDuckDb = true): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(file, import.meta.url))],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
    plugins: [places(hasDuckDb)],
  });
  const path = join(newDirectory(), file.replace(/ts$/, 'mjs'));
  writeFileSync(path, outputFiles[0]!.text);
  return path;
}
