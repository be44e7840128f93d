/** What simple_switch makes of commands: a reader of its command language, and its tables and registers. */
import { TABLE_ACTIONS, TABLE_KEYS } from '../../../src/tables/names.js';
import { REGISTERS } from './data-plane.js';

export interface Packet {
  readonly version: 4 | 6;
  /** Values of the key fields, in the order of TABLE_KEYS. */
  readonly keys: readonly bigint[];
}

interface Entry {
  readonly action: string;
  readonly parameters: readonly bigint[];
  readonly priority: number;
  readonly matches: (keys: readonly bigint[]) => boolean;
}

/** An action with its parameters; the default action has none. */
export interface Decision {
  readonly action: string;
  readonly parameters: readonly bigint[];
}

interface Table {
  entries: Entry[];
  fallback: Decision | null;
}

function number(text: string, width: number): bigint {
  if (!/^(0x[0-9a-f]+|0|[1-9][0-9]*)$/.test(text)) throw new Error(`no number: ${text}`);
  const value = BigInt(text);
  if (value >> BigInt(width) !== 0n) throw new Error(`${text} is wider than ${width} bits`);
  return value;
}

/** A switch that starts zeroed and empty. */
export class SwitchTables {
  readonly #tables = new Map<string, Table>();
  readonly registers = new Map<string, Map<number, bigint>>();

  constructor() {
    for (const name of ['algorithm_ipv4_a', 'algorithm_ipv4_b', 'algorithm_ipv6_a', 'algorithm_ipv6_b']) {
      this.#tables.set(`IntSink.${name}`, { entries: [], fallback: null });
    }
  }

  run(command: string): void {
    const words = command.split(' ');
    switch (words[0]) {
      case 'table_clear':
        this.#table(words[1]!).entries = [];
        return;
      case 'table_set_default':
        this.#table(words[1]!).fallback = { action: this.#action(words[2]!).name, parameters: [] };
        if (words.length !== 3) throw new Error(command);
        return;
      case 'table_add':
        this.#add(words);
        return;
      case 'register_write': {
        const [, name, index, value] = words as [string, string, string, string];
        const register = Object.values(REGISTERS).find((each) => each.name === name);
        // The command takes decimal numbers only, as signed 64-bit ones.
        if (register === undefined || words.length !== 4 || !/^\d+$/.test(index) || !/^\d+$/.test(value)) {
          throw new Error(command);
        }
        if (Number(index) >= register.size || register.width > 63) throw new Error(command);
        const cells = this.registers.get(name) ?? new Map<number, bigint>();
        cells.set(Number(index), number(value, register.width));
        this.registers.set(name, cells);
        return;
      }
      default:
        throw new Error(`unknown command: ${command}`);
    }
  }

  /** What the tables of a bank say to a packet: the entry of the smallest priority that matches. */
  decide(packet: Packet, bank: 'a' | 'b'): Decision {
    const table = this.#table(`IntSink.algorithm_ipv${packet.version}_${bank}`);
    let best: Entry | null = null;
    for (const entry of table.entries) {
      if ((best === null || entry.priority < best.priority) && entry.matches(packet.keys)) best = entry;
    }
    if (best === null && table.fallback === null) throw new Error('the table has no default action');
    return best ?? table.fallback!;
  }

  cell(register: string, index: number): bigint {
    return this.registers.get(register)?.get(index) ?? 0n;
  }

  #table(name: string): Table {
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`no table ${name}`);
    return table;
  }

  #action(name: string): (typeof TABLE_ACTIONS)[keyof typeof TABLE_ACTIONS] {
    const action = Object.values(TABLE_ACTIONS).find((each) => each.name === name);
    if (action === undefined) throw new Error(`no action ${name}`);
    return action;
  }

  #add(words: readonly string[]): void {
    const [, tableName, actionName, ...rest] = words as [string, string, string, ...string[]];
    const version = tableName.includes('ipv4') ? 4 : 6;
    const action = this.#action(actionName);
    const arrow = rest.indexOf('=>');
    const fields = rest.slice(0, arrow);
    const values = rest.slice(arrow + 1, -1);
    if (fields.length !== TABLE_KEYS.length || values.length !== action.parameters.length) {
      throw new Error(words.join(' '));
    }
    const tests = TABLE_KEYS.map(({ kind, width }, index): ((value: bigint) => boolean) => {
      const [first, second, more] = fields[index]!.split(kind === 'ternary' ? '&&&' : '->') as [
        string,
        string,
        string?,
      ];
      const a = number(first, width[version]);
      const b = number(second, width[version]);
      if (more !== undefined || (kind === 'range' && a > b)) throw new Error(fields[index]);
      return kind === 'ternary' ? (value) => (value & b) === (a & b) : (value) => a <= value && value <= b;
    });
    this.#table(tableName).entries.push({
      action: actionName,
      parameters: values.map((value, index) => number(value, action.parameters[index]!.width)),
      priority: Number(number(rest[rest.length - 1]!, 31)),
      matches: (keys) => tests.every((test, index) => test(keys[index]!)),
    });
  }
}
