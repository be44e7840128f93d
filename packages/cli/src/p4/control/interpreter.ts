import { P4InfoError, P4RuntimeError } from '@int/p4runtime';
import { CliError, EXIT } from '../../io.js';
import { CommandFailure } from './command-failure.js';
import type { ControlSession } from './control-session.js';
import { PROFILE_COMMANDS } from './profile-commands.js';
import { REPLICATION_COMMANDS } from './replication-commands.js';
import { STATE_COMMANDS } from './state-commands.js';
import { type Command, TABLE_COMMANDS } from './table-commands.js';
import { USAGES, usageLines } from './usages.js';
import { VALUE_SET_COMMANDS } from './value-set-commands.js';

/** Longest command in characters. */
const MAX_LINE = 262_144;

/** Commands of simple_switch_CLI that P4Runtime has no request for, with the reason. */
const BEYOND: ReadonlyMap<string, string> = new Map([
  ['set_crc16_parameters', 'P4Runtime does not change calculations'],
  ['set_crc32_parameters', 'P4Runtime does not change calculations'],
  ['set_queue_depth', 'P4Runtime does not set queues'],
  ['set_queue_rate', 'P4Runtime does not set queues'],
  ['mc_set_lag_membership', 'P4Runtime has no LAGs'],
  ['table_indirect_set_default', 'P4Runtime has no members as default entries'],
  ['table_indirect_set_default_with_group', 'P4Runtime has no groups as default entries'],
  ['port_add', 'ports are those of the switch'],
  ['port_remove', 'ports are those of the switch'],
  ['show_ports', 'ports are those of the switch'],
  ['shell', 'commands of the system are not run'],
  ['reset_state', 'set_pipeline does that'],
  ['load_new_config_file', 'set_pipeline does that'],
  ['swap_configs', 'set_pipeline does that'],
]);

export type Outcome = 'done' | 'failed' | 'unsupported' | 'end';

/** The commands of simple_switch_CLI, on a switch that speaks P4Runtime. */
export class Interpreter {
  readonly #commands: ReadonlyMap<string, Command>;

  /**
   * @param own further commands
   * @param complain tells what is wrong
   */
  constructor(
    readonly session: ControlSession,
    own: Readonly<Record<string, Command>>,
    readonly complain: (message: string) => void,
  ) {
    this.#commands = new Map(
      Object.entries({
        ...TABLE_COMMANDS,
        ...PROFILE_COMMANDS,
        ...STATE_COMMANDS,
        ...REPLICATION_COMMANDS,
        ...VALUE_SET_COMMANDS,
        ...own,
      }),
    );
  }

  get names(): string[] {
    return [...this.#commands.keys(), 'help', 'quit'].sort();
  }

  /**
   * Runs a line. Refusals are told, other errors thrown.
   *
   * @throws P4RuntimeError if the connection is lost
   */
  async run(line: string): Promise<Outcome> {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) return 'done';
    if (text.length > MAX_LINE) return this.#failed(`a line of more than ${MAX_LINE} characters`);
    const [name = '', ...words] = text.split(/\s+/);
    if (['quit', 'exit', 'EOF'].includes(name)) return 'end';
    if (name === 'help' || name === '?') {
      return this.#help(words[0]);
    }
    if (BEYOND.has(name)) return this.#beyond(name);
    const command = this.#commands.get(name);
    if (command === undefined) return this.#failed(`there is no command ${name.slice(0, 100)}`);
    try {
      await command(this.session, words);
      return 'done';
    } catch (error) {
      if (P4RuntimeError.is(error)) {
        const isLost = ['ERR_P4RUNTIME_CONNECTION', 'ERR_P4RUNTIME_CLOSED'].includes(error.code);
        if (isLost) throw error;
        return this.#failed(error.message);
      }
      if (error instanceof CommandFailure || P4InfoError.is(error)) return this.#failed(error.message);
      // A file that is not there ends no session.
      if (error instanceof CliError && (error.exitCode === EXIT.OPEN || error.exitCode === EXIT.INPUT)) {
        return this.#failed(error.message);
      }
      throw error;
    }
  }

  /** How a command is used. @param name undefined: the names of all */
  async #help(name: string | undefined): Promise<Outcome> {
    if (name === undefined) {
      await this.session.lines(this.names.join('  '), 'help COMMAND tells how a command is used');
      return 'done';
    }
    if (BEYOND.has(name)) return this.#beyond(name);
    if (!Object.hasOwn(USAGES, name)) return this.#failed(`there is no command ${name.slice(0, 100)}`);
    await this.session.lines(...usageLines(name, USAGES[name]!));
    return 'done';
  }

  #beyond(name: string): Outcome {
    this.complain(`${name} is left out: ${BEYOND.get(name)}`);
    return 'unsupported';
  }

  #failed(message: string): Outcome {
    this.complain(message);
    return 'failed';
  }

  /** What may stand where a line ends: names of commands, of objects, and their actions. */
  async complete(line: string): Promise<[string[], string]> {
    const words = line.split(/\s+/);
    const last = words.at(-1) ?? '';
    const all =
      words.length < 2 || (words.length === 2 && words[0] === 'help')
        ? this.names
        : await this.#objects(words[0]!, words.length);
    return [all.filter((each) => each.startsWith(last)).map((each) => `${each} `), last];
  }

  async #objects(command: string, position: number): Promise<string[]> {
    const index = await this.session.index().catch(() => undefined);
    if (index === undefined) return [];
    const names = (kind: Parameters<typeof index.all>[0]): string[] =>
      index.all(kind).map(({ preamble }) => preamble?.name ?? '');
    if (position > 3) return [];
    if (position === 3)
      return /^(?:table_(?:add|set_default|modify)|act_prof_(?:create|modify)_member)$/.test(command)
        ? names('action')
        : [];
    if (command.startsWith('table_')) return names('table');
    if (command.startsWith('act_prof_')) return names('actionProfile');
    if (command.startsWith('counter_')) return [...names('counter'), ...names('directCounter')];
    if (command.startsWith('meter_')) return [...names('meter'), ...names('directMeter')];
    if (command.startsWith('register_')) return names('register');
    return command.startsWith('pvs_') ? names('valueSet') : [];
  }
}
