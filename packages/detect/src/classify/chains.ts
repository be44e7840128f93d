const ENTRY_WORDS = 4;
const NONE = -1;

/**
 * Slots by hash: one hash table with chains for all tables of an IP version, whose hashes tell them apart. The arrays
 * grow by doubling; lookups read them directly.
 */
export class Chains {
  /** Of each chain (a power of two of them, by the lower bits of the hash): the word of its first entry, or -1. */
  heads: Int32Array = new Int32Array(64).fill(NONE);
  /** Entries of four words: hash, word of the next entry or -1, slot, priority. A chain is in descending priority. */
  entries: Int32Array = new Int32Array(32 * ENTRY_WORDS);
  /** Entries held. */
  count = 0;
  #free = NONE;
  #usedWords = 0;

  get byteLength(): number {
    return this.heads.byteLength + this.entries.byteLength;
  }

  /** Entries of the longest chain. */
  longest(): number {
    let longest = 0;
    for (const head of this.heads) {
      let length = 0;
      for (let e = head; e >= 0; e = this.entries[e + 1]!) length++;
      longest = Math.max(longest, length);
    }
    return longest;
  }

  /** Entries of this hash. */
  countOf(hash: number): number {
    const { heads, entries } = this;
    let count = 0;
    for (let e = heads[hash & (heads.length - 1)]!; e >= 0; e = entries[e + 1]!) if (entries[e] === hash) count++;
    return count;
  }

  /** Slots of this hash. */
  slotsOf(hash: number): number[] {
    const { heads, entries } = this;
    const slots: number[] = [];
    for (let e = heads[hash & (heads.length - 1)]!; e >= 0; e = entries[e + 1]!) {
      if (entries[e] === hash) slots.push(entries[e + 2]!);
    }
    return slots;
  }

  add(hash: number, slot: number, priority: number): void {
    this.count++;
    if (this.count * 2 > this.heads.length) this.#widen();
    const e = this.#allocate();
    this.entries[e] = hash;
    this.entries[e + 2] = slot;
    this.entries[e + 3] = priority;
    this.#chain(e);
  }

  /** Takes out an entry that exists. */
  remove(hash: number, slot: number): void {
    const { heads, entries } = this;
    const head = hash & (heads.length - 1);
    let before = NONE;
    let e = heads[head]!;
    while (entries[e + 2] !== slot || entries[e] !== hash) {
      before = e;
      e = entries[e + 1]!;
    }
    if (before === NONE) heads[head] = entries[e + 1]!;
    else entries[before + 1] = entries[e + 1]!;
    entries[e + 1] = this.#free;
    this.#free = e;
    this.count--;
  }

  /** Puts an entry into its chain, behind those of equal priority. */
  #chain(e: number): void {
    const { heads, entries } = this;
    const head = entries[e]! & (heads.length - 1);
    const priority = entries[e + 3]!;
    let before = NONE;
    let after = heads[head]!;
    while (after >= 0 && entries[after + 3]! >= priority) {
      before = after;
      after = entries[after + 1]!;
    }
    entries[e + 1] = after;
    if (before === NONE) heads[head] = e;
    else entries[before + 1] = e;
  }

  #allocate(): number {
    const free = this.#free;
    if (free >= 0) {
      this.#free = this.entries[free + 1]!;
      return free;
    }
    const e = this.#usedWords;
    if (e === this.entries.length) {
      const larger = new Int32Array(this.entries.length * 2);
      larger.set(this.entries);
      this.entries = larger;
    }
    this.#usedWords += ENTRY_WORDS;
    return e;
  }

  #widen(): void {
    const old = this.heads;
    this.heads = new Int32Array(old.length * 2).fill(NONE);
    for (const head of old) {
      for (let e = head; e >= 0; ) {
        const next = this.entries[e + 1]!;
        this.#chain(e);
        e = next;
      }
    }
  }
}
