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
  type Commands,
  checkCount,
  decimal,
  exactly,
  fail,
  resource,
  tooManyToShow,
} from './command-context.js';
import { byName, pythonFloat } from './command-text.js';
import { hexBytes, pythonInteger } from './command-values.js';

const indexOf = (text: string | undefined): number => decimal(text, 'Bad format for index');

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
  return exactly(6, (context, args) => {
    const [name = '', polynomial = '', initial = '', finalXor = '', reflectData = '', reflectRemainder = ''] = args;
    const algorithm = `crc${width}_custom`;
    const calculation = context.control.state.calculations.find(name);
    if (calculation === undefined || calculation.algorithm !== algorithm || name === algorithm) {
      return fail('ERR_CONTROL_UNKNOWN_EXTERN', `Invalid ${algorithm} name (${name})`);
    }
    const parameters = {
      polynomial: crcNumber(polynomial, width),
      initial: crcNumber(initial, width),
      finalXor: crcNumber(finalXor, width),
      reflectData: truth(reflectData),
      reflectRemainder: truth(reflectRemainder),
    };
    context.attempt('crc', () => calculation.setCustom(parameters));
  });
}

function setOf(context: CommandContext, name: string | undefined): ParserValueSet {
  return resource(context.control.valueSets, 'parser value set', name);
}

/** Splits one number into all keys; the first key has the highest bits. */
function memberKeys(set: ParserValueSet, text: string): KeyMatch[] {
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

/** Adds a member to a value set or removes it. */
function changeMembers(method: 'add' | 'remove'): Command {
  return exactly(2, (context, [name, text = '']) => {
    const set = setOf(context, name);
    const keys = memberKeys(set, text);
    context.attempt('value set', () => set[method](keys));
  });
}

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

export const EXTERN_COMMANDS: Commands = {
  register_read: atLeast(1, (context, args) => {
    const [name, indexText] = args;
    const register = resource(context.control.registers, 'register', name);
    if (indexText !== undefined) {
      checkCount(args, 2);
      const index = indexOf(indexText);
      const value = context.attempt('register', () => register.pattern(index));
      context.print(`${name}[${index}]= ${value}`);
      context.outcome = { values: [value] };
      return;
    }
    tooManyToShow(register.size, 'cells');
    const values = Array.from({ length: register.size }, (_, index) => register.pattern(index));
    context.print(`${name}= ${values.join(', ')}`);
    context.outcome = { values };
  }),
  register_write: exactly(3, (context, [name, indexText, text = '']) => {
    const register = resource(context.control.registers, 'register', name);
    const index = indexOf(indexText);
    const value = pythonInteger(text, 10) ?? fail('ERR_CONTROL_BAD_VALUE', 'Bad format for value, must be an integer');
    context.attempt('register', () => register.setCut(index, value));
  }),
  register_reset: exactly(1, (context, [name]) => resource(context.control.registers, 'register', name).reset()),
  counter_read: exactly(2, (context, [name, indexText]) => {
    const counter = resource(context.control.counters, 'counter', name);
    const index = indexOf(indexText);
    const value = context.attempt('counter', () => {
      if (!(counter instanceof DirectCounter)) return counter.read(index);
      const table = context.control.tableOf(counter);
      context.print(`this is the direct counter for table ${table.declaration.name}`);
      return table.readCounter(index);
    });
    context.print(`${name}[${index}]= (${value.bytes} bytes, ${value.packets} packets)`);
    context.outcome = { counter: value };
  }),
  counter_write: exactly(4, (context, [name, indexText, packetsText, bytesText]) => {
    const counter = resource(context.control.counters, 'counter', name);
    const index = indexOf(indexText);
    const packets = decimal(packetsText, 'Bad format for packets');
    const value = { packets, bytes: decimal(bytesText, 'Bad format for bytes') };
    context.attempt('counter', () => {
      if (!(counter instanceof DirectCounter)) return counter.write(index, value);
      const table = context.control.tableOf(counter);
      context.print(`writing to direct counter for table ${table.declaration.name}`);
      table.writeCounter(index, value);
    });
    context.print(`${name}[${index}] has been updated`);
  }),
  counter_reset: exactly(1, (context, [name]) => {
    const counter = resource(context.control.counters, 'counter', name);
    if (counter instanceof DirectCounter) {
      const table = context.attempt('counter', () => context.control.tableOf(counter));
      context.print(`this is the direct counter for table ${table.declaration.name}`);
    }
    counter.reset();
  }),
  meter_set_rates: atLeast(2, (context, [name, indexText, ...texts]) => {
    const meter = resource(context.control.meters, 'meter', name);
    const index = indexOf(indexText);
    const rates = ratesOf(texts);
    context.attempt('meter', () => {
      if (meter instanceof DirectMeter) context.control.tableOf(meter).setMeterRates(index, rates);
      else meter.setRates(index, rates);
    });
  }),
  meter_array_set_rates: atLeast(1, (context, [name, ...texts]) => {
    const meter = resource(context.control.meters, 'meter', name);
    const rates = ratesOf(texts);
    context.attempt('meter', () => meter.setAllRates(rates));
  }),
  meter_get_rates: exactly(2, (context, [name, indexText]) => {
    const meter = resource(context.control.meters, 'meter', name);
    const index = indexOf(indexText);
    const rates =
      context.attempt('meter', () =>
        meter instanceof DirectMeter ? context.control.tableOf(meter).meterRates(index) : meter.rates(index),
      ) ?? [];
    if (rates.length !== 2) context.print(`WARNING: expected 2 rates but only received ${rates.length}`);
    rates.forEach(({ rate, burst }, i) => {
      context.print(`${i}: info rate = ${pythonFloat(rate)}, burst size = ${burst}`);
    });
    context.outcome = { rates };
  }),
  set_crc16_parameters: setCrc(16),
  set_crc32_parameters: setCrc(32),
  pvs_add: changeMembers('add'),
  pvs_remove: changeMembers('remove'),
  pvs_clear: exactly(1, (context, [name]) => setOf(context, name).clear()),
  pvs_get: exactly(1, (context, [name]) => {
    const set = setOf(context, name);
    const values = set
      .members()
      .map((keys) => memberValue(set, keys))
      .filter((value) => value !== undefined);
    context.printAll(values.map((value) => hexBytes(value, Math.ceil(set.width / 8), '')));
    context.outcome = { values };
  }),
  show_pvs: exactly(0, (context) => {
    const sets = byName(context.control.valueSets.values(), (set) => set.declaration.name);
    context.printAll(sets.map((set) => `${set.declaration.name.padEnd(30)} [compressed bitwidth:${set.width}]`));
  }),
};
