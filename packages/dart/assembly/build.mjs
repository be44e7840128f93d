/**
 * Compiles dart.ts and writes it, as base64 text, to ../src/accelerator/dart.wasm.ts.
 *
 * `node assembly/build.mjs` writes the file; with `--check` it only compares and exits with 1 if the file is stale.
 */
import { fileURLToPath } from 'node:url';
import * as accelerators from '../../../.ci/scripts/accelerator.mjs';

const accelerator = {
  compiler: () => import('assemblyscript/asc'),
  folder: fileURLToPath(new URL('.', import.meta.url)),
  source: 'dart.ts',
  target: fileURLToPath(new URL('../src/accelerator/dart.wasm.ts', import.meta.url)),
  constant: 'DART_WASM',
  package: '@int/dart',
  // For atomic accesses, which a module may have whether or not its memory is shared.
  flags: ['--maximumMemory', '65536', '--enable', 'threads'],
};

export const compile = () => accelerators.compile(accelerator);

/** The same for a memory that threads share: of this module, the one in use differs in one bit. */
export const compileShared = () => accelerators.compile({ ...accelerator, flags: [...accelerator.flags, '--sharedMemory'] });

export const committed = () => accelerators.committed(accelerator);

/** @param {Uint8Array} binary */
export const render = (binary) => accelerators.render(accelerator, binary);

if (process.argv[1] === fileURLToPath(import.meta.url)) await accelerators.build(accelerator);
