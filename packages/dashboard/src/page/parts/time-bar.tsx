import { useEffect, useRef } from 'preact/hooks';
import { clockText, durationText, localText } from '../format/text.js';
import { isLive, newest, status } from '../state/connection.js';
import { useKeys } from '../state/keyboard.js';
import { at, go, SPANS, span } from '../state/location.js';

/** Stops the page at the newest moment, or lets it go on. The collector never stops. */
function togglePause(): void {
  go({ at: isLive.value ? (newest.value ?? Date.now()) : null });
}

/** Moves the time at which the page is stopped; from now on, if it was not. */
function move(byMs: number): void {
  const from = at.value ?? newest.value;
  if (from === null) return;
  // Older times come from the history, if there is one.
  const oldest = status.value?.has.history ? 0 : (status.value?.retained.from ?? from);
  go({ at: Math.max(oldest, Math.min(newest.value ?? from, from + byMs)) }, true);
}

function widen(by: 1 | -1): void {
  const index = SPANS.findIndex((each) => each >= span.value);
  const next = SPANS[Math.max(0, Math.min(SPANS.length - 1, (index < 0 ? SPANS.length - 1 : index) + by))];
  if (next !== undefined) go({ span: next });
}

/** The one time that all parts show. */
export function TimeBar() {
  const clock = useRef<HTMLSpanElement>(null);
  const stopped = at.value;
  useKeys([
    { key: ' ', text: 'pause the page, or go on', run: togglePause },
    { key: 'l', text: 'live', run: () => go({ at: null }) },
    { key: 'ArrowLeft', text: 'a second earlier', run: ({ shiftKey }) => move(shiftKey ? -10_000 : -1000) },
    { key: 'ArrowRight', text: 'a second later', run: ({ shiftKey }) => move(shiftKey ? 10_000 : 1000) },
    { key: ',', text: '100 ms earlier', run: () => move(-100) },
    { key: '.', text: '100 ms later', run: () => move(100) },
    { key: '-', text: 'longer span of time', run: () => widen(1) },
    { key: '+', text: 'shorter span of time', run: () => widen(-1) },
  ]);
  // The time runs without drawing the page anew.
  useEffect(
    () =>
      newest.subscribe((time) => {
        if (clock.current !== null) clock.current.textContent = time === null ? '–' : clockText(time);
      }),
    [stopped === null],
  );
  return (
    <fieldset class="row" aria-label="Time">
      <label class="row">
        <span class="hidden">Span of time</span>
        <select value={String(span.value)} onChange={(event) => go({ span: Number(event.currentTarget.value) })}>
          {[...new Set([...SPANS, span.value])]
            .sort((a, b) => a - b)
            .map((seconds) => (
              <option key={seconds} value={String(seconds)}>
                {durationText(seconds * 1000)}
              </option>
            ))}
        </select>
      </label>
      <button type="button" aria-pressed={stopped !== null} title="space" onClick={togglePause}>
        {stopped === null ? 'Pause' : 'Paused'}
      </button>
      <button type="button" aria-pressed={stopped === null} title="l" onClick={() => go({ at: null })}>
        Live
      </button>
      {stopped === null ? (
        <span class="clock mono" ref={clock} />
      ) : (
        <label class="row">
          <span class="hidden">Time that is shown</span>
          <input
            type="datetime-local"
            class="clock"
            step="0.1"
            value={localText(stopped)}
            onChange={(event) => {
              const chosen = Date.parse(event.currentTarget.value);
              if (!Number.isNaN(chosen)) go({ at: chosen });
            }}
          />
        </label>
      )}
    </fieldset>
  );
}
