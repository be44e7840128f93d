/**
 * Compiles detect.ts and writes it, as base64 text, to ../src/engine/accelerator/detect.wasm.ts.
 *
 * `node assembly/build.mjs` writes the file; with `--check` it only compares and exits with 1 if the file is stale.
 */
import { fileURLToPath } from 'node:url';
import * as accelerators from '../../../.ci/scripts/accelerator.mjs';

const accelerator = {
  compiler: () => import('assemblyscript/asc'),
  folder: fileURLToPath(new URL('.', import.meta.url)),
  source: 'detect.ts',
  target: fileURLToPath(new URL('../src/engine/accelerator/detect.wasm.ts', import.meta.url)),
  constant: 'DETECT_WASM',
  package: '@int/detect',
};

export const compile = () => accelerators.compile(accelerator);

export const committed = () => accelerators.committed(accelerator);

/** @param {Uint8Array} binary */
export const render = (binary) => accelerators.render(accelerator, binary);

if (process.argv[1] === fileURLToPath(import.meta.url)) await accelerators.build(accelerator);
