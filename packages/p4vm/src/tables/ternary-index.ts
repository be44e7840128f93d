import type { KeyMatch } from '../ir/program.js';
import type { PacketWork } from '../machine/runtime.js';
import { onesOf } from './data-width.js';
import { type KeyShape, maskOf } from './key-match.js';
import { KeyWords, wordsOfWidth } from './key-words.js';
import type { MatchIndex } from './match-index.js';
import { chunkOf, chunkSize, chunkStart } from './slot-chunks.js';
import { WordIndex } from './word-index.js';

/** Most entries for a plain scan, which is then cheaper than a hash per mask. */
const SCAN_LIMIT = 12;
/** Entries below which scans begin again. */
const SCAN_AGAIN = 6;

/** An entry of a scan. */
interface ScannedEntry {
  readonly priority: number;
  readonly slot: number;
  readonly values: Int32Array;
  readonly masks: Int32Array;
}

/** All entries with the same masks. One hash over the masked keys finds the candidates, best first. */
interface MaskGroup {
  readonly signature: string;
  readonly masks: Int32Array;
  /** By masked values: twice a slot, or 1 more than twice a bucket of several slots. */
  readonly index: WordIndex;
  /** Slots in order of precedence. */
  readonly buckets: number[][];
  readonly freeBuckets: number[];
  /** A lower bound of its entries' priorities. It is exact until a removal. */
  bestPriority: number;
  size: number;
}

/** What is kept of the entries of some slots. */
interface Chunk {
  readonly first: number;
  /** NaN: no entry. */
  readonly priorities: Float64Array;
  /** Per slot the words of its identity. */
  readonly words: Int32Array;
}

/**
 * Entries with priorities: tuple space search (one hash lookup per set of masks in use, groups with the best priority
 * first, until no later group can win), or a plain scan of few entries. Range keys are compared for the entries that a
 * hash finds. Entries are no objects: there may be very many, and the collector of garbage visits each object.
 *
 * What tells entries apart, their identity, are the words of all values and masks (0 for range keys), of the bounds of
 * range keys, and the priority.
 */
export class TernaryIndex implements MatchIndex {
  readonly #shapes: readonly KeyShape[];
  /** Of each range key: first word in the key, number of words, and where its bounds are in an identity. */
  readonly #ranges: readonly { readonly first: number; readonly count: number; readonly at: number }[];
  /** Best priority first, after sorting. */
  #groups: MaskGroup[] = [];
  #isSorted = true;
  readonly #work: PacketWork;
  readonly #bySignature = new Map<string, MaskGroup>();
  /** All entries in order of precedence; undefined: there are too many to scan. */
  #few: ScannedEntry[] | undefined = [];
  #size = 0;
  readonly #words: KeyWords;
  readonly #chunks: Chunk[] = [];
  /** Slots by identity. */
  readonly #slots: WordIndex;
  readonly #identity: Int32Array;
  readonly #values: Int32Array;
  readonly #masks: Int32Array;
  readonly #priority = new Float64Array(1);
  readonly #halves = new Int32Array(this.#priority.buffer);

