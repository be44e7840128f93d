import type { KeyMatch, MatchKind } from '../ir/program.js';
import type { PacketWork } from '../machine/runtime.js';
import { type KeyShape, maskOf } from './key-match.js';
import { KeyWords } from './key-words.js';
import { TernaryIndex } from './ternary-index.js';
import { WordIndex } from './word-index.js';

/** Finds the entry for a packet's keys. Matches given to it are canonical (see `canonicalMatch`). */
export interface MatchIndex {
  /** Slot of the entry that wins; -1 if none matches. The keys' words (see `KeyWords`). */
  find(words: Int32Array): number;
  /** For keys of one word in all. */
  find1(word: number): number;
  /** Slot of the entry with exactly these matches (and this priority, if priorities count); -1 if there is none. */
  equal(matches: readonly KeyMatch[], priority: number): number;
  add(matches: readonly KeyMatch[], priority: number, slot: number): void;
  remove(matches: readonly KeyMatch[], priority: number, slot: number): void;
  clear(): void;
}

/** Whether entries have a priority: with a ternary, range or optional key. Prefix lengths do not count then. */
export function hasPriorities(kinds: readonly MatchKind[]): boolean {
  return kinds.some((kind) => kind === 'ternary' || kind === 'range' || kind === 'optional');
}

/**
 * @param work budget of the packet; a lookup with priorities takes one step for each group of entries that it searches
 * @param expected most entries that may come
 */
export function createMatchIndex(shapes: readonly KeyShape[], work?: PacketWork, expected = 0): MatchIndex {
  if (hasPriorities(shapes.map(({ kind }) => kind))) return new TernaryIndex(shapes, work);
  const lpm = shapes.findIndex((shape) => shape.kind === 'lpm');
  if (lpm >= 0) return new LpmIndex(shapes, lpm, expected);
  return new ExactIndex(shapes, expected);
}

/** Words of the masked values of matches, one after the other, until the next call. */
function valueWords(words: KeyWords, shapes: readonly KeyShape[], matches: readonly KeyMatch[]): Int32Array {
  for (let i = 0; i < matches.length; i++) words.loadPattern(i, patternOf(shapes[i]!.width, matches[i]!));
  return words.words;
}

function patternOf(width: number, match: KeyMatch): bigint {
  switch (match.kind) {
    case 'exact':
      return match.value;
    case 'prefix':
      return match.length === width ? match.value : maskOf(width, match).value;
    default:
      return maskOf(width, match).value;
  }
}

class ExactIndex implements MatchIndex {
  readonly #shapes: readonly KeyShape[];
  readonly #words: KeyWords;
  readonly #index: WordIndex;

  constructor(shapes: readonly KeyShape[], expected: number) {
    this.#shapes = shapes;
    this.#words = new KeyWords(shapes.map((shape) => shape.width));
    this.#index = new WordIndex(this.#words.words.length, expected);
  }

  find(words: Int32Array): number {
    return this.#index.get(words);
  }

  find1(word: number): number {
    return this.#index.get1(word | 0);
  }

  equal(matches: readonly KeyMatch[]): number {
    return this.#index.get(valueWords(this.#words, this.#shapes, matches));
  }

  add(matches: readonly KeyMatch[], _priority: number, slot: number): void {
    this.#index.set(valueWords(this.#words, this.#shapes, matches), slot);
  }

  remove(matches: readonly KeyMatch[]): void {
    this.#index.delete(valueWords(this.#words, this.#shapes, matches));
  }

  clear(): void {
    this.#index.clear();
  }
}

interface PrefixGroup {
  readonly length: number;
  readonly masks: Int32Array;
  readonly index: WordIndex;
}

/** One hash index per prefix length in use, longest first. The hashed key includes exact keys beside the lpm key. */
class LpmIndex implements MatchIndex {
  readonly #shapes: readonly KeyShape[];
  readonly #lpm: number;
  readonly #words: KeyWords;
  readonly #groups: PrefixGroup[] = [];
  readonly #expected: number;

  constructor(shapes: readonly KeyShape[], lpm: number, expected: number) {
    this.#expected = expected;
    this.#shapes = shapes;
    this.#lpm = lpm;
    this.#words = new KeyWords(shapes.map((shape) => shape.width));
  }

  find(words: Int32Array): number {
    const groups = this.#groups;
    for (let i = 0; i < groups.length; i++) {
      const { index, masks } = groups[i]!;
      const slot = index.getMasked(words, masks);
      if (slot >= 0) return slot;
    }
    return -1;
  }

  find1(word: number): number {
    const groups = this.#groups;
    for (let i = 0; i < groups.length; i++) {
      const { index, masks } = groups[i]!;
      const slot = index.get1(word & masks[0]!);
      if (slot >= 0) return slot;
    }
    return -1;
  }

  equal(matches: readonly KeyMatch[]): number {
    const length = this.#lengthOf(matches);
    const group = this.#groups.find((each) => each.length === length);
    return group === undefined ? -1 : group.index.get(valueWords(this.#words, this.#shapes, matches));
  }

  add(matches: readonly KeyMatch[], _priority: number, slot: number): void {
    const length = this.#lengthOf(matches);
    let group = this.#groups.find((each) => each.length === length);
    if (group === undefined) {
      const masks = this.#words.of(matches.map((match, i) => maskOf(this.#shapes[i]!.width, match).mask));
      group = { length, masks, index: new WordIndex(masks.length, this.#expected) };
      this.#groups.push(group);
      this.#groups.sort((left, right) => right.length - left.length);
    }
    group.index.set(valueWords(this.#words, this.#shapes, matches), slot);
  }

  remove(matches: readonly KeyMatch[]): void {
    const length = this.#lengthOf(matches);
    const at = this.#groups.findIndex((each) => each.length === length);
    const group = this.#groups[at];
    if (group === undefined) return;
    group.index.delete(valueWords(this.#words, this.#shapes, matches));
    if (group.index.size === 0) this.#groups.splice(at, 1);
  }

  clear(): void {
    this.#groups.length = 0;
  }

  #lengthOf(matches: readonly KeyMatch[]): number {
    const match = matches[this.#lpm]!;
    if (match.kind !== 'prefix') throw new TypeError('the match of an lpm key is a prefix');
    return match.length;
  }
}
