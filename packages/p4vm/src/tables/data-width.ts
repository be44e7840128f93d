import type { DataType, IrParameter } from '../ir/program.js';
import type { RuntimeValue } from '../machine/runtime.js';

/** Values up to this many bits are numbers at run time, wider ones bigints. */
export const NARROW_BITS = 32;

/**
 * Width in bits of a key, action parameter or register cell: bits as declared, bool 1, enum without values and error
 * 32.
 *
 * @throws TypeError for types that are no scalars (structs, stacks, varbits, strings)
 */
export function widthOf(type: DataType): number {
  switch (type.kind) {
    case 'bits':
      return type.width;
    case 'bool':
      return 1;
    case 'enum':
    case 'error':
      return 32;
    default:
      throw new TypeError(`a value of kind ${type.kind} has no fixed width`);
  }
}

/** The run-time value of a bit pattern (any bigint, cut to the type's width). */
export function toRuntimeValue(type: DataType, value: bigint): RuntimeValue {
  const width = widthOf(type);
  const cut = type.kind === 'bits' && type.isSigned ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
  return width <= NARROW_BITS ? Number(cut) : cut;
}

/** Words of values of these types: see {@link writeWords}. */
export function wordsOf(types: readonly DataType[]): number {
  return types.reduce((sum, type) => sum + Math.max(1, (widthOf(type) + 31) >>> 5), 0);
}

/**
 * Writes values one after the other as signed 32-bit words, least significant first, cut to the width of their types. Unused high
 * bits are 0, but for signed values of up to 32 bits, which keep their sign.
 */
export function writeWords(types: readonly DataType[], values: readonly bigint[], words: Int32Array, at = 0): void {
  let to = at;
  for (let i = 0; i < types.length; i++) {
    const width = widthOf(types[i]!);
    const value = values[i] ?? 0n;
    if (width <= NARROW_BITS) {
      words[to++] = Number(toRuntimeValue(types[i]!, value));
      continue;
    }
    for (let rest = BigInt.asUintN(width, value), left = width; left > 0; left -= 32, rest >>= 32n) {
      words[to++] = Number(BigInt.asIntN(32, rest));
    }
  }
}

/** The words of {@link writeWords}, in an array of their own. */
export function toWords(types: readonly DataType[], values: readonly bigint[]): Int32Array {
  const words = new Int32Array(wordsOf(types));
  writeWords(types, values, words);
  return words;
}

/** The bit patterns of the values that {@link writeWords} wrote. */
export function patternsOf(types: readonly DataType[], words: Int32Array, at = 0): bigint[] {
  let from = at;
  return types.map((type) => {
    const width = widthOf(type);
    const count = Math.max(1, (width + 31) >>> 5);
    const pattern = patternOfWords(words, from, count);
    from += count;
    return BigInt.asUintN(width, pattern);
  });
}

/** The values that {@link writeWords} wrote, as run-time values. */
export function fromWords(types: readonly DataType[], words: Int32Array): RuntimeValue[] {
  return patternsOf(types, words).map((pattern, i) => toRuntimeValue(types[i]!, pattern));
}

/** The unsigned number in words, least significant first. */
export function patternOfWords(words: Int32Array, at: number, count: number): bigint {
  let pattern = BigInt(words[at + count - 1]! >>> 0);
  for (let i = count - 2; i >= 0; i--) pattern = (pattern << 32n) | BigInt(words[at + i]! >>> 0);
  return pattern;
}

/** A run-time value as an unsigned bit pattern. */
export function toPattern(type: DataType, value: RuntimeValue): bigint {
  return BigInt.asUintN(widthOf(type), BigInt(value));
}

const KNOWN_ONES: bigint[] = [];

/** All ones over a width in bits. */
export function onesOf(width: number): bigint {
  let ones = KNOWN_ONES[width];
  if (ones === undefined) {
    ones = (1n << BigInt(width)) - 1n;
    KNOWN_ONES[width] = ones;
  }
  return ones;
}

/** The parameters of an action that the control plane gives. */
export function dataParameters(parameters: readonly IrParameter[]): readonly IrParameter[] {
  return parameters.filter((parameter) => parameter.direction === 'none');
}
