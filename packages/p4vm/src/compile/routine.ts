import type { DataType } from '../ir/program.js';
import type { Callable } from './analysis.js';
import { Code } from './code.js';
import { bitsOf, isAggregate, NUMBER_WIDTH, WORDS_WIDTH, wordCount } from './storage.js';
import type { ScalarHome, Unit } from './unit.js';
import {
  atom,
  bigOf,
  booleanOf,
  chunk,
  cutTop,
  isStable,
  mapCodes,
  numberOf,
  type Value,
  wordsOf,
  wrapBig,
  wrapNumber,
} from './value.js';

/** Labels of the P4 loop that is being written. */
export interface Loop {
  readonly label: string;
  readonly bodyLabel: string;
}

/** A JavaScript function while it is written: its statements so far, and how to leave it. */
export class Routine {
  code: Code;
  readonly loops: Loop[] = [];

  constructor(
    readonly unit: Unit,
    readonly callable: Callable,
    /** In parsers: the statement that ends parsing with an error (its position in the program's errors). */
    readonly fail: ((error: number) => string) | undefined = undefined,
  ) {
    this.code = new Code(unit.meter);
  }

  /** Keeps a value's code in a constant, unless it is one already. */
  keep(code: string): string {
    if (isStable(code)) return code;
    const name = this.unit.temporary();
    this.code.line(`const ${name} = ${code};`);
    return name;
  }

  /** Writes marks of headers and stacks (see `AggregatePlace.marks`), except those that were just written. */
  mark(marks: readonly string[]): void {
    const { code } = this;
    for (const each of marks) {
      if (code.isMarked(each)) continue;
      code.line(each);
      code.addMark(each);
    }
  }

  /** Runs `write` with a separate piece of code, and returns this code. */
  capture<T>(write: () => T): { readonly code: Code; readonly result: T } {
    const before = this.code;
    const code = new Code(this.unit.meter);
    this.code = code;
    try {
      return { code, result: write() };
    } finally {
      this.code = before;
    }
  }

  /** Keeps the value, so that later statements cannot change it. Aggregates are not copied: see `keepAggregate`. */
  keepValue(value: Value): Value {
    return value.kind === 'string' ? value : mapCodes(value, (code) => this.keep(code));
  }

  /** Sets variables to the initial value of their type. `declare`: `let ` before those of the JavaScript function. */
  initialise({ names }: Pick<ScalarHome, 'names'>, type: DataType, declare = ''): void {
    const codes = this.unit.initialCodes(type);
    for (const [index, name] of names.entries()) this.code.line(`${declare}${name} = ${codes[index] ?? '0'};`);
  }

  /** The words of a value of any width: two's complement, unused bits 0. */
  words(value: Value, width: number): readonly string[] {
    const count = wordCount(Math.max(width, NUMBER_WIDTH + 1));
    if (value.kind === 'words') return value.words;
    if (value.kind === 'number') return this.#wordsOfNumber(value.code, value.width, value.isSigned, width);
    if (value.kind !== 'big') throw new TypeError(`no words of a ${value.kind}`);
    if (/^-?\d+n$/.test(value.code)) return wordsOfConstant(BigInt(value.code.slice(0, -1)), width);
    return cutTop(this.#splitWords(value.code, count, count === 2), width).map((each) => this.keep(each));
  }

  /** Splits a bigint into words of the machine. Gives their codes, which hold until the next split. */
  #splitWords(code: string, count: number, isPair = false): readonly string[] {
    const { unit } = this;
    this.code.line(isPair ? `${unit.helper('split2')}(${code});` : `${unit.helper('splitWords')}(${code}, ${count});`);
    const word = unit.helper('word');
    return Array.from({ length: count }, (_, index) => `${word}[${index}]`);
  }

