/**
 * The layout of a ring in memory, to the byte. Other threads and programs in other languages read it. Each change needs
 * a new {@link RING_VERSION}.
 *
 * All words are 32 bits, in the byte order of the machine. A header of {@link RING_HEADER_BYTES} bytes is followed by
 * `capacity` records of `recordWords` words. Record number n (from 0) is at place `n mod capacity`.
 *
 * Words that one side writes often are at least 128 bytes away from those that the other side writes often. Processors
 * move lines of 64 bytes between cores, and fetch them in pairs. This holds if the ring starts at a multiple of 64.
 */
import { MAX_HALVES, readCounter } from './counter.js';
import { RingError, type RingErrorCode } from './errors.js';

/** Number of this layout. */
export const RING_VERSION = 1;
/** "INRG" in memory of a little-endian machine. */
export const RING_MAGIC = 0x47524e49;
/** Byte offset of the first record. */
export const RING_HEADER_BYTES = 384;
/** Number of kinds of loss that a ring counts. */
export const LOSS_KINDS = 8;
/** The largest record, in words. */
export const MAX_RECORD_WORDS = 0x100000;
/** The largest ring, in records: the difference of two indices must fit into 31 bits. */
export const MAX_CAPACITY = 0x40000000;

/** Words of the header: offsets from the start of the ring, in words of four bytes. All others are 0. */
export const RING_HEADER = {
  MAGIC: 0,
  VERSION: 1,
  RECORD_WORDS: 2,
  /** Capacity in records, a power of two. */
  CAPACITY: 3,
  /** Check word over the four words before it, see the README. */
  CHECK: 4,
  /**
   * The number of records that the consumer waits for, or 0. The consumer sets it; the producer clears it to wake it
   * up.
   */
  RECORDS_WANTED: 16,
  /**
   * The room that the producer waits for, in records, or 0. The producer sets it; the consumer clears it to wake it up.
   */
  ROOM_WANTED: 17,
  /** 1 if the ring is closed. */
  CLOSED: 18,
  /** Records pushed: a counter of two words whose low word is the index of the next record. Only the producer writes. */
  PUSHED: 32,
  /** Records lost: 8 counters of two words. Only the producer writes. */
  LOST: 48,
  /** Records popped: like PUSHED. Only the consumer writes. */
  POPPED: 64,
} as const;

/** Words of the header. */
export const HEADER_WORDS: number = RING_HEADER_BYTES / 4;

/** All words that have a meaning; the others are 0. */
const USED: readonly [from: number, to: number][] = [
  [RING_HEADER.MAGIC, RING_HEADER.CHECK + 1],
  [RING_HEADER.RECORDS_WANTED, RING_HEADER.CLOSED + 1],
  [RING_HEADER.PUSHED, RING_HEADER.PUSHED + 2],
  [RING_HEADER.LOST, RING_HEADER.LOST + 2 * LOSS_KINDS],
  [RING_HEADER.POPPED, RING_HEADER.POPPED + 2],
];

/** Number of attempts to read a header in use at a moment in which nothing is popped. */
const ATTEMPTS = 64;

/** The size of a record and of a ring. */
export interface RingGeometry {
  /** Words of a record, 1 to {@link MAX_RECORD_WORDS}. */
  readonly recordWords: number;
  /** Records, a power of two up to {@link MAX_CAPACITY}. */
  readonly capacity: number;
}

/**
 * Checks a geometry and rounds the capacity up to a power of two.
 * @throws RangeError for a record size or a capacity out of range
 */
export function ringGeometry(recordWords: number, capacity: number): RingGeometry {
  if (!Number.isInteger(recordWords) || recordWords < 1 || recordWords > MAX_RECORD_WORDS) {
    throw new RangeError(`recordWords must be an integer from 1 to ${MAX_RECORD_WORDS}, not ${recordWords}`);
  }
  if (!Number.isInteger(capacity) || capacity < 1 || capacity > MAX_CAPACITY) {
    throw new RangeError(`capacity must be an integer from 1 to ${MAX_CAPACITY}, not ${capacity}`);
  }
  return { recordWords, capacity: capacity === 1 ? 1 : 2 ** (32 - Math.clz32(capacity - 1)) };
}

/** The size of a ring in bytes, header included. */
export function ringBytes({ recordWords, capacity }: RingGeometry): number {
  return RING_HEADER_BYTES + 4 * recordWords * capacity;
}

/**
 * Checks that a ring can begin at `byteOffset`.
 * @throws TypeError if `buffer` is not an ArrayBuffer or SharedArrayBuffer
 * @throws RangeError if `byteOffset` is not a multiple of four within it
 */
export function checkPlace(buffer: ArrayBufferLike, byteOffset: number): void {
  const kind = Object.prototype.toString.call(buffer);
  if (kind !== '[object SharedArrayBuffer]' && kind !== '[object ArrayBuffer]') {
    throw new TypeError(`buffer must be a SharedArrayBuffer or an ArrayBuffer, not ${kind}`);
  }
  if (!Number.isInteger(byteOffset) || byteOffset < 0 || byteOffset % 4 !== 0 || byteOffset > buffer.byteLength) {
    throw new RangeError(
      `byteOffset must be a multiple of 4 from 0 to ${buffer.byteLength}, the length of the buffer, not ${byteOffset}`,
    );
  }
}

