import { compressionsAlgorithms, crc32c } from '@platformatic/kafka';
import type { MessageSlab } from '../message/slab.js';
import { varintLength, writeVarint } from './varint.js';

/** How record batches are compressed. zstd needs Node 22.15 or newer. */
export const COMPRESSIONS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type Compression = (typeof COMPRESSIONS)[number];

/** Bytes of a record batch (format 2) before its records. */
const BATCH_HEADER = 61;

/** Offsets of header fields. */
const AT = {
  LENGTH: 8,
  MAGIC: 16,
  CRC: 17,
  ATTRIBUTES: 21,
  LAST_DELTA: 23,
  FIRST_TIME: 27,
  MAX_TIME: 35,
  PRODUCER_ID: 43,
  PRODUCER_EPOCH: 51,
  SEQUENCE: 53,
  RECORDS: 57,
} as const;

/** Bytes of a record besides key, value and headers, at most. */
const MOST_OVERHEAD = 5 + 1 + 1 + 5 + 5 + 5;

export interface BatchHeader {
  readonly producerId: bigint;
  readonly producerEpoch: number;
  /** Number of the first record in its partition, of those that this producer writes. */
  readonly sequence: number;
  /** Milliseconds since the epoch, of all records. */
  readonly timeMs: number;
}

/**
 * Encodes messages of a slab as record batches of format 2.
 *
 * It writes the records into one block of bytes, which grows as needed and is reused.
 */
export class RecordBatchWriter {
  readonly #compression: Compression;
  #scratch: Buffer = Buffer.alloc(0);

  /** @throws TypeError if this version of Node lacks the compression */
  constructor(compression: Compression) {
    if (compressionsAlgorithms[compression]?.available !== true) {
      throw new TypeError(`compression: this version of Node does not have ${compression}`);
    }
    this.#compression = compression;
  }

  /**
   * @param rows rows of the slab
   * @param from first one of `rows` to take
   * @param to one past the last one
   * @param headers by kind: number and bytes of the record headers, as they are in a record
   * @returns a record batch in memory of its own
   */
  write(
    slab: MessageSlab,
    rows: Uint32Array,
    from: number,
    to: number,
    headers: readonly Uint8Array[],
    header: BatchHeader,
  ): Buffer {
    this.#reserve(slab, rows, from, to, headers);
    const end = this.#writeRecords(slab, rows, from, to, headers);
    return this.#close(end, to - from, header);
  }

  #reserve(slab: MessageSlab, rows: Uint32Array, from: number, to: number, headers: readonly Uint8Array[]): void {
    let bytes = BATCH_HEADER;
    for (let index = from; index < to; index++) {
      const row = rows[index]!;
      bytes += MOST_OVERHEAD + headers[slab.kind[row]!]!.length;
      bytes += slab.keyEnd[row]! - slab.keyStart[row]! + (slab.valueEnd[row]! - slab.valueStart[row]!);
    }
    if (this.#scratch.length < bytes) this.#scratch = Buffer.allocUnsafeSlow(bytes + (bytes >>> 2));
  }

  #writeRecords(
    slab: MessageSlab,
    rows: Uint32Array,
    from: number,
    to: number,
    headers: readonly Uint8Array[],
  ): number {
    const { bytes: source, keyEnd, keyStart, kind, valueEnd, valueStart } = slab;
    const out = this.#scratch;
    let at = BATCH_HEADER;
    for (let index = from; index < to; index++) {
      const row = rows[index]!;
      const key = keyStart[row]!;
      const keyLength = keyEnd[row]! - key;
      const value = valueStart[row]!;
      const valueLength = valueEnd[row]! - value;
      const tail = headers[kind[row]!]!;
      // Signed numbers, in zigzag: twice the number if it is not negative.
      const delta = 2 * (index - from);
      const length =
        2 +
        varintLength(delta) +
        varintLength(2 * keyLength) +
        keyLength +
        varintLength(2 * valueLength) +
        valueLength +
        tail.length;
      at = writeVarint(out, at, 2 * length);
      // Attributes; time, less that of the batch.
      out[at] = 0;
      out[at + 1] = 0;
      at = writeVarint(out, at + 2, delta);
      at = writeVarint(out, at, 2 * keyLength);
      for (let k = 0; k < keyLength; k++) out[at + k] = source[key + k]!;
      at = writeVarint(out, at + keyLength, 2 * valueLength);
      out.set(source.subarray(value, value + valueLength), at);
      at += valueLength;
      for (let k = 0; k < tail.length; k++) out[at + k] = tail[k]!;
      at += tail.length;
    }
    return at;
  }

  /** Compresses the records and writes the header. @param end one past the last byte of the records */
  #close(end: number, records: number, header: BatchHeader): Buffer {
    const { bitmask, compressSync } = compressionsAlgorithms[this.#compression];
    const plain = this.#scratch.subarray(BATCH_HEADER, end);
    // The algorithm 'none' returns its input.
    const packed = bitmask === 0 ? plain : compressSync(plain);
    const batch = Buffer.allocUnsafeSlow(BATCH_HEADER + packed.length);
    batch.set(packed, BATCH_HEADER);
    batch.fill(0, 0, BATCH_HEADER);
    batch.writeInt32BE(batch.length - AT.LENGTH - 4, AT.LENGTH);
    batch[AT.MAGIC] = 2;
    batch.writeInt16BE(bitmask, AT.ATTRIBUTES);
    batch.writeInt32BE(records - 1, AT.LAST_DELTA);
    batch.writeBigInt64BE(BigInt(header.timeMs), AT.FIRST_TIME);
    batch.writeBigInt64BE(BigInt(header.timeMs), AT.MAX_TIME);
    batch.writeBigInt64BE(header.producerId, AT.PRODUCER_ID);
    batch.writeInt16BE(header.producerEpoch, AT.PRODUCER_EPOCH);
    batch.writeInt32BE(header.sequence, AT.SEQUENCE);
    batch.writeInt32BE(records, AT.RECORDS);
    batch.writeUInt32BE(crc32c(batch.subarray(AT.ATTRIBUTES)) >>> 0, AT.CRC);
    return batch;
  }
}

/** Bytes that a message takes in a batch before compression, at most. */
export function recordBytes(slab: MessageSlab, row: number, headers: readonly Uint8Array[]): number {
  const key = slab.keyEnd[row]! - slab.keyStart[row]!;
  return MOST_OVERHEAD + headers[slab.kind[row]!]!.length + key + slab.valueEnd[row]! - slab.valueStart[row]!;
}

/**
 * The headers of a record as they are behind its value: their number, then names and values with their lengths.
 * @param headers name and value, ASCII
 */
export function recordHeaders(headers: readonly (readonly [string, string])[]): Uint8Array {
  const bytes: number[] = [2 * headers.length];
  for (const pair of headers) {
    for (const text of pair) {
      const buffer = Buffer.from(text, 'latin1');
      const length = new Uint8Array(5);
      bytes.push(...length.subarray(0, writeVarint(length, 0, 2 * buffer.length)), ...buffer);
    }
  }
  return Uint8Array.from(bytes);
}
