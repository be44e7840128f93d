import { copyFromUnsigned, copySigned, copyToUnsigned } from './copy.js';
import { addToCounter, passHalf, readCounter } from './counter.js';
import { RingError } from './errors.js';
import {
  checkPlace,
  HEADER_WORDS,
  LOSS_KINDS,
  RING_HEADER,
  RING_HEADER_BYTES,
  readHeader,
  ringBytes,
  ringGeometry,
  writeHeader,
} from './layout.js';
import { block, blockAsync, checkTimeout, isShared, type WaitResult, wake } from './waiting.js';

const { PUSHED, POPPED, LOST, CLOSED, RECORDS_WANTED, ROOM_WANTED } = RING_HEADER;

const DEFAULT_CAPACITY = 65536;

/** Options for a new ring. */
export interface RingOptions {
  /** Words of 32 bits in a record: 1 to 2^20. */
  readonly recordWords: number;
  /** Records that the ring can hold: 1 to 2^30, rounded up to a power of two. Default 65536. */
  readonly capacity?: number;
  /** The memory for the ring. Default: a new SharedArrayBuffer, or an ArrayBuffer on platforms without it. */
  readonly buffer?: ArrayBufferLike;
  /**
   * Byte offset of the ring in `buffer`, a multiple of 4. A multiple of 64 gives each side its own cache lines. Default
   * 0.
   */
  readonly byteOffset?: number;
}

/** Options of an existing ring: its header is not written. */
class Existing implements RingOptions {
  constructor(
    readonly recordWords: number,
    readonly capacity: number,
    readonly buffer: ArrayBufferLike,
    readonly byteOffset: number,
  ) {}
}

function allocate(bytes: number): ArrayBufferLike {
  return typeof SharedArrayBuffer === 'undefined' ? new ArrayBuffer(bytes) : new SharedArrayBuffer(bytes);
}

function isSigned(words: Int32Array | Uint32Array): words is Int32Array {
  if (words instanceof Int32Array) return true;
  if (words instanceof Uint32Array) return false;
  // instanceof fails for arrays of another realm, such as a frame.
  const kind = Object.prototype.toString.call(words);
  if (kind === '[object Int32Array]') return true;
  if (kind === '[object Uint32Array]') return false;
  throw new TypeError(`words must be an Int32Array or a Uint32Array, not ${kind}`);
}

/**
 * A ring buffer of fixed-size records between one producer and one consumer, which may be two threads.
 *
 * Each thread has its own SpscRing over the same memory. The constructor makes the first, {@link SpscRing.attach} the
 * others. At any time, only one thread may call the producer's methods (push, room, writeAt, commit, lose, waitForRoom,
 * waitForRoomAsync), and only one the consumer's (pop, readable, readAt, release, wait, waitAsync). Nothing checks
 * this. Any thread may call the other methods. To hand a side over to another thread, stop using it here, notify the
 * other thread (by a message, for instance), and attach there.
 *
 * Memory order. Records are copied by plain writes and reads. The producer writes records, then stores its index with
 * Atomics. The consumer loads this index with Atomics, then reads the records. The load synchronizes with the store
 * (ECMAScript memory model), so the consumer sees all records up to the index. In the same way, the consumer reads a
 * record before it stores its own index, and the producer loads that index before it overwrites the record. Each index
 * has one writer, which may therefore read it plainly. Each side remembers the other's last index and loads it again
 * only if it does not suffice. An old index shows less room or fewer records than there are, never more. For waiting
 * see the README.
 */
export class SpscRing {
  /** Words of a record. */
  readonly recordWords: number;
  /** Records that the ring can hold. */
  readonly capacity: number;
  /** The memory. Pass it and `byteOffset` to {@link SpscRing.attach} in another thread. */
  readonly buffer: ArrayBufferLike;
  /** Byte offset of the ring in `buffer`. */
  readonly byteOffset: number;
  /** The records, without the header, for {@link room} and {@link readable}. A view on `buffer`. */
  readonly words: Int32Array;

  readonly #header: Int32Array;
  readonly #mask: number;
  /** Producer: the consumer's index when last loaded. */
  #poppedSeen: number;
  /** Consumer: the producer's index when last loaded. */
  #pushedSeen: number;
  /** Producer: records that `commit` may still take. */
  #offered = 0;
  /** Consumer: records that `release` may still take. */
  #shown = 0;

