// @ts-check
// Compiles a package's WebAssembly kernel, whose source is AssemblyScript, and keeps it as base64 text in a source file.
// A package's `assembly/build.mjs` says which; it hands in the compiler, which is a dependency of the package.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * @typedef {object} Kernel
 * @property {{ main: (args: string[], options: object) => Promise<{ error: Error | null, stderr: { toString(): string } }> }} asc
 *   the AssemblyScript compiler
 * @property {string} folder where the source is, absolute
 * @property {string} source its entry file in that folder
 * @property {string} target the file to write, absolute
 * @property {string} constant what the text is called there
 * @property {string} package name of the package
 * @property {string[]} [flags] more flags for the compiler
 */

/**
 * @param {Kernel} kernel
 * @returns {Promise<Uint8Array>} the compiled module
 */
export async function compile({ asc, folder, source, flags = [] }) {
  /** @type {Uint8Array | undefined} */
  let binary;
  const options = [
    '-O3',
    '--noAssert',
    '--runtime',
    'stub',
    '--enable',
    'simd',
    '--importMemory',
    '--initialMemory',
    '1',
    ...flags,
  ];
  const { error, stderr } = await asc.main([source, '--baseDir', folder, ...options, '--outFile', 'kernel.wasm'], {
    writeFile: (/** @type {string} */ name, /** @type {Uint8Array} */ contents) => {
      if (name === 'kernel.wasm') binary = contents;
    },
  });
  if (error !== null || binary === undefined) throw new Error(`${error?.message}\n${stderr.toString()}`);
  return binary;
}

/**
 * @param {Kernel} kernel
 * @param {Uint8Array} binary
 * @returns {string} the file that holds the module
 */
export function render({ source, constant }, binary) {
  const text = Buffer.from(binary).toString('base64');
  const lines = text.match(/.{1,110}/g) ?? [];
  return [
    `// Written by assembly/build.mjs from assembly/${source}; do not edit.`,
    '',
    '/** The kernel as a WebAssembly module, base64. */',
    `export const ${constant} =`,
    `${lines.map((line) => `  '${line}'`).join(' +\n')};`,
    '',
  ].join('\n');
}

/**
 * Writes the file or, with `--check`, compares it and ends with exit code 1 if it is stale.
 * @param {Kernel} kernel
 */
export async function build(kernel) {
  const file = render(kernel, await compile(kernel));
  const { target } = kernel;
  if (!process.argv.includes('--check')) writeFileSync(target, file);
  else if (!existsSync(target) || readFileSync(target, 'utf8') !== file) {
    console.error(`${relative('.', target)} is stale: npm run build:kernel -w ${kernel.package}`);
    process.exitCode = 1;
  }
}
