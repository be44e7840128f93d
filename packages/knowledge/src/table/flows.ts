import type { TelemetryBatch } from '@int/codec';
import { mix32 } from '@int/random';
import { ADDRESS_WORDS } from './address.js';
import { NONE } from './chained-index.js';
import { hashOf, ipv4Hash, type KeyTable } from './keys.js';

const CANDIDATES = 16;
/** Flows that are looked up together. */
export const TOGETHER = 128;
/** Words of a row that a packet of a known flow needs: half a line of the processor's cache. */
const ROW = 8;
const SOURCE_END = 0;
const DESTINATION_END = 1;
const PORTS = 2;
/** The protocol, from bit 8 whether an address is not IPv4, and from bit 16 the state. */
const KIND = 3;
/** Second of the last packet. */
const SECOND = 4;
const DESTINATION = 5;
const DESTINATION_GENERATION = 6;
/** The next row with the same bucket. */
const NEXT = 7;
/** Words of a row that are needed when a flow begins, is answered or gives way, or goes outward. */
const REST = 12;
const HASH = 0;
const GENERATION = 1;
const SOURCE = 2;
const SOURCE_GENERATION = 3;
const PAIR = 4;
const PAIR_GENERATION = 5;
/** The first three words of both addresses. */
const BEGINNINGS = 6;
const IS_LONG = 0x100;
const KEY_OF_KIND = 0x1ff;
const STATE_SHIFT = 16;
const MAPPED = 0xffff;
const LINE_BYTES = 64;
/** Large blocks of the C library begin 16 bytes behind a line; with these in front, no row is in two of them. */
const FRONT_BYTES = 48;
/** A flow that gives way so soon after its last packet is missed. */
const MISSED_SECONDS = 60;

/** What a flow has shown. */
export const FLOW_STATE = {
  /** Its beginning was seen. */
  BEGUN: 1,
  /** The other side has sent something that is not a refusal. */
  ANSWERED: 2,
  /** TCP: the side that began has acknowledged the answer. */
  ESTABLISHED: 4,
  /** A contact whose outcome is not known yet. */
  WAITING: 8,
  CLOSED: 16,
  /** From the inside to the outside. */
  OUTWARD: 32,
  /** Begun by a source that goes from port to port. */
  SCANS: 64,
  /** Its source has acknowledged an answer that was not seen. */
  UNSEEN: 128,
} as const;

/**
 * Flows in both directions, each a row. The side that sent the first packet seen is the source. When a new flow finds no
 * room, the one of sixteen that was not seen for the longest time gives way.
 */
