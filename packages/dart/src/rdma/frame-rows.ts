/** Packets of a batch, one after the other in one buffer: an arena to fill, send and clear. */
export class FrameRows {
  readonly bytes: Uint8Array;
  /** Packet i is `bytes[offsets[i] .. offsets[i] + lengths[i])`. */
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  /** The collector of packet i: its place in the table. */
  readonly collectors: Uint32Array;
  /** Number of packets, and their total bytes. */
  count = 0;
  used = 0;

  /**
   * @param rows most packets
   * @param bytes most bytes of all packets, or memory for them
   * @throws RangeError for sizes that are not whole numbers
   */
  constructor(rows: number, bytes: number | Uint8Array) {
    if (!(Number.isInteger(rows) && rows >= 0)) throw new RangeError(`${rows} rows`);
    if (typeof bytes === 'number' && !(Number.isInteger(bytes) && bytes >= 0)) throw new RangeError(`${bytes} bytes`);
    this.bytes = typeof bytes === 'number' ? new Uint8Array(bytes) : bytes;
    this.offsets = new Uint32Array(rows);
    this.lengths = new Uint32Array(rows);
    this.collectors = new Uint32Array(rows);
  }

  /** Empties the arena; the bytes stay until they are overwritten. */
  clear(): void {
    this.count = 0;
    this.used = 0;
  }

  /** Whether `packets` packets of `bytes` bytes in total still fit. */
  hasRoom(packets: number, bytes: number): boolean {
    return this.count + packets <= this.offsets.length && this.used + bytes <= this.bytes.length;
  }

  /** Appends a packet; the caller writes its bytes. Check {@link hasRoom} first. @returns its offset */
  append(length: number, collector: number): number {
    const at = this.used;
    const row = this.count;
    this.offsets[row] = at;
    this.lengths[row] = length;
    this.collectors[row] = collector;
    this.count = row + 1;
    this.used = at + length;
    return at;
  }

  /** A view of a packet. @throws RangeError if there is no such packet */
  packet(row: number): Uint8Array {
    if (!(Number.isInteger(row) && row >= 0 && row < this.count))
      throw new RangeError(`packet ${row} of ${this.count}`);
    const at = this.offsets[row]!;
    return this.bytes.subarray(at, at + this.lengths[row]!);
  }
}
