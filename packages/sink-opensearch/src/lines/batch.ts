import type { RecordKind } from '@int/collector';

export const ITEM = { WAITING: 0, UNCERTAIN: 1 } as const;

/** Space behind a full batch: room for the longest record, a report of 255 hops, and its action. */
export const MAX_LINE_BYTES = 393_216;

/**
 * Records of one bulk request, as lines: an action and a document for each. Made once and used again.
 *
 * Rows 0 to `count - 1` are valid.
 */
export class LineBatch {
  readonly bytes: Buffer;
  /** Over {@link bytes}. */
  readonly view: DataView;
  /** First byte of each record's action. */
  readonly start: Uint32Array;
  /** One past the line feed behind its document. */
  readonly end: Uint32Array;
  readonly kind: RecordKind[] = [];
  /** See {@link ITEM}. */
  readonly state: Uint8Array;
  /** Answers of each record that say that the server failed. */
  readonly failures: Uint8Array;
  count = 0;
  used = 0;
  readonly #fullBytes: number;

  /** @param lineBytes bytes of the longest record and its action */
  constructor(fullBytes: number, records: number, lineBytes: number = MAX_LINE_BYTES) {
    this.#fullBytes = fullBytes;
    this.bytes = Buffer.allocUnsafeSlow(fullBytes + lineBytes);
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
    this.start = new Uint32Array(records);
    this.end = new Uint32Array(records);
    this.state = new Uint8Array(records);
    this.failures = new Uint8Array(records);
  }

  /** Whether it is time to send it. If it is not full, the longest record fits. */
  get isFull(): boolean {
    return this.count === this.start.length || this.used >= this.#fullBytes;
  }

  /** Appends a record whose `bytes` are already there, from {@link used} on. @param length bytes of it */
  push(kind: RecordKind, length: number): void {
    const row = this.count;
    this.start[row] = this.used;
    this.used += length;
    this.end[row] = this.used;
    this.kind[row] = kind;
    this.state[row] = ITEM.WAITING;
    this.failures[row] = 0;
    this.count = row + 1;
  }

  /** The lines of some rows, in their order: a view where they lie next to each other, else a copy. */
  lines(rows: readonly number[]): Uint8Array {
    if (rows.length === 0) return this.bytes.subarray(0, 0);
    const first = rows[0]!;
    const last = rows[rows.length - 1]!;
    if (last - first === rows.length - 1) return this.bytes.subarray(this.start[first]!, this.end[last]!);
    return Buffer.concat(rows.map((row) => this.bytes.subarray(this.start[row]!, this.end[row]!)));
  }

  clear(): void {
    this.count = 0;
    this.used = 0;
  }
}
