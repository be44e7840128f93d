import { type Command, CommandContext, type CommandResult, exactly } from './command-context.js';
import { CommandFailure } from './command-errors.js';
import type { ControlPlane } from './control-plane.js';
import { EXTERN_COMMANDS } from './extern-commands.js';
import { PROFILE_COMMANDS } from './profile-commands.js';
import { REPLICATION_COMMANDS } from './replication-commands.js';
import { TABLE_COMMANDS } from './table-commands.js';

/** Longest command in characters. */
const MAX_LINE = 262_144;

/** Commands of the command line itself. They print nothing. */
const IGNORED: ReadonlySet<string> = /* @__PURE__ */ new Set(['help', '?', 'EOF', 'exit', 'quit']);

/** Commands that have no meaning for a switch in this process, with the reason. */
const UNSUPPORTED: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['shell', 'commands of the system are not run'],
  ['!', 'commands of the system are not run'],
  ['port_add', 'ports are those of whoever gives packets to this switch'],
  ['port_remove', 'ports are those of whoever gives packets to this switch'],
  ['show_ports', 'ports are those of whoever gives packets to this switch'],
  ['switch_info', 'this switch has no Thrift port and no devices'],
  ['load_new_config_file', 'this switch has one program'],
  ['swap_configs', 'this switch has one program'],
  ['write_config_to_file', 'this switch runs P4, and has no JSON of it'],
  ['serialize_state', 'files are not written'],
  ['set_toeplitz_hash_key', 'v1model has no Toeplitz hash'],
]);

/** Both times are those of the switch's clock: a switch starts at the epoch of its clock. */
const time = exactly(0, (context) => context.print(`${context.nowUs()}`));

const COMMANDS: ReadonlyMap<string, Command> = /* @__PURE__ */ new Map(
  Object.entries<Command>({
    ...TABLE_COMMANDS,
    ...PROFILE_COMMANDS,
    ...EXTERN_COMMANDS,
    ...REPLICATION_COMMANDS,
    greet: (context) => context.print('hello'),
    get_time_elapsed: time,
    get_time_since_epoch: time,
    reset_state: exactly(0, ({ control }) => {
      control.reset();
      control.replication.resetMulticast();
    }),
  }),
);

/**
 * The command language of simple_switch_CLI. Blank lines and lines that begin with `#` are ignored. Words are separated by
 * white space. A command that fails changes nothing.
 */
export class CommandInterpreter {
  /** @param nowUs the switch's time, in microseconds */
  constructor(
    readonly control: ControlPlane,
    readonly nowUs: () => number = () => 0,
  ) {}

  /** Runs one command. Never throws: the result of a wrong command holds the error. */
  execute(line: string): CommandResult {
    if (line.length > MAX_LINE) {
      const message = `Error: a line of more than ${MAX_LINE} characters`;
      return { command: '', status: 'failed', text: message, error: { code: 'ERR_CONTROL_BAD_SYNTAX', message } };
    }
    const [command = '', ...args] = line.trim().split(/\s+/);
    if (command === '' || command.startsWith('#') || IGNORED.has(command)) {
      return { command: command.startsWith('#') ? '' : command, status: 'ignored', text: '' };
    }
    const reason = UNSUPPORTED.get(command);
    if (reason !== undefined) return { command, status: 'ignored', text: `unsupported: ${command}: ${reason}` };
    const run = COMMANDS.get(command);
    if (run === undefined) {
      const message = `*** Unknown syntax: ${line.trim().slice(0, 200)}`;
      return { command, status: 'unknown', text: message, error: { code: 'ERR_CONTROL_UNKNOWN_COMMAND', message } };
    }
    const context = new CommandContext(this.control, this.nowUs);
    try {
      run(context, args);
      return { command, status: 'done', text: context.lines.join('\n'), ...context.outcome };
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      context.print(error.message);
      return {
        command,
        status: 'failed',
        text: context.lines.join('\n'),
        error: { code: error.code, message: error.message },
      };
    }
  }
}
