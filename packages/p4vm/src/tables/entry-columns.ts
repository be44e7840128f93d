import type { DataType, KeyMatch } from '../ir/program.js';
import { patternOfWords, patternsOf, widthOf, wordsOf, writeWords } from './data-width.js';
import type { KeyShape } from './key-match.js';
import { wordsOfWidth } from './key-words.js';
import type { LookupResult } from './lookup-result.js';
import { chunkOf, chunkSize, chunkStart } from './slot-chunks.js';
import type { EntryTarget } from './table-entry.js';

/** Bits of an entry's flags. */
const USED = 1;
const CONST = 2;
/** Belongs to the program: no memory was taken for it. */
const OF_PROGRAM = 4;
const MEMBER = 8;
const GROUP = 16;
/** Its data are kept as they were given, for they are cut to the width of the parameters. */
const AS_GIVEN = 32;

/** The entries of `size` slots. */
class Chunk {
  readonly flags: Uint8Array;
  /** Position of the action, or the handle of the member or group. */
  readonly targets: Int32Array;
  readonly priorities: Float64Array;
  readonly timeouts: Float64Array;
  readonly hits: Float64Array;
  readonly restarts: Float64Array;
  readonly keys: Int32Array;
  readonly data: Int32Array;

  constructor(
    readonly first: number,
    size: number,
    keyWords: number,
    dataWords: number,
    hasPriorities: boolean,
    hasTimeouts: boolean,
  ) {
    this.flags = new Uint8Array(size);
    this.targets = new Int32Array(size);
    this.priorities = new Float64Array(hasPriorities ? size : 0);
    this.timeouts = new Float64Array(hasTimeouts ? size : 0);
    this.hits = new Float64Array(size);
    this.restarts = new Float64Array(size);
    this.keys = new Int32Array(size * keyWords);
    this.data = new Int32Array(size * dataWords);
  }
}

/** Words of a match: the value, and a mask, an upper bound or a length. */
function matchWords({ kind, width }: KeyShape): number {
  if (kind === 'exact') return wordsOfWidth(width);
  return kind === 'lpm' ? wordsOfWidth(width) + 1 : 2 * wordsOfWidth(width);
}

/** An entry as it is put in. */
export interface NewEntry {
  /** In canonical form. */
  readonly keys: readonly KeyMatch[];
  readonly target: EntryTarget;
  readonly priority: number;
  readonly isConst: boolean;
  readonly isOfProgram: boolean;
  readonly nowUs: number;
}

/**
 * The entries of a table by slot, in typed arrays. A hundred thousand entries are some dozen objects for the collector of
 * garbage, and no array is ever copied to a larger one: both would keep packets waiting.
 */
export class EntryColumns {
  readonly #shapes: readonly KeyShape[];
  /** By position of the action. */
  readonly #types: readonly (readonly DataType[])[];
  readonly #keyWords: number;
  readonly #dataWords: number;
  readonly #hasPriorities: boolean;
  readonly #hasTimeouts: boolean;
  readonly #chunks: Chunk[] = [];
  /** Data of entries with `AS_GIVEN`, which are few. */
  readonly #given = new Map<number, readonly bigint[]>();
  #slotCount = 0;

  /** @param types types of the data of each action */
  constructor(
    shapes: readonly KeyShape[],
    types: readonly (readonly DataType[])[],
    hasPriorities: boolean,
    hasTimeouts: boolean,
  ) {
    this.#shapes = shapes;
    this.#types = types;
    this.#keyWords = shapes.reduce((sum, shape) => sum + matchWords(shape), 0);
    this.#dataWords = Math.max(0, ...types.map(wordsOf));
    this.#hasPriorities = hasPriorities;
    this.#hasTimeouts = hasTimeouts;
  }

  /** Words that a `LookupResult` needs. */
  get dataWords(): number {
    return this.#dataWords;
  }

  /** Slots in use have smaller numbers. */
  get slotCount(): number {
    return this.#slotCount;
  }

