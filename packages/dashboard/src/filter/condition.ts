import type { MetricName } from '@int/codec';
import { type BaseUnit, isInPrefix, prefixOf } from '@int/network';
import { amountOf, nearestName, parseQuantity, ValueError } from '@int/network/internals';
import { FilterError, type Span } from './errors.js';
import type { FieldInfo } from './fields.js';
import type { Token } from './lexer.js';
import type { Subject } from './subject.js';

/** The answer of a condition: `null` if it cannot be asked of this kind of row. */
export type Verdict = boolean | null;
export type Condition = (subject: Subject) => Verdict;

export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>=' | '~' | '!~';

type Numbers = (value: number) => boolean;

/** IANA protocol numbers of the names that flows have. */
const PROTOCOLS: Readonly<Record<string, number>> = { icmp: 1, tcp: 6, udp: 17, gre: 47, icmpv6: 58, sctp: 132 };

/** Base unit of each dimension of a quantity, and how many of its smallest units one is. */
const BASES = {
  time: ['seconds', 1e12],
  bytes: ['bytes', 1],
  cells: ['cells', 1],
  packets: ['packets', 1],
  percent: ['ratio', 100],
  rate: ['bitsPerSecond', 1],
} as const satisfies Record<string, readonly [BaseUnit, number]>;

const ORDERED: Readonly<Partial<Record<Operator, (a: number, b: number) => boolean>>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

const some = (verdicts: readonly Verdict[]): Verdict => verdicts.includes(true);

/**
 * The condition `FIELD OPERATOR VALUE`.
 * @throws FilterError
 */
export function conditionOf(field: FieldInfo, operator: Operator, value: Token): Condition {
  const negative = operator === '!=' || operator === '!~';
  const positive = operator === '!=' ? '=' : operator === '!~' ? '~' : operator;
  if (value.text === '' && field.kind !== 'text') throw new FilterError('the value is missing', value);
  const condition = positiveOf(field, positive, value);
  if (!negative) return condition;
  // `switch != leaf-1`: no switch of the path is leaf-1.
  return (subject) => {
    const verdict = condition(subject);
    return verdict === null ? null : !verdict;
  };
}

function positiveOf(field: FieldInfo, operator: Operator, value: Token): Condition {
  switch (field.kind) {
    case 'switch':
      return switchCondition(operator, value);
    case 'address':
      return addressCondition(field, operator, value);
    case 'port':
      return portCondition(field, operator, value);
    case 'protocol':
      return protocolCondition(operator, value);
    case 'hop':
      return hopCondition(field, operator, value);
    case 'number':
    case 'seconds':
      return numberCondition(field, operator, value);
    case 'state':
      return stateCondition(field, operator, value);
    default:
      return textCondition(field, operator, value);
  }
}

function switchCondition(operator: Operator, value: Token): Condition {
  const wanted = value.text.toLowerCase();
  const isName = (name: string): boolean =>
    operator === '~' ? name.toLowerCase().includes(wanted) : name.toLowerCase() === wanted;
  if (operator !== '=' && operator !== '~') refuse('switch', '= != ~ !~', value);
  const id = /^\d{1,10}$/.test(wanted) ? Number(wanted) : -1;
  return ({ switches, network }) =>
    switches.some((each) => {
      if (each === null) return false;
      if (operator === '=' && each === id) return true;
      const name = network.switchName(each);
      return name === null ? operator === '~' && String(each).includes(wanted) : isName(name);
    });
}

function addressCondition({ name, key }: FieldInfo, operator: Operator, value: Token): Condition {
  const { text } = value;
  if (operator !== '=' && operator !== '~') refuse(name, '= != ~ !~ in', value);
  const ends = key === 'either' ? (['source', 'destination'] as const) : [key as 'source' | 'destination'];
  if (operator === '~') {
    const part = text.toLowerCase();
    return ({ flow }) => flow !== null && ends.some((end) => flow[end].includes(part));
  }
  const prefix = prefixOf(text);
  if (prefix === null || prefix.length > 8 * prefix.bytes.length) {
    throw new FilterError(`${text} is no address: write 10.1.2.3, 10.0.0.0/8 or 2001:db8::/32`, value);
  }
  return ({ flow }) =>
    flow !== null &&
    ends.some((end) => {
      const address = prefixOf(flow[end]);
      return address !== null && isInPrefix(prefix, address.bytes, 0, address.bytes.length);
    });
}

function portCondition({ name, key }: FieldInfo, operator: Operator, value: Token): Condition {
  const test = numbersOf(name, operator, value, 65_535);
  const ends = key === 'either' ? (['sourcePort', 'destinationPort'] as const) : [key as 'sourcePort'];
  return ({ flow }) => flow !== null && ends.some((end) => flow[end] !== null && test(flow[end]));
}

