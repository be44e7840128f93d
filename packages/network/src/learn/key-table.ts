const WORDS = 4;

/** Keys of four 32-bit words, numbered in the order in which they came. Its size is fixed; nothing is allocated per key. */
export class KeyTable {
  readonly capacity: number;
  count = 0;
  readonly #keys: Uint32Array;
  /** 1 + the number of a key, or 0. */
  readonly #slots: Uint32Array;
  readonly #mask: number;

  /** @param capacity most keys */
  constructor(capacity: number) {
    this.capacity = capacity;
    this.#keys = new Uint32Array(capacity * WORDS);
    const slots = 2 ** Math.ceil(Math.log2(capacity * 2));
    this.#slots = new Uint32Array(slots);
    this.#mask = slots - 1;
  }

  /** The number of a key, which is added if there is room; -1: there is none. */
  number(a: number, b: number, c: number, d: number): number {
    const keys = this.#keys;
    const slots = this.#slots;
    let slot = hash(a, b, c, d) & this.#mask;
    for (;;) {
      const number = slots[slot]! - 1;
      if (number < 0) break;
      const at = number * WORDS;
      if (keys[at] === a >>> 0 && keys[at + 1] === b >>> 0 && keys[at + 2] === c >>> 0 && keys[at + 3] === d >>> 0) {
        return number;
      }
      slot = (slot + 1) & this.#mask;
    }
    if (this.count === this.capacity) return -1;
    const number = this.count++;
    slots[slot] = number + 1;
    keys[number * WORDS] = a;
    keys[number * WORDS + 1] = b;
    keys[number * WORDS + 2] = c;
    keys[number * WORDS + 3] = d;
    return number;
  }

  /** Word `index`, 0 to 3, of a key. */
  word(number: number, index: number): number {
    return this.#keys[number * WORDS + index]!;
  }

  /** The numbers of all keys in ascending order of the keys. */
  inOrder(): number[] {
    const keys = this.#keys;
    return Array.from({ length: this.count }, (_, number) => number).sort((x, y) => {
      for (let k = 0; k < WORDS; k++) {
        const difference = keys[x * WORDS + k]! - keys[y * WORDS + k]!;
        if (difference !== 0) return difference;
      }
      return 0;
    });
  }
}

function hash(a: number, b: number, c: number, d: number): number {
  let mixed = Math.imul(a, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ b, 0x85ebca77);
  mixed = Math.imul(mixed ^ (mixed >>> 13) ^ c, 0xc2b2ae3d);
  mixed = Math.imul(mixed ^ (mixed >>> 16) ^ d, 0x27d4eb2f);
  return mixed ^ (mixed >>> 15);
}
