import { lineColumn } from '../source/position.js';
import type { ReadPlace } from './poison.js';

/** A place in a program, as editors count: lines and columns from 1. */
export interface PlaceOfRead {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** What is read there, such as `hdr.udp.length`. */
  readonly what: string;
}

/** Something that a program does with a value that nothing has defined. */
export interface UndefinedRead {
  /** What the value decides: `condition`, `table key`, `emit`, ... */
  readonly use: string;
  readonly place: PlaceOfRead;
  /** Reads of undefined values in the packet before, the first one first: where the value may come from. At most 8. */
  readonly reads: readonly PlaceOfRead[];
  /** How often: by packets that passed a pipeline, each place once or more in a packet. */
  count: number;
}

function describe({ span, what }: ReadPlace): PlaceOfRead {
  const { line, column } = lineColumn(span.file, span.start);
  return { file: span.file.name, line, column, what };
}

/** The undefined reads that were found: one for each place where they decide something. */
export class UndefinedReads {
  readonly #found = new Map<string, UndefinedRead>();
  readonly #byPlace = new Map<ReadPlace, UndefinedRead>();

  /** @param onFound called when a place is met for the first time */
  constructor(readonly onFound: (read: UndefinedRead) => void) {}

  add(place: ReadPlace, origins: readonly ReadPlace[]): void {
    let found = this.#byPlace.get(place);
    if (found === undefined) {
      const described = describe(place);
      // What is specialised several times stands in the program once.
      const key = `${textOf(described)} ${described.what} ${place.use}`;
      const known = this.#found.get(key);
      found = known ?? { use: place.use, place: described, reads: origins.map(describe), count: 0 };
      this.#found.set(key, found);
      this.#byPlace.set(place, found);
      found.count++;
      if (known === undefined) this.onFound(found);
      return;
    }
    found.count++;
  }

  get list(): readonly UndefinedRead[] {
    return [...this.#found.values()];
  }
}

function textOf({ file, line, column }: PlaceOfRead): string {
  return `${file}:${line}:${column}`;
}

/** An undefined read as text, in one line: `FILE:LINE:COLUMN: USE depends on an undefined value: ...`. */
export function formatUndefinedRead({ use, place, reads, count }: UndefinedRead): string {
  const own = textOf(place);
  const others = reads.filter((each) => textOf(each) !== own || each.what !== place.what);
  const from =
    others.length === 0 ? '' : `; read before: ${others.map((each) => `${each.what} at ${textOf(each)}`).join(', ')}`;
  const often = count === 1 ? '' : ` (${count} times)`;
  return `${own}: ${use} depends on an undefined value: ${place.what}${from}${often}`;
}