  constructor(shapes: readonly KeyShape[], work: PacketWork = { left: 0 }) {
    this.#shapes = shapes;
    this.#work = work;
    this.#words = new KeyWords(shapes.map((shape) => shape.width));
    const { starts, words } = this.#words;
    let at = 2 * words.length;
    this.#ranges = shapes.flatMap(({ kind, width }, i) => {
      if (kind !== 'range') return [];
      const count = wordsOfWidth(width);
      const range = { first: starts[i]!, count, at };
      at += 2 * count;
      return range;
    });
    this.#identity = new Int32Array(at + 2);
    this.#values = this.#identity.subarray(0, words.length);
    this.#masks = this.#identity.subarray(words.length, 2 * words.length);
    this.#slots = new WordIndex(this.#identity.length);
  }

  find1(word: number): number {
    this.#words.words[0] = word;
    return this.find(this.#words.words);
  }

  find(words: Int32Array): number {
    const few = this.#few;
    if (few !== undefined) {
      for (let i = 0; i < few.length; i++) {
        const entry = few[i]!;
        if (matchesMasks(entry, words) && this.#matchesRanges(entry.slot, words)) return entry.slot;
      }
      return -1;
    }
    if (!this.#isSorted) this.#sort();
    let best = -1;
    let bestPriority = 0;
    let looked = 0;
    const groups = this.#groups;
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!;
      if (best >= 0 && group.bestPriority > bestPriority) break;
      looked++;
      const found = group.index.getMasked(words, group.masks);
      if (found < 0) continue;
      const bucket = (found & 1) === 0 ? undefined : group.buckets[found >> 1]!;
      const count = bucket === undefined ? 1 : bucket.length;
      for (let j = 0; j < count; j++) {
        const slot = bucket === undefined ? found >> 1 : bucket[j]!;
        const priority = this.#priorityOf(slot);
        if (best >= 0 && (priority > bestPriority || (priority === bestPriority && slot > best))) break;
        looked++;
        if (!this.#matchesRanges(slot, words)) continue;
        best = slot;
        bestPriority = priority;
        break;
      }
    }
    this.#work.left -= looked;
    return best;
  }

  equal(matches: readonly KeyMatch[], priority: number): number {
    this.#identify(matches, priority);
    return this.#slots.get(this.#identity);
  }

  add(matches: readonly KeyMatch[], priority: number, slot: number): void {
    this.#identify(matches, priority);
    this.#slots.set(this.#identity, slot);
    this.#keep(priority, slot);
    const group = this.#groupOf(priority);
    const found = group.index.get(this.#values);
    if (found < 0) group.index.set(this.#values, 2 * slot);
    else if ((found & 1) !== 0) this.#insert(group.buckets[found >> 1]!, slot);
    else {
      const bucket = group.freeBuckets.pop() ?? group.buckets.length;
      group.buckets[bucket] = [found >> 1];
      this.#insert(group.buckets[bucket]!, slot);
      group.index.set(this.#values, 2 * bucket + 1);
    }
    group.size++;
    if (priority < group.bestPriority) {
      group.bestPriority = priority;
      this.#isSorted = false;
    }
    this.#size++;
    if (this.#size > SCAN_LIMIT) this.#few = undefined;
    else if (this.#few !== undefined) this.#scanAlso(slot);
  }

  remove(matches: readonly KeyMatch[], priority: number, slot: number): void {
    this.#identify(matches, priority);
    if (this.#slots.get(this.#identity) !== slot) return;
    this.#slots.delete(this.#identity);
    const group = this.#bySignature.get(this.#masks.join())!;
    const found = group.index.get(this.#values);
    if ((found & 1) === 0) group.index.delete(this.#values);
    else {
      const bucket = group.buckets[found >> 1]!;
      bucket.splice(this.#placeOf(bucket, slot), 1);
      if (bucket.length === 1) {
        group.index.set(this.#values, 2 * bucket[0]!);
        group.buckets[found >> 1] = [];
        group.freeBuckets.push(found >> 1);
      }
    }
    const chunk = this.#chunks[chunkOf(slot)]!;
    chunk.priorities[slot - chunk.first] = Number.NaN;
    group.size--;
    this.#size--;
    if (group.size === 0) {
      this.#bySignature.delete(group.signature);
      this.#isSorted = false;
    }
    if (this.#few !== undefined) this.#few = this.#few.filter((each) => each.slot !== slot);
    else if (this.#size <= SCAN_AGAIN) this.#scan();
  }

  clear(): void {
    this.#groups = [];
    this.#isSorted = true;
    this.#bySignature.clear();
    this.#few = [];
    this.#size = 0;
    this.#chunks.length = 0;
    this.#slots.clear();
  }

  #groupOf(priority: number): MaskGroup {
    const signature = this.#masks.join();
    let group = this.#bySignature.get(signature);
    if (group === undefined) {
      const masks = this.#masks.slice();
      const index = new WordIndex(masks.length);
      group = { signature, masks, index, buckets: [], freeBuckets: [], bestPriority: priority, size: 0 };
      this.#bySignature.set(signature, group);
      this.#isSorted = false;
    }
    return group;
  }

  #keep(priority: number, slot: number): void {
    const stride = this.#identity.length;
    while (chunkOf(slot) >= this.#chunks.length) {
      const number = this.#chunks.length;
      const size = chunkSize(number);
      this.#chunks.push({
        first: chunkStart(number),
        priorities: new Float64Array(size).fill(Number.NaN),
        words: new Int32Array(size * stride),
      });
    }
    const chunk = this.#chunks[chunkOf(slot)]!;
    chunk.priorities[slot - chunk.first] = priority;
    chunk.words.set(this.#identity, (slot - chunk.first) * stride);
  }

  #priorityOf(slot: number): number {
    const chunk = this.#chunks[chunkOf(slot)]!;
    return chunk.priorities[slot - chunk.first]!;
  }

  /** Scans again. */
  #scan(): void {
    this.#few = [];
    for (const { first, priorities } of this.#chunks) {
      for (let at = 0; at < priorities.length; at++) if (!Number.isNaN(priorities[at]!)) this.#scanAlso(first + at);
    }
  }

  #scanAlso(slot: number): void {
    const few = this.#few!;
    const chunk = this.#chunks[chunkOf(slot)]!;
    const from = (slot - chunk.first) * this.#identity.length;
    const count = this.#values.length;
    const priority = this.#priorityOf(slot);
    const values = chunk.words.slice(from, from + count);
    const masks = chunk.words.slice(from + count, from + 2 * count);
    const at = few.findIndex((each) => priority < each.priority || (priority === each.priority && slot < each.slot));
    few.splice(at < 0 ? few.length : at, 0, { priority, slot, values, masks });
  }

  // Buckets

  #insert(bucket: number[], slot: number): void {
    bucket.splice(this.#placeOf(bucket, slot), 0, slot);
  }

  /** Where a slot is in a bucket, or would be: the smaller priority goes first, then the lower slot. */
  #placeOf(bucket: readonly number[], slot: number): number {
    const priority = this.#priorityOf(slot);
    let low = 0;
    let high = bucket.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#priorityOf(bucket[middle]!);
      if (other < priority || (other === priority && bucket[middle]! < slot)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #sort(): void {
    this.#groups = [...this.#bySignature.values()].sort((left, right) => left.bestPriority - right.bestPriority);
    this.#isSorted = true;
  }

  #matchesRanges(slot: number, words: Int32Array): boolean {
    const ranges = this.#ranges;
    if (ranges.length === 0) return true;
    const chunk = this.#chunks[chunkOf(slot)]!;
    const from = (slot - chunk.first) * this.#identity.length;
    for (let i = 0; i < ranges.length; i++) {
      const { first, count, at } = ranges[i]!;
      if (compareWords(words, first, chunk.words, from + at, count) < 0) return false;
      if (compareWords(words, first, chunk.words, from + at + count, count) > 0) return false;
    }
    return true;
  }

  /** Fills `#identity`, and so `#values` and `#masks`. */
  #identify(matches: readonly KeyMatch[], priority: number): void {
    const identity = this.#identity;
    const keys = this.#words;
    let range = 0;
    for (let i = 0; i < matches.length; i++) {
      const match = matches[i]!;
      const { width, kind } = this.#shapes[i]!;
      const { value, mask } = maskOf(width, match);
      const start = keys.starts[i]!;
      keys.writePattern(i, value, this.#values, start);
      keys.writePattern(i, mask, this.#masks, start);
      if (kind !== 'range') continue;
      const { at, count } = this.#ranges[range++]!;
      keys.writePattern(i, match.kind === 'range' ? match.low : 0n, identity, at);
      keys.writePattern(i, match.kind === 'range' ? match.high : onesOf(width), identity, at + count);
    }
    // Not -0.
    this.#priority[0] = priority + 0;
    identity[identity.length - 2] = this.#halves[0]!;
    identity[identity.length - 1] = this.#halves[1]!;
  }
}

function matchesMasks({ values, masks }: ScannedEntry, words: Int32Array): boolean {
  for (let i = 0; i < values.length; i++) if ((words[i]! & masks[i]!) !== values[i]) return false;
  return true;
}

/** Compares two unsigned numbers of some words, from the top: negative, 0 or positive. */
function compareWords(left: Int32Array, leftAt: number, right: Int32Array, rightAt: number, count: number): number {
  for (let i = count - 1; i >= 0; i--) {
    const a = left[leftAt + i]!;
    const b = right[rightAt + i]!;
    if (a !== b) return (a >>> 0) - (b >>> 0);
  }
  return 0;
}
