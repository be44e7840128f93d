import type { CrcParameters } from '@int/hash';

function reflect(value: bigint, width: number): bigint {
  let reflected = 0n;
  for (let bit = 0; bit < width; bit++) {
    reflected |= ((value >> BigInt(bit)) & 1n) << BigInt(width - 1 - bit);
  }
  return reflected;
}

/**
 * A CRC one bit at a time, as the model of Williams defines it: no tables, no register orders, BigInt throughout.
 * Every other form is held against this one.
 */
export function referenceCrc(parameters: CrcParameters, bytes: Iterable<number>): number {
  const { width, reflectIn, reflectOut } = parameters;
  const polynomial = BigInt(parameters.polynomial);
  let register = BigInt(parameters.init);
  for (const byte of bytes) {
    for (let step = 0; step < 8; step++) {
      const input = BigInt(byte >> (reflectIn ? step : 7 - step)) & 1n;
      const top = (register >> BigInt(width - 1)) & 1n;
      register = BigInt.asUintN(width, register << 1n);
      if (top !== input) {
        register ^= polynomial;
      }
    }
  }
  const out = reflectOut ? reflect(register, width) : register;
  return Number(out ^ BigInt(parameters.xorOut));
}