  #wordsOfNumber(code: string, from: number, isSigned: boolean, width: number): readonly string[] {
    const count = wordCount(Math.max(width, NUMBER_WIDTH + 1));
    if (/^-?\d+$/.test(code)) return wordsOfConstant(BigInt(code), width);
    const low = this.keep(from === 32 && !isSigned ? `${atom(code)} | 0` : code);
    if (!isSigned) return [low, ...Array.from({ length: count - 1 }, () => '0')];
    const sign = this.keep(`${low} >> 31`);
    return cutTop([low, ...Array.from({ length: count - 1 }, () => sign)], width).map((each) => this.keep(each));
  }

  /** Code of the value as a bigint, signed or not like its type. */
  big(value: Value): string {
    switch (value.kind) {
      case 'big':
        return value.code;
      case 'number':
        return /^-?\d+$/.test(value.code) ? `${value.code}n` : `BigInt(${value.code})`;
      case 'boolean':
        return `(${value.code} ? 1n : 0n)`;
      case 'words': {
        const count = value.words.length;
        const helper = this.unit.helper(count === 2 ? 'join2' : count === 3 ? 'join3' : 'join4');
        const code = `${helper}(${value.words.join(', ')})`;
        return value.isSigned ? wrapBig(code, value.width, true) : code;
      }
      default:
        throw new TypeError(`no number of a ${value.kind}`);
    }
  }

  /** The value's bit pattern, unsigned, as tables and value sets take it: a number up to 32 bits, else a bigint. */
  pattern(value: Value): string {
    switch (value.kind) {
      case 'boolean':
        return `(${value.code} ? 1 : 0)`;
      case 'number':
        return value.isSigned ? wrapNumber(value.code, value.width, false) : value.code;
      case 'words':
        return this.big({ ...value, isSigned: false });
      case 'big':
        return value.isSigned ? wrapBig(value.code, value.width, false) : value.code;
      default:
        throw new TypeError(`no bits of a ${value.kind}`);
    }
  }

  /** The value as `RuntimeValue`: a number, or a bigint above 32 bits; bool as 0 or 1. */
  runtimeValue(value: Value): string {
    switch (value.kind) {
      case 'boolean':
        return `(${value.code} ? 1 : 0)`;
      case 'number':
      case 'string':
        return value.code;
      default:
        return this.big(value);
    }
  }

  /** Words of the bit pattern, for packing into bytes: any number of them, least significant first. */
  packedWords(value: Value): readonly string[] {
    switch (value.kind) {
      case 'boolean':
        return [`(${value.code} ? 1 : 0)`];
      case 'number':
        return [value.code];
      case 'words':
        return value.words;
      case 'big':
        return this.#splitWords(value.code, (value.width + 31) >>> 5).map((each) => this.keep(each));
      default:
        throw new TypeError(`no bits of a ${value.kind}`);
    }
  }

  /** A value made from the code of a `RuntimeValue`. */
  fromRuntime(code: string, type: DataType): Value {
    if (type.kind === 'bool') return booleanOf(`${atom(code)} !== 0`);
    const { width, isSigned } = bitsOf(type);
    return width <= NUMBER_WIDTH ? numberOf(code, width, isSigned) : bigOf(code, width, isSigned);
  }

  /** An index or amount of any width as a number. A wide one is cut to a number beyond every array's length. */
  index(value: Value): string {
    const { unit } = this;
    switch (value.kind) {
      case 'words': {
        const rest = value.words.slice(1).join(' | ');
        return `${unit.helper('amountOfWords')}(${value.words[0]}, ${rest})`;
      }
      case 'big':
        return `${unit.helper('amountOfBigInt')}(${value.code})`;
      case 'number':
        return value.code;
      default:
        throw new TypeError(`no index of a ${value.kind}`);
    }
  }
}

/** Words of a known number. */
function wordsOfConstant(value: bigint, width: number): readonly string[] {
  const pattern = BigInt.asUintN(width, value);
  const count = wordCount(Math.max(width, NUMBER_WIDTH + 1));
  return Array.from({ length: count }, (_, index) => String(BigInt.asIntN(32, pattern >> BigInt(32 * index))));
}

/** A known value in the representation of its type. */
export function constantValue(value: bigint, type: DataType): Value {
  if (type.kind === 'bool') return booleanOf(value === 0n ? 'false' : 'true');
  if (isAggregate(type)) throw new TypeError('constants are scalars');
  const { width, isSigned } = bitsOf(type);
  const cut = isSigned ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
  if (width <= NUMBER_WIDTH) return numberOf(String(cut), width, isSigned);
  if (width > WORDS_WIDTH) return bigOf(`${cut}n`, width, isSigned);
  return wordsOf(wordsOfConstant(cut, width), width, isSigned);
}

/** A value made from words, in the representation of its width: cut to the width, and signed if needed. */
export function valueOfWords(words: readonly string[], width: number, isSigned: boolean): Value {
  if (width <= NUMBER_WIDTH) {
    return numberOf(wrapNumber(words[0] ?? '0', width, isSigned), width, isSigned);
  }
  return wordsOf(cutTop(words.slice(0, wordCount(width)), width), width, isSigned);
}

/** `width` bits from bit `low` of words. */
export function sliceWords(words: readonly string[], low: number, width: number): Value {
  const count = (width + 31) >>> 5;
  const parts = Array.from({ length: Math.max(1, count) }, (_, index) => chunk(words, low + 32 * index));
  return valueOfWords(parts, width, false);
}
