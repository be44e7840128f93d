/**
 * The fields of a layout, to bytes or from them. A `ByteWriter` writes the value that it is given, and returns it. A
 * `ByteReader` ignores it, and returns the next one of its bytes. So one function that passes all fields of a thing, in
 * their order, describes both directions.
 */
export interface ByteFields {
  /** Bytes written or read so far. */
  readonly offset: number;
  /** An integer from 0 to 2^53 - 1: seven bits a byte, the lowest first. */
  number(value?: number): number;
  /** An integer from -2^52 to 2^52 - 1. Integers near 0 are short. */
  signed(value?: number): number;
  /** 32 bits, big-endian. */
  word(value?: number): number;
  /** A {@link number} from `least` to `most`. */
  between(least: number, most: number, what: string, value?: number): number;
  flag(what: string, value?: boolean): boolean;
  /** Number of entries of at least `least` bytes each. */
  count(least: number, value?: number): number;
  /** Refuses the bytes. A writer trusts its values. */
  fail(message: string): void;
}

/** Passes entries, of which there are `count`. When it reads, `pass` is given none. */
export function listOf<T>(count: number, entries: readonly T[], pass: (entry: T | undefined) => T): T[] {
  return Array.from({ length: count }, (_, index) => pass(entries[index]));
}

/** Passes the words of a column, from cell `from` to cell `to - 1`. */
export function wordsOf(fields: ByteFields, words: Uint32Array, from: number, to: number): void {
  for (let at = from; at < to; at++) words[at] = fields.word(words[at]!);
}
