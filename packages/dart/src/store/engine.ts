import type { AnswerRows, KeyRows } from './rows.js';

/**
 * The loops of a store: in TypeScript, or in WebAssembly. Both leave the same bytes and give the same answers. The
 * store has checked the arguments: rows are inside the columns, keys inside their bytes.
 */
export interface StoreEngine {
  /** Writes rows `from` to `to - 1` into the first `copies` slots of their keys; row i's value is `values[i * valueBytes ..]`. */
  write(keys: KeyRows, values: Uint8Array, from: number, to: number, copies: number): void;
  /** Writes each row into one slot of its key: that of copy `which[row]`. */
  writeCopy(keys: KeyRows, values: Uint8Array, which: Uint8Array, from: number, to: number): void;
  /** Answers rows `from` to `to - 1`. `policy` is a number from `policyNumber`. */
  query(keys: KeyRows, policy: number, out: AnswerRows, from: number, to: number): void;
}
