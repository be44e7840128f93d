import { isStackOverflow } from '../budget/budget.js';
import type { IrProgram } from '../ir/program.js';
import { Diagnostics } from '../source/diagnostics.js';
import { Findings, type WarningKind } from './findings.js';
import { Flow } from './flow.js';
import { followPackets } from './packet-path.js';
import { TooMuch } from './places.js';
import { findInStructure } from './structure.js';

/** Warnings that are kept; what comes behind them is counted. */
const MAX_WARNINGS = 1000;

export interface WarningOptions {
  /** Kinds that are left out. */
  readonly without?: Iterable<WarningKind> | undefined;
}

/**
 * What is doubtful in a program that is right as the language goes: fields of headers that may be invalid, values that may
 * not be written, states and tables that nothing reaches. Packets are followed through all parts of the switch, by all ways,
 * with what conditions say of validity and values; clones and packets that go round again too.
 *
 * Kinds are the codes of the warnings, with p4c's names where p4c has the like: see the README. An analysis that would take
 * too long is given up, with the warning `incomplete`.
 *
 * @param program as `buildProgram` or `loadProgram` made it
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
