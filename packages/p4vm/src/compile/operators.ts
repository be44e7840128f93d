import type { BinaryOperator } from '../syntax/ast.js';
import { constantValue, type Routine, sliceWords, valueOfWords } from './routine.js';
import { NUMBER_WIDTH, WORDS_WIDTH, wordCount } from './storage.js';
import { atom, bigOf, chunk, cutTop, numberOf, type Value, wordsOf, wrapBig, wrapNumber } from './value.js';

/** A value kept as bits. */
type Bits = Value<'number' | 'words' | 'big'>;

/** Asserts that a value is kept as bits. A TypeError means that lowering made a mistake. */
export function asBits(value: Value): Bits {
  if (value.kind === 'number' || value.kind === 'words' || value.kind === 'big') return value;
  throw new TypeError(`a ${value.kind} where bits were expected`);
}

/** A result of any integer's code: cut to the width. */
function cutNumber(code: string, width: number, isSigned: boolean): Value {
  return numberOf(wrapNumber(code, width, isSigned), width, isSigned);
}

function cutBig(code: string, width: number, isSigned: boolean): Value {
  return bigOf(wrapBig(code, width, isSigned), width, isSigned);
}

/** The value of a constant that code spells, if it does. */
function literal(value: Value): bigint | undefined {
  if (value.kind === 'number' && /^-?\d+$/.test(value.code)) return BigInt(value.code);
  if (value.kind === 'big' && /^-?\d+n$/.test(value.code)) return BigInt(value.code.slice(0, -1));
  return undefined;
}

// One operand

export function negate(routine: Routine, value: Bits): Value {
  const { width, isSigned } = value;
  if (value.kind === 'number') return cutNumber(`0 - ${atom(value.code)}`, width, isSigned);
  if (value.kind === 'words') return addWords(routine, ['0', '0', '0', '0'], value.words, value, true);
  return cutBig(`-${atom(value.code)}`, width, isSigned);
}

export function complement(value: Bits): Value {
  const { width, isSigned } = value;
  if (value.kind === 'number') return cutNumber(`~${atom(value.code)}`, width, isSigned);
  if (value.kind === 'words') {
    const words = value.words.map((each) => `~${atom(each)}`);
    return valueOfWords(words, width, isSigned);
  }
  return cutBig(`~${atom(value.code)}`, width, isSigned);
}

/** Bits `high` to `low`, unsigned. */
export function slice(routine: Routine, value: Bits, high: number, low: number): Value {
  const width = high - low + 1;
  if (width === value.width && !value.isSigned) return value;
  if (value.kind === 'number') {
    return cutNumber(low === 0 ? value.code : `${atom(value.code)} >>> ${low}`, width, false);
  }
  if (value.kind === 'words') return sliceWords(value.words, low, width);
  if (width <= NUMBER_WIDTH) {
    return numberOf(`Number(${wrapBig(`${atom(value.code)} >> ${low}n`, width, false)})`, width, false);
  }
  const cut = cutBig(`${atom(value.code)} >> ${low}n`, width, false);
  return width > WORDS_WIDTH ? cut : wordsOf(routine.words(cut, width), width);
}

/** bits to bits: extended by the sign of the source, or cut, and read as the target's type. */
export function convert(routine: Routine, value: Bits, width: number, isSigned: boolean): Value {
  if (value.width === width && value.isSigned === isSigned) return value;
  if (width <= NUMBER_WIDTH) {
    if (value.kind === 'number') {
      const fits = value.isSigned
        ? isSigned && value.width <= width
        : value.width < width || (value.width === width && !isSigned);
      return fits ? numberOf(value.code, width, isSigned) : cutNumber(value.code, width, isSigned);
    }
    if (value.kind === 'words') return cutNumber(value.words[0] ?? '0', width, isSigned);
    return numberOf(`Number(${wrapBig(value.code, width, isSigned)})`, width, isSigned);
  }
  if (width > WORDS_WIDTH || value.kind === 'big') {
    const code = routine.big(value);
    // An unsigned or equally signed value that is extended stays what it is.
    if (value.width < width && (!value.isSigned || isSigned)) return bigOf(code, width, isSigned);
    return cutBig(code, width, isSigned);
  }
  if (value.kind === 'number') return wordsOf(routine.words(value, width), width, isSigned);
  const count = wordCount(width);
  if (width <= value.width) return valueOfWords(value.words.slice(0, count), width, isSigned);
  if (value.isSigned) return cutBig(routine.big(value), width, isSigned);
  return wordsOf([...value.words, '0', '0', '0'].slice(0, count), width, isSigned);
}

