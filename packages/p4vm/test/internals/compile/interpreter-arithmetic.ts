import type { DataType } from '../../../src/ir/program.js';
import type { BinaryOperator } from '../../../src/syntax/ast.js';
import { cut, widthOf } from '../../compile/interpreter-values.js';

/** A binary operator of bits, by bigints. */
export function arithmetic(
  operator: BinaryOperator,
  a: bigint,
  b: bigint,
  left: DataType,
  right: DataType,
  type: DataType,
  onDivisionByZero: () => void,
): bigint {
  const width = widthOf(left);
  switch (operator) {
    case '<':
      return a < b ? 1n : 0n;
    case '<=':
      return a <= b ? 1n : 0n;
    case '>':
      return a > b ? 1n : 0n;
    case '>=':
      return a >= b ? 1n : 0n;
    case '+':
      return cut(a + b, type);
    case '-':
      return cut(a - b, type);
    case '*':
      return cut(a * b, type);
    case '/':
    case '%':
      if (b === 0n) {
        onDivisionByZero();
        return 0n;
      }
      return cut(operator === '/' ? a / b : a % b, type);
    case '|+|':
    case '|-|': {
      const sum = operator === '|+|' ? a + b : a - b;
      const isSigned = left.kind === 'bits' && left.isSigned;
      const low = isSigned ? -(1n << BigInt(width - 1)) : 0n;
      const high = (1n << BigInt(isSigned ? width - 1 : width)) - 1n;
      return sum < low ? low : sum > high ? high : sum;
    }
    case '&':
      return cut(a & b, type);
    case '|':
      return cut(a | b, type);
    case '^':
      return cut(a ^ b, type);
    case '<<':
      return b >= BigInt(width) ? 0n : cut(a << b, type);
    case '>>':
      return b >= BigInt(width) ? (a < 0n ? -1n : 0n) : a >> b;
    case '++':
      return cut((a << BigInt(widthOf(right))) | BigInt.asUintN(widthOf(right), b), type);
    default:
      throw new Error(`${operator} is no operator of bits`);
  }
}
