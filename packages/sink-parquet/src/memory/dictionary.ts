import { formatIpv4, formatIpv6 } from '@int/codec';

/**
 * Texts of a column that repeat: rows hold the number of a text, from 0 in the order in which they came. The file gets
 * them as the dictionary of the column, so no text is made or compared for each row.
 */
export interface Dictionary {
  /** Texts so far. */
  readonly size: number;
  /** All texts, by number; no two are the same. */
  texts(): string[];
}

/** Of two words to one, well mixed (the finaliser of MurmurHash3). */
function mix(hash: number, word: number): number {
  let h = Math.imul(hash ^ word, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

const FIRST_SLOTS = 1024;

/** Finds sequences of words by their content: open addressing, at most half full. */
class WordTable {
  /** Number of an entry + 1; 0 is free. */
  #slots = new Int32Array(FIRST_SLOTS);
  #hashes = new Int32Array(FIRST_SLOTS / 2);
  /** First word of each entry in {@link #words}, and of the one that comes next. */
  #starts = new Int32Array(FIRST_SLOTS / 2 + 1);
  #words = new Uint32Array(FIRST_SLOTS * 4);
  size = 0;

  start(entry: number): number {
    return this.#starts[entry]!;
  }

  get words(): Uint32Array {
    return this.#words;
  }

  /** The number of the sequence `key[0]` to `key[length - 1]`, which is kept if it is new. */
  entry(key: Uint32Array, length: number): number {
    let hash = length;
    for (let k = 0; k < length; k++) hash = mix(hash, key[k]!);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const found = this.#slots[slot]! - 1;
      if (found < 0) break;
      if (this.#hashes[found] === hash && this.#equals(found, key, length)) return found;
      slot = (slot + 1) & mask;
    }
    return this.#add(key, length, hash, slot);
  }

  #equals(entry: number, key: Uint32Array, length: number): boolean {
    const start = this.#starts[entry]!;
    if (this.#starts[entry + 1]! - start !== length) return false;
    for (let k = 0; k < length; k++) if (this.#words[start + k] !== key[k]) return false;
    return true;
  }

  #add(key: Uint32Array, length: number, hash: number, slot: number): number {
    const entry = this.size++;
    const start = this.#starts[entry]!;
    if (start + length > this.#words.length) {
      const words = new Uint32Array(2 * (start + length));
      words.set(this.#words);
      this.#words = words;
    }
    for (let k = 0; k < length; k++) this.#words[start + k] = key[k]!;
    this.#hashes[entry] = hash;
    this.#starts[entry + 1] = start + length;
    this.#slots[slot] = entry + 1;
    if (this.size * 2 >= this.#slots.length) this.#grow();
    return entry;
  }

  #grow(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const hashes = new Int32Array(slots.length / 2);
    const starts = new Int32Array(slots.length / 2 + 1);
    hashes.set(this.#hashes);
    starts.set(this.#starts);
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.size; entry++) {
      let slot = hashes[entry]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry + 1;
    }
    this.#slots = slots;
    this.#hashes = hashes;
    this.#starts = starts;
  }
}

/** IPv4 addresses that were looked for lately, by a few bits of their hash. A power of two. */
const RECENT_BITS = 10;

export class AddressDictionary implements Dictionary {
  readonly #table = new WordTable();
  readonly #key = new Uint32Array(4);
  /** Address, and its number + 1; 0: none. */
  readonly #recent = new Uint32Array(2 << RECENT_BITS);

  get size(): number {
    return this.#table.size;
  }

  ipv4(word: number): number {
    const recent = this.#recent;
    const at = (Math.imul(word, 0x9e3779b1) >>> (32 - RECENT_BITS)) << 1;
    if (recent[at] === word && recent[at + 1] !== 0) return recent[at + 1]! - 1;
    this.#key[0] = word;
    const entry = this.#table.entry(this.#key, 1);
    recent[at] = word;
    recent[at + 1] = entry + 1;
    return entry;
  }

  ipv6(word0: number, word1: number, word2: number, word3: number): number {
    const key = this.#key;
    key[0] = word0;
    key[1] = word1;
    key[2] = word2;
    key[3] = word3;
    return this.#table.entry(key, 4);
  }

  texts(): string[] {
    const { words } = this.#table;
    return Array.from({ length: this.size }, (_, entry) => {
      const at = this.#table.start(entry);
      return this.#table.start(entry + 1) - at === 1
        ? formatIpv4(words[at]!)
        : formatIpv6(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!);
    });
  }
}

/** Lists of node ids, `null` for a node that is not named (all ones): `[1,null,3]`. */
export class PathDictionary implements Dictionary {
  readonly #table = new WordTable();

  get size(): number {
    return this.#table.size;
  }

  path(nodes: Uint32Array, length: number): number {
    return this.#table.entry(nodes, length);
  }

  texts(): string[] {
    const { words } = this.#table;
    return Array.from({ length: this.size }, (_, entry) => {
      const nodes = words.subarray(this.#table.start(entry), this.#table.start(entry + 1));
      return `[${Array.from(nodes, (node) => (node === 0xffffffff ? 'null' : String(node))).join(',')}]`;
    });
  }
}

/** Texts that come as texts. */
export class TextDictionary implements Dictionary {
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#numbers.size;
  }

  number(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  texts(): string[] {
    return [...this.#numbers.keys()];
  }
}
