import type { IrProgram, Table, TableAction, TableKey } from '../ir/program.js';
import type { StfCall, StfMatch } from './statement.js';

/** Bits per digit after `0x`, `0b`, `0o`. */
const DIGIT_BITS: Readonly<Record<string, number>> = /* @__PURE__ */ Object.freeze({ x: 4, b: 1, o: 3 });

/** Priorities of tests are inverted: in tests the larger number wins, in the command language the smaller. */
const HIGHEST = 10_000;

/** A name in a test that the program does not have, or has twice. */
export class StfNameError extends Error {
  override readonly name = 'StfNameError';
  readonly code = 'ERR_STF_NAME';
}

function uniqueBySuffix<T>(items: readonly T[], nameOf: (item: T) => string, name: string, what: string): T {
  const exact = items.find((item) => nameOf(item) === name);
  if (exact !== undefined) return exact;
  const whole = items.filter((item) => nameOf(item).endsWith(`.${name}`));
  const ending = whole.length > 0 ? whole : items.filter((item) => nameOf(item).endsWith(name));
  const [first, second] = ending;
  if (first === undefined) throw new StfNameError(`there is no ${what} ${name}`);
  if (second !== undefined) {
    throw new StfNameError(`${what} ${name} may be ${nameOf(first)} or ${nameOf(second)}`);
  }
  return first;
}

/** The table of a name, or the only one whose name ends so. */
function findTable(program: IrProgram, name: string): Table {
  return uniqueBySuffix(program.tables, (table) => table.name, name, 'table');
}

function findAction(table: Table, name: string): TableAction {
  return uniqueBySuffix(table.actions, (each) => each.action.name, name, `action of table ${table.name}`);
}

/** `isValid()` and `$valid$` are the same key, and so are `stack[1]` and `stack$1`. */
function keySpelling(name: string): string {
  return name
    .replace(/\.?isValid\(\)$/, '.$valid$')
    .replace(/\$(\d+)/g, '[$1]')
    .replace(/\$$/, '');
}

function findKey(table: Table, name: string): number {
  const wanted = keySpelling(name);
  const names = table.keys.map((key) => keySpelling(key.name));
  const exact = names.indexOf(wanted);
  if (exact >= 0) return exact;
  const valid =
    wanted === 'valid'
      ? names.findIndex((each) => each.endsWith('.$valid'))
      : names.indexOf(`${wanted.replace(/\.valid$/, '')}.$valid`);
  if (valid >= 0) return valid;
  // The last name with this end, as in p4c's runner.
  const ending = names.findLastIndex((each) => each.endsWith(`.${wanted}`));
  if (ending >= 0) return ending;
  throw new StfNameError(`table ${table.name} has no key ${name}`);
}

function digitBits(value: string): number {
  return DIGIT_BITS[value[1]?.toLowerCase() ?? ''] ?? 0;
}

function plain(value: string): bigint {
  return BigInt(value.replaceAll('*', '0').replace(/^0[XBO]/, (prefix) => prefix.toLowerCase()));
}

/** The mask of the given digits. `*` and leading bits that are not given do not count. */
function digitMask(value: string, full: bigint): bigint {
  const bits = digitBits(value);
  if (bits === 0) return full;
  let mask = 0n;
  for (const digit of value.slice(2)) mask = (mask << BigInt(bits)) | (digit === '*' ? 0n : (1n << BigInt(bits)) - 1n);
  return mask;
}

function keyWidth(key: TableKey): number {
  return key.type.kind === 'bits' ? key.type.width : key.type.kind === 'bool' ? 1 : 32;
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

function matchText(key: TableKey, match: StfMatch | undefined): string {
  const width = keyWidth(key);
  const full = (1n << BigInt(width)) - 1n;
  switch (key.matchKind) {
    case 'lpm': {
      if (match === undefined) return '0x0/0';
      const bits = digitBits(match.value);
      const digits = match.value.length - 2 - (match.value.match(/\*/g)?.length ?? 0);
      const length = match.prefix === undefined ? (bits === 0 ? width : digits * bits) : Number(match.prefix);
      return `${hex(plain(match.value))}/${length}`;
    }
    case 'ternary':
    case 'optional': {
      if (match === undefined) return '0x0&&&0x0';
      const mask = match.mask === undefined ? digitMask(match.value, full) : plain(match.mask);
      return `${hex(plain(match.value))}&&&${hex(mask)}`;
    }
    case 'range': {
      if (match === undefined) return `0x0->${hex(full)}`;
      return `${hex(plain(match.value))}->${hex(plain(match.high ?? match.value))}`;
    }
    default:
      if (match?.value.includes('*'))
        throw new StfNameError(`key ${key.name} is exact: * does not match anything there`);
      return match === undefined ? '0x0' : hex(plain(match.value));
  }
}

function argumentTexts(action: TableAction, call: StfCall): string[] {
  const parameters = action.action.parameters.filter((parameter) => parameter.direction === 'none');
  for (const { name } of call.arguments) {
    if (!parameters.some((parameter) => parameter.variable.name === name)) {
      throw new StfNameError(`action ${action.action.name} has no parameter ${name}`);
    }
  }
  return parameters.map(({ variable }) => {
    const given = call.arguments.find((argument) => argument.name === variable.name);
    if (given === undefined) throw new StfNameError(`action ${action.action.name}: ${variable.name} has no value`);
    return hex(plain(given.value));
  });
}

/** Whether entries of the table have priorities. */
function hasPriorities(table: Table): boolean {
  return table.keys.some(
    ({ matchKind }) => matchKind === 'ternary' || matchKind === 'range' || matchKind === 'optional',
  );
}

/**
 * `add` as a command of simple_switch_CLI.
 *
 * @throws StfNameError
 */
export function addCommand(
  program: IrProgram,
  name: string,
  priority: number | undefined,
  matches: readonly StfMatch[],
  call: StfCall,
): string {
  const table = findTable(program, name);
  const action = findAction(table, call.action);
  const byKey = new Map<number, StfMatch>();
  for (const match of matches) byKey.set(findKey(table, match.key), match);
  const keys = table.keys.flatMap((key, at) => (key.matchKind === 'selector' ? [] : [matchText(key, byKey.get(at))]));
  const words = ['table_add', table.name, action.action.name, ...keys, '=>', ...argumentTexts(action, call)];
  if (hasPriorities(table)) words.push(`${HIGHEST - (priority ?? 0)}`);
  return words.join(' ');
}

/**
 * `setdefault` as a command of simple_switch_CLI.
 *
 * @throws StfNameError
 */
export function setDefaultCommand(program: IrProgram, name: string, call: StfCall): string {
  const table = findTable(program, name);
  const action = findAction(table, call.action);
  return ['table_set_default', table.name, action.action.name, ...argumentTexts(action, call)].join(' ');
}