  /**
   * Makes an empty ring. It writes the header into `buffer` at once, and later the records after it.
   * @throws RangeError for a size out of range, or a buffer that is too small
   * @throws TypeError if `buffer` is not an ArrayBuffer or SharedArrayBuffer
   */
  constructor(options: RingOptions) {
    const { recordWords, capacity } = ringGeometry(options.recordWords, options.capacity ?? DEFAULT_CAPACITY);
    const bytes = ringBytes({ recordWords, capacity });
    const { buffer = allocate(bytes), byteOffset = 0 } = options;
    checkPlace(buffer, byteOffset);
    if (bytes > buffer.byteLength - byteOffset) {
      throw new RangeError(
        `the ring has ${bytes} bytes, more than a buffer of ${buffer.byteLength} has from byte ${byteOffset} on`,
      );
    }
    const header = new Int32Array(buffer, byteOffset, HEADER_WORDS);
    if (!(options instanceof Existing)) writeHeader(header, { recordWords, capacity });
    this.recordWords = recordWords;
    this.capacity = capacity;
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.words = new Int32Array(buffer, byteOffset + RING_HEADER_BYTES, recordWords * capacity);
    this.#header = header;
    this.#mask = capacity - 1;
    this.#poppedSeen = Atomics.load(header, POPPED);
    // An old value, so that the first call loads the producer's index.
    this.#pushedSeen = this.#poppedSeen;
  }

  /**
   * The size of a ring in bytes, header included.
   * @param recordWords 1 to 2^20
   * @param capacity 1 to 2^30, rounded up to a power of two
   * @throws RangeError for a size out of range
   */
  static byteLength(recordWords: number, capacity: number): number {
    return ringBytes(ringGeometry(recordWords, capacity));
  }

  /**
   * Attaches to a ring that another SpscRing made, in this thread or another. The ring may be in use.
   * @param byteOffset byte offset of the ring in `buffer`
   * @throws RingError if `buffer` contains no ring there, or its header is damaged
   * @throws TypeError if `buffer` is not an ArrayBuffer or SharedArrayBuffer
   * @throws RangeError for an offset that is not a multiple of 4 within the buffer
   */
  static attach(buffer: ArrayBufferLike, byteOffset = 0): SpscRing {
    checkPlace(buffer, byteOffset);
    const { recordWords, capacity } = readHeader(buffer, byteOffset);
    return new SpscRing(new Existing(recordWords, capacity, buffer, byteOffset));
  }

  /**
   * Producer: copies as many records into the ring as fit, and counts them as pushed. Records that did not fit are not
   * counted; see {@link lose}.
   * @param words contains the records, one after the other
   * @param at word index of the first record
   * @param records number of records
   * @returns number of records taken, from the first on; 0 if the ring is closed
   * @throws RangeError if the records do not lie within `words`
   * @throws TypeError if `words` is not an array of 32-bit words
   * @throws RingError `ERR_RING_INDICES` if the other side's index was overwritten
   */
  push(words: Int32Array | Uint32Array, at: number, records: number): number {
    const signed = isSigned(words);
    this.#checkRun(words, at, records);
    this.#offered = 0;
    const tail = this.#header[PUSHED]!;
    const count = this.#room(tail, records);
    if (count === 0) return 0;
    const size = this.recordWords;
    const place = tail & this.#mask;
    const first = Math.min(count, this.capacity - place);
    const behind = at + first * size;
    if (signed) {
      copySigned(words, at, this.words, place * size, first * size);
      if (count > first) copySigned(words, behind, this.words, 0, (count - first) * size);
    } else {
      copyFromUnsigned(words, at, this.words, place * size, first * size);
      if (count > first) copyFromUnsigned(words, behind, this.words, 0, (count - first) * size);
    }
    this.#publish(tail, count);
    return count;
  }

  /**
   * Producer: the number of records that can be written contiguously from {@link writeAt} on. Write them into
   * {@link words}, then {@link commit}. At the end of the memory the ring wraps, so there may be more room after the
   * commit.
   * @param records number of records wanted. Default: `capacity`
   * @returns 0 to `records`; 0 if the ring is closed
   * @throws RangeError if `records` is not an integer from 0 to 2^32 - 1
   * @throws RingError `ERR_RING_INDICES` if the other side's index was overwritten
   */
  room(records: number = this.capacity): number {
    checkCount(records);
    const tail = this.#header[PUSHED]!;
    this.#offered = Math.min(this.#room(tail, records), this.capacity - (tail & this.#mask));
    return this.#offered;
  }

