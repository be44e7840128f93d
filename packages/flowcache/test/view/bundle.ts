import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';

/** Where the sources of a package of this repository are: tests read those, in a worker too. */
const sources = {
  name: 'sources',
  setup(bundler: {
    onResolve: (options: { filter: RegExp }, resolve: (args: { path: string }) => { path: string } | undefined) => void;
  }): void {
    bundler.onResolve({ filter: /^@int\/[a-z-]+$/ }, ({ path }) => {
      const index = fileURLToPath(new URL(`../../../${path.slice('@int/'.length)}/src/index.ts`, import.meta.url));
      return existsSync(index) ? { path: index } : undefined;
    });
  },
};

/**
 * A worker thread that runs a file, with what it imports bundled into it: workers do not know the
 * test-runner's way to read TypeScript.
 */
export async function startWorker(file: URL, workerData: unknown): Promise<Worker> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(file)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'es2022',
    logLevel: 'silent',
    plugins: [sources],
  });
  return new Worker(outputFiles[0]!.text, { eval: true, workerData });
}
