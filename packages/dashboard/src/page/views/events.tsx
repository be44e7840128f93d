import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { EventRow, EventsAnswer } from '../../client/index.js';
import { BiographyPanel } from '../biography/biography.js';
import { clockText, countText, durationText, flowText, measureText, quoted } from '../format/text.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client, connections, isLive, newest, useLive } from '../state/connection.js';
import { useKeys } from '../state/keyboard.js';
import { addressOf, at, filter, go, item, keep, kept } from '../state/location.js';
import { switchName, unitOfMetric } from '../state/network.js';
import { isNarrow, useSelection } from '../state/selection.js';

/** Rows kept in the page. */
const MOST = 500;
const GROUPS_MS = 2000;
/** Interval at which the list takes what has come. */
const SHOW_MS = 250;

/** Events as they come; one click opens the packet's biography. */
export function EventsView() {
  const opened = item.value;
  const isGrouped = kept('group') !== 'no';
  const shown = useRef<HTMLDivElement>(null);
  // In one column it stands above the list.
  useEffect(() => {
    if (opened !== null && isNarrow()) shown.current?.scrollIntoView();
  }, [opened]);
  useKeys([{ key: 'u', text: 'groups: show or hide', run: () => keep({ group: isGrouped ? 'no' : '' }) }]);
  return (
    <div class={opened === null ? 'split events' : 'split events opened'}>
      <div class="side lists">
        {isGrouped && <Groups />}
        <List opened={opened} />
      </div>
      {opened !== null && (
        <div class="side" ref={shown}>
          <BiographyPanel
            key={opened}
            id={opened.startsWith('report/') ? opened.slice('report/'.length) : opened}
            isReport={opened.startsWith('report/')}
          />
        </div>
      )}
    </div>
  );
}

interface Come {
  readonly rows: readonly EventRow[];
  readonly missed: number;
  readonly count: number;
}

const NOTHING: Come = { rows: [], missed: 0, count: 0 };

/**
 * Newest first: those that were there, and those that come.
 * @param isHeld rows stay where they are, so that they can be pointed at; what comes waits
 */
function useEvents(isHeld: boolean): {
  readonly rows: readonly EventRow[];
  readonly missed: number;
  readonly matched: number;
  readonly waiting: number;
  readonly empty: string | null;
  readonly isHistory: boolean;
  readonly error: string | null;
} {
  const stopped = at.value;
  const text = filter.value;
  const asked = useAnswer(`${stopped} ${connections.value} ${text}`, (signal) =>
    client.events({ filter: text, limit: MOST, to: stopped === null ? undefined : stopped + 1 }, { signal }),
  );
  const [come, setCome] = useState<Come>(NOTHING);
  const [waiting, setWaiting] = useState(0);
  const latest = useRef<Come>(NOTHING);
  useEffect(() => {
    latest.current = NOTHING;
    setCome(NOTHING);
    setWaiting(0);
  }, [stopped, connections.value, text]);
  useLive(isLive.value ? { type: 'events', filter: text } : null, (message) => {
    if (message.type !== 'events') return;
    const { rows, missed, count } = latest.current;
    latest.current = {
      rows: [...message.rows.toReversed(), ...rows].slice(0, MOST),
      missed: missed + message.missed,
      count: count + message.rows.length,
    };
  });
  useEffect(() => {
    const show = (): void => {
      if (isHeld) setWaiting(latest.current.count - come.count);
      else {
        setCome(latest.current);
        setWaiting(0);
      }
    };
    const timer = setInterval(show, SHOW_MS);
    return () => clearInterval(timer);
  }, [isHeld, come]);
  const older = asked.data;
  const rows = useMemo(() => {
    const known = new Set(come.rows.map(({ id }) => id));
    return [...come.rows, ...(older?.rows ?? []).filter(({ id }) => !known.has(id))]
      .sort((a, b) => b.timeMs - a.timeMs)
      .slice(0, MOST);
  }, [come, older]);
  return {
    rows,
    missed: come.missed,
    matched: (older?.matched ?? 0) + come.count,
    waiting,
    empty: older?.empty ?? null,
    isHistory: older?.source === 'history',
    error: asked.error,
  };
}

