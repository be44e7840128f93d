import { checkProgram } from '../check/check-program.js';
import type { IrProgram } from '../ir/program.js';
import { Diagnostics } from '../source/diagnostics.js';
import type { SourceFile } from '../source/position.js';
import { type ParseOptions, parseProgram } from '../syntax/parse-program.js';
import { lowerProgram } from './lower-program.js';

/** Options of the preprocessor; diagnostics are collected here if none are given. */
export type BuildOptions = Partial<ParseOptions>;

/** A program ready to be compiled, and what is to be said about it. */
export interface BuildResult {
  /** Undefined if there are errors. */
  readonly program: IrProgram | undefined;
  readonly diagnostics: Diagnostics;
}

/** Parses, checks and specialises a program. Never throws for what a program holds, only what `options.resolve` throws. */
export function buildProgram(file: SourceFile, options: BuildOptions = {}): BuildResult {
  const diagnostics = options.diagnostics ?? new Diagnostics();
  const syntax = parseProgram(file, { ...options, diagnostics });
  const checked = diagnostics.hasErrors ? undefined : checkProgram(syntax, diagnostics);
  const program = checked === undefined || diagnostics.hasErrors ? undefined : lowerProgram(checked, diagnostics);
  return { program, diagnostics };
}
