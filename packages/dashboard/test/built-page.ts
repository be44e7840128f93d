import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsup';
import { page } from '../tsup.config.js';

let built: Promise<string> | null = null;

/** The page as its sources are now, in a folder that all tests of this process share. */
export function builtPage(): Promise<string> {
  built ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), 'int-dashboard-page-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    await build({ ...page(folder), config: false, silent: true });
    return folder;
  })();
  return built;
}