// Two operands of one type

/** Sum or difference, word by word with carry. */
function addWords(
  routine: Routine,
  left: readonly string[],
  right: readonly string[],
  { width, isSigned }: { readonly width: number; readonly isSigned: boolean },
  isDifference: boolean,
): Value {
  const words: string[] = [];
  let carry = '';
  for (let index = 0; index < wordCount(width); index++) {
    const a = unsigned(left[index] ?? '0');
    const b = unsigned(right[index] ?? '0');
    const sum = routine.keep(`${a} ${isDifference ? '-' : '+'} ${b}${carry}`);
    words.push(routine.keep(`${sum} | 0`));
    carry = isDifference ? ` - (${sum} < 0 ? 1 : 0)` : ` + (${sum} > 4294967295 ? 1 : 0)`;
  }
  return wordsOf(cutTop(words, width), width, isSigned);
}

function unsigned(word: string): string {
  return /^\d+$/.test(word) ? word : `(${atom(word)} >>> 0)`;
}

function saturate(routine: Routine, left: Bits, right: Bits, isDifference: boolean): Value {
  const { width, isSigned } = left;
  const low = isSigned ? -(1n << BigInt(width - 1)) : 0n;
  const high = isSigned ? (1n << BigInt(width - 1)) - 1n : (1n << BigInt(width)) - 1n;
  const sign = isDifference ? '-' : '+';
  if (left.kind === 'number' && right.kind === 'number') {
    const sum = `${atom(left.code)} ${sign} ${atom(right.code)}`;
    const capped = isDifference && !isSigned ? sum : `Math.min(${sum}, ${high})`;
    return numberOf(!isDifference && !isSigned ? capped : `Math.max(${capped}, ${low})`, width, isSigned);
  }
  const sum = `${atom(routine.big(left))} ${sign} ${atom(routine.big(right))}`;
  return bigOf(`${routine.unit.helper('clampBig')}(${sum}, ${low}n, ${high}n)`, width, isSigned);
}

function divideOrModulo(routine: Routine, left: Bits, right: Bits, isModulo: boolean): Value {
  const { width, isSigned } = left;
  const operator = isModulo ? '%' : '/';
  const divisor = literal(right);
  if (left.kind === 'number' && right.kind === 'number') {
    if (divisor !== undefined && divisor !== 0n && !isSigned) {
      return cutNumber(`${atom(left.code)} ${operator} ${divisor}`, width, isSigned);
    }
    const helper = routine.unit.helper(isModulo ? 'modulo' : 'divide');
    // Keep the result, so that a division by zero counts once even if the result is used twice or not at all.
    return cutNumber(routine.keep(`${helper}(${left.code}, ${right.code}, faults)`), width, isSigned);
  }
  const helper = routine.unit.helper(isModulo ? 'moduloBig' : 'divideBig');
  return cutBig(routine.keep(`${helper}(${routine.big(left)}, ${routine.big(right)}, faults)`), width, isSigned);
}

