import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** A program with the package's sources, in one file: processes and threads do not know of the tests' aliases. */
export async function bundle(program: URL): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'int-p4vm-'));
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
    tsconfig: fileURLToPath(new URL('../../../tsconfig.json', import.meta.url)),
  });
  return outfile;
}
