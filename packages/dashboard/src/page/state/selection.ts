import { useEffect, useRef, useState } from 'preact/hooks';
import { useKeys } from './keyboard.js';

/** Whether all parts stand below one another: see narrow.css. */
export const isNarrow = (): boolean => matchMedia('(max-width: 760px)').matches;

/**
 * A row of a list that `j` and `k` move.
 * @param count rows there are
 * @param open what Enter does
 */
export function useSelection(
  count: number,
  what: string,
  open: (row: number) => void,
): { readonly row: number; readonly select: (row: number) => void } {
  const [row, select] = useState(-1);
  const move = (by: number): void => {
    if (count > 0) select((now) => Math.max(0, Math.min(count - 1, now < 0 ? (by > 0 ? 0 : count - 1) : now + by)));
  };
  useKeys([
    { key: 'j', text: `next ${what}`, run: () => move(1) },
    { key: 'k', text: `previous ${what}`, run: () => move(-1) },
    { key: 'ArrowDown', text: '', run: () => move(1) },
    { key: 'ArrowUp', text: '', run: () => move(-1) },
    { key: 'g', text: `first ${what}`, run: () => select(count > 0 ? 0 : -1) },
    { key: 'G', text: `last ${what}`, run: () => select(count - 1) },
    { key: 'Enter', text: `open the ${what}`, run: () => row >= 0 && row < count && open(row) },
  ]);
  useEffect(() => {
    // In one column the page itself would move, away from what was opened.
    if (row >= 0 && !isNarrow())
      document.querySelector('[data-row][aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [row]);
  return { row: row < count ? row : -1, select };
}

/** A selection that stays with its row when others come before it. @param ids of the rows, in their order */
export function useSelectionOf(
  ids: readonly string[],
  what: string,
  open: (row: number) => void,
): ReturnType<typeof useSelection> {
  const selection = useSelection(ids.length, what, open);
  const { row, select } = selection;
  const chosen = useRef<string | null>(null);
  useEffect(() => {
    chosen.current = ids[row] ?? null;
  }, [row]);
  useEffect(() => {
    const index = chosen.current === null ? -1 : ids.indexOf(chosen.current);
    if (index >= 0 && index !== row) select(index);
  }, [ids.join('\n')]);
  return selection;
}
