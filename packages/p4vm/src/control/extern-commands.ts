import type { CustomCrc } from '../externs/calculations.js';
import { DirectCounter } from '../externs/counter.js';
import { DirectMeter, type MeterRate } from '../externs/meter.js';
import type { KeyMatch } from '../ir/program.js';
import { onesOf } from '../tables/data-width.js';
import { matchesPattern } from '../tables/key-match.js';
import type { ParserValueSet } from '../tables/value-set.js';
import {
  atLeast,
  type Command,
  type CommandContext,
  decimal,
  exactly,
  fail,
  resource,
  tooManyToShow,
} from './command-context.js';
import { pythonFloat } from './command-text.js';
import { hexBytes, pythonInteger } from './command-values.js';

const INDEX = 'Bad format for index';

const registerRead: Command = (context, args) => {
  atLeast(args, 1);
  const name = args[0]!;
  const register = resource(context.control.registers, 'register', name);
  if (args.length > 1) {
    exactly(args, 2);
    const index = decimal(args[1], INDEX);
    const value = context.attempt('register', () => register.pattern(index));
    context.print(`${name}[${index}]= ${value}`);
    context.outcome = { values: [value] };
    return;
  }
  tooManyToShow(register.size, 'cells');
  const values: bigint[] = [];
  for (let index = 0; index < register.size; index++) values.push(register.pattern(index));
  context.print(`${name}= ${values.join(', ')}`);
  context.outcome = { values };
};

const registerWrite: Command = (context, args) => {
  exactly(args, 3);
  const register = resource(context.control.registers, 'register', args[0]!);
  const index = decimal(args[1], INDEX);
  const value =
    pythonInteger(args[2]!, 10) ?? fail('ERR_CONTROL_BAD_VALUE', 'Bad format for value, must be an integer');
  context.attempt('register', () => register.setCut(index, value));
};

const registerReset: Command = (context, args) => {
  exactly(args, 1);
  resource(context.control.registers, 'register', args[0]!).reset();
};

const counterRead: Command = (context, args) => {
  exactly(args, 2);
  const name = args[0]!;
  const counter = resource(context.control.counters, 'counter', name);
  const index = decimal(args[1], INDEX);
  const value = context.attempt('counter', () => {
    if (!(counter instanceof DirectCounter)) return counter.read(index);
    const table = context.control.tableOf(counter);
    context.print(`this is the direct counter for table ${table.declaration.name}`);
    return table.readCounter(index);
  });
  context.print(`${name}[${index}]= (${value.bytes} bytes, ${value.packets} packets)`);
  context.outcome = { counter: value };
};

const counterWrite: Command = (context, args) => {
  exactly(args, 4);
  const name = args[0]!;
  const counter = resource(context.control.counters, 'counter', name);
  const index = decimal(args[1], INDEX);
  const value = {
    packets: decimal(args[2], 'Bad format for packets'),
    bytes: decimal(args[3], 'Bad format for bytes'),
  };
  context.attempt('counter', () => {
    if (!(counter instanceof DirectCounter)) {
      counter.write(index, value);
      return;
    }
    const table = context.control.tableOf(counter);
    context.print(`writing to direct counter for table ${table.declaration.name}`);
    table.writeCounter(index, value);
  });
  context.print(`${name}[${index}] has been updated`);
};

const counterReset: Command = (context, args) => {
  exactly(args, 1);
  const counter = resource(context.control.counters, 'counter', args[0]!);
  if (counter instanceof DirectCounter) {
    const table = context.attempt('counter', () => context.control.tableOf(counter));
    context.print(`this is the direct counter for table ${table.declaration.name}`);
  }
  counter.reset();
};

function ratesOf(texts: readonly string[]): MeterRate[] {
  if (texts.length !== 2) {
    fail('ERR_CONTROL_BAD_RATES', `Invalid number of rates, expected 2 but got ${texts.length}`);
  }
  return texts.map((text) => {
    const parts = text.split(':');
    const rate = parts[0] === '' ? Number.NaN : Number(parts[0]);
    const burst = parts.length === 2 ? pythonInteger(parts[1]!, 10) : undefined;
    if (Number.isNaN(rate) || burst === undefined) fail('ERR_CONTROL_BAD_RATES', 'Error while parsing rates');
    return { rate, burst: Number(burst) };
  });
}

const meterSetRates: Command = (context, args) => {
  atLeast(args, 2);
  const meter = resource(context.control.meters, 'meter', args[0]!);
  const index = decimal(args[1], INDEX);
  const rates = ratesOf(args.slice(2));
  context.attempt('meter', () => {
    if (meter instanceof DirectMeter) context.control.tableOf(meter).setMeterRates(index, rates);
    else meter.setRates(index, rates);
  });
};

const meterArraySetRates: Command = (context, args) => {
  atLeast(args, 1);
  const meter = resource(context.control.meters, 'meter', args[0]!);
  const rates = ratesOf(args.slice(1));
  context.attempt('meter', () => meter.setAllRates(rates));
};

const meterGetRates: Command = (context, args) => {
  exactly(args, 2);
  const meter = resource(context.control.meters, 'meter', args[0]!);
  const index = decimal(args[1], INDEX);
  const rates =
    context.attempt('meter', () =>
      meter instanceof DirectMeter ? context.control.tableOf(meter).meterRates(index) : meter.rates(index),
    ) ?? [];
  if (rates.length !== 2) context.print(`WARNING: expected 2 rates but only received ${rates.length}`);
  rates.forEach(({ rate, burst }, i) => {
    context.print(`${i}: info rate = ${pythonFloat(rate)}, burst size = ${burst}`);
  });
  context.outcome = { rates };
};

