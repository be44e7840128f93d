// @ts-check
// The mutants: small defects that somebody could make, each of which some test is to find.
import { codec } from './list/codec.mjs';
import { collector } from './list/collector.mjs';
import { dart } from './list/dart.mjs';
import { detect } from './list/detect.mjs';
import { flowcache } from './list/flowcache.mjs';
import { gpint } from './list/gpint.mjs';
import { p4vm } from './list/p4vm.mjs';
import { stream } from './list/stream.mjs';

/**
 * @typedef {object} Mutant
 * @property {string} id the package's name and a few words
 * @property {string} file relative to the repository
 * @property {string} find what stands there, exactly once
 * @property {string} put what the mutant has in its place
 * @property {string} defect in one phrase
 * @property {true} [rare] shows only in a state that few inputs reach: a turn of a number, a full table, a second eviction
 */

/** @type {readonly Mutant[]} */
export const mutants = [...codec, ...detect, ...flowcache, ...dart, ...gpint, ...stream, ...collector, ...p4vm];

/** @param {Mutant} mutant */
export const packageOf = ({ file }) => file.split('/')[1] ?? '';

/** Test files that no mutant runs: they compare WebAssembly in the sources with what it is compiled from. */
export const leftOut = [
  'packages/codec/test/internals/fast-accelerator.test.ts',
  'packages/dart/test/internals/accelerator/build.test.ts',
  'packages/flowcache/test/internals/accelerator/build.test.ts',
];

/** Tests of packages that need no build. */
const ANY = /^(?:packages\/(?!cli\/)[^/]+|p4)\/test\/.*\.test\.ts$/;

/**
 * The test files that a mutant of a package is tried with.
 * @param {readonly string[]} files all files of a tree
 * @param {string} name the package's
 * @param {'package' | 'all'} which
 */
export function testsFor(files, name, which) {
  return files.filter(
    (file) =>
      ANY.test(file) && !leftOut.includes(file) && (which === 'all' || file.startsWith(`packages/${name}/test/`)),
  );
}