function protocolCondition(operator: Operator, value: Token): Condition {
  if (operator !== '=') refuse('proto', '= !=', value);
  const lower = value.text.toLowerCase();
  const number = Object.hasOwn(PROTOCOLS, lower) ? PROTOCOLS[lower]! : /^\d{1,3}$/.test(lower) ? Number(lower) : 256;
  if (number > 255) {
    const near = nearestName(lower, Object.keys(PROTOCOLS));
    const advice =
      near === null ? `write ${Object.keys(PROTOCOLS).join(', ')} or a number to 255` : `did you mean ${near}?`;
    throw new FilterError(`${value.text} is no protocol: ${advice}`, value);
  }
  return ({ flow }) => flow !== null && flow.protocol === number;
}

/** A number with a unit is compared where the unit of the switch is known; one without, as the switch sent it. */
function hopCondition({ name, key }: FieldInfo, operator: Operator, value: Token): Condition {
  const { base, test } = quantityOf(name, operator, value);
  return (subject) => {
    if (subject.hops === undefined) return null;
    return some(
      subject.hops.map((hop) => {
        const measured = hop[key];
        if (typeof measured !== 'number') return false;
        if (base === null) return test(measured);
        const id = hop.nodeId;
        const unit = subject.network.unit(key as MetricName, typeof id === 'number' ? id : null);
        return unit !== null && unit.base === base && test(measured * unit.factor);
      }),
    );
  };
}

function numberCondition({ name, key, kind }: FieldInfo, operator: Operator, value: Token): Condition {
  const { base, test } = quantityOf(name, operator, value);
  if (kind === 'seconds' && base !== 'seconds') {
    throw new FilterError(`${name} is a time: add a unit, as ${value.text}us`, value);
  }
  if (kind === 'number' && base !== null) throw new FilterError(`${name} has no unit: write the number alone`, value);
  return (subject) => {
    const number = key === 'hops' ? subject.hopCount : subject.numbers[key];
    if (number === undefined) return null;
    return number !== null && test(number);
  };
}

function stateCondition({ name, key }: FieldInfo, operator: Operator, value: Token): Condition {
  const wanted = ['true', 'yes', '1'].includes(value.text)
    ? true
    : ['false', 'no', '0'].includes(value.text)
      ? false
      : null;
  if (wanted === null || operator !== '=') {
    throw new FilterError(`${name} is true or false: write ${name}, or not ${name}`, value);
  }
  return ({ states }) => (states[key] === undefined ? null : states[key] === wanted);
}

function textCondition({ name, key }: FieldInfo, operator: Operator, value: Token): Condition {
  if (operator !== '=' && operator !== '~') refuse(name, '= != ~ !~', value);
  const wanted = value.text.toLowerCase();
  return ({ texts }) => {
    const text = texts[key];
    if (text === undefined) return null;
    if (text === null) return false;
    return operator === '=' ? text.toLowerCase() === wanted : text.toLowerCase().includes(wanted);
  };
}

/** Whole numbers up to `most`, and ranges of them as 80-443. */
function numbersOf(name: string, operator: Operator, value: Token, most: number): Numbers {
  const [, first = '', last] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(value.text) ?? [];
  const from = Number(first);
  const to = last === undefined ? from : Number(last);
  if (first === '' || to > most || from > to) {
    throw new FilterError(`${value.text} is no ${name}: write a number from 0 to ${most}, or a range as 80-443`, value);
  }
  if (last !== undefined) {
    if (operator !== '=') throw new FilterError(`a range is compared by = or !=`, value);
    return (number) => number >= from && number <= to;
  }
  const compare = ORDERED[operator] ?? refuse(name, '= != < <= > >=', value);
  return (number) => compare(number, from);
}

/** @returns the base unit of the constant; `null`: it has none */
function quantityOf(name: string, operator: Operator, value: Token): { base: BaseUnit | null; test: Numbers } {
  if (/^\d+-\d+$/.test(value.text)) return { base: null, test: numbersOf(name, operator, value, 0xffff_ffff) };
  const compare = ORDERED[operator] ?? refuse(name, '= != < <= > >=', value);
  try {
    const quantity = parseQuantity(value.text);
    if (quantity.unit === '') {
      const constant = Number(quantity.number);
      return { base: null, test: (number) => compare(number, constant) };
    }
    const { dimension, amount } = amountOf(quantity);
    const [base, smallest] = BASES[dimension];
    const constant = Number(amount.numerator) / Number(amount.denominator) / smallest;
    return { base, test: (number) => compare(number, constant) };
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw new FilterError(error.message, value);
  }
}

function refuse(name: string, operators: string, span: Span): never {
  throw new FilterError(`${name} is compared by ${operators}`, span);
}
