import type { DataType } from '../ir/program.js';
import { bitsOf, NUMBER_WIDTH, scalarNames, WORDS_WIDTH, zeroOf } from './storage.js';
import { cutTop, wrapNumber } from './value.js';

const BITS = 'poison.bits()';

/** Codes of the random values that poison mode uses for undefined ones. */
export class UndefinedValues {
  /** @param errors number of the program's errors */
  constructor(readonly errors: number) {}

  /** One code for each word of a scalar, as variables keep it. */
  codes(type: DataType, isKeptSigned: boolean): readonly string[] {
    if (type.kind === 'string') return [zeroOf(type)];
    if (type.kind === 'bool') return [`(${BITS} & 1) !== 0`];
    if (type.kind === 'error') return [`poison.below(${this.errors})`];
    if (type.kind === 'enum') return [`poison.below(${type.members.length})`];
    const { width, isSigned } = bitsOf(type);
    if (width > WORDS_WIDTH) return [`poison.big(${width}, ${isSigned})`];
    if (width <= NUMBER_WIDTH) return [isKeptSigned ? BITS : wrapNumber(BITS, width, isSigned)];
    return cutTop(
      scalarNames('', type).map(() => BITS),
      width,
    );
  }
}
