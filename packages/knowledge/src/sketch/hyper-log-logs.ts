import { mix32 } from '@int/random';

/** Registers of a row: the standard error is 1.04 / sqrt(64) = 13 %. */
const REGISTERS = 64;
const ALPHA = 0.709;
/** 2^-k for the ranks that a register can hold. */
const INVERSE: Float64Array = /* @__PURE__ */ Float64Array.from({ length: 34 }, (_, k) => 2 ** -k);

/**
 * Counts distinct things for many keys, each a row of 64 registers of a byte. The estimate is that of HyperLogLog
 * (Flajolet, Fusy, Gandouet, Meunier, AofA 2007), with linear counting below 160.
 */
export class HyperLogLogs {
  readonly #registers: Uint8Array;

  constructor(rows: number) {
    this.#registers = new Uint8Array(rows * REGISTERS);
  }

  static byteLength(rows: number): number {
    return rows * REGISTERS;
  }

  /** Adds a thing. @param hash of the thing, 32 bits; it is mixed again */
  add(row: number, hash: number): void {
    const mixed = mix32(hash);
    const at = row * REGISTERS + (mixed & (REGISTERS - 1));
    const rank = Math.clz32((mixed >>> 6) << 6) + 1;
    // The six bits that chose the register are taken from the rank's bits: at most 26 leading zeros are left.
    const bounded = rank > 27 ? 27 : rank;
    if (bounded > this.#registers[at]!) this.#registers[at] = bounded;
  }

  clear(row: number): void {
    this.#registers.fill(0, row * REGISTERS, (row + 1) * REGISTERS);
  }

  /** How many distinct things a row has, within 13 % (one standard error). */
  estimate(row: number): number {
    let sum = 0;
    let empty = 0;
    const start = row * REGISTERS;
    for (let k = start; k < start + REGISTERS; k++) {
      const rank = this.#registers[k]!;
      sum += INVERSE[rank]!;
      if (rank === 0) empty++;
    }
    const raw = (ALPHA * REGISTERS * REGISTERS) / sum;
    return raw <= 2.5 * REGISTERS && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : raw;
  }
}