function crcNumber(text: string, width: number): number {
  const value = pythonInteger(text, 0) ?? fail('ERR_CONTROL_BAD_VALUE', `Invalid number ${text}`);
  if (value > onesOf(width) || value < 0n)
    fail('ERR_CONTROL_VALUE_TOO_WIDE', `Integer cannot fit within ${width} bits`);
  return Number(value);
}

function truth(text: string): boolean {
  if (text === 'true' || text === 'True') return true;
  if (text === 'false' || text === 'False') return false;
  const value = pythonInteger(text, 0) ?? fail('ERR_CONTROL_BAD_VALUE', 'Invalid bool parameter');
  return value !== 0n;
}

function setCrc(width: 16 | 32): Command {
  return (context, args) => {
    exactly(args, 6);
    const [name = '', polynomial = '', initial = '', finalXor = '', reflectData = '', reflectRemainder = ''] = args;
    const algorithm = `crc${width}_custom`;
    const calculation = context.control.state.calculations.find(name);
    if (calculation === undefined || calculation.algorithm !== algorithm || name === algorithm) {
      return fail('ERR_CONTROL_UNKNOWN_EXTERN', `Invalid ${algorithm} name (${name})`);
    }
    const parameters: CustomCrc = {
      polynomial: crcNumber(polynomial, width),
      initial: crcNumber(initial, width),
      finalXor: crcNumber(finalXor, width),
      reflectData: truth(reflectData),
      reflectRemainder: truth(reflectRemainder),
    };
    context.attempt('crc', () => calculation.setCustom(parameters));
  };
}

function setOf(context: CommandContext, name: string): ParserValueSet {
  return resource(context.control.valueSets, 'parser value set', name);
}

/** Splits one number into all keys; the first key has the highest bits. */
function membersKeys(set: ParserValueSet, text: string): KeyMatch[] {
  const value =
    pythonInteger(text, 0) ??
    fail('ERR_CONTROL_BAD_VALUE', 'Invalid input, could not cast to integer, try in hex with 0x prefix');
  if (value > onesOf(set.width) || value < 0n) {
    fail('ERR_CONTROL_VALUE_TOO_WIDE', `Input is too large, it should fit within ${set.width} bits`);
  }
  let below = set.width;
  return set.shapes.map((shape) => {
    below -= shape.width;
    return { kind: 'exact', value: (value >> BigInt(below)) & onesOf(shape.width) };
  });
}

const valueSetAdd: Command = (context, args) => {
  exactly(args, 2);
  const set = setOf(context, args[0]!);
  const keys = membersKeys(set, args[1]!);
  context.attempt('value set', () => set.add(keys));
};

const valueSetRemove: Command = (context, args) => {
  exactly(args, 2);
  const set = setOf(context, args[0]!);
  const keys = membersKeys(set, args[1]!);
  context.attempt('value set', () => set.remove(keys));
};

const valueSetClear: Command = (context, args) => {
  exactly(args, 1);
  setOf(context, args[0]!).clear();
};

/** A member as one number, if it is a single value and not a range. */
function memberValue(set: ParserValueSet, keys: readonly KeyMatch[]): bigint | undefined {
  let value = 0n;
  for (const [i, match] of keys.entries()) {
    const { width } = set.shapes[i]!;
    const key = match.kind === 'range' ? match.low : match.kind === 'any' ? 0n : match.value;
    const isOne = matchesPattern(width, match, key) && (match.kind !== 'range' || match.low === match.high);
    if (!isOne) return undefined;
    value = (value << BigInt(width)) | key;
  }
  return value;
}

const valueSetGet: Command = (context, args) => {
  exactly(args, 1);
  const set = setOf(context, args[0]!);
  const values = set
    .members()
    .map((keys) => memberValue(set, keys))
    .filter((value) => value !== undefined);
  context.printAll(values.map((value) => hexBytes(value, Math.ceil(set.width / 8), '')));
  context.outcome = { values };
};

const showValueSets: Command = (context, args) => {
  exactly(args, 0);
  const sets = [...context.control.valueSets.values()].sort((left, right) =>
    left.declaration.name < right.declaration.name ? -1 : 1,
  );
  context.printAll(sets.map((set) => `${set.declaration.name.padEnd(30)} [compressed bitwidth:${set.width}]`));
};

export const EXTERN_COMMANDS: ReadonlyMap<string, Command> = /* @__PURE__ */ new Map([
  ['register_read', registerRead],
  ['register_write', registerWrite],
  ['register_reset', registerReset],
  ['counter_read', counterRead],
  ['counter_write', counterWrite],
  ['counter_reset', counterReset],
  ['meter_set_rates', meterSetRates],
  ['meter_array_set_rates', meterArraySetRates],
  ['meter_get_rates', meterGetRates],
  ['set_crc16_parameters', setCrc(16)],
  ['set_crc32_parameters', setCrc(32)],
  ['pvs_add', valueSetAdd],
  ['pvs_remove', valueSetRemove],
  ['pvs_clear', valueSetClear],
  ['pvs_get', valueSetGet],
  ['show_pvs', showValueSets],
]);
