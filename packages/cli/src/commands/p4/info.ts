import { basename } from 'node:path';
import { toBinary, toJsonString } from '@bufbuild/protobuf';
import { formatText, P4InfoError, p4config, p4infoOf } from '@int/p4runtime';
import { programTypes } from '@int/p4runtime/internals';
import type { IrProgram } from '@int/p4vm';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { EXIT, type Io, say } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { readP4Info } from '../../p4/p4info-file.js';
import { addProgramOptions, type ProgramFlags, readProgram } from '../../p4/program.js';
import { programInfo, programText } from '../../p4/program-info.js';

type P4InfoFormat = 'text' | 'json' | 'binary';

interface InfoFlags extends ProgramFlags {
  readonly json?: true;
  readonly p4runtime?: P4InfoFormat;
  /** Name of the type; true: that of the file. */
  readonly types?: string | true;
}

/** What editors and tools look for at the beginning of a message in text. */
const HEADING = '# proto-file: p4/config/v1/p4info.proto\n# proto-message: p4.config.v1.P4Info\n\n';

/** Files that are P4Info, not programs. */
const IS_P4INFO = /\.(?:txt|txtpb|pbtxt|bin)$/;

function typeName(text: string): string {
  if (!/^[A-Za-z_$][\w$]{0,100}$/.test(text))
    throw new InvalidArgumentError('Give the name of a type, such as IntProgram.');
  return text;
}

/** The name of a type from that of a file: `IntProgram` of int.p4. */
function typeNameOf(path: string): string {
  const words = basename(path)
    .replace(/\..*$/, '')
    .split(/[^A-Za-z0-9]+/);
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return `${/^[A-Z]/.test(name) ? '' : 'P4'}${name.slice(0, 90)}Program`;
}

async function writeTypes(info: p4config.P4Info, path: string, name: string | true, io: Io): Promise<void> {
  const output = new DataOutput(io.stdout);
  await output.text(programTypes(info, name === true ? typeNameOf(path) : name));
  await output.end();
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  const p4runtime = new Option(
    '--p4runtime <FORMAT>',
    "the P4Info message for controllers: protobuf's text, JSON, or binary",
  )
    .choices(['text', 'json', 'binary'])
    .conflicts('json');
  const types = new Option(
    '--types [NAME]',
    'a TypeScript type with the names of tables, fields, actions and so on, for P4RuntimeClient; also of P4Info that another compiler wrote (text in .txt, .txtpb or .pbtxt, or .bin)',
  )
    .argParser(typeName)
    .conflicts(['json', 'p4runtime']);
  addProgramOptions(command.argument('<FILE.p4>', 'the program'))
    .option('--json', 'one JSON object')
    .addOption(p4runtime)
    .addOption(types)
    .action(async (path: string, flags: InfoFlags) => {
      if (flags.types !== undefined && IS_P4INFO.test(path)) {
        await writeTypes(await readP4Info(path, io), path, flags.types, io);
        return done(EXIT.OK);
      }
      const program = readProgram(path, flags, io);
      if (program === undefined) return done(EXIT.INPUT);
      const output = new DataOutput(io.stdout);
      if (flags.types !== undefined) {
        const info = p4info(program, path, io);
        if (info === undefined) return done(EXIT.INPUT);
        await writeTypes(info, path, flags.types, io);
      } else if (flags.p4runtime !== undefined) {
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
