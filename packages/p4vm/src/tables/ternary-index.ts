import type { KeyMatch } from '../ir/program.js';
import type { PacketWork } from '../machine/runtime.js';
import { onesOf } from './data-width.js';
import { type KeyShape, maskOf } from './key-match.js';
import { KeyWords, wordsOfWidth } from './key-words.js';
import type { MatchIndex } from './match-index.js';
import { WordIndex } from './word-index.js';

/** Most entries for a plain scan, which is then cheaper than a hash per mask. */
const SCAN_LIMIT = 12;

interface TernaryEntry {
  readonly priority: number;
  readonly slot: number;
  /** Words of all keys; those of range keys are 0. */
  readonly values: Int32Array;
  readonly masks: Int32Array;
  /** Words of the bounds of range keys; of other keys 0 and all ones. */
  readonly lows: Int32Array;
  readonly highs: Int32Array;
}

/** All entries with the same masks. One hash over the masked keys finds the candidates, best first. */
interface MaskGroup {
  readonly signature: string;
  readonly masks: Int32Array;
  readonly index: WordIndex;
  readonly buckets: TernaryEntry[][];
  readonly freeBuckets: number[];
  /** Slots by `#identity`, which distinguishes entries of one bucket. */
  readonly slots: Map<string, number>;
  /** A lower bound of its entries' priorities. It is exact until a removal. */
  bestPriority: number;
  size: number;
}

/** Order of precedence: the smaller priority, then the lower slot. */
function before(left: TernaryEntry, right: TernaryEntry): boolean {
  return left.priority < right.priority || (left.priority === right.priority && left.slot < right.slot);
}

function insertSorted(list: TernaryEntry[], entry: TernaryEntry): void {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(entry, list[middle]!)) high = middle;
    else low = middle + 1;
  }
  list.splice(low, 0, entry);
}

/** Compares two unsigned numbers, word by word from the top: negative, 0 or positive. */
function compareWords(left: Int32Array, right: Int32Array, first: number, last: number): number {
  for (let i = last; i >= first; i--) {
    if (left[i] !== right[i]) return (left[i]! >>> 0) - (right[i]! >>> 0);
  }
  return 0;
}

/**
 * Entries with priorities: tuple space search (one hash lookup per set of masks in use, groups with the best priority
 * first, until no later group can win), or a plain scan of few entries. Range keys are compared for the entries that a
 * hash finds.
 */
export class TernaryIndex implements MatchIndex {
  readonly #shapes: readonly KeyShape[];
  /** First and last word of each range key. */
  readonly #ranges: readonly (readonly [number, number])[];
  /** Best priority first, after sorting. */
  #groups: MaskGroup[] = [];
  #isSorted = true;
  readonly #work: PacketWork;
  readonly #bySignature = new Map<string, MaskGroup>();
  /** All entries in order of precedence, as long as there are few. */
  #few: TernaryEntry[] = [];
  #size = 0;
  readonly #words: KeyWords;

