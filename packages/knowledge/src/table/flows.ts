import type { TelemetryBatch } from '@int/codec';
import { mix32 } from '@int/random';
import { ADDRESS_WORDS } from './address.js';
import { NONE } from './chained-index.js';
import { hashOf, ipv4Hash, type KeyTable } from './keys.js';

const CANDIDATES = 16;
/** Flows that are read ahead at a time. */
export const AHEAD = 32;
/** Words of a row: a line of the processor's cache, so that a packet of a known flow costs one miss, not ten. */
const ROW = 16;
/** Words of a row: parts of the key; what is not here of the addresses is in another array. */
const HASH = 0;
const SOURCE_END = 1;
const DESTINATION_END = 2;
const PORTS = 3;
/** The protocol, and from bit 8 whether an address is not IPv4. */
const PROTOCOL = 4;
const STATE = 5;
/** A float of 64 bits, at half of this index. */
const LAST_MS = 6;
const SOURCE = 8;
const SOURCE_GENERATION = 9;
const DESTINATION = 10;
const DESTINATION_GENERATION = 11;
const GENERATION = 12;
/** The next row with the same bucket. */
const NEXT = 13;
const IS_LONG = 0x100;
const MAPPED = 0xffff;
/** Words of the two addresses without their ends. */
const BEGINNINGS = 2 * (ADDRESS_WORDS - 1);

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
  /** Whether the row that {@link find} gave last was seen in the direction of its source. */
  isForward = true;
  /** Hashes of the addresses that {@link find} was asked for last. */
  sourceHash = 0;
  destinationHash = 0;
  readonly #rows: Uint32Array;
  readonly #times: Float64Array;
  /** The first three words of both addresses, by row; only read where one of them is IPv6. */
  readonly #beginnings: Uint32Array;
  readonly #heads: Int32Array;
  readonly #ahead = new Int32Array(AHEAD);
  /** Of the rows that {@link readAhead} has read: hashes of the addresses and of the flow. */
  readonly #aheadHashes = new Int32Array(3 * AHEAD);
  /** Of what {@link readAhead} has read: without a use, the reading would be left out. */
  readAheadSum = 0;
  #hash = 0;
  #isLong = 0;
  #hand = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    const bytes = new ArrayBuffer(4 * ROW * capacity);
    this.#rows = new Uint32Array(bytes);
    this.#times = new Float64Array(bytes);
    this.#beginnings = new Uint32Array(BEGINNINGS * capacity);
    this.#heads = new Int32Array(bucketsFor(capacity)).fill(NONE);
  }

  static byteLength(capacity: number): number {
    return capacity * 4 * (ROW + BEGINNINGS) + 4 * bucketsFor(capacity);
  }

  /**
   * The row of a flow, in whichever direction, or -1; {@link isForward} tells the direction.
   * @param words the two addresses, source first
   * @param ports source << 16 | destination
   */
  find(words: Uint32Array, ports: number, protocol: number): number {
    const swapped = ((ports << 16) | (ports >>> 16)) >>> 0;
    const [source, destination] = [words[3]!, words[7]!];
    this.sourceHash = hashOf(words, 0);
    this.destinationHash = hashOf(words, ADDRESS_WORDS);
    this.#isLong = isIpv4(words, 0) && isIpv4(words, ADDRESS_WORDS) ? 0 : IS_LONG;
    const hash = hashOfFlow(this.sourceHash, this.destinationHash, ports, protocol) | 0;
    this.#hash = hash;
    const kind = protocol | this.#isLong;
    const rows = this.#rows;
    for (let row = this.#heads[hash & (this.#heads.length - 1)]!; row !== NONE; row = rows[row * ROW + NEXT]! | 0) {
      const at = row * ROW;
      if ((rows[at + HASH]! | 0) !== hash || rows[at + PROTOCOL] !== kind) continue;
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
   * Reads the rows of flows that will be looked up soon, so that the processor waits for memory once and not for each. For
   * IPv4; others are found all the same, only later.
   * @param from first row of the columns, of at most {@link AHEAD} up to `to`
   */
  readAhead(batch: TelemetryBatch, from: number, to: number): void {
    const { source0, destination0, ports, protocol } = batch;
    const ahead = this.#ahead;
    const heads = this.#heads;
    const mask = heads.length - 1;
    const hashes = this.#aheadHashes;
    for (let k = from; k < to; k++) {
      const source = ipv4Hash(source0[k]!);
      const destination = ipv4Hash(destination0[k]!);
      const hash = hashOfFlow(source, destination, ports[k]!, protocol[k]!);
      const at = 3 * (k - from);
      hashes[at] = source;
      hashes[at + 1] = destination;
      hashes[at + 2] = hash;
      // No row: the first one stands for it.
      ahead[k - from] = Math.max(0, heads[hash & mask]!);
    }
    let sum = 0;
    for (let k = 0; k < to - from; k++) sum ^= this.#rows[ahead[k]! * ROW]! | 0;
    this.readAheadSum = sum;
  }

  /**
   * As {@link find}, for an IPv4 flow of the columns.
   * @param ahead how many rows behind the first of the last {@link readAhead} it is
   */
  findAhead(batch: TelemetryBatch, row: number, ahead: number): number {
    const hashes = this.#aheadHashes;
    const at = 3 * ahead;
    this.sourceHash = hashes[at]!;
    this.destinationHash = hashes[at + 1]!;
    const hash = hashes[at + 2]!;
    this.#hash = hash;
    this.#isLong = 0;
    const source = batch.source0[row]!;
    const destination = batch.destination0[row]!;
    const ports = batch.ports[row]!;
    const protocol = batch.protocol[row]!;
    const rows = this.#rows;
    let found = this.#heads[hash & (this.#heads.length - 1)]!;
    for (; found !== NONE; found = rows[found * ROW + NEXT]! | 0) {
      const own = found * ROW;
      if ((rows[own + HASH]! | 0) !== hash || rows[own + PROTOCOL] !== protocol) continue;
      const [first, second, pair] = [rows[own + SOURCE_END]!, rows[own + DESTINATION_END]!, rows[own + PORTS]!];
      if (pair === ports && first === source && second === destination) {
        this.isForward = true;
        return found;
      }
      if (first === destination && second === source && pair === ((ports << 16) | (ports >>> 16)) >>> 0) {
        this.isForward = false;
        return found;
      }
    }
    return NONE;
  }

  /** A row for the flow that {@link find} has just not found. */
  insert(words: Uint32Array, ports: number, protocol: number, timeMs: number): number {
    const row = this.size < this.capacity ? this.size++ : this.#giveUp(timeMs);
    const rows = this.#rows;
    const at = row * ROW;
    for (let k = 0; k < 3; k++) {
      this.#beginnings[row * BEGINNINGS + k] = words[k]!;
      this.#beginnings[row * BEGINNINGS + 3 + k] = words[ADDRESS_WORDS + k]!;
    }
    const bucket = this.#hash & (this.#heads.length - 1);
    rows[at + HASH] = this.#hash;
    rows[at + SOURCE_END] = words[3]!;
    rows[at + DESTINATION_END] = words[7]!;
    rows[at + PORTS] = ports;
    rows[at + PROTOCOL] = protocol | this.#isLong;
    rows[at + STATE] = 0;
    rows[at + NEXT] = this.#heads[bucket]!;
    this.#heads[bucket] = row;
    this.touch(row, timeMs);
    rows[at + GENERATION] = rows[at + GENERATION]! + 1;
    return row;
  }

  /** Time of the last packet in milliseconds. */
  lastMs(row: number): number {
    return this.#times[row * (ROW / 2) + LAST_MS / 2]!;
  }

  touch(row: number, timeMs: number): void {
    this.#times[row * (ROW / 2) + LAST_MS / 2] = timeMs;
  }

  /** Bits of {@link FLOW_STATE}. */
  state(row: number): number {
    return this.#rows[row * ROW + STATE]!;
  }

  setState(row: number, state: number): void {
    this.#rows[row * ROW + STATE] = state;
  }

  /** Changes when a row gets another flow. */
  generation(row: number): number {
    return this.#rows[row * ROW + GENERATION]!;
  }

  /** Keeps the rows of the hosts in `sources` and `destinations`, while these are theirs. */
  join(row: number, sources: KeyTable, source: number, destinations: KeyTable, destination: number): void {
    const at = row * ROW;
    this.#rows[at + SOURCE] = source;
    this.#rows[at + SOURCE_GENERATION] = sources.generation[source]!;
    this.#rows[at + DESTINATION] = destination;
    this.#rows[at + DESTINATION_GENERATION] = destinations.generation[destination]!;
  }

  /** The row of the source in its table; -1: another host has it now. */
  source(row: number, sources: KeyTable): number {
    const source = this.#rows[row * ROW + SOURCE]!;
    return sources.generation[source] === this.#rows[row * ROW + SOURCE_GENERATION] ? source : NONE;
  }

  /** The row of the destination in its table; -1: another host has it now. */
  destination(row: number, destinations: KeyTable): number {
    const destination = this.#rows[row * ROW + DESTINATION]!;
    const generation = this.#rows[row * ROW + DESTINATION_GENERATION];
    return destinations.generation[destination] === generation ? destination : NONE;
  }

  /** Port of the destination. */
  service(row: number): number {
    return this.#rows[row * ROW + PORTS]! & 0xffff;
  }

  protocol(row: number): number {
    return this.#rows[row * ROW + PROTOCOL]! & 0xff;
  }

  /** Copies the two addresses of a row, source first. */
  copyAddresses(row: number, target: Uint32Array): void {
    for (let k = 0; k < 3; k++) {
      target[k] = this.#beginnings[row * BEGINNINGS + k]!;
      target[ADDRESS_WORDS + k] = this.#beginnings[row * BEGINNINGS + 3 + k]!;
    }
    target[3] = this.#rows[row * ROW + SOURCE_END]!;
    target[7] = this.#rows[row * ROW + DESTINATION_END]!;
  }

  /** Whether the addresses begin like those of a row; IPv4 addresses all do. */
  #beginAlike(row: number, words: Uint32Array, source: number, destination: number): boolean {
    if (this.#isLong === 0) return true;
    const at = row * BEGINNINGS;
    const kept = this.#beginnings;
    for (let k = 0; k < 3; k++) {
      if (kept[at + k] !== words[source + k] || kept[at + 3 + k] !== words[destination + k]) return false;
    }
    return true;
  }

  #giveUp(timeMs: number): number {
    let oldest = this.#hand;
    for (let k = 1; k < CANDIDATES; k++) {
      const row = (this.#hand + k) % this.capacity;
      if (this.lastMs(row) < this.lastMs(oldest)) oldest = row;
    }
    this.#hand = (this.#hand + CANDIDATES) % this.capacity;
    if (timeMs - this.lastMs(oldest) < 60_000) this.evicted++;
    this.#unlink(oldest);
    return oldest;
  }

  /** Takes a row out of its chain. */
  #unlink(row: number): void {
    const rows = this.#rows;
    const bucket = rows[row * ROW + HASH]! & (this.#heads.length - 1);
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
  return mix32((source + destination) ^ protocol);
}

function bucketsFor(rows: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, rows)));
}

function isIpv4(words: Uint32Array, at: number): boolean {
  return words[at + 2] === MAPPED && (words[at]! | words[at + 1]!) === 0;
}
