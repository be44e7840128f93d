import { type Diagnostic, formatDiagnostic, lineColumn } from '@int/p4vm';
import type { Command } from 'commander';
import { EXIT, type Io, say } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { addProgramOptions, checkFile, errorCount, type ProgramFlags } from '../../p4/program.js';

interface CheckFlags extends ProgramFlags {
  readonly json?: true;
}

/** Gives `int p4 check` its arguments, options and work. */
export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addProgramOptions(command.argument('<FILE.p4>', 'the program'))
    .option('--json', 'one JSON object for each diagnostic')
    .action(async (path: string, flags: CheckFlags) => {
      const { program, diagnostics } = checkFile(path, flags);
      const output = new DataOutput(io.stdout);
      for (const diagnostic of diagnostics.list) {
        await output.line(flags.json === true ? JSON.stringify(jsonOf(diagnostic)) : formatDiagnostic(diagnostic));
      }
      await output.end();
      if (diagnostics.suppressed > 0) say(io, `${diagnostics.suppressed} more are not shown`);
      if (flags.json !== true) {
        say(io, `${path}: ${program === undefined ? errorCount(diagnostics.errors) : 'no errors'}`);
      }
      done(program === undefined ? EXIT.INPUT : EXIT.OK);
    });
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
