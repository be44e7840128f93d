import { words } from '../syntax/tokens.js';
import type { StfCall, StfComparison, StfMatch, StfStatement } from './statement.js';
import { StfSyntaxError } from './statement.js';

/** Statements that are commands of simple_switch_CLI. */
const COMMANDS: ReadonlySet<string> = /* @__PURE__ */ words(`
  mirroring_add mirroring_add_mc mirroring_delete mirroring_get mc_mgrp_create mc_mgrp_destroy mc_node_create
  mc_node_update mc_node_associate mc_node_dissociate mc_node_destroy counter_read counter_write counter_reset
  register_read register_write register_reset meter_get_rates meter_set_rates meter_array_set_rates table_modify
  table_delete table_clear table_reset_default table_indirect_add table_indirect_add_with_group
  table_indirect_delete table_indirect_set_default table_indirect_set_default_with_group
  table_indirect_reset_default act_prof_create_member act_prof_modify_member act_prof_delete_member
  act_prof_create_group act_prof_delete_group act_prof_add_member_to_group act_prof_remove_member_from_group
  pvs_add pvs_remove pvs_clear set_crc16_parameters set_crc32_parameters
`);

const NAME = '"[^"]+"|[A-Za-z_$][\\w$]*';
/** Each part has only one reading, so matching never backtracks far on a wrong line. */
const QUALIFIED = `(?:${NAME})(?:\\[\\d+\\])?(?:\\.(?:"[^"]+"|[\\w$]+)(?:\\[\\d+\\]|\\(\\))?)*`;
const NUMBER = '0[xX][0-9a-fA-F*]+|0[bB][01*]+|0[oO][0-7*]+|\\d+';
const COMPARISON = '==|!=|<=|<|>=|>';

const HEAD = /* @__PURE__ */ new RegExp(`^(${QUALIFIED})\\s*`);
const MATCH = /* @__PURE__ */ new RegExp(
  `^(${QUALIFIED})\\s*:\\s*(${NUMBER})(?:\\s*/\\s*(${NUMBER})|\\s*->\\s*(${NUMBER})|\\s*&&&\\s*(${NUMBER}))?\\s*`,
);
const CALL = /* @__PURE__ */ new RegExp(`^(${QUALIFIED})\\s*\\(([^)]*)\\)\\s*`);
const ARGUMENT = /* @__PURE__ */ new RegExp(`^\\s*(${NAME})\\s*:\\s*(${NUMBER})\\s*$`);
const CHECK_COUNTER = /* @__PURE__ */ new RegExp(
  `^(${QUALIFIED})\\s*\\(\\s*([\\w$]+)\\s*\\)\\s*(?:(packets|bytes)\\s*(${COMPARISON})\\s*(${NUMBER}))?\\s*$`,
  'i',
);
const CHECK_REGISTER = /* @__PURE__ */ new RegExp(
  `^(${QUALIFIED})\\s*\\(\\s*(\\d+)\\s*\\)\\s*(${COMPARISON})\\s*(${NUMBER})\\s*$`,
);

/** Longest packet in bytes. */
const MAX_PACKET = 65_535;
/** Longest line in characters. The longest packet fits, with blanks. */
const MAX_LINE = 262_144;
/** Most characters of a line that a message repeats. */
const MAX_SHOWN = 80;

function unquoted(name: string): string {
  return name.replaceAll('"', '');
}

