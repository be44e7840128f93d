const EMPTY = /* @__PURE__ */ new Uint8Array(0);
const FIRST_CAPACITY = 4096;

/**
 * A queue of chunks seen through a window of contiguous bytes.
 *
 * The window lies on the current chunk itself, so whole records are parsed in place. Only a record that straddles
 * chunks is gathered in a separate buffer, up to its last byte; later records are again read in place. Each byte is
 * copied at most once, plus the doubling of that buffer: linear in the input for chunks of any size.
 */
export class ChunkWindow {
  /** The bytes with the window. They do not change while {@link pinned}. */
  bytes: Uint8Array = EMPTY;
  /** First unread byte. */
  position = 0;
  /** End of the window. */
  end = 0;
  /** While true, the window stays on its bytes: `need` and `discard` fail instead. */
  pinned = false;
  /** Bytes copied so far. */
  copiedBytes = 0;

  /** Offset of `bytes[0]` from the start of all input; may be negative while the window is on the gathered bytes. */
  #base = 0;
  #gathered: Uint8Array = EMPTY;
  #queue: Uint8Array[] = [];
  #head = 0;
  #headOffset = 0;

  /** Takes a chunk by reference. */
  push(chunk: Uint8Array): void {
    if (chunk.length > 0) this.#queue.push(chunk);
  }

  /** Offset of the first unread byte from the start of all input. */
  get offset(): number {
    return this.#base + this.position;
  }

  /** Capacity of the buffer for straddling records, in bytes. */
  get gatheredCapacity(): number {
    return this.#gathered.length;
  }

  /** Makes `count` bytes from `position` contiguous. Returns false if fewer have arrived. */
  need(count: number): boolean {
    return this.end - this.position >= count || (!this.pinned && this.#gather(count));
  }

  /** Skips up to `count` bytes across chunk boundaries without copying. Returns the number of skipped bytes. */
  discard(count: number): number {
    let left = count;
    for (;;) {
      const available = this.end - this.position;
      if (available >= left) {
        this.position += left;
        return count;
      }
      this.position = this.end;
      left -= available;
      if (this.pinned || !this.#nextChunk()) return count - left;
    }
  }

  #gather(count: number): boolean {
    if (this.position === this.end) {
      if (!this.#nextChunk()) return false;
      if (this.end - this.position >= count) return true;
    }
    this.#moveToGathered();
    while (this.end < count) {
      const chunk = this.#queue[this.#head];
      if (chunk === undefined) return false;
      const taken = Math.min(count - this.end, chunk.length - this.#headOffset);
      this.#reserve(this.end + taken);
      this.#gathered.set(chunk.subarray(this.#headOffset, this.#headOffset + taken), this.end);
      this.copiedBytes += taken;
      this.end += taken;
      this.#headOffset += taken;
      if (this.#headOffset === chunk.length) this.#dropHead();
    }
    return true;
  }

  /** Moves the exhausted window to the rest of the next chunk. */
  #nextChunk(): boolean {
    const offset = this.offset;
    const chunk = this.#queue[this.#head];
    if (chunk === undefined) {
      this.bytes = EMPTY;
      this.position = 0;
      this.end = 0;
      this.#base = offset;
      return false;
    }
    this.bytes = chunk;
    this.position = this.#headOffset;
    this.end = chunk.length;
    this.#base = offset - this.#headOffset;
    this.#dropHead();
    return true;
  }

  /** Moves the unread bytes to the start of the gathering buffer. */
  #moveToGathered(): void {
    if (this.bytes === this.#gathered && this.position === 0) return;
    const offset = this.offset;
    const length = this.end - this.position;
    if (this.bytes === this.#gathered) {
      this.#gathered.copyWithin(0, this.position, this.end);
    } else {
      const unread = this.bytes.subarray(this.position, this.end);
      this.bytes = this.#gathered;
      this.end = 0;
      this.#reserve(length);
      this.#gathered.set(unread);
    }
    this.copiedBytes += length;
    this.position = 0;
    this.end = length;
    this.#base = offset;
  }

  /** Grows by doubling, and only as bytes arrive: a large length field alone allocates nothing. */
  #reserve(capacity: number): void {
    if (capacity <= this.#gathered.length) return;
    const grown = new Uint8Array(Math.max(capacity, this.#gathered.length * 2, FIRST_CAPACITY));
    grown.set(this.#gathered.subarray(0, this.end));
    this.copiedBytes += this.end;
    this.#gathered = grown;
    this.bytes = grown;
  }

  #dropHead(): void {
    this.#headOffset = 0;
    this.#queue[this.#head] = EMPTY;
    this.#head += 1;
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#queue.length) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
  }
}
