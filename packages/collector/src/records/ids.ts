import { randomFillSync } from 'node:crypto';

const HEX = '0123456789abcdef';

/**
 * Numbers the records of a sink, so that a reader can drop repeats. An id is `<instance>-<n>`: the instance as 16
 * lower-case hexadecimal digits, and n in decimal, from 0. All kinds of records share one count.
 */
export class RecordIds {
  /** Upper 32 bits of the instance. */
  readonly instanceHigh: number;
  readonly instanceLow: number;
  /** The instance as 16 hexadecimal digits. */
  readonly instance: string;
  /** Number of the next record, exact up to 2^53. The writer of a record takes it and adds one. */
  next = 0;

  /**
   * @param instance 16 hexadecimal digits that no other sink has. Default: random
   * @throws TypeError if it is given and is something else
   */
  constructor(instance?: string) {
    const words = new Uint32Array(2);
    if (instance === undefined) {
      randomFillSync(words);
    } else {
      if (!/^[0-9a-fA-F]{16}$/.test(instance)) throw new TypeError(`not 16 hexadecimal digits: ${instance}`);
      words[0] = Number.parseInt(instance.slice(0, 8), 16);
      words[1] = Number.parseInt(instance.slice(8), 16);
    }
    this.instanceHigh = words[0]!;
    this.instanceLow = words[1]!;
    let text = '';
    for (const word of words) for (let shift = 28; shift >= 0; shift -= 4) text += HEX[(word >>> shift) & 0xf]!;
    this.instance = text;
  }

  /** The id of record `number`. */
  text(number: number): string {
    return `${this.instance}-${number}`;
  }
}
