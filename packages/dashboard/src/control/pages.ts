/** Parts of the lists of a controller. */
import { ApiError } from '../server/api-error.js';
import type { PageQuestion } from './questions.js';

/** Some rows of a list, the newest first. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** How many there are as asked for, and how many of these are newer than `rows`. */
  readonly matched: number;
  readonly newer: number;
  readonly empty: string | null;
}

/** Where rows stand in a list, the newest first: from an index to another. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * @param meant those that are asked for, the newest first
 * @param all of how many
 * @param empty why there is none, where there is none at all
 * @throws ApiError `ERR_NOT_FOUND` if the row that the page is beside is not among them
 */
export function pageOf<Row extends { readonly id: string | number }>(
  meant: readonly Row[],
  all: number,
  asked: PageQuestion<string>,
  empty: string,
): Page<Row> {
  const indexOf = (id: string): number => {
    const index = meant.findIndex((row) => row.id === id);
    if (index === -1) throw new ApiError(404, 'ERR_NOT_FOUND', `${id} is not among the rows that are asked for`);
    return index;
  };
  const { before, after } = asked;
  const olderFrom = before === null ? 0 : indexOf(before) + 1;
  return cut(meant, all, rangeOf(meant.length, asked.limit, olderFrom, after === null ? null : indexOf(after)), empty);
}

/** The same of rows whose ids rise: the one that the page is beside may be forgotten by now. */
export function risingPageOf<Row extends { readonly id: number }>(
  meant: readonly Row[],
  all: number,
  asked: PageQuestion<number>,
  empty: string,
): Page<Row> {
  const { before, after } = asked;
  /** How many there are from the newest to the last one that holds: the first that does not is next. */
  const count = (holds: (id: number) => boolean): number => {
    const index = meant.findIndex(({ id }) => !holds(id));
    return index === -1 ? meant.length : index;
  };
  const olderFrom = before === null ? 0 : count((id) => id >= before);
  const newerTo = after === null ? null : count((id) => id > after);
  return cut(meant, all, rangeOf(meant.length, asked.limit, olderFrom, newerTo), empty);
}

function rangeOf(count: number, limit: number, olderFrom: number, newerTo: number | null): Range {
  return newerTo === null
    ? { from: olderFrom, to: Math.min(count, olderFrom + limit) }
    : { from: Math.max(0, newerTo - limit), to: newerTo };
}

function cut<Row>(meant: readonly Row[], all: number, { from, to }: Range, empty: string): Page<Row> {
  const rows = meant.slice(from, to);
  return { rows, matched: meant.length, newer: from, empty: emptyOf(rows, meant.length, all, empty, from) };
}

/** Why there are no rows; `null`: there are. */
export function emptyOf(
  rows: readonly unknown[],
  matched: number,
  all: number,
  empty: string,
  newer = 0,
): string | null {
  if (rows.length > 0) return null;
  if (all === 0) return empty;
  if (matched === 0) return `none of ${all} is as asked for`;
  return newer > 0 ? 'there are no older ones' : 'there are no newer ones';
}
