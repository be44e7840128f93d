/**
 * The smallest slab: room for the longest message that a batch can give, a report of 255 hops with every field as JSON.
 */
export const MIN_SLAB_BYTES = 262_144;

/** How much a {@link MessageSlab} holds. */
export interface MessageSlabCapacity {
  /** Messages. */
  readonly messages: number;
  /** Bytes of all keys and values together, at least {@link MIN_SLAB_BYTES}. */
  readonly bytes: number;
}

/**
 * A reusable buffer of messages: keys and values in one block of bytes, and columns with their bounds. Nothing is
 * allocated after construction.
 *
 * Rows 0 to `count - 1` are valid.
 */
export class MessageSlab {
  readonly bytes: Uint8Array;
  /** Over {@link bytes}; unaligned writes of several bytes at once go through it. */
  readonly view: DataView;
  /** First byte of each key in `bytes`. */
  readonly keyStart: Uint32Array;
  /** One past the last byte of each key. */
  readonly keyEnd: Uint32Array;
  readonly valueStart: Uint32Array;
  readonly valueEnd: Uint32Array;
  /** Index in RECORD_KINDS of @int/collector: 0 reports, 1 events, 2 flows. */
  readonly kind: Uint8Array;
  /**
   * The hash of the key by Kafka's default partitioner: murmur2 without the sign. The partition is this modulo the
   * number of partitions.
   */
  readonly partitionHash: Uint32Array;
  /** Time of the record, milliseconds since the epoch. */
  readonly timeMs: Float64Array;
  count = 0;
  /** Bytes in use. */
  used = 0;

  /** @throws RangeError for a capacity out of range */
  constructor(capacity: MessageSlabCapacity) {
    const { messages, bytes } = capacity;
    if (!Number.isInteger(messages) || messages < 1 || messages > 1 << 24) {
      throw new RangeError(`message slab: messages must be an integer from 1 to 2^24, not ${messages}`);
    }
    if (!Number.isInteger(bytes) || bytes < MIN_SLAB_BYTES || bytes > 1 << 30) {
      throw new RangeError(`message slab: bytes must be an integer from ${MIN_SLAB_BYTES} to 2^30, not ${bytes}`);
    }
    this.bytes = new Uint8Array(bytes);
    this.view = new DataView(this.bytes.buffer);
    this.keyStart = new Uint32Array(messages);
    this.keyEnd = new Uint32Array(messages);
    this.valueStart = new Uint32Array(messages);
    this.valueEnd = new Uint32Array(messages);
    this.kind = new Uint8Array(messages);
    this.partitionHash = new Uint32Array(messages);
    this.timeMs = new Float64Array(messages);
  }

  get capacity(): number {
    return this.kind.length;
  }

  /** Whether another message fits, if its key and value are at most `bytes` long. */
  fits(bytes: number): boolean {
    return this.count < this.kind.length && this.used + bytes <= this.bytes.length;
  }

  /** The key of message `row`: a view, valid until {@link clear}. */
  key(row: number): Uint8Array {
    return this.bytes.subarray(this.keyStart[row]!, this.keyEnd[row]!);
  }

  /** The value of message `row`: a view, valid until {@link clear}. */
  value(row: number): Uint8Array {
    return this.bytes.subarray(this.valueStart[row]!, this.valueEnd[row]!);
  }

  /** Forgets all messages. */
  clear(): void {
    this.count = 0;
    this.used = 0;
  }
}
