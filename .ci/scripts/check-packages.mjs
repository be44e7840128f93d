// @ts-check
// Packs every public package and checks the tarball as npm would publish it, with publint and arethetypeswrong.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { publicPackages, repository } from './workspaces.mjs';

const folder = mkdtempSync(join(tmpdir(), 'int-check-'));
const attw = (() => {
  const manifest = createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json');
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.attw);
})();

/**
 * @param {import('./workspaces.mjs').Workspace} workspace
 * @returns {Promise<string[]>} what is wrong
 */
async function check({ folder: name, path, manifest, begun }) {
  if (!begun) return [`${name} has no src/index.ts yet`];

  const packed = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: path,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (packed.status !== 0) return [packed.stderr];
  const tarball = join(folder, JSON.parse(packed.stdout)[0].filename);

  const bytes = readFileSync(tarball);
  const { messages, pkg } = await publint({
    strict: true,
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) },
  });
  const found = messages
    .filter(({ type }) => type !== 'suggestion')
    .map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`);

  // `node16` leaves out Node 10, which knows no `exports`; a package without `require` is for ECMAScript modules only.
  const profile = JSON.stringify(manifest.exports).includes('"require"') ? 'node16' : 'esm-only';
  const types = spawnSync(process.execPath, [attw, tarball, '--profile', profile, '--no-color', '--no-emoji'], {
    encoding: 'utf8',
  });
  if (types.status !== 0) found.push(`arethetypeswrong:\n${types.stdout}${types.stderr}`);
  return found;
}

try {
  for (const workspace of publicPackages()) {
    const found = await check(workspace);
    console.log(`${workspace.manifest.name}: ${found.length === 0 ? 'good' : `\n${found.join('\n')}`}`);
    if (found.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (process.exitCode === 1) console.error(`\nSome packages of ${repository} are not fit to publish.`);
