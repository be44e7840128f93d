import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';

/**
 * A thread that runs a TypeScript file of the tests, with the sources it imports bundled into it: workers do not know
 * the test-runner's way to read TypeScript.
 *
 * @param file its place, such as `new URL('writer.ts', import.meta.url)`
 */
export async function startWorker(file: URL, workerData: unknown): Promise<Worker> {
  const packages = fileURLToPath(new URL('../../', import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(file)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'es2022',
    logLevel: 'silent',
    alias: { '@int/codec': `${packages}codec/src/index.ts`, '@int/hash': `${packages}hash/src/index.ts` },
    external: ['xxhash-wasm'],
  });
  return new Worker(outputFiles[0]!.text, { eval: true, workerData });
}
