/** Rows of keys and of answers for the batch methods of a store. Nothing is allocated per row. */

/**
 * Keys of many rows: key i is `bytes[offsets[i] .. offsets[i] + lengths[i])`. A key is any bytes, at most
 * `MAX_KEY_BYTES` long.
 */
export interface KeyRows {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
}

/** Most bytes of a key. */
export const MAX_KEY_BYTES = 0xffff;

/** The status of a query. */
export const STATUS = {
  /** There is an answer. */
  VALUE: 0,
  /** No slot has the key's checksum: the key was never written, or was overwritten. */
  ABSENT: 1,
  /** Slots have the key's checksum, but give no answer by the policy. */
  CONFLICT: 2,
  /** A slot was being written at every attempt to read it: query again. Occurs only if another thread writes. */
  BUSY: 3,
} as const;
export type StatusName = 'value' | 'absent' | 'conflict' | 'busy';
export const STATUS_NAMES: readonly StatusName[] = ['value', 'absent', 'conflict', 'busy'];

/** Answers of many rows. */
export class AnswerRows {
  readonly capacity: number;
  readonly valueBytes: number;
  /** See {@link STATUS}. */
  readonly status: Uint8Array;
  /** Row i's value is `values[i * valueBytes .. (i + 1) * valueBytes)`; undefined where the status is not VALUE. */
  readonly values: Uint8Array;
  /** Slots of the key that have its checksum. A slot chosen by two hashes counts once. */
  readonly matching: Uint8Array;
  /** Those of the matching slots that hold the answer; 0 if there is none. */
  readonly agreeing: Uint8Array;

  /**
   * @param allocate allocates the columns; new memory if absent
   * @throws RangeError for a capacity or a size that is not a whole number
   */
  constructor(capacity: number, valueBytes: number, allocate = (bytes: number): Uint8Array => new Uint8Array(bytes)) {
    if (!(Number.isInteger(capacity) && capacity >= 0 && Number.isInteger(valueBytes) && valueBytes > 0)) {
      throw new RangeError(`${capacity} rows of ${valueBytes} bytes: whole numbers are needed`);
    }
    this.capacity = capacity;
    this.valueBytes = valueBytes;
    this.status = allocate(capacity);
    this.values = allocate(capacity * valueBytes);
    this.matching = allocate(capacity);
    this.agreeing = allocate(capacity);
  }
}

/**
 * Rows of keys of one length, stored one after the other.
 *
 * @throws RangeError if the bytes are not a multiple of `keyBytes`
 */
export function fixedKeyRows(bytes: Uint8Array, keyBytes: number): KeyRows {
  const rows = bytes.length / keyBytes;
  if (!Number.isInteger(rows))
    throw new RangeError(`${bytes.length} bytes are no whole number of ${keyBytes}-byte keys`);
  const offsets = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) offsets[row] = row * keyBytes;
  return { bytes, offsets, lengths: new Uint32Array(rows).fill(keyBytes) };
}
