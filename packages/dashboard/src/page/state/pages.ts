import { useKeys } from './keyboard.js';
import { keep, kept } from './location.js';

/** Rows of a page of a list. */
export const PAGE = 200;

/** What has come of a list: a page, and how many there are. */
interface Come {
  readonly rows: readonly { readonly id: string | number }[];
  readonly matched: number;
  readonly newer: number;
}

/** A page of a list, the newest first. The address has which. */
export interface Paging {
  /** As the address has it: `before ID`, `after ID`; empty: the newest. */
  readonly place: string;
  /** For the question. */
  readonly beside: { readonly before?: string; readonly after?: string };
  readonly newer: (() => void) | null;
  readonly older: (() => void) | null;
  /** Of the keys, `newer` and `older`. */
  readonly keys: readonly [string, string];
}

/** What the address says of a page: in it, under this name. */
export function besideOf(name: string): Pick<Paging, 'place' | 'beside'> {
  const place = kept(name);
  const [, which, id] = /^(before|after) (.+)$/s.exec(place) ?? [];
  return which === undefined ? { place: '', beside: {} } : { place, beside: { [which]: id } };
}

/**
 * Goes from page to page, by keys too.
 * @param come what was asked for with {@link besideOf}; `null`: nothing yet
 * @param what the rows are, for the help
 */
export function usePaging(
  name: string,
  come: Come | null,
  what: string,
  keys: readonly [newer: string, older: string],
): Paging {
  const { place, beside } = besideOf(name);
  const show = (other: string): void => keep({ [name]: other }, false);
  const first = come?.rows[0];
  const last = come?.rows.at(-1);
  // The newest are shown as they come, also those of a page whose row is forgotten.
  const isNextNewest = come === null || first === undefined || come.newer <= PAGE;
  const newer =
    place === '' || (come !== null && come.newer === 0 && first === undefined && come.matched > 0)
      ? null
      : () => show(isNextNewest ? '' : `after ${first.id}`);
  const older =
    come === null || last === undefined || come.newer + come.rows.length >= come.matched
      ? null
      : () => show(`before ${last.id}`);
  useKeys([
    { key: keys[0], text: `${what}: newer ones`, run: () => newer?.() },
    { key: keys[1], text: `${what}: older ones`, run: () => older?.() },
  ]);
  return { place, beside, newer, older, keys };
}
