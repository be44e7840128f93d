import { StreamError } from '../errors.js';
import type { NetworkPartial } from '../model/partial.js';
import type { StateChange } from '../model/state.js';
import { decodePartial, encodePartial } from '../partial/bytes.js';
import type { ByteReader } from '../partial/reader.js';
import { ByteWriter } from '../partial/writer.js';
import { type Entry, Registry } from './registry.js';

/** First byte of keys: a side, a partial that waits. */
const KEY = { SIDE: 0x73, PARTIAL: 0x70 } as const;
/** Slices back from a side's latest one of which is known whether they came. */
const REMEMBERED = 32;
const MOST_SIDES = 65_536;

/** A flow side: how far it is. */
class SideEntry implements Entry {
  readonly words: readonly number[];
  /** Its latest slice. */
  lastSlice = -1;
  /** Bit k: the slice k before the latest has come. */
  #came = 0;

  constructor(words: readonly number[]) {
    this.words = words;
  }

  /** @returns whether the slice has come before; of one too long ago, it is not known */
  has(slice: number): boolean {
    const back = this.lastSlice - slice;
    return back >= 0 && back < REMEMBERED && ((this.#came >>> back) & 1) === 1;
  }

  note(slice: number): void {
    const ahead = slice - this.lastSlice;
    if (this.lastSlice < 0 || ahead >= REMEMBERED) this.#came = 1;
    else if (ahead > 0) this.#came = ((this.#came << ahead) | 1) >>> 0;
    else if (ahead > -REMEMBERED) this.#came = (this.#came | (1 << -ahead)) >>> 0;
    if (ahead > 0) this.lastSlice = slice;
  }

  write(writer: ByteWriter): void {
    writer.word(this.#came);
  }

  read(reader: ByteReader): void {
    this.#came = reader.word();
  }
}

interface Waiting {
  readonly partial: NetworkPartial;
  isKept: boolean;
}

/** Partials that have come, until their slice is complete; and which sides there are. */
export class Arrivals {
  readonly #capacity: number;
  readonly #sides = new Registry(KEY.SIDE, 1, MOST_SIDES, (words) => new SideEntry(words));
  /** By slice, then by side. */
  readonly #waiting = new Map<number, Map<number, Waiting>>();
  #count = 0;
  #gone: Uint8Array[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= this.#capacity;
  }

  /** Takes note of a partial, and keeps it if its slice is open. */
  offer(partial: NetworkPartial, openSlice: number): 'kept' | 'repeated' | 'late' {
    const { side, slice } = partial;
    const entry = this.#sides.take([side]);
    if (entry?.has(slice) === true || this.#waiting.get(slice)?.has(side) === true) return 'repeated';
    entry?.note(slice);
    if (slice < openSlice) return 'late';
    let sides = this.#waiting.get(slice);
    if (sides === undefined) {
      sides = new Map();
      this.#waiting.set(slice, sides);
    }
    sides.set(side, { partial, isKept: false });
    this.#count++;
    return 'kept';
  }

  /** The slice of the side that is most behind, of those at `slice` or not yet forgotten; and how many sides there are. */
  sides(): { readonly count: number; readonly least: number; readonly most: number } {
    let count = 0;
    let least = Number.POSITIVE_INFINITY;
    let most = -1;
    this.#sides.visit(({ lastSlice }) => {
      count++;
      least = Math.min(least, lastSlice);
      most = Math.max(most, lastSlice);
      return false;
    });
    return { count, least, most };
  }

  /** Forgets sides not heard since a slice. */
  forget(slice: number): void {
    this.#sides.forget(slice);
  }

  /** The earliest slice that something waits for; infinity: none. */
  earliest(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const slice of this.#waiting.keys()) earliest = Math.min(earliest, slice);
    return earliest;
  }

  /** The partials of a slice in the order of their sides, which are not kept any more. */
  take(slice: number): NetworkPartial[] {
    const sides = this.#waiting.get(slice);
    if (sides === undefined) return [];
    this.#waiting.delete(slice);
    this.#count -= sides.size;
    const taken = [...sides.values()].sort((a, b) => a.partial.side - b.partial.side);
    for (const { partial, isKept } of taken) if (isKept) this.#gone.push(keyOf(partial));
    return taken.map(({ partial }) => partial);
  }

  changes(into: StateChange[]): void {
    this.#sides.changes(into);
    for (const key of this.#gone) into.push({ key, value: null });
    this.#gone = [];
    for (const sides of this.#waiting.values()) {
      for (const waiting of sides.values()) {
        if (waiting.isKept) continue;
        waiting.isKept = true;
        into.push({ key: keyOf(waiting.partial), value: encodePartial(waiting.partial) });
      }
    }
  }

  /** @returns whether the key is one of these */
  restore(key: Uint8Array, value: Uint8Array): boolean {
    if (key[0] === KEY.SIDE) {
      this.#sides.restore(key, value);
      return true;
    }
    if (key[0] !== KEY.PARTIAL) return false;
    const partial = decodePartial(value);
    if (keyOf(partial).join() !== key.join())
      throw new StreamError('MISMATCH', 0, 'a partial under the key of another');
    const sides = this.#waiting.get(partial.slice) ?? new Map<number, Waiting>();
    this.#waiting.set(partial.slice, sides);
    if (!sides.has(partial.side)) this.#count++;
    sides.set(partial.side, { partial, isKept: true });
    return true;
  }
}

function keyOf({ side, slice }: NetworkPartial): Uint8Array {
  const writer = new ByteWriter();
  writer.byte(KEY.PARTIAL);
  writer.word(side);
  writer.number(slice);
  return writer.take();
}
