import { useEffect, useRef, useState } from 'preact/hooks';
import type { QueryAnswer, ReplayAnswer, SavedQueriesAnswer } from '../../client/index.js';
import { bytesText, clockText, countText, durationText, leftOutText, localText } from '../format/text.js';
import { ResultChart } from '../history/result-chart.js';
import { nameOf, SAVED } from '../history/saved-queries.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
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
  const [changed, setChanged] = useState<SavedQueriesAnswer | null>(null);
  const asked = useAnswer('saved queries', (signal) => client.savedQueries({ signal }));
  const saved = (changed ?? asked.data)?.queries ?? [];
  const isSaved = saved.some(({ name, sql }) => name === nameOf(text) && sql === text);
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
  const change = async (ask: () => Promise<SavedQueriesAnswer>): Promise<void> => {
    setError(null);
    try {
      setChanged(await ask());
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
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
            {status.value?.readOnly !== true && (
              <button
                type="button"
                disabled={nameOf(text) === ''}
                title={
                  isSaved
                    ? 'for all who look at this dashboard'
                    : 'under its first line, for all who look at this dashboard'
                }
                onClick={() =>
                  void change(() => (isSaved ? client.removeQuery(nameOf(text)) : client.saveQuery(nameOf(text), text)))
                }
              >
                {isSaved ? 'Remove' : 'Save'}
              </button>
            )}
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

/** What a replay plays if it is no capture. */
const RANGE = '';

/** Plays a range of time, or a capture, once more through all views. */
function Replay({ isThere }: { readonly isThere: boolean }) {
  const end = at.value ?? newest.value ?? Date.now();
  const [capture, setCapture] = useState(RANGE);
  const [from, setFrom] = useState(() => localText(end - span.value * 1000));
  const [to, setTo] = useState(() => localText(end));
  const [speed, setSpeed] = useState(1);
  const [error, setError] = useState<string | null>(null);
  const [isStarting, setStarting] = useState(false);
  const hasCaptures = status.value?.has.captures === true;
  const captures = useAnswer('captures', hasCaptures ? (signal) => client.captures({ signal }) : null);
  const retained = status.value?.retained;
  const start = async (): Promise<void> => {
    setError(null);
    const [first, last] = [Date.parse(from), Date.parse(to)];
    if (capture === RANGE && (Number.isNaN(first) || Number.isNaN(last) || first >= last)) {
      setError('The range ends before it begins.');
      return;
    }
    setStarting(true);
    try {
      const { id } = await client.startReplay(capture === RANGE ? { from: first, to: last } : { capture }, speed);
      go({ replay: id, view: 'now', at: null });
    } catch (reason) {
      setError(messageOf(reason));
    }
    setStarting(false);
  };
  useKeys([{ key: 'p', text: 'play the range', run: () => void start() }]);
  const note =
    replay.value !== null
      ? 'a replay is shown now'
      : retained?.from == null
        ? undefined
        : `retained since ${clockText(retained.from, 0)}${status.value?.has.history ? '; older times come from the history' : ''}`;
  return (
    <Panel title="Replay" note={note} error={error}>
      {isThere ? (
        <>
          <div class="row wrap">
            {hasCaptures && (
              <label class="row">
                play
                <select value={capture} onChange={(event) => setCapture(event.currentTarget.value)}>
                  <option value={RANGE}>a range of time</option>
                  {(captures.data?.captures ?? []).map(({ name, bytes }) => (
                    <option key={name} value={name} disabled={bytes === null}>
                      {name} {bytes === null ? '(not there)' : `(${bytesText(bytes)})`}
                    </option>
                  ))}
                </select>
              </label>
            )}
            {capture === RANGE && (
              <>
                <Moment label="from" value={from} onChange={setFrom} />
                <Moment label="to" value={to} onChange={setTo} />
              </>
            )}
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
            <button type="button" class="primary" disabled={isStarting} onClick={() => void start()}>
              {isStarting ? 'Opening…' : 'Play'}
            </button>
            <span class="dim">
              All views show the replay, with a clock of its own. The network is collected as before.
            </span>
          </div>
          <Running />
        </>
      ) : (
        <Empty>Nothing can be replayed: this dashboard retains no reports, and has no history.</Empty>
      )}
    </Panel>
  );
}

interface MomentProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Moment({ label, value, onChange }: MomentProps) {
  return (
    <label class="row">
      {label}
      <input type="datetime-local" step="0.1" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}

const REFRESH_MS = 2000;

/** Replays under way, also those of others. */
function Running() {
  const [ended, setEnded] = useState(0);
  const { data } = useAnswer(`replays ${ended}`, (signal) => client.replays({ signal }), REFRESH_MS);
  const all = data?.replays ?? [];
  if (all.length === 0) return null;
  const end = async (id: string): Promise<void> => {
    await client.endReplay(id).catch(() => {});
    if (replay.value === id) go({ replay: null, at: null });
    setEnded((count) => count + 1);
  };
  return (
    <table class="replays">
      <tbody>
        {all.map((each) => (
          <tr key={each.id}>
            <td>{nameOfReplay(each)}</td>
            <td class="num">
              {each.isOver ? 'played' : `at ${clockText(each.at ?? each.from)}`}, {each.speed}×
            </td>
            <td class="warn">{each.failure}</td>
            <td class="dim">{leftOutText(each)}</td>
            <td class="num">
              {replay.value === each.id ? (
                'shown'
              ) : (
                <button type="button" class="link" onClick={() => go({ replay: each.id, view: 'now', at: null })}>
                  show
                </button>
              )}{' '}
              <button type="button" class="link" onClick={() => void end(each.id)}>
                end
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const nameOfReplay = ({ capture, source, from, to }: ReplayAnswer): string =>
  capture ?? `${clockText(from, 0)} to ${clockText(to, 0)}${source === 'history' ? ', from the history' : ''}`;
