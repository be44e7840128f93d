import type { Command } from 'commander';
import { EXIT, type Io } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { addProgramOptions, type ProgramFlags, readProgram } from '../../p4/program.js';
import { programInfo, programText } from '../../p4/program-info.js';

interface InfoFlags extends ProgramFlags {
  readonly json?: true;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addProgramOptions(command.argument('<FILE.p4>', 'the program'))
    .option('--json', 'one JSON object')
    .action(async (path: string, flags: InfoFlags) => {
      const program = readProgram(path, flags, io);
      if (program === undefined) return done(EXIT.INPUT);
      const output = new DataOutput(io.stdout);
      if (flags.json === true) await output.line(JSON.stringify(programInfo(program)));
      else for (const line of programText(program)) await output.line(line);
      await output.end();
      done(EXIT.OK);
    });
}
