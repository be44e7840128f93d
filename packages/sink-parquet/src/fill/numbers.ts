import { randomFillSync } from 'node:crypto';

/**
 * Numbers the records of a sink, from 0, over all kinds: a reader that has seen a number of an instance has seen the
 * record.
 */
export class RecordNumbers {
  /** The instance as 16 hexadecimal digits. */
  readonly instance: string;
  readonly instanceHigh: number;
  readonly instanceLow: number;
  low = 0xffffffff;
  high = 0xffffffff;

  /**
   * @param instance 16 hexadecimal digits that no other sink has. Default: random
   * @throws TypeError if it is something else
   */
  constructor(instance?: string) {
    const words = new Uint32Array(2);
    if (instance === undefined) randomFillSync(words);
    else if (!/^[0-9a-f]{16}$/.test(instance)) {
      throw new TypeError(`instance must be 16 lower-case hexadecimal digits, not ${String(instance)}`);
    } else {
      words[0] = Number.parseInt(instance.slice(0, 8), 16);
      words[1] = Number.parseInt(instance.slice(8), 16);
    }
    this.instanceHigh = words[0]!;
    this.instanceLow = words[1]!;
    this.instance = Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
  }

  next(): void {
    this.low = (this.low + 1) >>> 0;
    if (this.low === 0) this.high = (this.high + 1) >>> 0;
  }
}