  has(slot: number): boolean {
    return slot >= 0 && slot < this.#slotCount && this.#flags(slot) !== 0;
  }

  put(slot: number, { keys, target, priority, isConst, isOfProgram, nowUs }: NewEntry): void {
    while (chunkOf(slot) >= this.#chunks.length) this.#grow();
    this.#slotCount = Math.max(this.#slotCount, slot + 1);
    const chunk = this.#chunks[chunkOf(slot)]!;
    const at = slot - chunk.first;
    chunk.flags[at] = USED | (isConst ? CONST : 0) | (isOfProgram ? OF_PROGRAM : 0);
    if (this.#hasPriorities) chunk.priorities[at] = priority;
    if (this.#hasTimeouts) chunk.timeouts[at] = 0;
    chunk.hits[at] = nowUs;
    chunk.restarts[at] = 0;
    this.#putKeys(chunk.keys, at * this.#keyWords, keys);
    this.setTarget(slot, target);
  }

  setTarget(slot: number, target: EntryTarget): void {
    const chunk = this.#chunks[chunkOf(slot)]!;
    const at = slot - chunk.first;
    const flags = chunk.flags[at]!;
    if ((flags & AS_GIVEN) !== 0) this.#given.delete(slot);
    const plain = flags & (USED | CONST | OF_PROGRAM);
    if (target.kind !== 'action') {
      chunk.flags[at] = plain | (target.kind === 'member' ? MEMBER : GROUP);
      chunk.targets[at] = target.handle;
      return;
    }
    const { action, data } = target.call;
    const types = this.#types[action]!;
    chunk.targets[at] = action;
    writeWords(types, data, chunk.data, at * this.#dataWords);
    const isCut = data.some((value, i) => value !== BigInt.asUintN(widthOf(types[i]!), value));
    if (isCut) this.#given.set(slot, data);
    chunk.flags[at] = isCut ? plain | AS_GIVEN : plain;
  }

  remove(slot: number): void {
    if ((this.#flags(slot) & AS_GIVEN) !== 0) this.#given.delete(slot);
    const chunk = this.#chunks[chunkOf(slot)]!;
    chunk.flags[slot - chunk.first] = 0;
  }

  clear(): void {
    this.#chunks.length = 0;
    this.#given.clear();
    this.#slotCount = 0;
  }

  // What an entry is

  isConst(slot: number): boolean {
    return (this.#flags(slot) & CONST) !== 0;
  }

  isOfProgram(slot: number): boolean {
    return (this.#flags(slot) & OF_PROGRAM) !== 0;
  }

  /** Canonical matches. */
  keysOf(slot: number): KeyMatch[] {
    const chunk = this.#chunks[chunkOf(slot)]!;
    let at = (slot - chunk.first) * this.#keyWords;
    return this.#shapes.map((shape) => {
      const match = readMatch(shape, chunk.keys, at);
      at += matchWords(shape);
      return match;
    });
  }

  targetOf(slot: number): EntryTarget {
    const chunk = this.#chunks[chunkOf(slot)]!;
    const at = slot - chunk.first;
    const flags = chunk.flags[at]!;
    const target = chunk.targets[at]!;
    if ((flags & (MEMBER | GROUP)) !== 0) {
      // A handle may use all 32 bits.
      return { kind: (flags & MEMBER) !== 0 ? 'member' : 'group', handle: target >>> 0 };
    }
    const given = (flags & AS_GIVEN) !== 0 ? this.#given.get(slot) : undefined;
    const data = given ?? patternsOf(this.#types[target]!, chunk.data, at * this.#dataWords);
    return { kind: 'action', call: { action: target, data } };
  }

  priorityOf(slot: number): number {
    if (!this.#hasPriorities) return 0;
    const chunk = this.#chunks[chunkOf(slot)]!;
    return chunk.priorities[slot - chunk.first]!;
  }

  // Lookup

  /** Fills a result with the entry's own action. @returns whether it has one */
  load(slot: number, result: LookupResult): boolean {
    const chunk = this.#chunks[chunkOf(slot)]!;
    const at = slot - chunk.first;
    if ((chunk.flags[at]! & (MEMBER | GROUP)) !== 0) return false;
    result.action = chunk.targets[at]!;
    result.slot = slot;
    const count = this.#dataWords;
    const { data } = chunk;
    const { words } = result;
    for (let i = 0, from = at * count; i < count; i++) words[i] = data[from + i]!;
    return true;
  }

  // Times in microseconds

  timeoutOf(slot: number): number {
    if (!this.#hasTimeouts) return 0;
    const chunk = this.#chunks[chunkOf(slot)]!;
    return chunk.timeouts[slot - chunk.first]!;
  }

  setTimeout(slot: number, timeoutUs: number): void {
    const chunk = this.#chunks[chunkOf(slot)]!;
    chunk.timeouts[slot - chunk.first] = timeoutUs;
  }

  lastHitOf(slot: number): number {
    const chunk = this.#chunks[chunkOf(slot)]!;
    return chunk.hits[slot - chunk.first]!;
  }

  setLastHit(slot: number, timeUs: number): void {
    const chunk = this.#chunks[chunkOf(slot)]!;
    chunk.hits[slot - chunk.first] = timeUs;
  }

  /** When its timeout began to run, if that is later than the last hit. */
  restartOf(slot: number): number {
    const chunk = this.#chunks[chunkOf(slot)]!;
    return chunk.restarts[slot - chunk.first]!;
  }

  setRestart(slot: number, timeUs: number): void {
    const chunk = this.#chunks[chunkOf(slot)]!;
    chunk.restarts[slot - chunk.first] = timeUs;
  }

  #flags(slot: number): number {
    const chunk = this.#chunks[chunkOf(slot)]!;
    return chunk.flags[slot - chunk.first]!;
  }

  #grow(): void {
    const number = this.#chunks.length;
    const [first, size] = [chunkStart(number), chunkSize(number)];
    this.#chunks.push(new Chunk(first, size, this.#keyWords, this.#dataWords, this.#hasPriorities, this.#hasTimeouts));
  }

  #putKeys(words: Int32Array, start: number, keys: readonly KeyMatch[]): void {
    let at = start;
    for (let i = 0; i < keys.length; i++) {
      const shape = this.#shapes[i]!;
      writeMatch(words, at, wordsOfWidth(shape.width), keys[i]!);
      at += matchWords(shape);
    }
  }
}

function writePattern(words: Int32Array, at: number, count: number, pattern: bigint): void {
  if (count === 1) {
    words[at] = Number(pattern);
    return;
  }
  for (let i = 0, rest = pattern; i < count; i++, rest >>= 32n) words[at + i] = Number(BigInt.asUintN(32, rest));
}

function writeMatch(words: Int32Array, at: number, count: number, match: KeyMatch): void {
  switch (match.kind) {
    case 'exact':
      writePattern(words, at, count, match.value);
      return;
    case 'prefix':
      writePattern(words, at, count, match.value);
      words[at + count] = match.length;
      return;
    case 'mask':
      writePattern(words, at, count, match.value);
      writePattern(words, at + count, count, match.mask);
      return;
    case 'range':
      writePattern(words, at, count, match.low);
      writePattern(words, at + count, count, match.high);
      return;
    case 'any':
      throw new TypeError('a match in canonical form has values');
  }
}

function readMatch({ kind, width }: KeyShape, words: Int32Array, at: number): KeyMatch {
  const count = wordsOfWidth(width);
  const value = patternOfWords(words, at, count);
  switch (kind) {
    case 'exact':
      return { kind: 'exact', value };
    case 'lpm':
      return { kind: 'prefix', value, length: words[at + count]! };
    case 'range':
      return { kind: 'range', low: value, high: patternOfWords(words, at + count, count) };
    case 'ternary':
    case 'optional':
      return { kind: 'mask', value, mask: patternOfWords(words, at + count, count) };
  }
}
