import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dashboard, type DashboardOptions } from '@int/dashboard';
import { threadCode } from './thread-code.js';

let folder: string | null = null;

/** A folder with a page that is quick to make. */
export function smallPage(): string {
  if (folder !== null) return folder;
  const made = mkdtempSync(join(tmpdir(), 'int-dashboard-small-page-'));
  folder = made;
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  writeFileSync(join(made, 'index.html'), '<!doctype html><title>INT</title><script src="page-ABCDEFGH.js"></script>');
  writeFileSync(join(made, 'page-ABCDEFGH.js'), `// ${'a script '.repeat(100)}\n`);
  writeFileSync(join(made, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  return made;
}

/** A dashboard of the sources, on a free port, with little memory. */
export async function openDashboard(options: DashboardOptions = {}): Promise<Dashboard> {
  return Dashboard.open({
    port: 0,
    thread: await threadCode(),
    page: smallPage(),
    retention: { seconds: 60, memoryBytes: 32 << 20, flows: 1024 },
    ...options,
  });
}