function shown(text: string): string {
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}...`;
}

/** Reads a line from its beginning to its end, piece by piece. */
class LineReader {
  constructor(
    public rest: string,
    readonly line: number,
  ) {}

  take(pattern: RegExp): RegExpExecArray | undefined {
    const match = pattern.exec(this.rest);
    if (match === null) return undefined;
    this.rest = this.rest.slice(match[0].length);
    return match;
  }

  need(pattern: RegExp, what: string): RegExpExecArray {
    return this.take(pattern) ?? this.fail(`${what} expected${this.rest === '' ? '' : ` at "${shown(this.rest)}"`}`);
  }

  end(): void {
    if (this.rest !== '') this.fail(`nothing more expected, but there is "${shown(this.rest)}"`);
  }

  fail(message: string): never {
    throw new StfSyntaxError(message, this.line);
  }
}

function portOf(reader: LineReader): number {
  return Number(reader.need(/^(\d+)\s*/, 'a port')[1]);
}

function packet(reader: LineReader): StfStatement {
  const port = portOf(reader);
  const digits = reader.rest.replace(/\s+/g, '');
  if (!/^[0-9a-fA-F]*$/.test(digits)) reader.fail('the packet is not in hexadecimal digits');
  if (digits.length > 2 * MAX_PACKET) reader.fail(`a packet of more than ${MAX_PACKET} bytes`);
  if (digits.length % 2 !== 0) reader.fail(`the packet has ${digits.length} hexadecimal digits: half a byte too many`);
  const frame = new Uint8Array(digits.length / 2);
  for (let i = 0; i < frame.length; i++) frame[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return { kind: 'packet', line: reader.line, port, frame };
}

function expectation(reader: LineReader): StfStatement {
  const port = portOf(reader);
  const digits = reader.rest.replace(/\s+/g, '').toUpperCase();
  if (!/^[0-9A-F*]*\$?$/.test(digits)) reader.fail('the packet is not in hexadecimal digits, * and a final $');
  const isExact = digits.endsWith('$');
  const pattern = isExact ? digits.slice(0, -1) : digits;
  const isAny = pattern === '' && !isExact;
  return { kind: 'expect', line: reader.line, port, pattern: isAny ? undefined : pattern, isExact };
}

function callOf(reader: LineReader): StfCall {
  const match = reader.need(CALL, 'an action with its arguments in parentheses');
  const list = match[2]!.trim();
  const parts = list === '' ? [] : list.split(',');
  return {
    action: unquoted(match[1]!),
    arguments: parts.map((part) => {
      const argument = ARGUMENT.exec(part) ?? reader.fail(`name:value expected at "${shown(part.trim())}"`);
      return { name: unquoted(argument[1]!), value: argument[2]! };
    }),
  };
}

function add(reader: LineReader): StfStatement {
  const table = unquoted(reader.need(HEAD, 'a table')[1]!);
  const given = reader.take(/^(\d+)(?=\s)\s*/)?.[1];
  const priority = given === undefined ? undefined : Number(given);
  const matches: StfMatch[] = [];
  for (let match = reader.take(MATCH); match !== undefined; match = reader.take(MATCH)) {
    const [, key, value, prefix, high, mask] = match;
    matches.push({ key: unquoted(key!), value: value!, prefix, high, mask });
  }
  const call = callOf(reader);
  const id = reader.take(/^=\s*(\$?\w+)\s*/)?.[1];
  reader.end();
  return { kind: 'add', line: reader.line, table, priority, matches, call, id };
}

function checkCounter(reader: LineReader): StfStatement {
  const [, counter, index, unit, comparison, value] = reader.need(CHECK_COUNTER, 'NAME(INDEX) packets|bytes == NUMBER');
  return {
    kind: 'check-counter',
    line: reader.line,
    counter: unquoted(counter!),
    index: index!,
    unit: unit?.toLowerCase() === 'bytes' ? 'bytes' : 'packets',
    comparison: (comparison ?? '==') as StfComparison,
    value: value === undefined ? undefined : BigInt(value),
  };
}

function checkRegister(reader: LineReader): StfStatement {
  const [, register, index, comparison, value] = reader.need(CHECK_REGISTER, 'NAME(INDEX) == NUMBER');
  return {
    kind: 'check-register',
    line: reader.line,
    register: unquoted(register!),
    index: index!,
    comparison: comparison as StfComparison,
    value: BigInt(value!),
  };
}

function statement(keyword: string, reader: LineReader): StfStatement {
  const { line } = reader;
  switch (keyword) {
    case 'packet':
      return packet(reader);
    case 'expect':
      return expectation(reader);
    case 'no_packet':
      reader.end();
      return { kind: 'no-packet', line };
    case 'wait':
      return { kind: 'wait', line };
    case 'add':
      return add(reader);
    case 'setdefault': {
      const table = unquoted(reader.need(HEAD, 'a table')[1]!);
      const call = callOf(reader);
      reader.end();
      return { kind: 'setdefault', line, table, call };
    }
    case 'remove':
      reader.need(/^all$/i, '"all"');
      return { kind: 'remove-all', line };
    case 'check_counter':
      return checkCounter(reader);
    case 'check_register':
      return checkRegister(reader);
    default:
      if (!COMMANDS.has(keyword)) return reader.fail(`no statement begins with "${shown(keyword)}"`);
      return { kind: 'command', line, text: `${keyword} ${reader.rest}`.trim() };
  }
}

/**
 * Reads a packet test. One statement a line, `#` begins a comment. Beside the statements of p4c's tests:
 * `check_register NAME(INDEX) == NUMBER`, ranges `LOW->HIGH` and masks `VALUE&&&MASK` as values of keys,
 * and the commands of simple_switch_CLI for action profiles, value sets, custom CRCs and entries by their handles.
 *
 * @throws StfSyntaxError
 */
export function parseStf(text: string): StfStatement[] {
  const statements: StfStatement[] = [];
  text.split(/\r?\n/).forEach((whole, index) => {
    if (whole.length > MAX_LINE) throw new StfSyntaxError(`a line of more than ${MAX_LINE} characters`, index + 1);
    const content = whole.replace(/#.*$/, '').trim();
    if (content === '') return;
    const keyword = /^\S+/.exec(content)?.[0] ?? '';
    const rest = content.slice(keyword.length).trim();
    statements.push(statement(keyword.toLowerCase(), new LineReader(rest, index + 1)));
  });
  return statements;
}
