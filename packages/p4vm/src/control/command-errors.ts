import type { ControlError, ControlErrorCode } from '../tables/control-error.js';

/** Codes of results of commands: those of the control plane, and for commands that cannot be read. */
export type CommandErrorCode = ControlErrorCode | 'ERR_CONTROL_BAD_SYNTAX' | 'ERR_CONTROL_UNKNOWN_COMMAND';

/**
 * The failure of a command. The user sees `message`. Commands throw it and the interpreter catches it. It is no
 * `Error`, because an error's stack costs more than most commands, and a stranger may send hundreds of thousands of
 * them.
 */
export class CommandFailure {
  constructor(
    readonly code: CommandErrorCode,
    readonly message: string,
  ) {}
}

/** The subject of a command. It determines the words of a refusal. */
export type CommandDomain = 'table' | 'counter' | 'meter' | 'register' | 'mirroring' | 'PRE' | 'crc' | 'value set';

const TABLE_ERRORS: Readonly<Partial<Record<ControlErrorCode, string>>> = {
  ERR_CONTROL_TABLE_FULL: 'TABLE_FULL',
  ERR_CONTROL_NO_ROOM: 'TABLE_FULL',
  ERR_CONTROL_BAD_HANDLE: 'INVALID_HANDLE',
  ERR_CONTROL_EXPIRED_HANDLE: 'EXPIRED_HANDLE',
  ERR_CONTROL_NO_COUNTER: 'COUNTERS_DISABLED',
  ERR_CONTROL_NO_METER: 'METERS_DISABLED',
  ERR_CONTROL_NO_TIMEOUT: 'AGEING_DISABLED',
  ERR_CONTROL_INDIRECT: 'WRONG_TABLE_TYPE',
  ERR_CONTROL_NOT_INDIRECT: 'WRONG_TABLE_TYPE',
  ERR_CONTROL_BAD_MEMBER: 'INVALID_MBR_HANDLE',
  ERR_CONTROL_MEMBER_IN_USE: 'MBR_STILL_USED',
  ERR_CONTROL_MEMBER_IN_GROUP: 'MBR_ALREADY_IN_GRP',
  ERR_CONTROL_MEMBER_NOT_IN_GROUP: 'MBR_NOT_IN_GRP',
  ERR_CONTROL_BAD_GROUP: 'INVALID_GRP_HANDLE',
  ERR_CONTROL_GROUP_IN_USE: 'GRP_STILL_USED',
  ERR_CONTROL_EMPTY_GROUP: 'EMPTY_GRP',
  ERR_CONTROL_DUPLICATE_ENTRY: 'DUPLICATE_ENTRY',
  ERR_CONTROL_BAD_MATCH: 'BAD_MATCH_KEY',
  ERR_CONTROL_VALUE_TOO_WIDE: 'BAD_MATCH_KEY',
  ERR_CONTROL_CONST_DEFAULT: 'DEFAULT_ENTRY_IS_CONST',
  ERR_CONTROL_NO_SELECTOR: 'NO_ACTION_PROFILE_SELECTION',
  ERR_CONTROL_CONST_TABLE: 'IMMUTABLE_TABLE_ENTRIES',
  ERR_CONTROL_WRONG_ARITY: 'BAD_ACTION_DATA',
  ERR_CONTROL_NO_KEY: 'NO_TABLE_KEY',
};

const OTHER_ERRORS: Readonly<Partial<Record<ControlErrorCode, string>>> = {
  ERR_CONTROL_BAD_INDEX: 'INVALID_INDEX',
  ERR_CONTROL_BAD_RATES: 'INVALID_INFO_RATE_VALUE',
  ERR_CONTROL_BAD_SESSION: 'SESSION_NOT_FOUND',
};

/** A refusal of the control plane in the words of the command line. */
export function refusalText(domain: CommandDomain, error: ControlError): string {
  const name = TABLE_ERRORS[error.code];
  if (name !== undefined && domain !== 'register') return `Invalid table operation (${name})`;
  return `Invalid ${domain} operation (${OTHER_ERRORS[error.code] ?? 'ERROR'})`;
}
