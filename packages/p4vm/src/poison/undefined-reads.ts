import { lineColumn } from '../source/position.js';
import type { ReadPlace } from './poison.js';

/** A place in a program. Lines and columns count from 1. */
export interface PlaceOfRead {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The expression that is read, such as `hdr.udp.length`. */
  readonly what: string;
}

/** A decision of a program that depends on an undefined value. */
export interface UndefinedRead {
  /** The kind of decision: `condition`, `table key`, `emit`, ... */
  readonly use: string;
  readonly place: PlaceOfRead;
  /** Earlier reads of undefined values in the packet, in order: the possible origins of the value. At most 8. */
  readonly reads: readonly PlaceOfRead[];
  /** Number of times that poison mode found this decision. One packet may count more than once. */
  count: number;
}

function describe({ span, what }: ReadPlace): PlaceOfRead {
  const { line, column } = lineColumn(span.file, span.start);
  return { file: span.file.name, line, column, what };
}

/** The undefined reads found: one per place of a decision. */
export class UndefinedReads {
  readonly #found = new Map<string, UndefinedRead>();
  readonly #byPlace = new Map<ReadPlace, UndefinedRead>();

  /** @param onFound called once per place, when it is found */
  constructor(readonly onFound: (read: UndefinedRead) => void) {}

  add(place: ReadPlace, origins: readonly ReadPlace[]): void {
    const found = this.#byPlace.get(place) ?? this.#find(place, origins);
    found.count++;
    if (found.count === 1) this.onFound(found);
  }

  /** The read at a place, new or known: several specialisations share one place in the program. */
  #find(place: ReadPlace, origins: readonly ReadPlace[]): UndefinedRead {
    const described = describe(place);
    const key = `${textOf(described)} ${described.what} ${place.use}`;
    const found = this.#found.get(key) ?? { use: place.use, place: described, reads: origins.map(describe), count: 0 };
    this.#found.set(key, found);
    this.#byPlace.set(place, found);
    return found;
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
