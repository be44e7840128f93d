import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { buildSync } from 'esbuild';
import { inTime } from '../../../.ci/test/until.js';

const source = fileURLToPath(new URL('../src/index.ts', import.meta.url));

/** Plain JavaScript that a worker or a process can run, with the sources of this package in it. */
function bundle(code: string): string {
  const { outputFiles } = buildSync({
    stdin: { contents: code, loader: 'ts', resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    logLevel: 'silent',
    // package.json says that modules have no effect when they are imported, which is not so for those of tests.
    ignoreAnnotations: true,
    alias: { '@int/rings': source },
  });
  return outputFiles[0]!.text;
}

/** Runs a module in a process of its own, until it ends by itself. */
export function runScript(code: string): { status: number | null; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'rings-'));
  try {
    const file = join(folder, 'script.mjs');
    writeFileSync(file, bundle(code));
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: 40_000 });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A module of this folder as the URL that a worker can be started from. */
export function workerModule(file: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(bundle(`import './${file}';`))}`);
}

/** What a worker posts, once; an error in the worker rejects. */
export function answerOf(worker: Worker): Promise<unknown> {
  const answered = new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`a worker ended with ${code} and no answer`)));
  });
  return inTime('the answer of a worker', answered, { withinMs: 55_000 });
}