export class FlowTable {
  readonly capacity: number;
  size = 0;
  /** Flows that had to give way within a minute of their last packet. */
  evicted = 0;
  /** Flows that had to give way, whenever: rows that were looked up before may have another flow. */
  replaced = 0;
  /** Whether the row that {@link find} gave last was seen in the direction of its source. */
  isForward = true;
  /** Hashes of the addresses that {@link find} was asked for last. */
  sourceHash = 0;
  destinationHash = 0;
  /** Of what {@link locate} has read ahead: without a use, the reading would be left out. */
  readAheadSum = 0;
  /** What {@link locate} has found: twice the row, one more if in the direction against its source; or -1. */
  readonly located: Int32Array = new Int32Array(TOGETHER);
  /** Hashes of the addresses that {@link locate} has looked up. */
  readonly sourceHashes: Int32Array = new Int32Array(TOGETHER);
  readonly destinationHashes: Int32Array = new Int32Array(TOGETHER);
  readonly #rows: Uint32Array;
  readonly #rest: Uint32Array;
  readonly #heads: Int32Array;
  #hash = 0;
  #isLong = 0;
  #hand = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    const bytes = new ArrayBuffer(4 * ROW * capacity + LINE_BYTES);
    this.#rows = new Uint32Array(bytes, FRONT_BYTES, ROW * capacity);
    this.#rest = new Uint32Array(REST * capacity);
    this.#heads = new Int32Array(bucketsFor(capacity)).fill(NONE);
  }

  static byteLength(capacity: number): number {
    return capacity * 4 * (ROW + REST) + LINE_BYTES + 4 * bucketsFor(capacity) + 12 * TOGETHER;
  }

  /**
   * The row of a flow, in whichever direction, or -1; {@link isForward} tells the direction.
   * @param words the two addresses, source first
   * @param ports source << 16 | destination
   */
  find(words: Uint32Array, ports: number, protocol: number): number {
    const swapped = swap(ports);
    const [source, destination] = [words[3]!, words[7]!];
    this.sourceHash = hashOf(words, 0);
    this.destinationHash = hashOf(words, ADDRESS_WORDS);
    this.#isLong = isIpv4(words, 0) && isIpv4(words, ADDRESS_WORDS) ? 0 : IS_LONG;
    const hash = hashOfFlow(this.sourceHash, this.destinationHash, ports, protocol);
    this.#hash = hash;
    const kind = protocol | this.#isLong;
    const rows = this.#rows;
    for (let row = this.#heads[hash & (this.#heads.length - 1)]!; row !== NONE; row = rows[row * ROW + NEXT]! | 0) {
      const at = row * ROW;
      if ((rows[at + KIND]! & KEY_OF_KIND) !== kind) continue;
      const [first, second, pair] = [rows[at + SOURCE_END]!, rows[at + DESTINATION_END]!, rows[at + PORTS]!];
      if (pair === ports && first === source && second === destination && this.#beginAlike(row, words, 0, 4)) {
        this.isForward = true;
        return row;
      }
      if (pair === swapped && first === destination && second === source && this.#beginAlike(row, words, 4, 0)) {
        this.isForward = false;
        return row;
      }
    }
    return NONE;
  }

  /**
   * Looks up the IPv4 flows of reports together, so that the processor waits for memory once and not for each: fills
   * {@link located} and the hashes. What it fills in for other flows means nothing.
   * @param from first row of the columns, of at most {@link TOGETHER} up to `to`
   */
  locate(batch: TelemetryBatch, from: number, to: number): void {
    const { source0, destination0, ports, protocol } = batch;
    const { located, sourceHashes, destinationHashes } = this;
    const rows = this.#rows;
    const heads = this.#heads;
    const mask = heads.length - 1;
    const count = to - from;
    for (let k = 0; k < count; k++) {
      const source = ipv4Hash(source0[from + k]!);
      const destination = ipv4Hash(destination0[from + k]!);
      sourceHashes[k] = source;
      destinationHashes[k] = destination;
      located[k] = hashOfFlow(source, destination, ports[from + k]!, protocol[from + k]!) & mask;
    }
    // Short loops without branches: the processor begins many of their loads before the first is there.
    for (let k = 0; k < count; k++) located[k] = heads[located[k]!]!;
    let sum = 0;
    for (let k = 0; k < count; k++) sum ^= rows[Math.max(0, located[k]!) * ROW]! | 0;
    this.readAheadSum = sum;
    for (let k = 0; k < count; k++) {
      const source = source0[from + k]! | 0;
      const destination = destination0[from + k]! | 0;
      const pair = ports[from + k]! | 0;
      let found = NONE;
      for (let row = located[k]!; row !== NONE; row = rows[row * ROW + NEXT]! | 0) {
        const at = row * ROW;
        if ((rows[at + KIND]! & KEY_OF_KIND) !== protocol[from + k]) continue;
        const own = rows[at + PORTS]! | 0;
        const first = rows[at + SOURCE_END]! | 0;
        const second = rows[at + DESTINATION_END]! | 0;
        if (own === pair && first === source && second === destination) {
          found = 2 * row;
          break;
        }
        if (own === ((pair << 16) | (pair >>> 16)) && first === destination && second === source) {
          found = 2 * row + 1;
          break;
        }
      }
      located[k] = found;
    }
  }

  /** A row for the flow that {@link find} has just not found. */
  insert(words: Uint32Array, ports: number, protocol: number, second: number): number {
    const row = this.size < this.capacity ? this.size++ : this.#giveUp(second);
    const rows = this.#rows;
    const rest = this.#rest;
    const at = row * ROW;
    const restAt = row * REST;
    for (let k = 0; k < 3; k++) {
      rest[restAt + BEGINNINGS + k] = words[k]!;
      rest[restAt + BEGINNINGS + 3 + k] = words[ADDRESS_WORDS + k]!;
    }
    const bucket = this.#hash & (this.#heads.length - 1);
    rest[restAt + HASH] = this.#hash;
    rest[restAt + GENERATION] = rest[restAt + GENERATION]! + 1;
    rest[restAt + PAIR] = NONE;
    rows[at + SOURCE_END] = words[3]!;
    rows[at + DESTINATION_END] = words[7]!;
    rows[at + PORTS] = ports;
    rows[at + KIND] = protocol | this.#isLong;
    rows[at + SECOND] = second;
    rows[at + NEXT] = this.#heads[bucket]!;
    this.#heads[bucket] = row;
    return row;
  }

  /** Seconds since the last packet. @param second of now, an integer of 32 bits that may have wrapped */
  silence(row: number, second: number): number {
    return (second - this.#rows[row * ROW + SECOND]!) | 0;
  }

  touch(row: number, second: number): void {
    this.#rows[row * ROW + SECOND] = second;
  }

  /** Bits of {@link FLOW_STATE}. */
  state(row: number): number {
    return this.#rows[row * ROW + KIND]! >>> STATE_SHIFT;
  }

  setState(row: number, state: number): void {
    const at = row * ROW + KIND;
    this.#rows[at] = (this.#rows[at]! & ((1 << STATE_SHIFT) - 1)) | (state << STATE_SHIFT);
  }

  /** Changes when a row gets another flow. */
  generation(row: number): number {
    return this.#rest[row * REST + GENERATION]!;
  }

  /** Keeps the rows of the hosts in `sources` and `destinations`, while these are theirs. */
  join(row: number, sources: KeyTable, source: number, destinations: KeyTable, destination: number): void {
    this.#rest[row * REST + SOURCE] = source;
    this.#rest[row * REST + SOURCE_GENERATION] = sources.generation[source]!;
    this.#rows[row * ROW + DESTINATION] = destination;
    this.#rows[row * ROW + DESTINATION_GENERATION] = destinations.generation[destination]!;
  }

  /** The row of the source in its table; -1: another host has it now. */
  source(row: number, sources: KeyTable): number {
    const source = this.#rest[row * REST + SOURCE]!;
    return sources.generation[source] === this.#rest[row * REST + SOURCE_GENERATION] ? source : NONE;
  }

  /** The row of the destination in its table; -1: another host has it now. */
  destination(row: number, destinations: KeyTable): number {
    const destination = this.#rows[row * ROW + DESTINATION]!;
    return destinations.generation[destination] === this.#rows[row * ROW + DESTINATION_GENERATION] ? destination : NONE;
  }

  /** Keeps the row of the pair of hosts in `pairs`, while it is theirs. */
  joinPair(row: number, pairs: KeyTable, pair: number): void {
    this.#rest[row * REST + PAIR] = pair;
    this.#rest[row * REST + PAIR_GENERATION] = pairs.generation[pair]!;
  }

  /** The row of the pair in its table; -1: it is not known, or another pair has it now. */
  pair(row: number, pairs: KeyTable): number {
    const pair = this.#rest[row * REST + PAIR]! | 0;
    return pair !== NONE && pairs.generation[pair] === this.#rest[row * REST + PAIR_GENERATION] ? pair : NONE;
  }

  /** Port of the destination. */
  service(row: number): number {
    return this.#rows[row * ROW + PORTS]! & 0xffff;
  }

  protocol(row: number): number {
    return this.#rows[row * ROW + KIND]! & 0xff;
  }

  /** Copies the two addresses of a row, source first. */
  copyAddresses(row: number, target: Uint32Array): void {
    const at = row * REST + BEGINNINGS;
    for (let k = 0; k < 3; k++) {
      target[k] = this.#rest[at + k]!;
      target[ADDRESS_WORDS + k] = this.#rest[at + 3 + k]!;
    }
    target[3] = this.#rows[row * ROW + SOURCE_END]!;
    target[7] = this.#rows[row * ROW + DESTINATION_END]!;
  }

  /** Whether the addresses begin like those of a row; IPv4 addresses all do. */
  #beginAlike(row: number, words: Uint32Array, source: number, destination: number): boolean {
    if (this.#isLong === 0) return true;
    const at = row * REST + BEGINNINGS;
    const kept = this.#rest;
    for (let k = 0; k < 3; k++) {
      if (kept[at + k] !== words[source + k] || kept[at + 3 + k] !== words[destination + k]) return false;
    }
    return true;
  }

  #giveUp(second: number): number {
    let oldest = this.#hand;
    for (let k = 1; k < CANDIDATES; k++) {
      const row = (this.#hand + k) % this.capacity;
      if (this.silence(row, second) > this.silence(oldest, second)) oldest = row;
    }
    this.#hand = (this.#hand + CANDIDATES) % this.capacity;
    this.replaced++;
    if (this.silence(oldest, second) < MISSED_SECONDS) this.evicted++;
    this.#unlink(oldest);
    return oldest;
  }

  /** Takes a row out of its chain. */
  #unlink(row: number): void {
    const rows = this.#rows;
    const bucket = this.#rest[row * REST + HASH]! & (this.#heads.length - 1);
    const next = rows[row * ROW + NEXT]!;
    let at = this.#heads[bucket]!;
    if (at === row) {
      this.#heads[bucket] = next;
      return;
    }
    for (let after = rows[at * ROW + NEXT]! | 0; after !== row; after = rows[at * ROW + NEXT]! | 0) at = after;
    rows[at * ROW + NEXT] = next;
  }
}

/** The same for both directions. */
function hashOfFlow(sourceHash: number, destinationHash: number, ports: number, protocol: number): number {
  const source = mix32(sourceHash ^ (ports >>> 16));
  const destination = mix32(destinationHash ^ (ports & 0xffff));
  return mix32((source + destination) ^ protocol) | 0;
}

/** The ports of the other direction. */
function swap(ports: number): number {
  return ((ports << 16) | (ports >>> 16)) >>> 0;
}

function bucketsFor(rows: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, rows)));
}

function isIpv4(words: Uint32Array, at: number): boolean {
  return words[at + 2] === MAPPED && (words[at]! | words[at + 1]!) === 0;
}