function List({ opened }: { readonly opened: string | null }) {
  const [isHeld, hold] = useState(false);
  const { rows, missed, matched, waiting, empty, isHistory, error } = useEvents(isHeld);
  const open = (index: number): void => {
    const row = rows[index];
    if (row !== undefined) go({ item: row.id });
  };
  const { row: selected, select } = useSelection(rows.length, 'event', open);
  // The selection stays with its event when others come before it.
  const chosen = useRef<string | null>(null);
  useEffect(() => {
    chosen.current = rows[selected]?.id ?? null;
  }, [selected]);
  useEffect(() => {
    const index = rows.findIndex(({ id }) => id === chosen.current);
    if (index >= 0) select(index);
  }, [rows]);
  // A list that has gone is not left by the pointer.
  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (isEmpty) hold(false);
  }, [isEmpty]);
  const isWide = opened === null;
  return (
    <Panel
      title="Events"
      note={`${countText(matched)}${at.value === null ? '' : ' up to this time'}${isHistory ? ', from the history' : ''}${missed > 0 ? `, ${countText(missed)} more came faster than they can be shown` : ''}${waiting > 0 ? `, ${countText(waiting)} more wait while you point at the list` : ''}`}
      isFlush
      error={error}
    >
      {rows.length === 0 ? (
        <Empty>
          {empty ??
            'No event yet: none of the rules has found anything. The view Rules tells how many reports each has looked at.'}
        </Empty>
      ) : (
        <table class="list" onMouseEnter={() => hold(true)} onMouseLeave={() => hold(false)}>
          <thead>
            <tr>
              <th>time</th>
              <th>rule</th>
              <th>switch</th>
              <th class="num">value</th>
              {isWide && <th>flow</th>}
              {isWide && <th>path</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr
                key={row.id}
                data-row
                aria-selected={row.id === opened || index === selected}
                onClick={() => {
                  select(index);
                  open(index);
                }}
              >
                <td>
                  <a href={addressOf({ item: row.id })} class="mono">
                    {clockText(row.timeMs, 3)}
                  </a>
                </td>
                <td class="cut rule">
                  {row.rule} {row.severity === 'critical' && <span class="tag bad">critical</span>}
                  {row.state !== 'once' && <span class="tag">{row.state}</span>}
                </td>
                <td>{row.switchId === null ? <span class="dim">path</span> : switchName(row.switchId)}</td>
                <td class="num">{foundText(row)}</td>
                {isWide && <td class="cut flow">{flowText(row.record.flow)}</td>}
                {isWide && <td class="cut flow dim">{row.record.path.map(switchName).join(' › ')}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** What was found: the value, and of a change what it was before. */
function foundText({ record, switchId }: EventRow): string {
  const { value, previous, metric, evidence } = record;
  // How long nothing came, in milliseconds.
  if (record.detector === 'absent') return value === null ? '–' : `silent ${durationText(value)}`;
  const shown = value ?? evidence?.[0]?.value ?? null;
  if (shown === null) return '–';
  const unit = unitOfMetric(value === null ? (evidence?.[0]?.metric ?? null) : metric, switchId);
  const text = measureText(shown, unit);
  return previous === null ? text : `${measureText(previous, unit)} → ${text}`;
}

/** How often each rule has found something, and where. */
function Groups() {
  const stopped = at.value;
  const { data, error } = useAnswer<EventsAnswer>(
    `groups ${stopped} ${filter.value}`,
    (signal) =>
      client.events({ filter: filter.value, limit: 1, to: stopped === null ? undefined : stopped + 1 }, { signal }),
    stopped === null ? GROUPS_MS : null,
  );
  const groups = [...(data?.groups ?? [])].sort((a, b) => b.count - a.count);
  const most = groups[0]?.count ?? 1;
  const now = stopped ?? newest.value ?? 0;
  return (
    <Panel title="By rule and switch" note={`${groups.length} groups`} isFlush error={error}>
      {groups.length === 0 ? (
        <Empty>Nothing to group.</Empty>
      ) : (
        <div class="groups">
          <table>
            <tbody>
              {groups.slice(0, 50).map(({ rule, switchId, count, lastMs }) => (
                <tr key={`${rule} ${switchId}`}>
                  <td class="cut rule">
                    <button
                      type="button"
                      class="link"
                      title="filter by this rule and switch"
                      onClick={() =>
                        go({
                          filter: `rule=${quoted(rule)}${switchId === null ? '' : ` switch=${quoted(switchName(switchId))}`}`,
                        })
                      }
                    >
                      {rule}
                    </button>
                  </td>
                  <td>{switchId === null ? <span class="dim">path</span> : switchName(switchId)}</td>
                  <td class="wide">
                    <span class="meter">
                      <i style={{ width: `${Math.max(2, (100 * count) / most)}%` }} />
                    </span>
                  </td>
                  <td class="num">{countText(count)}</td>
                  <td class="num dim">{now - lastMs < 1500 ? 'now' : `last ${clockText(lastMs, 0)}`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
