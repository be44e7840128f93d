/**
 * What needs Node.js: programs and their includes from files.
 *
 * @packageDocumentation
 */
export { checkProgramFile, fileResolver, type LoadOptions, loadProgram } from './load-program.js';