  constructor(shapes: readonly KeyShape[], work: PacketWork = { left: 0 }) {
    this.#shapes = shapes;
    this.#work = work;
    this.#words = new KeyWords(shapes.map((shape) => shape.width));
    const { starts } = this.#words;
    this.#ranges = shapes.flatMap(({ kind, width }, i) =>
      kind === 'range' ? [[starts[i]!, starts[i]! + wordsOfWidth(width) - 1] as const] : [],
    );
  }

  find1(word: number): number {
    this.#words.words[0] = word;
    return this.find(this.#words.words);
  }

  find(words: Int32Array): number {
    if (this.#size <= SCAN_LIMIT) {
      const few = this.#few;
      for (let i = 0; i < few.length; i++) {
        const entry = few[i]!;
        if (this.#matchesMasks(entry, words) && this.#matchesRanges(entry, words)) return entry.slot;
      }
      return -1;
    }
    if (!this.#isSorted) this.#sort();
    let best: TernaryEntry | undefined;
    let looked = 0;
    const groups = this.#groups;
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!;
      if (best !== undefined && group.bestPriority > best.priority) break;
      looked++;
      const bucket = group.index.getMasked(words, group.masks);
      if (bucket < 0) continue;
      const entries = group.buckets[bucket]!;
      for (let j = 0; j < entries.length; j++) {
        const entry = entries[j]!;
        if (best !== undefined && !before(entry, best)) break;
        looked++;
        if (!this.#matchesRanges(entry, words)) continue;
        best = entry;
        break;
      }
    }
    this.#work.left -= looked;
    return best === undefined ? -1 : best.slot;
  }

  equal(matches: readonly KeyMatch[], priority: number): number {
    const entry = this.#entry(matches, priority, 0);
    const group = this.#bySignature.get(entry.masks.join());
    const bucket = group === undefined ? -1 : group.index.get(entry.values);
    return group?.slots.get(this.#identity(bucket, entry)) ?? -1;
  }

  add(matches: readonly KeyMatch[], priority: number, slot: number): void {
    const entry = this.#entry(matches, priority, slot);
    const signature = entry.masks.join();
    let group = this.#bySignature.get(signature);
    if (group === undefined) {
      group = {
        signature,
        masks: entry.masks,
        index: new WordIndex(entry.masks.length),
        buckets: [],
        freeBuckets: [],
        slots: new Map(),
        bestPriority: priority,
        size: 0,
      };
      this.#bySignature.set(signature, group);
      this.#isSorted = false;
    }
    let bucket = group.index.get(entry.values);
    if (bucket < 0) {
      bucket = group.freeBuckets.pop() ?? group.buckets.length;
      group.buckets[bucket] = [];
      group.index.set(entry.values, bucket);
    }
    insertSorted(group.buckets[bucket]!, entry);
    group.size++;
    if (priority < group.bestPriority) {
      group.bestPriority = priority;
      this.#isSorted = false;
    }
    group.slots.set(this.#identity(bucket, entry), slot);
    this.#size++;
    if (this.#size <= SCAN_LIMIT) insertSorted(this.#few, entry);
    else this.#few = [];
  }

  remove(matches: readonly KeyMatch[], priority: number, slot: number): void {
    const entry = this.#entry(matches, priority, slot);
    const group = this.#bySignature.get(entry.masks.join());
    const bucket = group === undefined ? -1 : group.index.get(entry.values);
    if (group === undefined || bucket < 0) return;
    const entries = group.buckets[bucket]!;
    const at = entries.findIndex((each) => each.slot === slot);
    if (at < 0) return;
    entries.splice(at, 1);
    group.slots.delete(this.#identity(bucket, entry));
    if (entries.length === 0) {
      group.index.delete(entry.values);
      group.freeBuckets.push(bucket);
    }
    group.size--;
    this.#size--;
    if (group.size === 0) {
      this.#bySignature.delete(group.signature);
      this.#isSorted = false;
    }
    if (this.#size < SCAN_LIMIT) this.#few = this.#few.filter((each) => each.slot !== slot);
    else if (this.#size === SCAN_LIMIT) this.#collect();
  }

  clear(): void {
    this.#groups = [];
    this.#isSorted = true;
    this.#bySignature.clear();
    this.#few = [];
    this.#size = 0;
  }

  #collect(): void {
    this.#few = [];
    for (const group of this.#bySignature.values()) {
      for (const entries of group.buckets) for (const entry of entries) insertSorted(this.#few, entry);
    }
  }

  /** Entries of one bucket have the same masks and values: their priorities and ranges differ. */
  #identity(bucket: number, { priority, lows, highs }: TernaryEntry): string {
    let text = `${bucket} ${priority}`;
    for (const [first, last] of this.#ranges) {
      for (let i = first; i <= last; i++) text += ` ${lows[i]} ${highs[i]}`;
    }
    return text;
  }

  #sort(): void {
    this.#groups = [...this.#bySignature.values()].sort((left, right) => left.bestPriority - right.bestPriority);
    this.#isSorted = true;
  }

  #matchesMasks(entry: TernaryEntry, words: Int32Array): boolean {
    const { values, masks } = entry;
    for (let i = 0; i < values.length; i++) if ((words[i]! & masks[i]!) !== values[i]) return false;
    return true;
  }

  #matchesRanges({ lows, highs }: TernaryEntry, words: Int32Array): boolean {
    for (let i = 0; i < this.#ranges.length; i++) {
      const [first, last] = this.#ranges[i]!;
      if (compareWords(words, lows, first, last) < 0 || compareWords(words, highs, first, last) > 0) return false;
    }
    return true;
  }

  #entry(matches: readonly KeyMatch[], priority: number, slot: number): TernaryEntry {
    const values: bigint[] = [];
    const masks: bigint[] = [];
    const lows: bigint[] = [];
    const highs: bigint[] = [];
    matches.forEach((match, i) => {
      const { width } = this.#shapes[i]!;
      const { value, mask } = maskOf(width, match);
      values.push(value);
      masks.push(mask);
      lows.push(match.kind === 'range' ? match.low : 0n);
      highs.push(match.kind === 'range' ? match.high : onesOf(width));
    });
    const words = this.#words;
    return {
      priority,
      slot,
      values: words.of(values),
      masks: words.of(masks),
      lows: words.of(lows),
      highs: words.of(highs),
    };
  }
}
