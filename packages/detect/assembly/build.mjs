/**
 * Compiles detect.ts and writes it, as base64 text, to ../src/engine/kernel/detect.wasm.ts.
 *
 * `node assembly/build.mjs` writes the file; with `--check` it only compares and exits with 1 if the file is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const here = fileURLToPath(new URL('.', import.meta.url));
const target = fileURLToPath(new URL('../src/engine/kernel/detect.wasm.ts', import.meta.url));

/** @returns {Promise<Uint8Array>} the compiled module */
export async function compile() {
  let binary;
  const { error, stderr } = await asc.main(
    [
      'detect.ts',
      '--baseDir',
      here,
      '-O3',
      '--noAssert',
      '--runtime',
      'stub',
      '--enable',
      'simd',
      '--importMemory',
      '--initialMemory',
      '1',
      '--outFile',
      'detect.wasm',
    ],
    {
      writeFile: (name, contents) => {
        if (name === 'detect.wasm') binary = contents;
      },
    },
  );
  if (error !== null) throw new Error(`${error.message}\n${stderr.toString()}`);
  return binary;
}

/** @param {Uint8Array} binary */
export function render(binary) {
  const text = Buffer.from(binary).toString('base64');
  const lines = text.match(/.{1,110}/g) ?? [];
  return [
    '// Written by assembly/build.mjs from assembly/detect.ts; do not edit.',
    '',
    '/** The kernel as a WebAssembly module, base64. */',
    'export const DETECT_WASM =',
    `${lines.map((line) => `  '${line}'`).join(' +\n')};`,
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const source = render(await compile());
  if (process.argv.includes('--check')) {
    if (!existsSync(target) || readFileSync(target, 'utf8') !== source) {
      console.error('src/engine/kernel/detect.wasm.ts is stale: npm run build:kernel -w @int/detect');
      process.exitCode = 1;
    }
  } else {
    writeFileSync(target, source);
  }
}
