import type { ControlError, ControlErrorCode } from '../tables/control-error.js';

/** Codes of results of commands: those of the control plane, and for commands that cannot be read. */
export type CommandErrorCode = ControlErrorCode | 'bad-syntax' | 'unknown-command';

/**
 * A command that fails. `message` is what the user sees. It is thrown by commands and ends in the interpreter, so it is no `Error`: the
 * stack of one costs more than most commands, of which a stranger may give hundreds of thousands.
 */
export class CommandFailure {
  constructor(
    readonly code: CommandErrorCode,
    readonly message: string,
  ) {}
}

/** What a command acts on: it says how a refusal is worded. */
export type CommandDomain = 'table' | 'counter' | 'meter' | 'register' | 'mirroring' | 'PRE' | 'crc' | 'value set';

const TABLE_ERRORS: Readonly<Partial<Record<ControlErrorCode, string>>> = {
  'table-full': 'TABLE_FULL',
  'no-room': 'TABLE_FULL',
  'bad-handle': 'INVALID_HANDLE',
  'expired-handle': 'EXPIRED_HANDLE',
  'no-counter': 'COUNTERS_DISABLED',
  'no-meter': 'METERS_DISABLED',
  'no-timeout': 'AGEING_DISABLED',
  indirect: 'WRONG_TABLE_TYPE',
  'not-indirect': 'WRONG_TABLE_TYPE',
  'bad-member': 'INVALID_MBR_HANDLE',
  'member-in-use': 'MBR_STILL_USED',
  'member-in-group': 'MBR_ALREADY_IN_GRP',
  'member-not-in-group': 'MBR_NOT_IN_GRP',
  'bad-group': 'INVALID_GRP_HANDLE',
  'group-in-use': 'GRP_STILL_USED',
  'empty-group': 'EMPTY_GRP',
  'duplicate-entry': 'DUPLICATE_ENTRY',
  'bad-match': 'BAD_MATCH_KEY',
  'value-too-wide': 'BAD_MATCH_KEY',
  'const-default': 'DEFAULT_ENTRY_IS_CONST',
  'no-selector': 'NO_ACTION_PROFILE_SELECTION',
  'const-table': 'IMMUTABLE_TABLE_ENTRIES',
  'wrong-arity': 'BAD_ACTION_DATA',
  'no-key': 'NO_TABLE_KEY',
};

const OTHER_ERRORS: Readonly<Partial<Record<ControlErrorCode, string>>> = {
  'bad-index': 'INVALID_INDEX',
  'bad-rates': 'INVALID_INFO_RATE_VALUE',
  'bad-session': 'SESSION_NOT_FOUND',
};

/** A refusal of the control plane in the words of the command line. */
export function refusalText(domain: CommandDomain, error: ControlError): string {
  const name = TABLE_ERRORS[error.code];
  if (name !== undefined && domain !== 'register') return `Invalid table operation (${name})`;
  return `Invalid ${domain} operation (${OTHER_ERRORS[error.code] ?? 'ERROR'})`;
}
