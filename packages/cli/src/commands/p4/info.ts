import { toBinary, toJsonString } from '@bufbuild/protobuf';
import { formatText, P4InfoError, p4config, p4infoOf } from '@int/p4runtime';
import type { IrProgram } from '@int/p4vm';
import { type Command, Option } from 'commander';
import { EXIT, type Io, say } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { addProgramOptions, type ProgramFlags, readProgram } from '../../p4/program.js';
import { programInfo, programText } from '../../p4/program-info.js';

type P4InfoFormat = 'text' | 'json' | 'binary';

interface InfoFlags extends ProgramFlags {
  readonly json?: true;
  readonly p4runtime?: P4InfoFormat;
}

/** What editors and tools look for at the beginning of a message in text. */
const HEADING = '# proto-file: p4/config/v1/p4info.proto\n# proto-message: p4.config.v1.P4Info\n\n';

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  const p4runtime = new Option(
    '--p4runtime <FORMAT>',
    "the P4Info message for controllers: protobuf's text, JSON, or binary",
  )
    .choices(['text', 'json', 'binary'])
    .conflicts('json');
  addProgramOptions(command.argument('<FILE.p4>', 'the program'))
    .option('--json', 'one JSON object')
    .addOption(p4runtime)
    .action(async (path: string, flags: InfoFlags) => {
      const program = readProgram(path, flags, io);
      if (program === undefined) return done(EXIT.INPUT);
      const output = new DataOutput(io.stdout);
      if (flags.p4runtime !== undefined) {
        const info = p4info(program, path, io);
        if (info === undefined) return done(EXIT.INPUT);
        await writeP4Info(output, info, flags.p4runtime);
      } else if (flags.json === true) await output.line(JSON.stringify(programInfo(program)));
      else for (const line of programText(program)) await output.line(line);
      await output.end();
      done(EXIT.OK);
    });
}

function p4info(program: IrProgram, path: string, io: Io): p4config.P4Info | undefined {
  try {
    return p4infoOf(program);
  } catch (error) {
    if (!P4InfoError.is(error)) throw error;
    say(io, `${path}: ${error.message} [${error.code}]`);
    return undefined;
  }
}

async function writeP4Info(output: DataOutput, info: p4config.P4Info, format: P4InfoFormat): Promise<void> {
  switch (format) {
    case 'text':
      await output.text(HEADING + formatText(p4config.P4InfoSchema, info));
      break;
    case 'json':
      await output.line(toJsonString(p4config.P4InfoSchema, info, { prettySpaces: 2 }));
      break;
    case 'binary':
      await output.bytes(toBinary(p4config.P4InfoSchema, info));
  }
}
