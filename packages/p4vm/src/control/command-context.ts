import type { CounterValue } from '../externs/counter.js';
import type { MeterRate } from '../externs/meter.js';
import { ControlError } from '../tables/control-error.js';
import { type CommandDomain, type CommandErrorCode, CommandFailure, refusalText } from './command-errors.js';
import { pythonInteger } from './command-values.js';
import type { ControlPlane } from './control-plane.js';
import type { NameIndex } from './names.js';
import type { EntryView } from './table-control.js';

/** The result of a command. */
export interface CommandResult {
  /** First word of the line; empty for blank lines and comments. */
  readonly command: string;
  /**
   * `ignored`: blank, a comment, or a command that has no meaning here (help, ports, configurations), whose text says
   * `unsupported`. `unknown`: no such command.
   */
  readonly status: 'done' | 'failed' | 'ignored' | 'unknown';
  /** The output of simple_switch_CLI for this command: lines separated by `\n`, without a final one. */
  readonly text: string;
  readonly error?: { readonly code: CommandErrorCode; readonly message: string };
  /** Handle of the entry, member, group or multicast node that was made. */
  readonly handle?: number;
  /** Cells read from a register, number of entries, members of a value set. */
  readonly values?: readonly bigint[];
  readonly counter?: CounterValue;
  readonly rates?: readonly MeterRate[];
  readonly entries?: readonly EntryView[];
}

type Outcome = Pick<CommandResult, 'handle' | 'values' | 'counter' | 'rates' | 'entries'>;

/** A command: its arguments are the words after its name. */
export type Command = (context: CommandContext, args: string[]) => void;

/** Commands by name. */
export type Commands = Readonly<Record<string, Command>>;

/** What a command works with while it runs. */
export class CommandContext {
  readonly lines: string[] = [];
  outcome: Outcome = {};

  /** @param nowUs the switch's time, in microseconds */
  constructor(
    readonly control: ControlPlane,
    readonly nowUs: () => number,
  ) {}

  print(...lines: readonly string[]): void {
    this.printAll(lines);
  }

  /** As `print`, for any number of lines. */
  printAll(lines: readonly string[]): void {
    for (const line of lines) this.lines.push(line);
  }

  /** Runs an action of the control plane, and words its refusal. */
  attempt<T>(domain: CommandDomain, action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof ControlError)) throw error;
      throw new CommandFailure(error.code, refusalText(domain, error));
    }
  }
}

/** @throws CommandFailure always */
export function fail(code: CommandErrorCode, message: string): never {
  throw new CommandFailure(code, `Error: ${message}`);
}

export function checkCount(args: readonly string[], count: number): void {
  if (args.length !== count)
    fail('ERR_CONTROL_BAD_SYNTAX', `Wrong number of args, expected ${count} but got ${args.length}`);
}

/** A command that takes `count` arguments. */
export function exactly(count: number, run: Command): Command {
  return (context, args) => {
    checkCount(args, count);
    run(context, args);
  };
}

/** A command that takes `least` arguments or more. */
export function atLeast(least: number, run: Command): Command {
  return (context, args) => {
    if (args.length < least) fail('ERR_CONTROL_BAD_SYNTAX', 'Insufficient number of args');
    run(context, args);
  };
}

/** Most items that one command shows. */
const MAX_SHOWN = 1 << 18;

/** Refuses to show more items at once than memory allows. */
export function tooManyToShow(count: number, what: string): void {
  if (count > MAX_SHOWN) fail('ERR_CONTROL_TOO_MANY', `${count} ${what} are too many to be shown at once`);
}

/** The item of a name. `kind` is the command line's word for such items. */
export function resource<T>(index: NameIndex<T>, kind: string, name = ''): T {
  return (
    index.find(name) ??
    fail(
      kind === 'table' ? 'ERR_CONTROL_UNKNOWN_TABLE' : 'ERR_CONTROL_UNKNOWN_EXTERN',
      `Invalid ${kind} name (${name})`,
    )
  );
}

/** A decimal number. */
export function decimal(text: string | undefined, message: string): number {
  const value = text === undefined ? undefined : pythonInteger(text, 10);
  return value === undefined ? fail('ERR_CONTROL_BAD_SYNTAX', message) : Number(value);
}

export const entryHandle = (text: string | undefined): number => decimal(text, 'Bad format for entry handle');