  /** Producer: the index in {@link words} of the next record. */
  get writeAt(): number {
    return (this.#header[PUSHED]! & this.#mask) * this.recordWords;
  }

  /**
   * Producer: publishes records written at {@link writeAt}.
   * @param records at most the result of {@link room}, less the records committed since
   * @throws RangeError if it is larger
   */
  commit(records: number): void {
    checkCount(records);
    if (records > this.#offered) throw new RangeError(`${records} records are more than the ${this.#offered} of room`);
    this.#offered -= records;
    if (records > 0) this.#publish(this.#header[PUSHED]!, records);
  }

  /**
   * Producer: counts records that it dropped.
   * @param kind the reason, 0 to 7; the ring gives it no meaning
   * @param records 0 to 2^31 - 1
   * @throws RangeError for another kind or number
   */
  lose(kind: number, records: number): void {
    checkKind(kind);
    if (!Number.isInteger(records) || records < 0 || records > 0x7fffffff) {
      throw new RangeError(`records must be an integer from 0 to 2^31 - 1, not ${records}`);
    }
    if (records > 0) addToCounter(this.#header, LOST + 2 * kind, records);
  }

  /**
   * Consumer: copies up to `records` records out of the ring.
   * @param into receives the records, one after the other
   * @param at word index of the first record
   * @param records greatest number of records to copy
   * @returns number of records copied
   * @throws RangeError if `into` has no room for `records` records
   * @throws TypeError if `into` is not an array of 32-bit words
   * @throws RingError `ERR_RING_INDICES` if the other side's index was overwritten
   */
  pop(into: Int32Array | Uint32Array, at: number, records: number): number {
    const signed = isSigned(into);
    this.#checkRun(into, at, records);
    this.#shown = 0;
    const head = this.#header[POPPED]!;
    const count = this.#available(head, records);
    if (count === 0) return 0;
    const size = this.recordWords;
    const place = head & this.#mask;
    const first = Math.min(count, this.capacity - place);
    const behind = at + first * size;
    if (signed) {
      copySigned(this.words, place * size, into, at, first * size);
      if (count > first) copySigned(this.words, 0, into, behind, (count - first) * size);
    } else {
      copyToUnsigned(this.words, place * size, into, at, first * size);
      if (count > first) copyToUnsigned(this.words, 0, into, behind, (count - first) * size);
    }
    this.#free(head, count);
    return count;
  }

  /**
   * Consumer: the number of records that can be read contiguously from {@link readAt} on. Read them in {@link words},
   * then {@link release}. At the end of the memory the ring wraps, so there may be more records after the release.
   * @param records number of records wanted. Default: `capacity`
   * @returns 0 to `records`
   * @throws RangeError if `records` is not an integer from 0 to 2^32 - 1
   * @throws RingError `ERR_RING_INDICES` if the other side's index was overwritten
   */
  readable(records: number = this.capacity): number {
    checkCount(records);
    const head = this.#header[POPPED]!;
    this.#shown = Math.min(this.#available(head, records), this.capacity - (head & this.#mask));
    return this.#shown;
  }

  /** Consumer: the index in {@link words} of the oldest record. */
  get readAt(): number {
    return (this.#header[POPPED]! & this.#mask) * this.recordWords;
  }

  /**
   * Consumer: releases records read at {@link readAt}; the producer may then overwrite them.
   * @param records at most the result of {@link readable}, less the records released since
   * @throws RangeError if it is larger
   */
  release(records: number): void {
    checkCount(records);
    if (records > this.#shown)
      throw new RangeError(`${records} records are more than the ${this.#shown} readable ones`);
    this.#shown -= records;
    if (records > 0) this.#free(this.#header[POPPED]!, records);
  }

  /**
   * Consumer: blocks the thread until there is a record. A blocked thread uses no processor time.
   * @param timeoutMs milliseconds; 0 to return at once. Default: Infinity
   * @param records number of records to wait for, 1 to `capacity`. Default 1. After a timeout, fewer may be in the ring
   * @returns `ready`; `closed` if the ring is closed and empty; else `timed-out`. A closed ring with fewer than
   *   `records` is `ready`
   * @throws TypeError if it would have to block and cannot: the ring is in an ArrayBuffer, or this is the main thread
   *   of a page
   * @throws RangeError for arguments out of range
   */
  wait(timeoutMs = Number.POSITIVE_INFINITY, records = 1): WaitResult {
    this.#checkWait(timeoutMs, records);
    return block(this.#header, RECORDS_WANTED, records, timeoutMs, () => this.#lookForRecords(records));
  }

  /**
   * Consumer: like {@link wait}, without blocking the thread. A pending promise keeps Node running.
   *
   * Without `Atomics.waitAsync` (Firefox before 145), and in an ArrayBuffer, a timer checks every 1 to 16 ms.
   * @throws RangeError (rejects) for arguments out of range
   */
  async waitAsync(timeoutMs = Number.POSITIVE_INFINITY, records = 1): Promise<WaitResult> {
    this.#checkWait(timeoutMs, records);
    return blockAsync(this.#header, RECORDS_WANTED, records, timeoutMs, () => this.#lookForRecords(records));
  }

  /**
   * Producer: blocks the thread until there is room. A larger `records` makes it wake up less often.
   * @param records number of records to wait for room for, 1 to `capacity`. Default 1
   * @param timeoutMs milliseconds; 0 to return at once. Default: Infinity
   * @returns `ready`; `closed` if the ring is closed, with or without room; else `timed-out`
   * @throws TypeError, RangeError like {@link wait}
   */
  waitForRoom(records = 1, timeoutMs = Number.POSITIVE_INFINITY): WaitResult {
    this.#checkWait(timeoutMs, records);
    return block(this.#header, ROOM_WANTED, records, timeoutMs, () => this.#lookForRoom(records));
  }

  /** Producer: like {@link waitForRoom}, without blocking the thread; see {@link waitAsync}. */
  async waitForRoomAsync(records = 1, timeoutMs = Number.POSITIVE_INFINITY): Promise<WaitResult> {
    this.#checkWait(timeoutMs, records);
    return blockAsync(this.#header, ROOM_WANTED, records, timeoutMs, () => this.#lookForRoom(records));
  }

  /**
   * Closes the ring for ever. The producer calls it after its last record. The consumer may call it to stop the
   * producer, which may still finish a push or commit under way. Afterwards the ring takes no records, and all waits
   * end. Records in the ring can still be popped.
   */
  close(): void {
    const header = this.#header;
    Atomics.store(header, CLOSED, 1);
    if (Atomics.load(header, RECORDS_WANTED) !== 0) wake(header, RECORDS_WANTED);
    if (Atomics.load(header, ROOM_WANTED) !== 0) wake(header, ROOM_WANTED);
  }

  /** Whether {@link close} was called. */
  get closed(): boolean {
    return Atomics.load(this.#header, CLOSED) !== 0;
  }

  /** Whether the ring is closed and empty, so that the consumer is done. */
  get drained(): boolean {
    // The order matters: the producer pushes before it closes.
    return this.closed && this.length === 0;
  }

  /** Whether other threads can attach, because `buffer` is a SharedArrayBuffer. */
  get shared(): boolean {
    return isShared(this.buffer);
  }

  /** Records in the ring: a lower bound for the consumer, an upper bound for the producer. */
  get length(): number {
    // The consumer's index is loaded first: otherwise a fast consumer could make the result negative.
    const head = Atomics.load(this.#header, POPPED);
    const length = (Atomics.load(this.#header, PUSHED) - head) >>> 0;
    return Math.min(length, this.capacity);
  }

  /** Records ever pushed; exact up to 2^53, in any thread. */
  get pushed(): number {
    return readCounter(this.#header, PUSHED);
  }

  /** Records ever popped; exact up to 2^53, in any thread. */
  get popped(): number {
    return readCounter(this.#header, POPPED);
  }

  /**
   * Records of a kind that the producer has counted as lost; exact up to 2^53.
   * @param kind 0 to 7
   * @throws RangeError for another kind
   */
  lost(kind: number): number {
    checkKind(kind);
    return readCounter(this.#header, LOST + 2 * kind);
  }

  /** Records of all kinds that the producer has counted as lost. */
  get lostTotal(): number {
    let total = 0;
    for (let kind = 0; kind < LOSS_KINDS; kind++) total += readCounter(this.#header, LOST + 2 * kind);
    return total;
  }

  #checkRun(words: Int32Array | Uint32Array, at: number, records: number): void {
    checkCount(records);
    if (at >>> 0 !== at || at + records * this.recordWords > words.length) {
      throw new RangeError(
        `${records} records of ${this.recordWords} words from word ${at} on are not within ${words.length} words`,
      );
    }
  }

  #checkWait(timeoutMs: number, records: number): void {
    checkTimeout(timeoutMs);
    if (!Number.isInteger(records) || records < 1 || records > this.capacity) {
      throw new RangeError(`records must be an integer from 1 to ${this.capacity}, the capacity, not ${records}`);
    }
  }

  /** Producer: room for up to `records`. Loads the consumer's index only if the remembered one does not suffice. */
  #room(tail: number, records: number): number {
    // A plain read suffices: a mark seen late equals a mark set late.
    if (this.#header[CLOSED]! !== 0) return 0;
    const wanted = Math.min(records, this.capacity);
    let used = (tail - this.#poppedSeen) | 0;
    // Negative if another SpscRing was the producer for a long time before this one.
    if (used < 0 || used + wanted > this.capacity) {
      this.#poppedSeen = Atomics.load(this.#header, POPPED);
      used = (tail - this.#poppedSeen) | 0;
      this.#checkUsed(used);
    }
    const free = this.capacity - used;
    return Math.min(free, wanted);
  }

  /**
   * Consumer: records available, up to `records`. Loads the producer's index only if the remembered one does not
   * suffice.
   */
  #available(head: number, records: number): number {
    const wanted = Math.min(records, this.capacity);
    let used = (this.#pushedSeen - head) | 0;
    if (used < wanted || used > this.capacity) {
      this.#pushedSeen = Atomics.load(this.#header, PUSHED);
      used = (this.#pushedSeen - head) | 0;
      this.#checkUsed(used);
    }
    return Math.min(used, wanted);
  }

  /** Overwritten indices must not cause reads or writes outside the ring. */
  #checkUsed(used: number): void {
    if (used < 0 || used > this.capacity) {
      throw new RingError('ERR_RING_INDICES', 4 * PUSHED, `a ring of ${this.capacity} cannot hold ${used} records`);
    }
  }

  /** Producer: stores its index, and wakes up the consumer if its wait is satisfied. */
  #publish(tail: number, records: number): void {
    const header = this.#header;
    const next = (tail + records) | 0;
    Atomics.store(header, PUSHED, next);
    if ((tail ^ next) < 0) passHalf(header, PUSHED, tail);
    const wanted = Atomics.load(header, RECORDS_WANTED);
    if (wanted !== 0 && ((next - Atomics.load(header, POPPED)) | 0) >= wanted) wake(header, RECORDS_WANTED);
  }

  /** Consumer: stores its index, and wakes up the producer if its wait is satisfied. */
  #free(head: number, records: number): void {
    const header = this.#header;
    const next = (head + records) | 0;
    Atomics.store(header, POPPED, next);
    if ((head ^ next) < 0) passHalf(header, POPPED, head);
    const wanted = Atomics.load(header, ROOM_WANTED);
    if (wanted !== 0 && this.capacity - ((Atomics.load(header, PUSHED) - next) | 0) >= wanted) {
      wake(header, ROOM_WANTED);
    }
  }

  #lookForRecords(records: number): 'ready' | 'closed' | null {
    // The mark is read first, so that no record pushed before the closing is missed.
    const closed = this.closed;
    const used = (Atomics.load(this.#header, PUSHED) - this.#header[POPPED]!) | 0;
    this.#checkUsed(used);
    if (used >= records || (closed && used > 0)) return 'ready';
    return closed ? 'closed' : null;
  }

  #lookForRoom(records: number): 'ready' | 'closed' | null {
    if (this.closed) return 'closed';
    const used = (this.#header[PUSHED]! - Atomics.load(this.#header, POPPED)) | 0;
    this.#checkUsed(used);
    return this.capacity - used >= records ? 'ready' : null;
  }
}

function checkCount(records: number): void {
  if (records >>> 0 !== records) {
    throw new RangeError(`records must be an integer from 0 to 2^32 - 1, not ${records}`);
  }
}

function checkKind(kind: number): void {
  if (!Number.isInteger(kind) || kind < 0 || kind >= LOSS_KINDS) {
    throw new RangeError(`kind must be an integer from 0 to ${LOSS_KINDS - 1}, not ${kind}`);
  }
}
