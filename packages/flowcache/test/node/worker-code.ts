import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { entryPoints, sourceOf, workspaces } from '../../../../.ci/scripts/workspaces.mjs';

/** Worker threads cannot read TypeScript: what tests start is put together from the sources, as the build would. */
export class WorkerCode {
  readonly #folder = mkdtempSync(join(tmpdir(), 'int-shards-'));

  /** Builds a worker from a file beside this one, or from one of the sources. @returns the file to start */
  async build(source: string): Promise<string> {
    const outfile = join(this.#folder, `${source.replaceAll(/\W+/g, '-')}.mjs`);
    const alias = Object.fromEntries(
      workspaces().flatMap((workspace) =>
        entryPoints(workspace.manifest).map((path) => [
          `${workspace.manifest.name}${path.slice(1)}`,
          sourceOf(workspace, path) ?? join(workspace.path, 'src', 'index.ts'),
        ]),
      ),
    );
    await build({
      entryPoints: [fileURLToPath(new URL(source, import.meta.url))],
      outfile,
      alias,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'es2022',
      logLevel: 'error',
    });
    return outfile;
  }

  /** A name for a file that {@link remove} deletes. */
  path(name: string): string {
    return join(this.#folder, name);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The worker of the package. */
export const SHARD_WORKER = '../../src/node/shard-worker.ts';
