import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Filter, FilterError } from '../../filter/index.js';
import { suggestionsFor } from '../state/filter-words.js';
import { useKeys } from '../state/keyboard.js';
import { filter, go } from '../state/location.js';

/** The one filter of all parts. Mistakes show while one types; Enter or a pause applies what can be read. */
export function FilterBar() {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(filter.value);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const applied = filter.value;
  useEffect(() => setText(applied), [applied]);
  useKeys([{ key: '/', text: 'filter', run: () => input.current?.focus() }]);

  const mistake = useMemo(() => mistakeOf(text), [text]);
  const words = isOpen ? suggestionsFor(text, input.current?.selectionStart ?? text.length) : [];

  useEffect(() => {
    if (mistake !== null || text === applied) return;
    const timer = setTimeout(() => go({ filter: text.trim() }, true), 400);
    return () => clearTimeout(timer);
  }, [text, mistake, applied]);

  const take = (index: number): void => {
    const word = words[index];
    if (word === undefined) return;
    const next = `${text.slice(0, word.start)}${word.text}${text.slice(word.end)}`;
    setText(next);
    setChosen(-1);
    const at = word.start + word.text.length;
    requestAnimationFrame(() => input.current?.setSelectionRange(at, at));
  };

  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (words.length === 0) return;
      event.preventDefault();
      setChosen((now) => (now + (event.key === 'ArrowDown' ? 1 : -1) + words.length) % words.length);
    } else if ((event.key === 'Enter' || event.key === 'Tab') && chosen >= 0) {
      event.preventDefault();
      take(chosen);
    } else if (event.key === 'Enter' && mistake === null) {
      go({ filter: text.trim() });
      input.current?.blur();
    }
  };

  return (
    <div class="filter">
      <input
        ref={input}
        type="search"
        spellcheck={false}
        autocomplete="off"
        // biome-ignore lint/a11y/noRedundantRoles: only an input with a list has this role by itself
        role="combobox"
        list={undefined}
        aria-label="Filter for all views"
        aria-expanded={words.length > 0}
        aria-controls="filter-words"
        aria-activedescendant={chosen >= 0 && chosen < words.length ? `filter-word-${chosen}` : undefined}
        aria-invalid={mistake !== null}
        placeholder="switch=leaf-1 and latency>500us"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(-1);
        }}
        onKeyDown={onKey}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
      />
      {isOpen && (mistake !== null || words.length > 0) && (
        <div class="menu">
          {mistake !== null && (
            <p class="mistake mono" role="alert">
              {text.slice(0, mistake.span.start)}
              <u>{text.slice(mistake.span.start, mistake.span.end) || '␣'}</u>
              {text.slice(mistake.span.end)}
              {'\n'}
              {mistake.message}
            </p>
          )}
          <div id="filter-words" role="listbox" aria-label="What can be written here">
            {words.map((word, index) => (
              <div
                key={word.text}
                id={`filter-word-${index}`}
                class="choice"
                role="option"
                tabIndex={-1}
                aria-selected={index === chosen}
                onPointerDown={(event) => {
                  event.preventDefault();
                  take(index);
                }}
              >
                <code>{word.text}</code>
                <span class="dim cut">{word.about}</span>
              </div>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}

function mistakeOf(text: string): FilterError | null {
  try {
    new Filter(text);
    return null;
  } catch (error) {
    if (FilterError.is(error)) return error;
    throw error;
  }
}
