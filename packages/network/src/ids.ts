/** Switch ids as keys of a description: one, or a range. */

const ID = /^(?:0|[1-9]\d{0,9})$/;
const MOST_ID = 0xffffffff;

/** A switch or port number, 0 to 2^32 - 1; `null` if the text is none. */
export function idOf(text: string): number | null {
  if (!ID.test(text)) return null;
  const id = Number(text);
  return id <= MOST_ID ? id : null;
}

/** Ids `from` to `to`, both included. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

/** Reads `3`, `3-5` or `3, 7-9`; `null` if the text is no list of ids. */
export function idRangesOf(text: string): IdRange[] | null {
  const ranges: IdRange[] = [];
  for (const piece of text.split(',')) {
    const [first = '', last = first, ...more] = piece.trim().split('-');
    const from = idOf(first.trim());
    const to = idOf(last.trim());
    if (from === null || to === null || from > to || more.length > 0) return null;
    ranges.push({ from, to });
  }
  return ranges;
}
