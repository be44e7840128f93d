import { copyFromUnsigned, copySigned, copyToUnsigned } from './copy.js';
import { addToCounter, passHalf, readCounter } from './counter.js';
import { RingError } from './errors.js';
import {
  checkPlace,
  HEADER_WORDS,
  LOSS_KINDS,
  RING_HEADER,
  RING_HEADER_BYTES,
  type RingGeometry,
  readHeader,
  ringBytes,
  ringGeometry,
  writeHeader,
} from './layout.js';
import { block, blockAsync, checkTimeout, isShared, type WaitResult, wake } from './waiting.js';

const { PUSHED, POPPED, LOST, CLOSED, RECORDS_WANTED, ROOM_WANTED } = RING_HEADER;

const DEFAULT_CAPACITY = 65536;

/** How to make a ring. */
export interface RingOptions {
  /** Words of 32 bits in a record: 1 to 2^20. */
  readonly recordWords: number;
  /** Records that fit: 1 to 2^30, rounded up to a power of two. Default 65536. */
  readonly capacity?: number;
  /** Where to put the ring. Default: a SharedArrayBuffer of the right size, or an ArrayBuffer where there is none. */
  readonly buffer?: ArrayBufferLike;
  /** Where in `buffer` it starts, a multiple of 4. Only at a multiple of 64 are the sides on cache lines of their own. */
  readonly byteOffset?: number;
}

/** Options of a ring that exists: its header is left as it is. */
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
  // Arrays of another realm, such as a frame, are no instances of ours.
  const kind = Object.prototype.toString.call(words);
  if (kind === '[object Int32Array]') return true;
  if (kind === '[object Uint32Array]') return false;
  throw new TypeError(`words must be an Int32Array or a Uint32Array, not ${kind}`);
}

/**
 * A ring of records of a fixed size between one producer and one consumer, which may be two threads.
 *
 * Each thread has an SpscRing of its own over the same memory: the first is made by the constructor, others by
 * {@link SpscRing.attach}. At any time one thread may call the methods of the producer (push, room, writeAt, commit,
 * lose, waitForRoom, waitForRoomAsync) and one those of the consumer (pop, readable, readAt, release, wait, waitAsync).
 * Nothing checks this. To hand a side over to another thread, stop using it here, tell the other thread (by a message,
 * for instance), and attach there. The rest may be called by anyone.
 *
 * Memory order. Records are copied by plain writes and reads. The producer then stores its index, and the consumer loads
 * it before it reads, with operations of Atomics: what was written before the store is seen after the load, and so are
 * all records up to the index (ECMAScript memory model: the load synchronizes with the store that it reads from). In
 * the same way the consumer has read a record before it stores its own index, and the producer loads that index before it
 * overwrites the record. Each index has one writer, which may thus read it plainly. Each side remembers the last index
 * it has seen of the other one and looks again only if that is not enough: an old value of it means less room or fewer
 * records than there are, never more. For waiting see the README.
 */
export class SpscRing {
  /** Words of a record. */
  readonly recordWords: number;
  /** Records that fit. */
  readonly capacity: number;
  /** The memory: give it, and `byteOffset`, to {@link SpscRing.attach} in another thread. */
  readonly buffer: ArrayBufferLike;
  /** Where in `buffer` the ring starts. */
  readonly byteOffset: number;
  /** The records, without the header, for {@link room} and {@link readable}. A view on `buffer`. */
  readonly words: Int32Array;

  readonly #header: Int32Array;
  readonly #mask: number;
  /** Producer: the consumer's index when last looked at. */
  #poppedSeen: number;
  /** Consumer: the producer's index when last looked at. */
  #pushedSeen: number;
  /** Producer: what `commit` may still take. */
  #offered = 0;
  /** Consumer: what `release` may still take. */
  #shown = 0;

  /**
   * Makes an empty ring. Memory that is handed in is overwritten from `byteOffset` on, the header at once.
   * @throws RangeError for a size out of range, or a buffer that is too small
   * @throws TypeError for a buffer that is none
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
    // As if nothing had been pushed since: an old value, so that the first look is a real one.
    this.#pushedSeen = this.#poppedSeen;
  }

  /**
   * Bytes that a ring takes with its header.
   * @param recordWords 1 to 2^20
   * @param capacity 1 to 2^30, rounded up to a power of two
   * @throws RangeError for a size out of range
   */
  static byteLength(recordWords: number, capacity: number): number {
    return ringBytes(ringGeometry(recordWords, capacity));
  }

