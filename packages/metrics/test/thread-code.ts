import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MetricsServer, type MetricsServerOptions } from '@int/metrics';
import { build } from 'esbuild';

let built: Promise<string> | null = null;

/** The server's thread from the sources, in one file: threads do not know of the tests' aliases. */
export function threadCode(): Promise<string> {
  built ??= bundle();
  return built;
}

async function bundle(): Promise<string> {
  const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'int-page-thread-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'page-thread.mjs');
  await build({
    entryPoints: [path('../src/page/page-thread.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    tsconfig: path('../../../tsconfig.json'),
  });
  return outfile;
}

/** A server whose pages are a few milliseconds old at most, unless something else is said. */
export async function listen(
  options: Partial<MetricsServerOptions> & Pick<MetricsServerOptions, 'metrics'>,
): Promise<MetricsServer> {
  return MetricsServer.listen({ port: 0, intervalMs: 5, thread: await threadCode(), ...options });
}
