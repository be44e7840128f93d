import { formatTrace, traceToJson } from '@int/p4vm/internals';
import type { Command } from 'commander';
import { EXIT, type Io } from '../../io.js';
import { wholeNumber } from '../../options.js';
import { DataOutput } from '../../output/data-output.js';
import { runCommands } from '../../p4/control-file.js';
import { addProgramOptions, compiled, openSwitch, type ProgramFlags } from '../../p4/program.js';

interface TraceFlags extends ProgramFlags {
  readonly commands?: string;
  readonly json?: true;
}

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addProgramOptions(
    command
      .argument('<FILE.p4>', 'the program')
      .argument('<PORT>', 'the port it comes in by', wholeNumber('a port', 0, 511))
      .argument('<HEX...>', 'the packet in hexadecimal digits'),
  )
    .option('--commands <CMDS>', 'commands of simple_switch_CLI to begin with, one a line')
    .option('--json', 'one JSON object')
    .action(async (path: string, port: number, hex: string[], flags: TraceFlags) => {
      const digits = hex.join('').replace(/\s+/g, '');
      if (!/^([0-9a-fA-F]{2})*$/.test(digits)) {
        command.error('error: the packet is no whole number of bytes in hexadecimal digits');
      }
      const target = openSwitch(path, flags, io);
      if (target === undefined) return done(EXIT.INPUT);
      const isFine = flags.commands === undefined || (await runCommands(target, flags.commands, io));
      const trace = compiled(path, io, () => target.trace(port, Uint8Array.from(Buffer.from(digits, 'hex'))));
      if (trace === undefined) return done(EXIT.INPUT);
      const output = new DataOutput(io.stdout);
      if (flags.json === true) await output.line(JSON.stringify(traceToJson(trace)));
      else await output.text(formatTrace(trace));
      await output.end();
      done(isFine ? EXIT.OK : EXIT.INPUT);
    });
}
