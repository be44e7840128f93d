import { isStackOverflow } from '../budget/budget.js';
import type { IrProgram } from '../ir/program.js';
import { Diagnostics } from '../source/diagnostics.js';
import { Findings, type WarningKind } from './findings.js';
import { Flow } from './flow.js';
import { followPackets } from './packet-path.js';
import { TooMuch } from './places.js';
import { findInStructure } from './structure.js';

/** Most warnings kept. Further ones are counted. */
const MAX_WARNINGS = 1000;

export interface WarningOptions {
  /** Kinds to leave out. */
  readonly without?: Iterable<WarningKind> | undefined;
}

/**
 * Finds likely mistakes in a program without errors: reads of fields whose header may be invalid, reads of values that
 * may be unwritten, unreachable states and tables. The analysis follows packets through all parts of the switch on all
 * paths, clones, resubmitted and recirculated packets included. It uses the conditions on these paths about validity
 * and values.
 *
 * The kind of a warning is its code. It has p4c's name if p4c has a similar warning: see the README. An analysis that
 * would take too long stops with the warning `incomplete`.
 *
 * @param program a program made by `buildProgram` or `loadProgram`
 */
export function findWarnings(program: IrProgram, { without = [] }: WarningOptions = {}): Diagnostics {
  const diagnostics = new Diagnostics(MAX_WARNINGS);
  const findings = new Findings();
  let flow: Flow | undefined;
  let isWhole = false;
  try {
    flow = new Flow(program, findings);
    followPackets(flow);
    isWhole = true;
  } catch (error) {
    if (!(error instanceof TooMuch) && !isStackOverflow(error)) throw error;
    const message = 'the program is too large, or has too many ways through it, to be looked at as a whole';
    findings.add('incomplete', program.parser.span, message);
  }
  if (flow !== undefined) findInStructure(flow, findings, isWhole);
  findings.report(diagnostics, new Set(without));
  return diagnostics;
}
