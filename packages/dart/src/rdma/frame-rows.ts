/** Packets of a batch, one behind the other in one buffer: an arena that is filled, handed on, and cleared. */
export class FrameRows {
  readonly bytes: Uint8Array;
  /** Packet i is `bytes[offsets[i] .. offsets[i] + lengths[i])`. */
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  /** The collector that packet i is for: its place in the table. */
  readonly collectors: Uint32Array;
  /** Packets in it, and bytes they take. */
  count = 0;
  used = 0;

  /**
   * @param rows packets at most
   * @param bytes bytes of all packets at most, or memory for them
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

  /** Whether so many packets of so many bytes in all still fit. */
  hasRoom(packets: number, bytes: number): boolean {
    return this.count + packets <= this.offsets.length && this.used + bytes <= this.bytes.length;
  }

  /** Appends a packet whose bytes are to be written from `used` on, and which {@link hasRoom}. @returns where it starts */
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
