import { type Crc, type CrcParameters, createCrc } from '@int/hash';
import { ControlError } from '../tables/control-error.js';
import type { NamedCalculation } from './calculation-names.js';
import { CUSTOM_CRC_DEFAULTS, crcOf, csum16, type HashAlgorithm, identity, isHashAlgorithm, xor16 } from './hash.js';
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

  /** Whether the result has at most 32 bits. Only that of `identity` has more. */
  get isNarrow(): boolean {
    return this.algorithm !== 'identity';
  }

  /** The full hash of the first `length` bytes, before base and max are applied. */
  hash(bytes: Uint8Array, length: number): bigint {
    return this.algorithm === 'identity' ? identity(bytes, length) : BigInt(this.hash32(bytes, length));
  }

  /** As {@link hash}, but as a number; for `identity` the low 32 bits. */
  hash32(bytes: Uint8Array, length: number): number {
    switch (this.algorithm) {
      case 'csum16':
        return csum16(bytes, length);
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
    if (this.algorithm !== 'crc16_custom' && this.algorithm !== 'crc32_custom') return undefined;
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
    if (this.algorithm !== 'crc16_custom' && this.algorithm !== 'crc32_custom') {
      throw new ControlError('ERR_CONTROL_WRONG_KIND', `calculation ${this.name} is ${this.algorithm}: no custom CRC`);
    }
    const { width } = CUSTOM_CRC_DEFAULTS[this.algorithm];
    for (const value of [parameters.polynomial, parameters.initial, parameters.finalXor]) {
      if (!Number.isInteger(value) || value < 0 || value >= 2 ** width) {
        throw new ControlError(
          'ERR_CONTROL_VALUE_TOO_WIDE',
          `${value} does not fit the ${width} bits of calculation ${this.name}`,
        );
      }
    }
    const crc: CrcParameters = {
      width,
      polynomial: parameters.polynomial,
      init: parameters.initial,
      xorOut: parameters.finalXor,
      reflectIn: parameters.reflectData,
      reflectOut: parameters.reflectRemainder,
    };
    this.#crc = createCrc(crc);
  }

  /** Resets a custom CRC to its initial parameters. */
  reset(): void {
    const { algorithm } = this;
    if (
      algorithm === 'crc16' ||
      algorithm === 'crc32' ||
      algorithm === 'crc16_custom' ||
      algorithm === 'crc32_custom'
    ) {
      this.#crc = crcOf(algorithm);
    }
  }
}

/** The hashes of a program, by the name of the calculation, or of the algorithm with its initial parameters. */
export class Calculations {
  readonly #byName = new Map<string, Calculation>();
  readonly #list: Calculation[] = [];
  readonly #random: RandomBits;

  constructor(named: readonly NamedCalculation[], random: RandomBits) {
    this.#random = random;
    for (const { name, aliases, algorithm } of named) {
      if (!isHashAlgorithm(algorithm)) throw new TypeError(`no hash algorithm ${algorithm}`);
      const calculation = new Calculation(name, algorithm, random);
      this.#list.push(calculation);
      for (const each of [name, ...aliases]) this.#byName.set(each, calculation);
    }
  }

  /** In program order. */
  get list(): readonly Calculation[] {
    return this.#list;
  }

  /** The calculation with this name, or an algorithm's; undefined if there is none. */
  find(name: string): Calculation | undefined {
    let calculation = this.#byName.get(name);
    if (calculation === undefined && isHashAlgorithm(name)) {
      calculation = new Calculation(name, name, this.#random);
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
