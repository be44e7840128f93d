import type { Faults } from './runtime.js';

/** A shift amount beyond every width. Larger amounts are cut to it. */
const FAR = 0x7fffffff;

/** A shift amount of several words as a number, cut to 2^31 - 1. `high` is all words but the lowest, or'ed. */
export function amountOfWords(low: number, high: number): number {
  return high !== 0 || low < 0 ? FAR : low;
}

/** A shift amount as a number, cut to 2^31 - 1. */
export function amountOfBigInt(amount: bigint): number {
  return amount > 0x7fffffffn || amount < 0n ? FAR : Number(amount);
}

/** The low bits of `value << amount`, not yet cut to the type's width; 0 for amounts of 32 and more. */
export function shiftLeft(value: number, amount: number): number {
  return amount > 31 ? 0 : value << amount;
}

/** Logical shift; 0 for amounts of 32 and more. */
export function shiftRight(value: number, amount: number): number {
  return amount > 31 ? 0 : value >>> amount;
}

/** Arithmetic shift; the sign for amounts of 32 and more. */
export function shiftRightSigned(value: number, amount: number): number {
  return value >> Math.min(amount, 31);
}

/** `value << amount`, or 0 if the amount is not below the width, so that no value exceeds twice the width. */
export function shiftLeftBig(value: bigint, amount: number, width: number): bigint {
  return amount >= width ? 0n : value << BigInt(amount);
}

/** Arithmetic for negative values. */
export function shiftRightBig(value: bigint, amount: number, width: number): bigint {
  if (amount >= width) return value < 0n ? -1n : 0n;
  return value >> BigInt(amount);
}

/** Quotient towards zero; by zero: 0, counted. */
export function divide(left: number, right: number, faults: Faults): number {
  if (right === 0) {
    faults.divisionByZero++;
    return 0;
  }
  return Math.trunc(left / right);
}

/** Remainder with the sign of the dividend; by zero: 0, counted. */
export function modulo(left: number, right: number, faults: Faults): number {
  if (right === 0) {
    faults.divisionByZero++;
    return 0;
  }
  return (left % right) + 0;
}

/** Quotient towards zero; by zero: 0, counted. */
export function divideBig(left: bigint, right: bigint, faults: Faults): bigint {
  if (right === 0n) {
    faults.divisionByZero++;
    return 0n;
  }
  return left / right;
}

/** Remainder with the sign of the dividend; by zero: 0, counted. */
export function moduloBig(left: bigint, right: bigint, faults: Faults): bigint {
  if (right === 0n) {
    faults.divisionByZero++;
    return 0n;
  }
  return left % right;
}

/** The value, or the nearer of the bounds. */
export function clampBig(value: bigint, low: bigint, high: bigint): bigint {
  return value < low ? low : value > high ? high : value;
}