  /**
   * The ring that another SpscRing made, in this thread or in another one, in use or not.
   * @param byteOffset where in `buffer` it starts
   * @throws RingError if there is no ring, or its header is damaged
   * @throws TypeError for a buffer that is none
   * @throws RangeError for an offset that is not a multiple of 4 within the buffer
   */
  static attach(buffer: ArrayBufferLike, byteOffset = 0): SpscRing {
    checkPlace(buffer, byteOffset);
    const { recordWords, capacity }: RingGeometry = readHeader(buffer, byteOffset);
    return new SpscRing(new Existing(recordWords, capacity, buffer, byteOffset));
  }

  /**
   * Producer: copies records into the ring, as many as fit, and counts them as pushed. What did not fit is not counted;
   * see {@link lose}.
   * @param words what holds the records, one behind the other
   * @param at word of the first record
   * @param records how many there are
   * @returns how many were taken: the first ones; 0 if the ring is closed
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
   * Producer: how many records can be written in one piece from {@link writeAt} on. Write them into {@link words}, then
   * {@link commit}. Where the ring ends there may be more behind it: ask again after the commit.
   * @param records how many are wanted; no more are looked for. Default: as many as there can be
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

  /** Producer: the word of {@link words} at which the next record begins. */
  get writeAt(): number {
    return (this.#header[PUSHED]! & this.#mask) * this.recordWords;
  }

  /**
   * Producer: hands on records written at {@link writeAt}.
   * @param records up to what {@link room} returned, less what was committed since
   * @throws RangeError if they are more
   */
  commit(records: number): void {
    checkCount(records);
    if (records > this.#offered) throw new RangeError(`${records} records are more than the ${this.#offered} of room`);
    this.#offered -= records;
    if (records > 0) this.#publish(this.#header[PUSHED]!, records);
  }

  /**
   * Producer: counts records that it dropped.
   * @param kind why, 0 to 7; the ring gives it no meaning
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
   * Consumer: copies records out of the ring, up to `records`.
   * @param into where to, one behind the other
   * @param at word of the first record
   * @param records how many there is room for
   * @returns how many were copied
   * @throws RangeError if there is no room for so many in `into`
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
   * Consumer: how many records can be read in one piece from {@link readAt} on. Read them in {@link words}, then
   * {@link release}. Where the ring ends there may be more behind it: ask again after the release.
   * @param records how many are wanted; no more are looked for. Default: as many as there can be
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

  /** Consumer: the word of {@link words} at which the oldest record begins. */
  get readAt(): number {
    return (this.#header[POPPED]! & this.#mask) * this.recordWords;
  }

  /**
   * Consumer: gives back the room of records read at {@link readAt}, which may then be overwritten.
   * @param records up to what {@link readable} returned, less what was released since
   * @throws RangeError if they are more
   */
  release(records: number): void {
    checkCount(records);
    if (records > this.#shown)
      throw new RangeError(`${records} records are more than the ${this.#shown} readable ones`);
    this.#shown -= records;
    if (records > 0) this.#free(this.#header[POPPED]!, records);
  }

  /**
   * Consumer: blocks the thread until there is a record. It costs nothing meanwhile.
   * @param timeoutMs milliseconds, 0 to look only. Default: Infinity
   * @param records wait until so many are there, 1 to `capacity`. Default 1. With more, a timeout may leave some behind
   * @returns `ready`; `closed` if the ring is closed and empty; else `timed-out`. A closed ring with fewer than
   * `records` is `ready`
   * @throws TypeError if it would have to block and cannot: in an ArrayBuffer, or in the main thread of a page
   * @throws RangeError for arguments out of range
   */
  wait(timeoutMs = Number.POSITIVE_INFINITY, records = 1): WaitResult {
    this.#checkWait(timeoutMs, records);
    const seen = this.#lookForRecords(records);
    if (seen !== null) return seen;
    if (timeoutMs === 0) return 'timed-out';
    return block(this.#header, RECORDS_WANTED, records, timeoutMs, () => this.#lookForRecords(records));
  }

  /**
   * Consumer: as {@link wait}, without blocking the thread. While the promise is pending, Node goes on running.
   *
   * Without `Atomics.waitAsync` (Firefox before 145), and in an ArrayBuffer, a timer looks again every 1 to 16 ms.
   * @throws RangeError (rejects) for arguments out of range
   */
  async waitAsync(timeoutMs = Number.POSITIVE_INFINITY, records = 1): Promise<WaitResult> {
    this.#checkWait(timeoutMs, records);
    const seen = this.#lookForRecords(records);
    if (seen !== null) return seen;
    if (timeoutMs === 0) return 'timed-out';
    return blockAsync(this.#header, RECORDS_WANTED, records, timeoutMs, () => this.#lookForRecords(records));
  }

  /**
   * Producer: blocks the thread until there is room. Asking for a good part of the capacity wakes it up less often.
   * @param records for so many records, 1 to `capacity`. Default 1
   * @param timeoutMs milliseconds, 0 to look only. Default: Infinity
   * @returns `ready`; `closed` if the ring is closed, with or without room; else `timed-out`
   * @throws TypeError, RangeError as {@link wait}
   */
  waitForRoom(records = 1, timeoutMs = Number.POSITIVE_INFINITY): WaitResult {
    this.#checkWait(timeoutMs, records);
    const seen = this.#lookForRoom(records);
    if (seen !== null) return seen;
    if (timeoutMs === 0) return 'timed-out';
    return block(this.#header, ROOM_WANTED, records, timeoutMs, () => this.#lookForRoom(records));
  }

  /** Producer: as {@link waitForRoom}, without blocking the thread; see {@link waitAsync}. */
  async waitForRoomAsync(records = 1, timeoutMs = Number.POSITIVE_INFINITY): Promise<WaitResult> {
    this.#checkWait(timeoutMs, records);
    const seen = this.#lookForRoom(records);
    if (seen !== null) return seen;
    if (timeoutMs === 0) return 'timed-out';
    return blockAsync(this.#header, ROOM_WANTED, records, timeoutMs, () => this.#lookForRoom(records));
  }

  /**
   * No more records will come. The producer calls it when it is done; the consumer may, to stop a producer, which can
   * still end what it is just pushing or committing. Then nothing is pushed, and all waits end; records that are there
   * can still be popped. It cannot be undone.
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

  /** Whether the ring is closed and empty: nothing is left to do for the consumer. */
  get drained(): boolean {
    // In this order: the producer pushes before it closes.
    return this.closed && this.length === 0;
  }

  /** Whether other threads can attach: whether `buffer` is a SharedArrayBuffer. */
  get shared(): boolean {
    return isShared(this.buffer);
  }

  /** Records in the ring. The consumer finds at least so many, the producer at most. */
  get length(): number {
    // The consumer's index first, or a consumer that is faster than this line would make it negative.
    const head = Atomics.load(this.#header, POPPED);
    const length = (Atomics.load(this.#header, PUSHED) - head) >>> 0;
    return Math.min(length, this.capacity);
  }

  /** Records ever pushed; exact up to 2^53, also in a thread of neither side. */
  get pushed(): number {
    return readCounter(this.#header, PUSHED);
  }

  /** Records ever popped; exact up to 2^53, also in a thread of neither side. */
  get popped(): number {
    return readCounter(this.#header, POPPED);
  }

  /**
   * Records of a kind that the producer counted as lost; exact up to 2^53.
   * @param kind 0 to 7
   * @throws RangeError for another kind
   */
  lost(kind: number): number {
    checkKind(kind);
    return readCounter(this.#header, LOST + 2 * kind);
  }

  /** Records of all kinds that were counted as lost. */
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

  /** Producer: room for up to `records`; looks at the consumer's index only if what it knows is not enough. */
  #room(tail: number, records: number): number {
    // A plain read will do: a mark seen late is as good as one set late.
    if (this.#header[CLOSED]! !== 0) return 0;
    const wanted = Math.min(records, this.capacity);
    let used = (tail - this.#poppedSeen) | 0;
    // Negative if another SpscRing was the producer for a long time and this one is it again.
    if (used < 0 || used + wanted > this.capacity) {
      this.#poppedSeen = Atomics.load(this.#header, POPPED);
      used = (tail - this.#poppedSeen) | 0;
      this.#checkUsed(used);
    }
    const free = this.capacity - used;
    return Math.min(free, wanted);
  }

  /** Consumer: records there, up to `records`; looks at the producer's index only if what it knows is not enough. */
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

  /** Memory that somebody overwrote must not make us read or write elsewhere. */
  #checkUsed(used: number): void {
    if (used < 0 || used > this.capacity) {
      throw new RingError('ERR_RING_INDICES', 4 * PUSHED, `a ring of ${this.capacity} cannot hold ${used} records`);
    }
  }

  /** Producer: stores its index, and wakes up the consumer if it waits for no more than there is. */
  #publish(tail: number, records: number): void {
    const header = this.#header;
    const next = (tail + records) | 0;
    Atomics.store(header, PUSHED, next);
    if ((tail ^ next) < 0) passHalf(header, PUSHED, tail);
    const wanted = Atomics.load(header, RECORDS_WANTED);
    if (wanted !== 0 && ((next - Atomics.load(header, POPPED)) | 0) >= wanted) wake(header, RECORDS_WANTED);
  }

  /** Consumer: stores its index, and wakes up the producer if it waits for no more room than there is. */
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
    // The mark first: records pushed before the ring was closed must not be missed.
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
