import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

let built: Promise<string> | null = null;

/** The dashboard's thread from the sources, in one file: threads do not know of the tests' aliases. */
export function threadCode(): Promise<string> {
  built ??= bundle();
  return built;
}

async function bundle(): Promise<string> {
  const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'int-dashboard-thread-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'dashboard-thread.mjs');
  await build({
    entryPoints: [path('../src/thread/dashboard-thread.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    // Dependencies in CommonJS ask for modules of Node.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    tsconfig: path('../../../tsconfig.json'),
  });
  return outfile;
}