/** Arithmetic and bitwise operators on operands of one width. */
export function combine(routine: Routine, operator: BinaryOperator, left: Bits, right: Bits): Value {
  const { width, isSigned } = left;
  if (width === 0) return numberOf('0', 0, isSigned);
  switch (operator) {
    case '|+|':
    case '|-|':
      return saturate(routine, left, right, operator === '|-|');
    case '/':
    case '%':
      return divideOrModulo(routine, left, right, operator === '%');
  }
  if (left.kind === 'number' && right.kind === 'number') {
    const a = atom(left.code);
    const b = atom(right.code);
    switch (operator) {
      case '*':
        return cutNumber(`Math.imul(${left.code}, ${right.code})`, width, isSigned);
      case '+':
      case '-':
        return cutNumber(`${a} ${operator} ${b}`, width, isSigned);
      default: {
        // Bits beyond the width stay correct, except for unsigned values of 32 bits.
        const code = `${a} ${operator} ${b}`;
        return width === 32 && !isSigned ? cutNumber(code, width, isSigned) : numberOf(code, width, isSigned);
      }
    }
  }
  const areWords = left.kind !== 'big' && right.kind !== 'big';
  if (areWords && operator !== '*') {
    const a = routine.words(left, width);
    const b = routine.words(right, width);
    if (operator === '+' || operator === '-') return addWords(routine, a, b, left, operator === '-');
    const words = a.map((each, index) => `${atom(each)} ${operator} ${atom(b[index] ?? '0')}`);
    return wordsOf(words, width, isSigned);
  }
  return cutBig(`${atom(routine.big(left))} ${operator} ${atom(routine.big(right))}`, width, isSigned);
}

/** Code of a comparison of two operands of one type. */
export function compare(
  routine: Routine,
  operator: '==' | '!=' | '<' | '<=' | '>' | '>=',
  left: Bits,
  right: Bits,
): string {
  const symbol = operator === '==' ? '===' : operator === '!=' ? '!==' : operator;
  if (left.kind === 'number' && right.kind === 'number') return `${atom(left.code)} ${symbol} ${atom(right.code)}`;
  if (left.kind === 'big' || right.kind === 'big') {
    return `${atom(routine.big(left))} ${symbol} ${atom(routine.big(right))}`;
  }
  const a = routine.words(left, left.width);
  const b = routine.words(right, left.width);
  switch (operator) {
    case '==':
      return a.map((each, index) => `${atom(each)} === ${atom(b[index] ?? '0')}`).join(' && ');
    case '!=':
      return a.map((each, index) => `${atom(each)} !== ${atom(b[index] ?? '0')}`).join(' || ');
    case '<':
      return lessThan(a, b, left.width, left.isSigned);
    case '>':
      return lessThan(b, a, left.width, left.isSigned);
    case '<=':
      return `!(${lessThan(b, a, left.width, left.isSigned)})`;
    case '>=':
      return `!(${lessThan(a, b, left.width, left.isSigned)})`;
  }
}

function lessThan(a: readonly string[], b: readonly string[], width: number, isSigned: boolean): string {
  let code = '';
  for (let index = 0; index < a.length; index++) {
    const isTop = index === a.length - 1;
    const unused = 32 - (((width - 1) & 31) + 1);
    const ordered = (word: string): string => {
      if (isTop && isSigned) return unused === 0 ? atom(word) : `(${atom(word)} << ${unused})`;
      return unsigned(word);
    };
    const x = a[index] ?? '0';
    const y = b[index] ?? '0';
    const less = `${ordered(x)} < ${ordered(y)}`;
    code = code === '' ? less : `${less} || ${atom(x)} === ${atom(y)} && (${code})`;
  }
  return code;
}

// Operands of two types

