import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The client stays where it is installed; packages of this repository are read from their sources. */
const places = {
  name: 'places',
  setup(bundler: {
    onResolve: (
      options: { filter: RegExp },
      resolve: (args: { path: string }) => { path: string; external?: boolean },
    ) => void;
  }): void {
    bundler.onResolve({ filter: /^@platformatic\/kafka$/ }, ({ path }) => ({
      path: pathToFileURL(fileURLToPath(import.meta.resolve(path))).href,
      external: true,
    }));
    bundler.onResolve({ filter: /^@int\/[a-z-]+(\/node)?$/ }, ({ path }) => {
      const [, name, part] = path.split('/');
      const file = part === undefined ? 'index.ts' : `${part}/index.ts`;
      return { path: fileURLToPath(new URL(`../../${name}/src/${file}`, import.meta.url)) };
    });
  },
};

/**
 * A program of these tests (`*.program.ts`) as plain JavaScript, for a process of its own, in a new folder.
 *
 * @param file such as `new URL('internals/counting.program.ts', import.meta.url)`
 * @returns its path
 */
export async function bundle(file: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(file)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
    plugins: [places],
  });
  const path = join(mkdtempSync(join(tmpdir(), 'int-process-')), basename(file.pathname).replace(/ts$/, 'mjs'));
  writeFileSync(path, outputFiles[0]!.text);
  return path;
}
