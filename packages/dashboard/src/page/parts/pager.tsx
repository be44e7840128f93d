import { useEffect, useRef } from 'preact/hooks';
import { countText } from '../format/text.js';
import type { Paging } from '../state/pages.js';

/** Goes to newer and older rows of a list; not there where all are shown. */
export function Pager({ paging, what }: { readonly paging: Paging; readonly what: string }) {
  const { place, newer, older, keys } = paging;
  const shown = useRef<HTMLSpanElement>(null);
  // Another page begins at its top.
  useEffect(() => shown.current?.closest('.panel')?.querySelector('.flush')?.scrollTo(0, 0), [place]);
  return (
    <span class="pager" ref={shown}>
      {(newer !== null || older !== null) && (
        <>
          <button
            type="button"
            title={`newer (${keys[0]})`}
            aria-label={`Newer ${what}`}
            disabled={newer === null}
            onClick={() => newer?.()}
          >
            ‹
          </button>
          <button
            type="button"
            title={`older (${keys[1]})`}
            aria-label={`Older ${what}`}
            disabled={older === null}
            onClick={() => older?.()}
          >
            ›
          </button>
        </>
      )}
    </span>
  );
}

/** `201–400 of 1,234`; nothing if all are shown. */
export function rangeText(
  come: { readonly rows: readonly unknown[]; readonly matched: number; readonly newer: number } | null,
): string {
  if (come === null || come.rows.length === come.matched) return '';
  if (come.rows.length === 0) return `none of ${countText(come.matched)}`;
  const { rows, newer, matched } = come;
  return `${countText(newer + 1)}–${countText(newer + rows.length)} of ${countText(matched)}, the newest first`;
}
