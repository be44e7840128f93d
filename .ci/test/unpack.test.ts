import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { unpack } from './unpack.js';

const folder = mkdtempSync(join(tmpdir(), 'int-unpack-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('what npm packs is unpacked byte for byte, whatever the length of paths and files', () => {
  const files = new Map([
    ['package.json', '{ "name": "x", "version": "1.0.0" }'],
    ['empty', ''],
    ['block', 'b'.repeat(512)],
    ['über/block-and-one', 'c'.repeat(513)],
    [`${'deep/'.repeat(40)}file`, 'deep'],
    [`${'n'.repeat(180)}`, 'long'],
  ]);
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, 'in', path)), { recursive: true });
    writeFileSync(join(folder, 'in', path), text);
  }
  const packed = spawnSync('npm', ['pack', '--pack-destination', folder], {
    cwd: join(folder, 'in'),
    encoding: 'utf8',
    shell: process.platform === 'win32',
    timeout: 50_000,
  });
  expect(packed.status, packed.stderr).toBe(0);

  unpack(readFileSync(join(folder, 'x-1.0.0.tgz')), join(folder, 'out'));

  for (const [path, text] of files) expect(readFileSync(join(folder, 'out', path), 'utf8'), path).toBe(text);
  const unpacked = readdirSync(join(folder, 'out'), { recursive: true, withFileTypes: true });
  expect(unpacked.filter((entry) => entry.isFile()).length).toBe(files.size);
});