/** The check word, which depends on each bit of the words before it. */
function checkOf(recordWords: number, capacity: number): number {
  let check = 0;
  for (const word of [RING_MAGIC, RING_VERSION, recordWords, capacity]) {
    check = Math.imul(check ^ word, 0x9e3779b1);
    check ^= check >>> 15;
  }
  return check;
}

/** Writes the header of an empty ring. The magic number comes last: until then, no other thread takes it for a ring. */
export function writeHeader(header: Int32Array, { recordWords, capacity }: RingGeometry): void {
  for (let word = 0; word < HEADER_WORDS; word++) Atomics.store(header, word, 0);
  Atomics.store(header, RING_HEADER.VERSION, RING_VERSION);
  Atomics.store(header, RING_HEADER.RECORD_WORDS, recordWords);
  Atomics.store(header, RING_HEADER.CAPACITY, capacity);
  Atomics.store(header, RING_HEADER.CHECK, checkOf(recordWords, capacity));
  Atomics.store(header, RING_HEADER.MAGIC, RING_MAGIC);
}

/**
 * Reads the header of a ring, which may be in use.
 * @param buffer the memory that contains the ring
 * @param byteOffset byte offset of the ring, checked by {@link checkPlace}
 * @throws RingError if it is not the header of a ring of this version that lies within the buffer
 */
export function readHeader(buffer: ArrayBufferLike, byteOffset: number): RingGeometry {
  const bytes = buffer.byteLength - byteOffset;
  if (bytes < RING_HEADER_BYTES) {
    throw new RingError('ERR_RING_TRUNCATED', bytes, `a header has ${RING_HEADER_BYTES} bytes, there are ${bytes}`);
  }
  const header = new Int32Array(buffer, byteOffset, HEADER_WORDS);
  const geometry = readGeometry(header);
  if (ringBytes(geometry) > bytes) {
    throw new RingError('ERR_RING_TRUNCATED', bytes, `the ring has ${ringBytes(geometry)} bytes, there are ${bytes}`);
  }
  checkState(header, geometry);
  checkCounts(header, geometry);
  return geometry;
}

/** @throws RingError always, for a word of the header */
function refuse(code: RingErrorCode, word: number, message: string): never {
  throw new RingError(code, 4 * word, message);
}

function readGeometry(header: Int32Array): RingGeometry {
  const { MAGIC, VERSION, RECORD_WORDS, CAPACITY, CHECK } = RING_HEADER;
  if (Atomics.load(header, MAGIC) !== RING_MAGIC) refuse('ERR_RING_MAGIC', MAGIC, 'there is no ring here');
  const version = Atomics.load(header, VERSION);
  if (version !== RING_VERSION)
    refuse('ERR_RING_VERSION', VERSION, `the ring has version ${version}, not ${RING_VERSION}`);
  const recordWords = Atomics.load(header, RECORD_WORDS);
  if (recordWords < 1 || recordWords > MAX_RECORD_WORDS)
    refuse('ERR_RING_GEOMETRY', RECORD_WORDS, `a record cannot have ${recordWords} words`);
  const capacity = Atomics.load(header, CAPACITY);
  if (capacity < 1 || capacity > MAX_CAPACITY || (capacity & (capacity - 1)) !== 0)
    refuse('ERR_RING_GEOMETRY', CAPACITY, `the capacity cannot be ${capacity}`);
  if (Atomics.load(header, CHECK) !== checkOf(recordWords, capacity))
    refuse('ERR_RING_GEOMETRY', CHECK, 'the check word does not fit what is before it');
  return { recordWords, capacity };
}

/** Checks the words whose values do not depend on each other. */
function checkState(header: Int32Array, { capacity }: RingGeometry): void {
  const limit = (word: number, largest: number, what: string): void => {
    const value = Atomics.load(header, word) >>> 0;
    if (value > largest) refuse('ERR_RING_STATE', word, `${what} cannot be ${value}`);
  };
  limit(RING_HEADER.RECORDS_WANTED, capacity, 'the number of records waited for');
  limit(RING_HEADER.ROOM_WANTED, capacity, 'the room waited for');
  limit(RING_HEADER.CLOSED, 1, 'the mark of a closed ring');
  for (let kind = 0; kind < LOSS_KINDS; kind++) {
    limit(RING_HEADER.LOST + 2 * kind + 1, MAX_HALVES - 1, 'the upper word of a counter');
  }
  for (let word = 0; word < HEADER_WORDS; word++) {
    if (!USED.some(([from, to]) => word >= from && word < to)) limit(word, 0, 'a word without a meaning');
  }
}

/** Checks the counts of pushed and popped records, which may advance meanwhile. */
function checkCounts(header: Int32Array, { capacity }: RingGeometry): void {
  for (const counter of [RING_HEADER.PUSHED, RING_HEADER.POPPED]) {
    const halves = Atomics.load(header, counter + 1) >>> 0;
    if (halves >= MAX_HALVES)
      refuse('ERR_RING_INDICES', counter + 1, `the upper word of a counter cannot be ${halves}`);
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const popped = readCounter(header, RING_HEADER.POPPED);
    const pushed = readCounter(header, RING_HEADER.PUSHED);
    // The two counts are comparable only at the same moment.
    if (readCounter(header, RING_HEADER.POPPED) !== popped) continue;
    if (pushed >= popped && pushed - popped <= capacity) return;
    const message = `${pushed} records pushed and ${popped} popped do not go with a capacity of ${capacity}`;
    refuse('ERR_RING_INDICES', RING_HEADER.PUSHED, message);
  }
  // The consumer pops without a pause, so the ring is alive. Each side checks the other's index anyway.
}
