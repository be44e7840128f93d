import { type Crc, createCrc } from '@int/hash';
import { sum16 } from '../machine/packing.js';
import { ControlError } from '../tables/control-error.js';
import type { NamedCalculation } from './calculation-names.js';
import { crcOf, type HashAlgorithm, identity, isHashAlgorithm, xor16 } from './hash.js';
import type { RandomBits } from './random.js';

/** Parameters of a custom CRC, as the control plane sets them. */
export interface CustomCrc {
  readonly polynomial: number;
  readonly initial: number;
  readonly finalXor: number;
  readonly reflectData: boolean;
  readonly reflectRemainder: boolean;
}

/** One hash of the program: an algorithm, and for a custom CRC its present parameters. */
export class Calculation {
  #crc: Crc | undefined;

  constructor(
    readonly name: string,
    readonly algorithm: HashAlgorithm,
    readonly random: RandomBits,
  ) {
    this.reset();
  }

  get #isCustom(): boolean {
    return this.algorithm.endsWith('_custom');
  }

  /** The full hash of the first `length` bytes, before base and max are applied. */
  hash(bytes: Uint8Array, length: number): bigint {
    return this.algorithm === 'identity' ? identity(bytes, length) : BigInt(this.hash32(bytes, length));
  }

  /** As {@link hash}, but as a number; for `identity` the low 32 bits. */
  hash32(bytes: Uint8Array, length: number): number {
    switch (this.algorithm) {
      case 'csum16':
        return sum16(bytes, length);
      case 'xor16':
        return xor16(bytes, length);
      case 'identity':
        return Number(identity(bytes, length) & 0xffffffffn);
      case 'random':
        return this.random();
      default:
        return this.#crc!.digest(bytes, 0, length);
    }
  }

  /** Parameters of a custom CRC; undefined for other algorithms. */
  get custom(): CustomCrc | undefined {
    if (!this.#isCustom) return undefined;
    const { polynomial, init, xorOut, reflectIn, reflectOut } = this.#crc!.parameters;
    return { polynomial, initial: init, finalXor: xorOut, reflectData: reflectIn, reflectRemainder: reflectOut };
  }

  /**
   * Sets the parameters of a custom CRC.
   *
   * @throws ControlError `ERR_CONTROL_WRONG_KIND` for another algorithm, `ERR_CONTROL_VALUE_TOO_WIDE` if a number does
   *   not fit its width
   */
  setCustom(parameters: CustomCrc): void {
    if (!this.#isCustom) {
      throw new ControlError('ERR_CONTROL_WRONG_KIND', `calculation ${this.name} is ${this.algorithm}: no custom CRC`);
    }
    const { width } = this.#crc!.parameters;
    for (const value of [parameters.polynomial, parameters.initial, parameters.finalXor]) {
      if (!Number.isInteger(value) || value < 0 || value >= 2 ** width) {
        const message = `${value} does not fit the ${width} bits of calculation ${this.name}`;
        throw new ControlError('ERR_CONTROL_VALUE_TOO_WIDE', message);
      }
    }
    this.#crc = createCrc({
      width,
      polynomial: parameters.polynomial,
      init: parameters.initial,
      xorOut: parameters.finalXor,
      reflectIn: parameters.reflectData,
      reflectOut: parameters.reflectRemainder,
    });
  }

  /** Resets a custom CRC to its initial parameters. */
  reset(): void {
    this.#crc = crcOf(this.algorithm);
  }
}

/** The hashes of a program, by the name of the calculation, or of the algorithm with its initial parameters. */
export class Calculations {
  readonly #byName = new Map<string, Calculation>();
  /** In program order. */
  readonly list: Calculation[] = [];

  constructor(
    named: readonly NamedCalculation[],
    readonly random: RandomBits,
  ) {
    for (const { name, aliases, algorithm } of named) {
      if (!isHashAlgorithm(algorithm)) throw new TypeError(`no hash algorithm ${algorithm}`);
      const calculation = new Calculation(name, algorithm, random);
      this.list.push(calculation);
      for (const each of [name, ...aliases]) this.#byName.set(each, calculation);
    }
  }

  /** The calculation with this name, or an algorithm's; undefined if there is none. */
  find(name: string): Calculation | undefined {
    let calculation = this.#byName.get(name);
    if (calculation === undefined && isHashAlgorithm(name)) {
      calculation = new Calculation(name, name, this.random);
      this.#byName.set(name, calculation);
    }
    return calculation;
  }

  /**
   * The calculation of a name. Generated code may keep it: it is the same object for the life of the program.
   *
   * @throws TypeError if there is none
   */
  get(name: string): Calculation {
    const calculation = this.find(name);
    if (calculation === undefined) throw new TypeError(`no calculation ${name}`);
    return calculation;
  }

  /** `Runtime.hash`: `name` is an algorithm or a calculation. */
  hash(name: string, bytes: Uint8Array, length: number): bigint {
    return this.get(name).hash(bytes, length);
  }
}
