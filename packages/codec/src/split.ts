import { NOT_AVAILABLE } from './columns.js';
import { SPLITS } from './fields.js';

/** NOT_AVAILABLE as a signed word. */
const ALL_ONES = -1;

/**
 * Takes apart the words that hold two fields, in rows `from` to `to - 1`: the word is in the lower field's column, and the upper
 * field's is in front of it. Done for many rows at once, because a decision for each word would cost more.
 *
 * @param columns set of the columns that the rows were written with
 */
export function splitRows(hopWords: Uint32Array, stride: number, columns: number, from: number, to: number): void {
  for (const { column, bits } of SPLITS) {
    if ((columns & (1 << column)) === 0) continue;
    const mask = (1 << bits) - 1;
    const end = column * stride + to;
    for (let cell = column * stride + from; cell < end; cell++) {
      const word = hopWords[cell + stride]! | 0;
      const isMissing = word === ALL_ONES;
      hopWords[cell] = isMissing ? NOT_AVAILABLE : word >>> bits;
      hopWords[cell + stride] = isMissing ? NOT_AVAILABLE : word & mask;
    }
  }
}
