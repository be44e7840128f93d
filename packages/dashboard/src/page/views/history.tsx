import { useEffect, useRef, useState } from 'preact/hooks';
import type { QueryAnswer } from '../../client/index.js';
import { clockText, countText, durationText, localText } from '../format/text.js';
import { ResultChart } from '../history/result-chart.js';
import { SAVED, savedQueries, saveQuery } from '../history/saved-queries.js';
import { Empty, Panel } from '../parts/panel.js';
import { client, messageOf, newest, status } from '../state/connection.js';
import { useKeys } from '../state/keyboard.js';
import { at, go, keep, kept, replay, span } from '../state/location.js';

const LIMIT = 1000;
const SHOWN = 500;
const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 100] as const;

/** SQL over what was stored, and any minute of the past once more through all views. */
export function HistoryView() {
  const has = status.value?.has;
  return (
    <div class="split history">
      <Replay isThere={has?.replay ?? false} />
      {has === undefined || has.history ? (
        <Query />
      ) : (
        <Panel title="SQL over the history">
          <Empty>
            No history is written. With a sink <code>parquet:</code> in int.yaml, reports, events and flows are kept in
            Parquet files, and this view asks them with SQL.
          </Empty>
        </Panel>
      )}
    </div>
  );
}

function Query() {
  const [text, setText] = useState(kept('sql') || SAVED[0]!.sql);
  const [answer, setAnswer] = useState<QueryAnswer | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isRunning, setRunning] = useState(false);
  const [saved, setSaved] = useState(savedQueries);
  const area = useRef<HTMLTextAreaElement>(null);
  const controller = useRef<AbortController | null>(null);

  const run = async (sql: string): Promise<void> => {
    controller.current?.abort();
    const mine = new AbortController();
    controller.current = mine;
    setRunning(true);
    setError(null);
    keep({ sql });
    try {
      const found = await client.query(sql, LIMIT, { signal: mine.signal });
      if (!mine.signal.aborted) setAnswer(found);
    } catch (reason) {
      if (!mine.signal.aborted) setError(messageOf(reason));
    }
    if (!mine.signal.aborted) setRunning(false);
  };
  // A query in the address runs at once.
  useEffect(() => {
    if (kept('sql') !== '') void run(kept('sql'));
    return () => controller.current?.abort();
  }, []);
  useKeys([
    { key: 'q', text: 'write a query', run: () => area.current?.focus() },
    { key: 'x', text: 'run the query', run: () => void run(text) },
  ]);
  const take = (sql: string): void => {
    setText(sql);
    void run(sql);
  };
  return (
    <>
      <Panel
        title="SQL over the history"
        note="tables reports, hops, events, flows"
        error={error}
        tools={
          <>
            <select
              aria-label="Saved queries"
              value=""
              onChange={(event) => event.currentTarget.value !== '' && take(event.currentTarget.value)}
            >
              <option value="">saved queries</option>
              {[...SAVED, ...saved].map(({ name, sql }) => (
                <option key={name} value={sql}>
                  {name}
                </option>
              ))}
            </select>
            <button type="button" onClick={() => setSaved(saveQuery(text))}>
              Save
            </button>
            {isRunning ? (
              <button
                type="button"
                onClick={() => {
                  controller.current?.abort();
                  setRunning(false);
                }}
              >
                Stop
              </button>
            ) : (
              <button type="button" class="primary" onClick={() => void run(text)}>
                Run
              </button>
            )}
          </>
        }
      >
        <textarea
          ref={area}
          class="sql"
          aria-label="SQL"
          rows={4}
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              void run(text);
            }
          }}
        />
        <p class="dim">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs it. The server limits time, rows and memory.
        </p>
      </Panel>
      {answer === null ? <Empty>{isRunning ? 'Running…' : 'No query has run yet.'}</Empty> : <Result answer={answer} />}
    </>
  );
}

function Result({ answer }: { readonly answer: QueryAnswer }) {
  const { columns, rows, truncated, ms } = answer;
  return (
    <div class="result">
      <Panel title="Chart">
        <ResultChart answer={answer} />
      </Panel>
      <Panel
        title="Result"
        note={`${countText(rows.length)} rows in ${durationText(ms)}${truncated ? ', cut off at the limit' : ''}`}
        isFlush
      >
        {rows.length === 0 ? (
          <Empty>The query found nothing.</Empty>
        ) : (
          <table>
            <thead>
              <tr>
                {columns.map(({ name, type }) => (
                  <th key={name} title={type} class={/INT|DOUBLE|FLOAT|DECIMAL/.test(type) ? 'num' : ''}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, SHOWN).map((row, index) => (
                <tr key={`${index}`}>
                  {row.map((value, column) => (
                    <td key={columns[column]?.name} class={typeof value === 'number' ? 'num' : 'cut flow'}>
                      {cellText(value)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Panel>
    </div>
  );
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Plays a range of time once more through all views. */
function Replay({ isThere }: { readonly isThere: boolean }) {
  const end = at.value ?? newest.value ?? Date.now();
  const [from, setFrom] = useState(() => localText(end - span.value * 1000));
  const [to, setTo] = useState(() => localText(end));
  const [speed, setSpeed] = useState(1);
  const [error, setError] = useState<string | null>(null);
  const retained = status.value?.retained;
  const start = async (): Promise<void> => {
    setError(null);
    const [first, last] = [Date.parse(from), Date.parse(to)];
    if (Number.isNaN(first) || Number.isNaN(last) || first >= last) {
      setError('The range ends before it begins.');
      return;
    }
    try {
      const { id } = await client.startReplay(first, last, speed);
      go({ replay: id, view: 'now', at: null });
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  useKeys([{ key: 'p', text: 'play the range', run: () => void start() }]);
  const note =
    replay.value !== null
      ? 'a replay is shown now'
      : retained?.from == null
        ? undefined
        : `retained since ${clockText(retained.from, 0)}`;
  return (
    <Panel title="Replay" note={note} error={error}>
      {isThere ? (
        <div class="row wrap">
          <label class="row">
            from
            <input
              type="datetime-local"
              step="0.1"
              value={from}
              onChange={(event) => setFrom(event.currentTarget.value)}
            />
          </label>
          <label class="row">
            to
            <input type="datetime-local" step="0.1" value={to} onChange={(event) => setTo(event.currentTarget.value)} />
          </label>
          <label class="row">
            speed
            <select value={String(speed)} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
              {SPEEDS.map((each) => (
                <option key={each} value={String(each)}>
                  {each}×
                </option>
              ))}
            </select>
          </label>
          <button type="button" class="primary" onClick={() => void start()}>
            Play
          </button>
          {replay.value !== null && (
            <button type="button" onClick={() => go({ replay: null, at: null })}>
              Back to the network
            </button>
          )}
          <span class="dim">
            All views show the replay, with a clock of its own. The network is collected as before.
          </span>
        </div>
      ) : (
        <Empty>Nothing can be replayed: this dashboard retains no reports, and has no history.</Empty>
      )}
    </Panel>
  );
}
