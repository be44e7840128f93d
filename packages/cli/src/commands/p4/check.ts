import {
  bmv2Limits,
  createSwitch,
  type Diagnostic,
  findWarnings,
  formatDiagnostic,
  P4Error,
  type WarningKind,
} from '@int/p4vm';
import { lineColumn, WARNING_KINDS } from '@int/p4vm/internals';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, type Io, say } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { addProgramOptions, checkFile, counted, type ProgramFlags } from '../../p4/program.js';

interface CheckFlags extends ProgramFlags {
  readonly json?: true;
  readonly warnings: 'show' | 'error' | 'off';
  readonly without?: WarningKind[];
  readonly strictBmv2?: true;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  const warnings = new Option('--warnings <show|error|off>', 'show warnings; with "error" they are as bad as errors')
    .choices(['show', 'error', 'off'])
    .default('show');
  const without = new Option(
    '--without <KIND>',
    'leave out warnings of a kind, such as invalid_header; repeat for more',
  ).argParser(kinds);
  addProgramOptions(command.argument('<FILE.p4>', 'the program'))
    .addOption(warnings)
    .addOption(without)
    .option('--strict-bmv2', 'refuse what p4c does not take for simple_switch')
    .option('--json', 'one JSON object for each diagnostic')
    .action(async (path: string, flags: CheckFlags) => {
      const { list, errors, suppressed } = check(path, flags);
      const output = new DataOutput(io.stdout);
      for (const diagnostic of list) {
        await output.line(flags.json === true ? JSON.stringify(jsonOf(diagnostic)) : formatDiagnostic(diagnostic));
      }
      await output.end();
      if (suppressed > 0) say(io, `${suppressed} more are not shown`);
      const doubts = list.filter(({ severity }) => severity === 'warning').length;
      if (flags.json !== true) {
        const warned = doubts > 0 ? `, ${counted(doubts, 'warning')}` : '';
        say(io, `${path}: ${errors > 0 ? counted(errors, 'error') : 'no errors'}${warned}`);
      }
      done(errors > 0 || (flags.warnings === 'error' && doubts > 0) ? EXIT.INPUT : EXIT.OK);
    });
}

function kinds(text: string, previous: WarningKind[] = []): WarningKind[] {
  const kind = WARNING_KINDS.find((each) => each === text);
  if (kind === undefined) throw new InvalidArgumentError(`Give one of ${WARNING_KINDS.join(', ')}.`);
  return [...previous, kind];
}

interface Checked {
  readonly list: readonly Diagnostic[];
  readonly errors: number;
  readonly suppressed: number;
}

/** All messages about a program: errors that running it would show, too, and warnings. */
function check(path: string, flags: CheckFlags): Checked {
  const { program, diagnostics } = checkFile(path, flags);
  const isShown = ({ severity }: Diagnostic): boolean => severity === 'error' || flags.warnings !== 'off';
  const list = diagnostics.list.filter(isShown);
  const { errors, suppressed } = diagnostics;
  if (program === undefined) return { list, errors, suppressed };
  try {
    createSwitch(program, { limits: flags.limit });
  } catch (error) {
    if (!P4Error.is(error)) throw error;
    return { list: [...list, ...error.diagnostics], errors: error.diagnostics.length, suppressed };
  }
  const beyond = flags.strictBmv2 === true ? bmv2Limits(program) : undefined;
  if (beyond?.hasErrors) return { list: [...list, ...beyond.list], errors: beyond.errors, suppressed };
  if (flags.warnings === 'off') return { list, errors, suppressed };
  const doubts = findWarnings(program, { without: flags.without });
  return { list: [...list, ...doubts.list], errors, suppressed: suppressed + doubts.suppressed };
}

function placeOf({ span }: Pick<Diagnostic, 'span'>): Record<string, string | number> {
  const { line, column } = lineColumn(span.file, span.start);
  const end = lineColumn(span.file, span.end);
  return { file: span.file.name, line, column, endLine: end.line, endColumn: end.column };
}

function jsonOf(diagnostic: Diagnostic): Record<string, unknown> {
  const { severity, code, layer, message, related } = diagnostic;
  return {
    ...placeOf(diagnostic),
    severity,
    code,
    layer,
    message,
    ...(related !== undefined && { related: { ...placeOf(related), message: related.message } }),
  };
}
