import { mix32 } from '@int/random';
import { ADDRESS_WORDS } from './address.js';
import { ChainedIndex, NONE } from './chained-index.js';
import { hashOf } from './keys.js';

const CANDIDATES = 16;
/** Words of a key: the addresses, the ports (source << 16 | destination), the protocol. */
const KEY_WORDS = 2 * ADDRESS_WORDS + 2;

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
  readonly state: Uint8Array;
  readonly firstMs: Float64Array;
  readonly lastMs: Float64Array;
  /** Bytes of the source, and of the other side. */
  readonly bytesOut: Float64Array;
  readonly bytesIn: Float64Array;
  /** Rows of the hosts when the flow began, and the generations of these rows. */
  readonly source: Int32Array;
  readonly sourceGeneration: Uint32Array;
  readonly destination: Int32Array;
  readonly destinationGeneration: Uint32Array;
  /** Changes when a row gets another flow. */
  readonly generation: Uint32Array;
  size = 0;
  /** Flows that had to give way within a minute of their last packet. */
  evicted = 0;
  /** Whether the row that {@link find} gave last was seen in the direction of its source. */
  isForward = true;
  /** Hashes of the addresses that {@link find} was asked for last. */
  sourceHash = 0;
  destinationHash = 0;
  readonly #keys: Uint32Array;
  readonly #hashes: Uint32Array;
  readonly #index: ChainedIndex;
  #hand = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.state = new Uint8Array(capacity);
    this.firstMs = new Float64Array(capacity);
    this.lastMs = new Float64Array(capacity);
    this.bytesOut = new Float64Array(capacity);
    this.bytesIn = new Float64Array(capacity);
    this.source = new Int32Array(capacity);
    this.sourceGeneration = new Uint32Array(capacity);
    this.destination = new Int32Array(capacity);
    this.destinationGeneration = new Uint32Array(capacity);
    this.generation = new Uint32Array(capacity);
    this.#keys = new Uint32Array(capacity * KEY_WORDS);
    this.#hashes = new Uint32Array(capacity);
    this.#index = new ChainedIndex(capacity);
  }

  static byteLength(capacity: number): number {
    return capacity * (1 + 4 * 8 + 5 * 4 + KEY_WORDS * 4 + 4 + 4) + 4 * 2 ** Math.ceil(Math.log2(capacity));
  }

  /**
   * The row of a flow, in whichever direction, or -1; {@link isForward} tells the direction.
   * @param words the two addresses, source first
   * @param ports source << 16 | destination
   */
  find(words: Uint32Array, ports: number, protocol: number): number {
    const swapped = ((ports << 16) | (ports >>> 16)) >>> 0;
    this.sourceHash = hashOf(words, 0);
    this.destinationHash = hashOf(words, ADDRESS_WORDS);
    const hash = this.#hash(ports, protocol);
    for (let row = this.#index.first(hash); row !== NONE; row = this.#index.after(row)) {
      const at = row * KEY_WORDS;
      if (this.#hashes[row] !== hash || this.#keys[at + 9] !== protocol) continue;
      if (this.#keys[at + 8] === ports && this.#isSame(at, words, 0, ADDRESS_WORDS)) {
        this.isForward = true;
        return row;
      }
      if (this.#keys[at + 8] === swapped && this.#isSame(at, words, ADDRESS_WORDS, 0)) {
        this.isForward = false;
        return row;
      }
    }
    return NONE;
  }

  /** A row for a flow that {@link find} has just not found. */
  insert(words: Uint32Array, ports: number, protocol: number, timeMs: number): number {
    const row = this.size < this.capacity ? this.size++ : this.#giveUp(timeMs);
    const hash = this.#hash(ports, protocol);
    const at = row * KEY_WORDS;
    for (let k = 0; k < 2 * ADDRESS_WORDS; k++) this.#keys[at + k] = words[k]!;
    this.#keys[at + 8] = ports;
    this.#keys[at + 9] = protocol;
    this.#hashes[row] = hash;
    this.#index.insert(row, hash);
    this.state[row] = 0;
    this.firstMs[row] = this.lastMs[row] = timeMs;
    this.bytesOut[row] = this.bytesIn[row] = 0;
    this.generation[row] = this.generation[row]! + 1;
    return row;
  }

  /** Port of the destination. */
  service(row: number): number {
    return this.#keys[row * KEY_WORDS + 8]! & 0xffff;
  }

  protocol(row: number): number {
    return this.#keys[row * KEY_WORDS + 9]!;
  }

  /** Copies the two addresses of a row, source first. */
  copyAddresses(row: number, target: Uint32Array): void {
    const at = row * KEY_WORDS;
    for (let k = 0; k < 2 * ADDRESS_WORDS; k++) target[k] = this.#keys[at + k]!;
  }

  #isSame(at: number, words: Uint32Array, source: number, destination: number): boolean {
    const keys = this.#keys;
    for (let k = 0; k < ADDRESS_WORDS; k++) {
      if (keys[at + k] !== words[source + k] || keys[at + ADDRESS_WORDS + k] !== words[destination + k]) return false;
    }
    return true;
  }

  #giveUp(timeMs: number): number {
    let oldest = this.#hand;
    for (let k = 1; k < CANDIDATES; k++) {
      const row = (this.#hand + k) % this.capacity;
      if (this.lastMs[row]! < this.lastMs[oldest]!) oldest = row;
    }
    this.#hand = (this.#hand + CANDIDATES) % this.capacity;
    if (timeMs - this.lastMs[oldest]! < 60_000) this.evicted++;
    this.#index.remove(oldest, this.#hashes[oldest]!);
    return oldest;
  }

  /** The same for both directions. */
  #hash(ports: number, protocol: number): number {
    const source = mix32(this.sourceHash ^ (ports >>> 16));
    const destination = mix32(this.destinationHash ^ (ports & 0xffff));
    return mix32((source + destination) ^ protocol);
  }
}
