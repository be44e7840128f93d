/**
 * Compiles detect.ts and writes it, as base64 text, to ../src/engine/kernel/detect.wasm.ts.
 *
 * `node assembly/build.mjs` writes the file; with `--check` it only compares and exits with 1 if the file is stale.
 */
import { fileURLToPath } from 'node:url';
import * as kernels from '../../../.ci/scripts/kernel.mjs';

const kernel = {
  compiler: () => import('assemblyscript/asc'),
  folder: fileURLToPath(new URL('.', import.meta.url)),
  source: 'detect.ts',
  target: fileURLToPath(new URL('../src/engine/kernel/detect.wasm.ts', import.meta.url)),
  constant: 'DETECT_WASM',
  package: '@int/detect',
};

export const compile = () => kernels.compile(kernel);

export const committed = () => kernels.committed(kernel);

/** @param {Uint8Array} binary */
export const render = (binary) => kernels.render(kernel, binary);

if (process.argv[1] === fileURLToPath(import.meta.url)) await kernels.build(kernel);
