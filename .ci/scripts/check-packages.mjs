// @ts-check
// Packs every public package and checks the tarball as npm would publish it, with publint and arethetypeswrong.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { pack } from './pack.mjs';
import { publicPackages, repository } from './workspaces.mjs';

/**
 * @param {Uint8Array} tarball
 * @returns {Promise<string[]>} what publint finds
 */
async function publintFindings(tarball) {
  const bytes = new Uint8Array(tarball);
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: bytes.buffer } });
  return messages
    .filter(({ type }) => type !== 'suggestion')
    .map((message) => `publint: ${formatMessage(message, pkg, { color: false })}`);
}

/**
 * @param {Uint8Array} tarball
 * @param {import('./workspaces.mjs').Manifest} manifest
 * @returns {Promise<string[]>} what arethetypeswrong finds, for the ways of resolving that the package is meant for
 */
async function typesFindings(tarball, manifest) {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
  if (analysis.types === false) return ['arethetypeswrong: no types'];
  // Node 10 knows no `exports`; a package without `require` is for ECMAScript modules only.
  const ignored = JSON.stringify(manifest.exports).includes('"require"') ? ['node10'] : ['node10', 'node16-cjs'];
  return analysis.problems
    .filter((problem) => !('resolutionKind' in problem && ignored.includes(problem.resolutionKind)))
    .map((problem) => `arethetypeswrong: ${JSON.stringify(problem)}`);
}

const folder = mkdtempSync(join(tmpdir(), 'int-check-'));
try {
  const packages = publicPackages();
  const tarballs = pack(
    packages.filter(({ begun }) => begun),
    folder,
  );
  for (const { manifest, folder: name } of packages) {
    const { filename } = tarballs.get(manifest.name) ?? {};
    const bytes = filename === undefined ? undefined : readFileSync(join(folder, filename));
    const found =
      bytes === undefined
        ? [`${name} has no src/index.ts yet`]
        : [...(await publintFindings(bytes)), ...(await typesFindings(bytes, manifest))];
    console.log(`${manifest.name}: ${found.length === 0 ? 'good' : `\n${found.join('\n')}`}`);
    if (found.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (process.exitCode === 1) console.error(`\nSome packages of ${repository} are not fit to publish.`);