export function concatenate(routine: Routine, left: Bits, right: Bits, isSigned: boolean): Value {
  const width = left.width + right.width;
  if (left.width === 0) return convert(routine, right, width, isSigned);
  if (right.width === 0) return convert(routine, left, width, isSigned);
  if (width <= NUMBER_WIDTH && left.kind === 'number' && right.kind === 'number') {
    const low = right.isSigned ? wrapNumber(right.code, right.width, false) : right.code;
    return cutNumber(`${atom(left.code)} << ${right.width} | ${atom(low)}`, width, isSigned);
  }
  if (width <= WORDS_WIDTH) {
    const high = patternWords(routine, left);
    const low = patternWords(routine, right);
    const words = Array.from({ length: wordCount(width) }, (_, index) => {
      const parts = [chunk(low, 32 * index), chunk(high, 32 * index - right.width)].filter((each) => each !== '0');
      return parts.length === 0 ? '0' : parts.length === 1 ? (parts[0] ?? '0') : parts.map(atom).join(' | ');
    });
    return wordsOf(cutTop(words, width), width, isSigned);
  }
  const high = routine.big({ ...left, isSigned: false });
  const pattern = left.isSigned ? wrapBig(routine.big(left), left.width, false) : high;
  const low = right.isSigned ? wrapBig(routine.big(right), right.width, false) : routine.big(right);
  const code = `${atom(pattern)} << ${right.width}n | ${atom(low)}`;
  return isSigned ? cutBig(code, width, true) : bigOf(code, width, isSigned);
}

/** Words of the bit pattern of a value, unused bits 0. */
function patternWords(routine: Routine, value: Bits): readonly string[] {
  if (value.kind === 'number') {
    if (/^\d+$/.test(value.code)) return [String(BigInt.asIntN(32, BigInt(value.code)))];
    const code = value.isSigned && value.width < 32 ? wrapNumber(value.code, value.width, false) : value.code;
    return [routine.keep(value.width === 32 && !value.isSigned ? `${atom(code)} | 0` : code)];
  }
  return routine.words(value, value.width).map((each) => routine.keep(each));
}

export function shift(routine: Routine, operator: '<<' | '>>', left: Bits, right: Bits): Value {
  const { width, isSigned } = left;
  const { unit } = routine;
  const amount = right.kind === 'words' ? wordsLiteral(right.words) : literal(right);
  if (width === 0 || amount === 0n) return left;
  if (amount !== undefined) {
    const isLogical = operator === '<<' || !isSigned;
    if (amount >= BigInt(width) && isLogical) return constantValue(0n, { kind: 'bits', width, isSigned });
    const count = Number(amount > BigInt(width) ? BigInt(width) : amount);
    if (left.kind === 'number') {
      if (operator === '<<') return cutNumber(`${atom(left.code)} << ${count}`, width, isSigned);
      const shifted = isSigned ? `>> ${Math.min(count, 31)}` : `>>> ${count}`;
      return numberOf(`${atom(left.code)} ${shifted}`, width, isSigned);
    }
    if (left.kind === 'words' && isLogical) {
      const words = left.words.map((each) => routine.keep(each));
      const moved = words.map((_, index) => chunk(words, 32 * index + (operator === '<<' ? -count : count)));
      return valueOfWords(moved, width, isSigned);
    }
  }
  const by = routine.index(right);
  if (left.kind === 'number') {
    if (operator === '<<') return cutNumber(`${unit.helper('shiftLeft')}(${left.code}, ${by})`, width, isSigned);
    const helper = unit.helper(isSigned ? 'shiftRightSigned' : 'shiftRight');
    return numberOf(`${helper}(${left.code}, ${by})`, width, isSigned);
  }
  const helper = unit.helper(operator === '<<' ? 'shiftLeftBig' : 'shiftRightBig');
  const code = `${helper}(${routine.big(left)}, ${by}, ${width})`;
  return operator === '<<' ? cutBig(code, width, isSigned) : bigOf(code, width, isSigned);
}

function wordsLiteral(words: readonly string[]): bigint | undefined {
  let value = 0n;
  for (const [index, each] of words.entries()) {
    if (!/^-?\d+$/.test(each)) return undefined;
    value |= BigInt.asUintN(32, BigInt(each)) << BigInt(32 * index);
  }
  return value;
}
