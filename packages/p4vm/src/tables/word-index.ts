const EMPTY = -1;
const DELETED = -2;
const FIRST_CAPACITY = 16;

/** A random seed per process, so that nobody can choose keys that all collide. */
const SEED = /* @__PURE__ */ Math.floor(Math.random() * 0x1_0000_0000) | 0;

function mix(hash: number, word: number): number {
  let mixed = Math.imul(hash ^ word, 0x85ebca6b);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 13);
}

/**
 * Maps keys of a fixed number of 32-bit words to numbers from 0: open addressing, at most half full, no allocation at
 * lookup.
 */
export class WordIndex {
  readonly #count: number;
  #words: Int32Array;
  #slots: Int32Array;
  #mask = FIRST_CAPACITY - 1;
  /** Places taken, deleted ones included. */
  #filled = 0;
  #size = 0;
  readonly #expected: number;

  /**
   * @param count words of a key
   * @param expected most keys that may come. From an eighth of it on there is room for all, so that a large index is not
   *   rebuilt again and again, which keeps packets waiting
   */
  constructor(count: number, expected = 0) {
    this.#count = count;
    this.#expected = expected;
    this.#words = new Int32Array(FIRST_CAPACITY * count);
    this.#slots = new Int32Array(FIRST_CAPACITY).fill(EMPTY);
  }

  get size(): number {
    return this.#size;
  }

  /** For keys of one word; -1 if there is none. */
  get1(word: number): number {
    const slots = this.#slots;
    const words = this.#words;
    const mask = this.#mask;
    let place = mix(SEED, word) & mask;
    for (;;) {
      const slot = slots[place]!;
      if (slot === EMPTY) return -1;
      if (slot !== DELETED && words[place] === word) return slot;
      place = (place + 1) & mask;
    }
  }

  /** -1 if there is none. */
  get(key: Int32Array): number {
    const place = this.#find(key);
    return place < 0 ? -1 : this.#slots[place]!;
  }

  /** Looks up the key with only the bits of `masks`. */
  getMasked(key: Int32Array, masks: Int32Array): number {
    const count = this.#count;
    const words = this.#words;
    const slots = this.#slots;
    const mask = this.#mask;
    let hash = SEED;
    for (let i = 0; i < count; i++) hash = mix(hash, key[i]! & masks[i]!);
    let place = hash & mask;
    for (;;) {
      const slot = slots[place]!;
      if (slot === EMPTY) return -1;
      if (slot !== DELETED) {
        let i = 0;
        for (let at = place * count; i < count && words[at] === (key[i]! & masks[i]!); at++) i++;
        if (i === count) return slot;
      }
      place = (place + 1) & mask;
    }
  }

  set(key: Int32Array, slot: number): void {
    const found = this.#find(key);
    if (found >= 0) {
      this.#slots[found] = slot;
      return;
    }
    if (2 * (this.#filled + 1) > this.#mask + 1) this.#rebuild();
    let place = this.#hash(key, 0) & this.#mask;
    while (this.#slots[place]! >= 0) place = (place + 1) & this.#mask;
    if (this.#slots[place] === EMPTY) this.#filled++;
    this.#slots[place] = slot;
    this.#words.set(key, place * this.#count);
    this.#size++;
  }

  delete(key: Int32Array): void {
    const place = this.#find(key);
    if (place < 0) return;
    this.#slots[place] = DELETED;
    this.#size--;
  }

  clear(): void {
    this.#mask = FIRST_CAPACITY - 1;
    this.#words = new Int32Array(FIRST_CAPACITY * this.#count);
    this.#slots = new Int32Array(FIRST_CAPACITY).fill(EMPTY);
    this.#filled = 0;
    this.#size = 0;
  }

  #hash(words: Int32Array, start: number): number {
    let hash = SEED;
    for (let i = 0; i < this.#count; i++) hash = mix(hash, words[start + i]!);
    return hash;
  }

  #find(key: Int32Array): number {
    const count = this.#count;
    const words = this.#words;
    const slots = this.#slots;
    const mask = this.#mask;
    let place = this.#hash(key, 0) & mask;
    for (;;) {
      const slot = slots[place]!;
      if (slot === EMPTY) return -1;
      if (slot !== DELETED) {
        let i = 0;
        for (let at = place * count; i < count && words[at] === key[i]; at++) i++;
        if (i === count) return place;
      }
      place = (place + 1) & mask;
    }
  }

  #rebuild(): void {
    const count = this.#count;
    const words = this.#words;
    const slots = this.#slots;
    const keys = 8 * this.#size >= this.#expected ? Math.max(this.#size + 1, this.#expected >> 1) : this.#size + 1;
    let capacity = FIRST_CAPACITY;
    while (capacity < 4 * keys) capacity *= 2;
    this.#words = new Int32Array(capacity * count);
    this.#slots = new Int32Array(capacity).fill(EMPTY);
    this.#mask = capacity - 1;
    this.#filled = this.#size;
    for (let old = 0; old < slots.length; old++) {
      if (slots[old]! < 0) continue;
      let place = this.#hash(words, old * count) & this.#mask;
      while (this.#slots[place]! >= 0) place = (place + 1) & this.#mask;
      this.#slots[place] = slots[old]!;
      this.#words.set(words.subarray(old * count, (old + 1) * count), place * count);
    }
  }
}
