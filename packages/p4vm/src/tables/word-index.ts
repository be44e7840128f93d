/** What a place holds: 0 nothing, this a deleted key, and otherwise a number + 1. A new array is empty without being filled. */
const DELETED = -1;
const FIRST_CAPACITY = 16;
/** Places of the former arrays that each change brings over. */
const MOVES = 32;

/** A random seed per process, so that nobody can choose keys that all collide. */
const SEED = /* @__PURE__ */ Math.floor(Math.random() * 0x1_0000_0000) | 0;

function mix(hash: number, word: number): number {
  let mixed = Math.imul(hash ^ word, 0x85ebca6b);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 13);
}

/** The arrays of an index, of one size. */
class Places {
  readonly words: Int32Array;
  readonly slots: Int32Array;
  readonly mask: number;

  constructor(
    readonly count: number,
    readonly capacity: number,
  ) {
    this.words = new Int32Array(capacity * count);
    this.slots = new Int32Array(capacity);
    this.mask = capacity - 1;
  }

  get1(word: number): number {
    const { slots, words, mask } = this;
    let place = mix(SEED, word) & mask;
    for (;;) {
      const slot = slots[place]!;
      if (slot === 0) return -1;
      if (slot !== DELETED && words[place] === word) return slot - 1;
      place = (place + 1) & mask;
    }
  }

  getMasked(key: Int32Array, masks: Int32Array): number {
    const { count, slots, words, mask } = this;
    let hash = SEED;
    for (let i = 0; i < count; i++) hash = mix(hash, key[i]! & masks[i]!);
    let place = hash & mask;
    for (;;) {
      const slot = slots[place]!;
      if (slot === 0) return -1;
      if (slot !== DELETED) {
        let i = 0;
        for (let at = place * count; i < count && words[at] === (key[i]! & masks[i]!); at++) i++;
        if (i === count) return slot - 1;
      }
      place = (place + 1) & mask;
    }
  }

  /** The place of a key; -1 if there is none. */
  find(key: Int32Array): number {
    const { count, slots, words, mask } = this;
    let place = this.#hash(key, 0) & mask;
    for (;;) {
      const slot = slots[place]!;
      if (slot === 0) return -1;
      if (slot !== DELETED) {
        let i = 0;
        for (let at = place * count; i < count && words[at] === key[i]; at++) i++;
        if (i === count) return place;
      }
      place = (place + 1) & mask;
    }
  }

  /** Adds a key that is not there: its words from `at`. @returns whether the place was never used */
  add(from: Int32Array, at: number, stored: number): boolean {
    const { count, slots, words, mask } = this;
    let place = this.#hash(from, at) & mask;
    while (slots[place]! > 0) place = (place + 1) & mask;
    const isNew = slots[place] === 0;
    slots[place] = stored;
    for (let i = 0; i < count; i++) words[place * count + i] = from[at + i]!;
    return isNew;
  }

  #hash(words: Int32Array, start: number): number {
    let hash = SEED;
    for (let i = 0; i < this.count; i++) hash = mix(hash, words[start + i]!);
    return hash;
  }
}

/**
 * Maps keys of a fixed number of 32-bit words to numbers from 0: open addressing, at most half full, no allocation at
 * lookup. It grows and shrinks little by little: keys move to new arrays with the changes that follow, and until all have
 * moved, lookups look into both. So no change takes long, however many keys there are.
 */
export class WordIndex {
  readonly #count: number;
  #places: Places;
  /** The arrays of before, while keys move. */
  #former: Places | undefined;
  /** Next place of the former arrays. */
  #moved = 0;
  /** Places taken, deleted ones included, and those that keys which still move will take. */
  #filled = 0;
  #size = 0;
  readonly #expected: number;

  /**
   * @param count words of a key
   * @param expected most keys that may come. From an eighth of it on there is room for all
   */
  constructor(count: number, expected = 0) {
    this.#count = count;
    this.#expected = expected;
    this.#places = new Places(count, FIRST_CAPACITY);
  }

  get size(): number {
    return this.#size;
  }

  /** For keys of one word; -1 if there is none. */
  get1(word: number): number {
    const slot = this.#places.get1(word);
    return slot >= 0 || this.#former === undefined ? slot : this.#former.get1(word);
  }

  /** -1 if there is none. */
  get(key: Int32Array): number {
    const place = this.#places.find(key);
    if (place >= 0) return this.#places.slots[place]! - 1;
    const before = this.#former?.find(key) ?? -1;
    return before < 0 ? -1 : this.#former!.slots[before]! - 1;
  }

  /** Looks up the key with only the bits of `masks`. */
  getMasked(key: Int32Array, masks: Int32Array): number {
    const slot = this.#places.getMasked(key, masks);
    return slot >= 0 || this.#former === undefined ? slot : this.#former.getMasked(key, masks);
  }

  set(key: Int32Array, slot: number): void {
    this.#move();
    const places = this.#holderOf(key);
    if (places !== undefined) {
      places.slots[places.find(key)] = slot + 1;
      return;
    }
    if (2 * (this.#filled + 1) > this.#places.capacity) this.#resize();
    if (this.#places.add(key, 0, slot + 1)) this.#filled++;
    this.#size++;
  }

  delete(key: Int32Array): void {
    this.#move();
    const places = this.#holderOf(key);
    if (places === undefined) return;
    places.slots[places.find(key)] = DELETED;
    this.#size--;
  }

  clear(): void {
    this.#places = new Places(this.#count, FIRST_CAPACITY);
    this.#former = undefined;
    this.#filled = 0;
    this.#size = 0;
  }

  /** The arrays that hold a key. */
  #holderOf(key: Int32Array): Places | undefined {
    if (this.#places.find(key) >= 0) return this.#places;
    return this.#former !== undefined && this.#former.find(key) >= 0 ? this.#former : undefined;
  }

  #resize(): void {
    // Never: the new arrays have room for as many changes as it takes to move all keys.
    while (this.#former !== undefined) this.#move();
    const { capacity } = this.#places;
    const keys = 8 * this.#size >= this.#expected ? Math.max(this.#size + 1, this.#expected >> 1) : this.#size + 1;
    let next = Math.max(FIRST_CAPACITY, capacity >> 3);
    while (next < 4 * keys) next *= 2;
    this.#former = this.#places;
    this.#moved = 0;
    this.#places = new Places(this.#count, next);
    this.#filled = this.#size;
    this.#move();
  }

  /** Brings some keys over. */
  #move(): void {
    const former = this.#former;
    if (former === undefined) return;
    const { slots, words, capacity } = former;
    const end = Math.min(capacity, this.#moved + MOVES);
    for (let place = this.#moved; place < end; place++) {
      const stored = slots[place]!;
      if (stored <= 0) continue;
      this.#places.add(words, place * this.#count, stored);
      slots[place] = DELETED;
    }
    this.#moved = end;
    if (end === capacity) this.#former = undefined;
  }
}
