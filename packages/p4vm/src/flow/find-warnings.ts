import { isStackOverflow } from '../budget/budget.js';
import type { IrProgram } from '../ir/program.js';
import { Diagnostics } from '../source/diagnostics.js';
import { Findings, type WarningKind } from './findings.js';
import { Flow } from './flow.js';
import { followPackets } from './packet-path.js';
import { TooMuch } from './places.js';
import type { FlowLimits } from './state.js';
import { findInStructure } from './structure.js';

/** Most warnings kept. Further ones are counted. */
const MAX_WARNINGS = 1000;

export interface WarningOptions {
  /** Kinds to leave out. */
  readonly without?: Iterable<WarningKind> | undefined;
}

/** Enough for nearly all programs. */
const FIRST: FlowLimits = { ways: 32, steps: 200_000_000 };
/** For doubts about programs with more ways: other paths are then followed as one. */
const AGAIN: readonly FlowLimits[] = [
  { ways: 48, steps: 100_000_000 },
  { ways: 128, steps: 200_000_000 },
];

/**
 * Finds likely mistakes in a program without errors: reads of fields whose header may be invalid, reads of values that
 * may be unwritten, unreachable states and tables. The analysis follows packets through all parts of the switch on all
 * paths, clones, resubmitted and recirculated packets included. It uses the conditions on these paths about validity
 * and values.
 *
 * The kind of a warning is its code. It has p4c's name if p4c has a similar warning: see the README. In programs with very many
 * paths, similar ones are followed as one. That hides nothing, but may make doubtful what is right. So such doubts are looked at
 * again, with other paths as one, and only those that remain are told. An analysis that would take too long stops with the warning
 * `incomplete`.
 *
 * @param program a program made by `buildProgram` or `loadProgram`
 */
export function findWarnings(program: IrProgram, { without = [] }: WarningOptions = {}): Diagnostics {
  const diagnostics = new Diagnostics(MAX_WARNINGS);
  const { findings, isWhole, hasJoined } = findWithin(program, FIRST);
  if (isWhole && hasJoined) {
    for (const limits of AGAIN) {
      if (!findings.isAnyWrong) break;
      const again = findWithin(program, limits);
      if (again.isWhole) findings.confirm(again.findings);
    }
  }
  findings.report(diagnostics, new Set(without));
  return diagnostics;
}

/** What was found within limits. */
export interface Found {
  readonly findings: Findings;
  /** All packets were followed. */
  readonly isWhole: boolean;
  /** Some paths were followed as one because there were too many. */
  readonly hasJoined: boolean;
}

export function findWithin(program: IrProgram, limits: FlowLimits): Found {
  const findings = new Findings();
  let flow: Flow | undefined;
  let isWhole = false;
  try {
    flow = new Flow(program, findings, limits);
    followPackets(flow);
    isWhole = true;
  } catch (error) {
    if (!(error instanceof TooMuch) && !isStackOverflow(error)) throw error;
    const message = 'the program is too large, or has too many ways through it, to be looked at as a whole';
    findings.add('incomplete', program.parser.span, message);
  }
  if (flow !== undefined) findInStructure(flow, findings, isWhole);
  return { findings, isWhole, hasJoined: flow?.space.hasJoined === true };
}
