/** Writes and queries of single keys, by means of the batch methods. */
import { AnswerRows, type KeyRows, STATUS_NAMES, type StatusName } from './rows.js';

/** The answer to a query. */
export interface Answer {
  /** See `STATUS`. */
  readonly status: StatusName;
  /** A copy of the value; null unless the status is `value`. */
  readonly value: Uint8Array | null;
  /** Slots of the key that have its checksum. */
  readonly matching: number;
  /** Those of the matching slots that hold the answer. */
  readonly agreeing: number;
}

/** Columns with a single row. */
export class SingleRow {
  readonly answer: AnswerRows;
  readonly #keys: { bytes: Uint8Array; readonly offsets: Uint32Array; readonly lengths: Uint32Array };

  constructor(valueBytes: number) {
    this.answer = new AnswerRows(1, valueBytes);
    this.#keys = { bytes: new Uint8Array(0), offsets: new Uint32Array(1), lengths: new Uint32Array(1) };
  }

  keys(key: Uint8Array): KeyRows {
    this.#keys.bytes = key;
    this.#keys.lengths[0] = key.length;
    return this.#keys;
  }

  read(): Answer {
    const { status, values, matching, agreeing } = this.answer;
    const name = STATUS_NAMES[status[0]!]!;
    return {
      status: name,
      value: name === 'value' ? values.slice() : null,
      matching: matching[0]!,
      agreeing: agreeing[0]!,
    };
  }
}
