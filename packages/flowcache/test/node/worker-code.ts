import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { entryPoints, sourceOf, workspaces } from '../../../../.ci/scripts/workspaces.mjs';

/** The worker of the package, and the module that starts it. */
export const SHARD_WORKER: URL = new URL('../../src/node/shard-worker.ts', import.meta.url);
export const NODE_INDEX: URL = new URL('../../src/node/index.ts', import.meta.url);

/** Worker threads cannot read TypeScript: what tests start is put together from the sources, as the build would. */
export class WorkerCode {
  readonly #folder = mkdtempSync(join(tmpdir(), 'int-shards-'));

  constructor() {
    process.once('exit', () => rmSync(this.#folder, { recursive: true, force: true }));
    writeFileSync(this.path('package.json'), '{ "type": "module" }\n');
  }

  /** Builds a program from a file. @returns the file to start */
  async build(source: URL, name: string, format: 'esm' | 'cjs' = 'esm'): Promise<string> {
    const alias = workspaces().flatMap((workspace) =>
      entryPoints(workspace.manifest).map((path) => [
        `${workspace.manifest.name}${path.slice(1)}`,
        sourceOf(workspace, path) ?? join(workspace.path, 'src', 'index.ts'),
      ]),
    );
    await build({
      entryPoints: [fileURLToPath(source)],
      outfile: this.path(name),
      alias: Object.fromEntries(alias) as Record<string, string>,
      bundle: true,
      format,
      platform: 'node',
      target: 'es2022',
      logLevel: 'error',
    });
    return this.path(name);
  }

  /** A name for a file that is deleted when the process ends, which several test files share. */
  path(name: string): string {
    return join(this.#folder, name);
  }
}
