import { mix32 } from '@int/random';
import { ADDRESS_WORDS, addressText } from './address.js';
import { ChainedIndex, NONE } from './chained-index.js';

/** The hash of the words that all IPv4 addresses begin with. */
const IPV4 = /* @__PURE__ */ mix32(mix32(mix32(0)) ^ 0xffff);
/** Rows that are looked at for one to give up. */
const CANDIDATES = 16;

/**
 * Keys of four words (addresses, or other things) with a row each, as many as there is room for. When a new one finds no room, the least of sixteen rows gives
 * way: that with the lowest weight, of those the one not seen for the longest time. So a flood of keys that come
 * once replaces its own kind, and rows that matter stay.
 */
export class KeyTable {
  readonly capacity: number;
  /** Time of the last packet, in milliseconds. */
  readonly lastMs: Float64Array;
  /** How much it matters; higher stays longer. Written by the owner. */
  readonly weight: Float64Array;
  /** Changes when a row gets another key. */
  readonly generation: Uint32Array;
  /** Rows in use are those below. */
  size = 0;
  /** Keys that had to give way. */
  evicted = 0;
  readonly #words: Uint32Array;
  readonly #hashes: Uint32Array;
  readonly #index: ChainedIndex;
  readonly #forget: (row: number) => void;
  #hand = 0;

  /** @param forget called before a row gets another key */
  constructor(capacity: number, forget: (row: number) => void) {
    this.capacity = capacity;
    this.lastMs = new Float64Array(capacity);
    this.weight = new Float64Array(capacity);
    this.generation = new Uint32Array(capacity);
    this.#words = new Uint32Array(capacity * ADDRESS_WORDS);
    this.#hashes = new Uint32Array(capacity);
    this.#index = new ChainedIndex(capacity);
    this.#forget = forget;
  }

  static byteLength(capacity: number): number {
    return capacity * (8 + 8 + 4 + 16 + 4 + 4) + 4 * 2 ** Math.ceil(Math.log2(capacity));
  }

  /** The row of a key, or -1. */
  find(words: Uint32Array, at: number): number {
    return this.#find(words, at, hashOf(words, at));
  }

  /** The row of a key, a new one if it had none. */
  rowOf(words: Uint32Array, at: number, timeMs: number): number {
    const hash = hashOf(words, at);
    let row = this.#find(words, at, hash);
    if (row === NONE) {
      row = this.size < this.capacity ? this.size++ : this.#giveUp();
      for (let k = 0; k < ADDRESS_WORDS; k++) this.#words[row * ADDRESS_WORDS + k] = words[at + k]!;
      this.#hashes[row] = hash;
      this.#index.insert(row, hash);
      this.weight[row] = 0;
      this.generation[row] = this.generation[row]! + 1;
    }
    this.lastMs[row] = timeMs;
    return row;
  }

  /** The key of a row, an address, as text. */
  text(row: number): string {
    return addressText(this.#words, row * ADDRESS_WORDS);
  }

  /** 32 bits that stand for the key of a row. */
  hash(row: number): number {
    return this.#hashes[row]!;
  }

  #find(words: Uint32Array, at: number, hash: number): number {
    for (let row = this.#index.first(hash); row !== NONE; row = this.#index.after(row)) {
      const own = row * ADDRESS_WORDS;
      const kept = this.#words;
      if (
        kept[own + 3] === words[at + 3] &&
        kept[own + 2] === words[at + 2] &&
        kept[own + 1] === words[at + 1] &&
        kept[own] === words[at]
      ) {
        return row;
      }
    }
    return NONE;
  }

  #giveUp(): number {
    let least = this.#hand;
    for (let k = 1; k < CANDIDATES; k++) {
      const row = (this.#hand + k) % this.capacity;
      const difference = this.weight[row]! - this.weight[least]!;
      if (difference < 0 || (difference === 0 && this.lastMs[row]! < this.lastMs[least]!)) least = row;
    }
    this.#hand = (this.#hand + CANDIDATES) % this.capacity;
    this.evicted++;
    this.#forget(least);
    this.#index.remove(least, this.#hashes[least]!);
    return least;
  }
}

/** A hash of a key. */
export function hashOf(words: Uint32Array, at: number): number {
  // What all IPv4 addresses begin with.
  if (words[at + 2] === 0xffff && (words[at]! | words[at + 1]!) === 0) return ipv4Hash(words[at + 3]!);
  return mix32(mix32(mix32(mix32(words[at]!) ^ words[at + 1]!) ^ words[at + 2]!) ^ words[at + 3]!);
}

/** The same for an IPv4 address. */
export function ipv4Hash(address: number): number {
  return mix32(IPV4 ^ address);
}
