// @ts-check
// Compiles a package's WebAssembly accelerator, whose source is AssemblyScript, and keeps it as base64 text in a source file.
// A package's `assembly/build.mjs` says which; it hands in the compiler, which is a dependency of the package.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * @typedef {{ main: (args: string[], options: object) => Promise<{ error: Error | null, stderr: { toString(): string } }> }} Compiler
 */

/**
 * @typedef {object} Accelerator
 * @property {() => Promise<{ default: Compiler }>} compiler loads the AssemblyScript compiler, which takes its time
 * @property {string} folder where the source is, absolute
 * @property {string} source its entry file in that folder
 * @property {string} target the file to write, absolute
 * @property {string} constant what the text is called there
 * @property {string} package name of the package
 * @property {string[]} [flags] more flags for the compiler
 */

/** @param {Accelerator} accelerator */
const optionsOf = ({ flags = [] }) => [
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

/**
 * @param {Accelerator} accelerator
 * @returns {Promise<Uint8Array>} the compiled module
 */
export async function compile(accelerator) {
  const { compiler, folder, source } = accelerator;
  /** @type {Uint8Array | undefined} */
  let binary;
  const options = [source, '--baseDir', folder, ...optionsOf(accelerator), '--outFile', 'accelerator.wasm'];
  const { default: asc } = await compiler();
  const { error, stderr } = await asc.main(options, {
    writeFile: (/** @type {string} */ name, /** @type {Uint8Array} */ contents) => {
      if (name === 'accelerator.wasm') binary = contents;
    },
  });
  if (error !== null || binary === undefined) throw new Error(`${error?.message}\n${stderr.toString()}`);
  return binary;
}

/**
 * @param {Accelerator} accelerator
 * @param {Uint8Array} binary
 * @returns {string} stands for a module and all that it is made from: the sources, the compiler's version and its options
 */
function digestOf(accelerator, binary) {
  const { folder } = accelerator;
  const { devDependencies } = JSON.parse(readFileSync(join(folder, '..', 'package.json'), 'utf8'));
  const sources = readdirSync(folder)
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => [name, readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n')]);
  const all = JSON.stringify([devDependencies.assemblyscript, optionsOf(accelerator), sources]);
  return createHash('sha256').update(all).update(binary).digest('hex');
}

/**
 * @param {Accelerator} accelerator
 * @param {Uint8Array} binary
 * @returns {string} the file that holds the module
 */
export function render(accelerator, binary) {
  const { source, constant } = accelerator;
  const text = Buffer.from(binary).toString('base64');
  const lines = text.match(/.{1,110}/g) ?? [];
  return [
    `// Written by assembly/build.mjs from assembly/${source}; do not edit.`,
    `// Digest of the sources, the compiler, its options and the module: ${digestOf(accelerator, binary)}`,
    '',
    '/** The accelerator as a WebAssembly module, base64. */',
    `export const ${constant} =`,
    `${lines.map((line) => `  '${line}'`).join(' +\n')};`,
    '',
  ].join('\n');
}

/**
 * Compares the digest in the committed file with that of the sources and the module as they are now, without compiling.
 * @param {Accelerator} accelerator
 * @returns {{ module: Uint8Array, isCurrent: boolean }} the committed module, and whether the file is as it was written for these sources
 */
export function committed(accelerator) {
  const file = readFileSync(accelerator.target, 'utf8').replaceAll('\r\n', '\n');
  const text = [...file.matchAll(/^ {2}'([\w+/=]+)'/gm)].map(([, line]) => line).join('');
  const module = Buffer.from(text, 'base64');
  return { module, isCurrent: file === render(accelerator, module) };
}

/**
 * Writes the file or, with `--check`, compares it and ends with exit code 1 if it is stale.
 * @param {Accelerator} accelerator
 */
export async function build(accelerator) {
  const file = render(accelerator, await compile(accelerator));
  const { target } = accelerator;
  if (!process.argv.includes('--check')) writeFileSync(target, file);
  else if (!existsSync(target) || readFileSync(target, 'utf8') !== file) {
    console.error(`${relative('.', target)} is stale: npm run build:accelerator -w ${accelerator.package}`);
    process.exitCode = 1;
  }
}
