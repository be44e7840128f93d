import { Budget } from '../budget/budget.js';
import type { Limits } from '../budget/limits.js';
import { checkProgram } from '../check/check-program.js';
import type { IrProgram } from '../ir/program.js';
import { Diagnostics } from '../source/diagnostics.js';
import type { SourceFile } from '../source/position.js';
import { type ParseOptions, parseProgram } from '../syntax/parse-program.js';
import { lowerProgram } from './lower-program.js';

/** Options of the preprocessor; diagnostics are collected here if none are given. */
export type BuildOptions = Partial<Omit<ParseOptions, 'budget'>> & {
  /** What the program may use; the defaults where nothing is said. */
  readonly limits?: Partial<Limits> | undefined;
};

/** A program ready to be compiled, and what is to be said about it. */
export interface BuildResult {
  /** Undefined if there are errors. */
  readonly program: IrProgram | undefined;
  readonly diagnostics: Diagnostics;
}

/**
 * Parses, checks and specialises a program. Never throws for what a program holds, only what `options.resolve` throws.
 *
 * @throws RangeError for a limit that is no whole number from 1
 */
export function buildProgram(file: SourceFile, options: BuildOptions = {}): BuildResult {
  const diagnostics = options.diagnostics ?? new Diagnostics();
  const budget = new Budget(options.limits);
  const syntax = parseProgram(file, { ...options, diagnostics, budget });
  const checked = diagnostics.hasErrors ? undefined : checkProgram(syntax, diagnostics, budget);
  const program =
    checked === undefined || diagnostics.hasErrors ? undefined : lowerProgram(checked, diagnostics, budget);
  return { program, diagnostics };
}
