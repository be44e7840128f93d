import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsup';
import { page } from '../tsup.config.js';

/** The page as its sources are now, in a folder of its own. */
export async function builtPage(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'int-dashboard-page-'));
  await build({ ...page(folder), config: false, silent: true });
  return folder;
}
