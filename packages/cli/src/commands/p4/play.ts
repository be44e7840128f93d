import type { Command } from 'commander';
import { CliError, drained, EXIT, type Io } from '../../io.js';
import { DataOutput } from '../../output/data-output.js';
import { linesOf, readCommands, readControlText } from '../../p4/control-file.js';
import { commandLines, Player, ScriptError } from '../../p4/play-script.js';
import { addPoisonOption, type PoisonFlags, poisonOf, reportUndefinedReads } from '../../p4/poison.js';
import { addProgramOptions, openSwitch, type ProgramFlags } from '../../p4/program.js';

interface PlayFlags extends ProgramFlags, PoisonFlags {
  readonly commands?: string;
}

/** Lines between two checks for signals. */
const LINES_AT_ONCE = 64;

const HELP = `
Lines of SCRIPT:
  PORT HEX     a packet (blanks allowed): all that it causes comes out before the next goes in
  ! COMMAND    a command of simple_switch_CLI, such as  ! table_add t set_port 10.0.0.0/8 => 3
  # TEXT       a comment

Example:
  printf '0 ffffffffffff 000000000001 0800\\n! counter_read c 0\\n' | int p4 play switch.p4 --commands setup.txt -
`;

export function define(command: Command, io: Io, done: (exitCode: number) => void): void {
  addPoisonOption(
    addProgramOptions(
      command.argument('<FILE.p4>', 'the program').argument('<SCRIPT>', 'packets and commands, - for standard input'),
    ),
  )
    .option('--commands <CMDS>', 'commands of simple_switch_CLI to begin with, one a line')
    .addHelpText('after', HELP)
    .action(async (path: string, script: string, flags: PlayFlags) => {
      const target = openSwitch(path, flags, io, poisonOf(flags));
      if (target === undefined) return done(EXIT.INPUT);
      const output = new DataOutput(io.stdout);
      try {
        if (flags.commands !== undefined) {
          for await (const command of readCommands(flags.commands, io)) {
            for (const line of commandLines(target, command)) await output.line(line);
          }
        }
        const player = new Player(target);
        let number = 0;
        for (const line of linesOf(await readControlText(script, io))) {
          number++;
          await drained(io.stderr);
          if (number % LINES_AT_ONCE === 0) await new Promise(setImmediate);
          if (output.closed || io.signal.aborted) break;
          try {
            for (const said of player.play(line)) await output.line(said);
          } catch (error) {
            if (!(error instanceof ScriptError)) throw error;
            throw new CliError(`${script}:${number}: ${error.message}`, EXIT.INPUT, error);
          }
        }
      } finally {
        await output.end();
      }
      if (output.error !== null) throw new CliError(`cannot write: ${output.error.message}`, EXIT.OPEN);
      done(reportUndefinedReads(target, flags, io));
    });
}
