/**
 * Reads programs and their includes from files. Needs Node.js.
 *
 * @packageDocumentation
 */
export { type FileResolverOptions, fileResolver } from './include-files.js';
export { checkProgramFile, type LoadOptions, loadProgram } from './load-program.js';
export { UnreadableFile } from './regular-file.js';
