import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The program of a thread with the packages' sources, in one file: threads do not know of the tests' aliases. */
export async function bundle(program: URL): Promise<string> {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'int-workers-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(program)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    tsconfig: join(root, 'tsconfig.json'),
    // What is CommonJS inside wants it.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return outfile;
}
