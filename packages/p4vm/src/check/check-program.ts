import { Budget, runStage } from '../budget/budget.js';
import type { Diagnostics } from '../source/diagnostics.js';
import type { InstanceDeclaration, Program } from '../syntax/ast.js';
import type { CheckedProgram } from './checked-program.js';
import { Checker } from './checker.js';
import { checkDeclaration } from './declarations.js';

/** The package that a program's `main` must be an instance of. */
const ARCHITECTURE = 'V1Switch';

/** The instance called `main`, of the package of v1model. */
function findMain(c: Checker, program: Program): InstanceDeclaration | undefined {
  const entry = c.scope.local('main');
  if (entry?.kind !== 'value' || entry.symbol.kind !== 'instance') {
    return c.report('target', 'no-main', program.span, `the program has no instance of ${ARCHITECTURE} named "main"`);
  }
  const { declaration } = entry.symbol;
  // An unknown type has been reported.
  if (entry.type.kind === 'unknown') return undefined;
  if (entry.type.kind === 'package' && entry.type.name === ARCHITECTURE) return declaration;
  const message =
    entry.type.kind === 'package'
      ? `"main" is an instance of package "${entry.type.name}": only programs for v1model, with ${ARCHITECTURE}, can be run`
      : `"main" must be an instance of package ${ARCHITECTURE}`;
  return c.report('target', 'unsupported-architecture', declaration.span, message);
}

/**
 * Resolves the names of a program, checks its types and computes the values that are known at compile time.
 *
 * @param program the parsed program, which includes core.p4 and v1model.p4
 * @param diagnostics errors and warnings are added to these
 * @param budget the resources that the program may use
 * @returns the checked program, or undefined if there are errors (those of the parser included)
 */
export function checkProgram(
  program: Program,
  diagnostics: Diagnostics,
  budget: Budget = new Budget(),
): CheckedProgram | undefined {
  return runStage(diagnostics, program.span, () => checkAll(new Checker(diagnostics, budget), program));
}

function checkAll(c: Checker, program: Program): CheckedProgram | undefined {
  for (const declaration of program.declarations) checkDeclaration(c, declaration);
  const main = findMain(c, program);
  if (main === undefined || c.diagnostics.hasErrors) return undefined;
  return { program, ...c.found, errors: [...c.errors.keys()], main };
}
