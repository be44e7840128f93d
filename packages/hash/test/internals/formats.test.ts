import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'tsup';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const source = fileURLToPath(new URL('../../src/index.ts', import.meta.url));
const xxhashFolder = dirname(dirname(createRequire(import.meta.url).resolve('xxhash-wasm')));
let folder = '';

/** Prints the CRC and both xxh32 of five zero bytes; says so if xxhash-wasm is not to be had. */
const body = `
  const bytes = new Uint8Array(5);
  console.log(hash.crc32(bytes), hash.xxh32(bytes));
  hash.createVariableLengthHasher().then(
    (hasher) => console.log(hasher.xxh32(bytes), hasher.xxh64(bytes) === hash.xxh64(bytes)),
    (error) => console.log(error.code),
  );`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'int-hash-'));
  await build({
    config: false,
    entry: { index: source },
    outDir: join(folder, 'alone'),
    format: ['esm', 'cjs'],
    target: 'es2022',
    outExtension: ({ format }) => ({ js: format === 'esm' ? '.mjs' : '.cjs' }),
    external: ['xxhash-wasm'],
    treeshake: true,
    silent: true,
    tsconfig: fileURLToPath(new URL('../../tsconfig.json', import.meta.url)),
  });
  await writeFile(join(folder, 'alone', 'use.mjs'), `import * as hash from './index.mjs';${body}`);
  await writeFile(join(folder, 'alone', 'use.cjs'), `const hash = require('./index.cjs');${body}`);
  await cp(join(folder, 'alone'), join(folder, 'installed'), { recursive: true });
  await cp(xxhashFolder, join(folder, 'installed', 'node_modules', 'xxhash-wasm'), { recursive: true });
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe.each(['mjs', 'cjs'])('the build, used from a .%s file', (extension) => {
  it('computes in itself and through xxhash-wasm', async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'installed', `use.${extension}`)]);
    expect(stdout.split('\n')).toEqual(['3324180253 311775565', '311775565 true', '']);
  });

  it('loads without xxhash-wasm, which is missed only when it is asked for', async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'alone', `use.${extension}`)]);
    expect(stdout.split('\n')).toEqual(['3324180253 311775565', 'ERR_MODULE_NOT_FOUND', '']);
  });
});
