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

/**
 * Values one after the other as numbers: those of up to 32 bits as run-time values, wider ones as signed 32-bit words,
 * least significant first, unused high bits 0.
 */
export function toWords(types: readonly DataType[], values: readonly bigint[]): readonly number[] {
  const words: number[] = [];
  for (let i = 0; i < types.length; i++) {
    const width = widthOf(types[i]!);
    const value = values[i] ?? 0n;
    if (width <= NARROW_BITS) words.push(Number(toRuntimeValue(types[i]!, value)));
    else {
      for (let rest = BigInt.asUintN(width, value), left = width; left > 0; left -= 32, rest >>= 32n) {
        words.push(Number(BigInt.asIntN(32, rest)));
      }
    }
  }
  return words;
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
