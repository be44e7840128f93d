import { StreamError } from '../errors.js';
import { isNone, type NetworkPartial } from '../model/partial.js';
import type { StateChange } from '../model/state.js';
import { decodePartial, encodePartial } from '../partial/bytes.js';
import type { ByteFields } from '../partial/fields.js';
import { ByteWriter } from '../partial/writer.js';
import { MissingSpans } from '../slice/missing-spans.js';
import { Entry, Registry } from './registry.js';

/** First byte of the keys: of a side, of a waiting partial. */
const KEY = { SIDE: 0x73, PARTIAL: 0x70 } as const;
const MOST_SIDES = 65_536;

/** A flow side and its progress. */
class SideEntry extends Entry {
  /** Number of its last partial; -1 if there is none. */
  number = -1;
  /** Its first open slice. */
  closed = 0;
  /** Whether it receives nothing any more. */
  isEnded = false;
  /** `#gaps` of {@link Arrivals} at its last partial. */
  gaps = 0;

  override pass(fields: ByteFields): void {
    this.number = fields.signed(this.number);
    this.closed = fields.number(this.closed);
    this.isEnded = fields.flag('ended', this.isEnded);
  }
}

interface Waiting {
  readonly partial: NetworkPartial;
  isKept: boolean;
}

/** The partials that wait for their slice to be complete, and the known sides. */
export class Arrivals {
  /** Slices in which something may be missing. */
  readonly missing = new MissingSpans();
  readonly #capacity: number;
  readonly #sides = new Registry(KEY.SIDE, 1, MOST_SIDES, (words) => new SideEntry(words));
  /** By slice. */
  readonly #waiting = new Map<number, Waiting[]>();
  /** Partials that wait. */
  count = 0;
  #gaps = 0;
  #gone: Uint8Array[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get isFull(): boolean {
    return this.count >= this.#capacity;
  }

  /**
   * Notes a partial, and keeps it if its slice is open.
   * @returns `told` if it contains only the side's progress; `late` if its slice is closed
   */
  offer(partial: NetworkPartial, openSlice: number): 'kept' | 'told' | 'repeated' | 'late' {
    const { side, slice, number, closed, whole, ended, broken } = partial;
    const entry = this.#sides.take([side]);
    if (entry !== null) {
      if (number <= entry.number) return 'repeated';
      const before = entry.number < 0 ? Math.min(slice, closed) : entry.closed;
      if (!whole || entry.gaps < this.#gaps) this.missing.add(before, closed);
      if (broken !== null) this.missing.add(...broken);
      entry.gaps = this.#gaps;
      entry.number = number;
      entry.isEnded = ended;
      entry.closed = Math.max(entry.closed, closed);
      entry.lastSlice = Math.max(entry.lastSlice, slice);
    }
    if (isEmpty(partial)) return 'told';
    if (slice < openSlice) return 'late';
    const waiting = this.#waiting.get(slice);
    if (waiting === undefined) this.#waiting.set(slice, [{ partial, isKept: false }]);
    else waiting.push({ partial, isKept: false });
    this.count++;
    return 'kept';
  }

  /** Notes that partials may have been lost. Slices closed by each side's next partial are then incomplete. */
  gap(): void {
    this.#gaps++;
  }

  /** The number of sides that have not ended, and the last slices closed by the slowest and by the fastest of them. */
  sides(): { readonly count: number; readonly least: number; readonly most: number } {
    let count = 0;
    let least = Number.POSITIVE_INFINITY;
    let most = -1;
    this.#sides.visit(({ closed, isEnded }) => {
      if (isEnded) return false;
      count++;
      least = Math.min(least, closed - 1);
      most = Math.max(most, closed - 1);
      return false;
    });
    return { count, least, most };
  }

  /** The last slice of the side that was silent for longest; infinity without sides. */
  leastHeard(): number {
    let least = Number.POSITIVE_INFINITY;
    this.#sides.visit(({ lastSlice }) => {
      least = Math.min(least, lastSlice);
      return false;
    });
    return least;
  }

  /** Forgets sides that were not heard since `slice`. */
  forget(slice: number): void {
    this.#sides.forget(slice);
  }

  /** The earliest slice with waiting partials; infinity if there is none. */
  earliest(): number {
    return [...this.#waiting.keys()].reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  }

  /** The latest slice with waiting partials; -1 if there is none. */
  latest(): number {
    return [...this.#waiting.keys()].reduce((a, b) => Math.max(a, b), -1);
  }

  /** Removes the partials of a slice, and returns them in the order of their sides. */
  take(slice: number): NetworkPartial[] {
    const waiting = this.#waiting.get(slice);
    if (waiting === undefined) return [];
    this.#waiting.delete(slice);
    this.count -= waiting.length;
    for (const { partial, isKept } of waiting) if (isKept) this.#gone.push(keyOf(partial));
    return waiting.map(({ partial }) => partial).sort((a, b) => a.side - b.side || a.number - b.number);
  }

  changes(into: StateChange[]): void {
    this.#sides.changes(into);
    for (const key of this.#gone) into.push({ key, value: null });
    this.#gone = [];
    for (const all of this.#waiting.values()) {
      for (const waiting of all) {
        if (waiting.isKept) continue;
        waiting.isKept = true;
        into.push({ key: keyOf(waiting.partial), value: encodePartial(waiting.partial) });
      }
    }
  }

  /** @returns whether the key belongs here */
  restore(key: Uint8Array, value: Uint8Array): boolean {
    if (key[0] === KEY.SIDE) {
      this.#sides.restore(key, value);
      return true;
    }
    if (key[0] !== KEY.PARTIAL) return false;
    const partial = decodePartial(value);
    if (keyOf(partial).join() !== key.join())
      throw new StreamError('ERR_STREAM_MISMATCH', 0, 'a partial under the key of another');
    const waiting = this.#waiting.get(partial.slice) ?? [];
    this.#waiting.set(partial.slice, waiting);
    waiting.push({ partial, isKept: true });
    this.count++;
    return true;
  }
}

function isEmpty({ switches, links, queues, reporters, refused }: NetworkPartial): boolean {
  return switches.length + links.length + queues.length + reporters.length === 0 && isNone(refused);
}

function keyOf({ side, number }: NetworkPartial): Uint8Array {
  const writer = new ByteWriter();
  writer.byte(KEY.PARTIAL);
  writer.word(side);
  writer.number(number);
  return writer.take();
}
