import { runStf, type StfResult, StfSyntaxError } from '@int/p4vm';
import { formatStfResult } from '@int/p4vm/internals';
import type { Command } from 'commander';
import { CliError, EXIT, type Io } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { readControlText } from '../../p4/control-file.js';
import { addPoisonOption, type PoisonFlags, poisonOf, reportUndefinedReads } from '../../p4/poison.js';
import { addProgramOptions, openSwitch, type ProgramFlags } from '../../p4/program.js';

interface StfFlags extends ProgramFlags, PoisonFlags {
  readonly json?: true;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addPoisonOption(
    addProgramOptions(
      command.argument('<FILE.p4>', 'the program').argument('<FILE.stf>', 'the test, - for standard input'),
    ),
  )
    .option('--json', 'one JSON object')
    .action(async (path: string, test: string, flags: StfFlags) => {
      const target = openSwitch(path, flags, io, poisonOf(flags));
      if (target === undefined) return done(EXIT.INPUT);
      let result: StfResult;
      try {
        result = runStf(target, await readControlText(test, io));
      } catch (error) {
        if (!StfSyntaxError.is(error)) throw error;
        throw new CliError(`${test}: ${error.message}`, EXIT.INPUT, error);
      }
      const output = new DataOutput(io.stdout);
      if (flags.json === true) await output.line(JSON.stringify(result));
      else await output.text(formatStfResult(result));
      await output.end();
      done(reportUndefinedReads(target, flags, io, result.passed ? EXIT.OK : EXIT.INPUT));
    });
}
