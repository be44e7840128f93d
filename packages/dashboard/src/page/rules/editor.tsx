import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RuleProblem } from '../../client/index.js';

interface EditorProps {
  readonly text: string;
  readonly problems: readonly RuleProblem[];
  /** For completion. */
  readonly words: readonly string[];
  readonly isReadOnly: boolean;
  /** The line to show, from 1. */
  readonly line: number | null;
  readonly onInput: (text: string) => void;
}

const MOST_WORDS = 8;
const LINE_PX = 18;

/** YAML with the numbers of its lines, its mistakes, and words that fit where one types. */
export function Editor({ text, problems, words, isReadOnly, line, onInput }: EditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLPreElement>(null);
  const [part, setPart] = useState('');
  const marked = useMemo(() => new Map(problems.map((each) => [each.line, each.severity])), [problems]);
  const count = text.split('\n').length;
  const fitting =
    part.length < 2
      ? []
      : words.filter((word) => word.toLowerCase().startsWith(part.toLowerCase()) && word !== part).slice(0, MOST_WORDS);

  useEffect(() => {
    if (line !== null && area.current !== null) area.current.scrollTop = Math.max(0, (line - 4) * LINE_PX);
  }, [line]);

  const partAt = (element: HTMLTextAreaElement): string =>
    /[A-Za-z][\w.-]*$/.exec(element.value.slice(0, element.selectionStart))?.[0] ?? '';
  const complete = (word: string): void => {
    const element = area.current!;
    const end = element.selectionStart;
    element.setRangeText(word, end - part.length, end, 'end');
    element.focus();
    setPart('');
    onInput(element.value);
  };
  const goTo = ({ line: row, column }: RuleProblem): void => {
    const element = area.current!;
    const before = text.split('\n').slice(0, row - 1);
    const start = before.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    element.focus();
    element.setSelectionRange(start, start);
    element.scrollTop = Math.max(0, (row - 4) * LINE_PX);
  };
  return (
    <div class="editor">
      <div class="sheet">
        <pre ref={gutter} class="gutter" aria-hidden="true">
          {Array.from({ length: count }, (_, index) => {
            const kind = marked.get(index + 1);
            return (
              <div key={`${index + 1}`} class={kind === undefined ? '' : kind === 'error' ? 'bad' : 'warn'}>
                {kind === undefined ? '' : '● '}
                {index + 1}
              </div>
            );
          })}
        </pre>
        <textarea
          ref={area}
          aria-label="Rules as YAML"
          aria-invalid={problems.some(({ severity }) => severity === 'error')}
          spellcheck={false}
          wrap="off"
          readOnly={isReadOnly}
          value={text}
          onInput={(event) => {
            setPart(partAt(event.currentTarget));
            onInput(event.currentTarget.value);
          }}
          onScroll={(event) => {
            if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
          onBlur={() => setTimeout(() => setPart(''), 200)}
          onKeyDown={(event) => {
            if (event.key === 'Tab' && !event.shiftKey && fitting[0] !== undefined) {
              event.preventDefault();
              complete(fitting[0]);
            } else if (event.key === 'Escape' && fitting.length > 0) {
              event.stopPropagation();
              setPart('');
            }
          }}
        />
      </div>
      {fitting.length > 0 && (
        <fieldset class="row wrap words" aria-label="Words that fit">
          <span class="dim">
            <kbd>Tab</kbd>
          </span>
          {fitting.map((word) => (
            <button key={word} type="button" onClick={() => complete(word)}>
              {word}
            </button>
          ))}
        </fieldset>
      )}
      <ul class="problems" aria-live="polite">
        {problems.map((problem) => (
          <li key={`${problem.line}:${problem.column} ${problem.message}`}>
            <button
              type="button"
              class={problem.severity === 'error' ? 'link bad' : 'link warn'}
              onClick={() => goTo(problem)}
            >
              <span class="mono">
                {problem.line}:{problem.column}
              </span>{' '}
              {problem.message}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
