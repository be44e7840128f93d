import { Budget } from '../budget/budget.js';
import type { Limits } from '../budget/limits.js';
import { checkProgram } from '../check/check-program.js';
import type { IrProgram } from '../ir/program.js';
import { Diagnostics } from '../source/diagnostics.js';
import type { SourceFile } from '../source/position.js';
import { parseProgram } from '../syntax/parse-program.js';
import type { PreprocessOptions } from '../syntax/preprocessor.js';
import { lowerProgram } from './lower-program.js';

/**
 * Options of the preprocessor, without the budget. `diagnostics` collects errors and warnings; a new collector is made
 * if it is absent.
 */
export type BuildOptions = Partial<Omit<PreprocessOptions, 'budget'>> & {
  /** Limits of the program, with defaults for those that are not given. */
  readonly limits?: Partial<Limits> | undefined;
  /**
   * Called again and again during the work, every few tens of microseconds, so that its caller can do something else
   * meanwhile, such as forwarding packets by another machine. It must not throw.
   */
  readonly onWork?: (() => void) | undefined;
};

/** A program ready to be compiled, and its diagnostics. */
export interface BuildResult {
  /** Undefined if there are errors. */
  readonly program: IrProgram | undefined;
  readonly diagnostics: Diagnostics;
}

/**
 * Parses, checks and specialises a program. Errors of the program become diagnostics and are not thrown. Errors of
 * `options.resolve` are passed on.
 *
 * @throws RangeError for a limit that is not a whole number from 1
 */
export function buildProgram(file: SourceFile, options: BuildOptions = {}): BuildResult {
  const diagnostics = options.diagnostics ?? new Diagnostics();
  const budget = new Budget(options.limits, options.onWork);
  const syntax = parseProgram(file, { ...options, diagnostics, budget });
  const checked = diagnostics.hasErrors ? undefined : checkProgram(syntax, diagnostics, budget);
  const program =
    checked === undefined || diagnostics.hasErrors ? undefined : lowerProgram(checked, diagnostics, budget);
  return { program, diagnostics };
}
