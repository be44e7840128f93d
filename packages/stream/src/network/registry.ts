import { StreamError } from '../errors.js';
import type { StateChange } from '../model/state.js';
import type { ByteFields } from '../partial/fields.js';
import { ByteReader } from '../partial/reader.js';
import { stateReader, stateWriter } from '../partial/state.js';
import { ByteWriter } from '../partial/writer.js';

/** An entry with state of its own, identified by one to three 32-bit words. */
export abstract class Entry {
  readonly words: readonly number[];
  /** The last slice in which it was seen. */
  lastSlice = 0;

  constructor(words: readonly number[]) {
    this.words = words;
  }

  /** Writes its state, or reads it. */
  abstract pass(fields: ByteFields): void;
}

interface Held<T> {
  readonly entry: T;
  isDirty: boolean;
  /** Whether the stored state contains the entry. */
  isKept: boolean;
}

/** A limited number of entries, by their words. It knows which have changed, so that the changes can be stored. */
export class Registry<T extends Entry> {
  /** First byte of the keys of its state. */
  readonly prefix: number;
  readonly #words: number;
  readonly #capacity: number;
  readonly #make: (words: readonly number[]) => T;
  readonly #held = new Map<string, Held<T>>();
  #gone: Uint8Array[] = [];
  /** How often a new entry found no room. */
  refused = 0;

  /** @param words number of words of a key */
  constructor(prefix: number, words: number, capacity: number, make: (words: readonly number[]) => T) {
    this.prefix = prefix;
    this.#words = words;
    this.#capacity = capacity;
    this.#make = make;
  }

  /** The entry of a key, for changes: a new one if there is none, `null` if there is no room. */
  take(words: readonly number[]): T | null {
    const name = words.join();
    let held = this.#held.get(name);
    if (held === undefined) {
      if (this.#held.size >= this.#capacity) {
        this.refused++;
        return null;
      }
      held = { entry: this.#make(words), isDirty: true, isKept: false };
      this.#held.set(name, held);
    }
    held.isDirty = true;
    return held.entry;
  }

  /** The entry of a key, for reading. */
  find(words: readonly number[]): T | undefined {
    return this.#held.get(words.join())?.entry;
  }

  /** Calls `visit` for all entries, in order of arrival. `visit` returns whether it has changed the entry. */
  visit(visit: (entry: T) => boolean): void {
    for (const held of this.#held.values()) if (visit(held.entry)) held.isDirty = true;
  }

  /** All entries, ordered by their words. */
  ordered(): T[] {
    return [...this.#held.values()].map(({ entry }) => entry).sort((a, b) => compareWords(a.words, b.words));
  }

  /** Forgets entries that were not seen since `slice`. */
  forget(slice: number): void {
    for (const [name, { entry, isKept }] of this.#held) {
      if (entry.lastSlice >= slice) continue;
      this.#held.delete(name);
      if (isKept) this.#gone.push(this.#key(entry));
    }
  }

  changes(into: StateChange[]): void {
    for (const key of this.#gone) into.push({ key, value: null });
    this.#gone = [];
    const bytes = new ByteWriter();
    for (const held of this.#held.values()) {
      if (!held.isDirty) continue;
      held.isDirty = false;
      held.isKept = true;
      const writer = stateWriter(bytes);
      passEntry(held.entry, writer);
      into.push({ key: this.#key(held.entry), value: writer.take() });
    }
  }

  /** @throws StreamError */
  restore(key: Uint8Array, value: Uint8Array): void {
    const reader = new ByteReader(key);
    reader.byte();
    const words = Array.from({ length: this.#words }, () => reader.word());
    reader.end();
    const entry = this.take(words);
    if (entry === null) throw new StreamError('ERR_STREAM_CAPACITY', 0, `more than ${this.#capacity} entries`);
    const contents = stateReader(value);
    passEntry(entry, contents);
    contents.end();
    const held = this.#held.get(words.join())!;
    held.isDirty = false;
    held.isKept = true;
  }

  #key(entry: T): Uint8Array {
    const writer = new ByteWriter();
    writer.byte(this.prefix);
    for (const word of entry.words) writer.word(word);
    return writer.take();
  }
}

function passEntry(entry: Entry, fields: ByteFields): void {
  entry.lastSlice = fields.number(entry.lastSlice);
  entry.pass(fields);
}

function compareWords(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return 0;
}
