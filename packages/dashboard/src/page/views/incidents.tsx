import { useEffect, useRef } from 'preact/hooks';
import type { IncidentRow, IncidentsAnswer } from '../../client/index.js';
import { clockText, countText, durationText, percentText } from '../format/text.js';
import { chosenBy } from '../incidents/chosen.js';
import { IncidentDetail } from '../incidents/detail.js';
import { Hosts } from '../incidents/hosts.js';
import { inOrder } from '../incidents/severity.js';
import { SeverityTag } from '../incidents/severity-tag.js';
import { Pager, rangeText } from '../parts/pager.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client } from '../state/connection.js';
import { controlAbsence, useControl } from '../state/control.js';
import { useKeys } from '../state/keyboard.js';
import { addressOf, at, filter, go, item, keep, kept } from '../state/location.js';
import { besideOf, PAGE, usePaging } from '../state/pages.js';
import { isNarrow, useSelectionOf } from '../state/selection.js';

/** What the knowledge plane has found, with its arithmetic. */
export function IncidentsView() {
  const { data: control, error } = useControl();
  const absence = controlAbsence();
  if (absence !== null) return <Empty>{absence}</Empty>;
  if (control === null) return <Empty>{error ?? 'Asking for incidents…'}</Empty>;
  return <Known revision={control.revision} nowMs={control.nowMs} failure={error} />;
}

interface KnownProps {
  readonly revision: number;
  readonly nowMs: number;
  readonly failure: string | null;
}

function Known({ revision, nowMs, failure }: KnownProps) {
  const opened = item.value;
  const withHosts = kept('hosts') !== 'no';
  const shown = useRef<HTMLDivElement>(null);
  const stopped = at.value;
  const { place, beside } = besideOf('page');
  const asked = useAnswer(`incidents ${revision} ${place} ${stopped}`, (signal) =>
    client.incidents({ limit: PAGE, ...beside, ...(stopped !== null && { at: stopped }) }, { signal }),
  );
  const hosts = useAnswer(`hosts ${revision}`, (signal) => client.hosts({}, { signal }));
  // In one column it stands above the list.
  useEffect(() => {
    if (opened !== null && isNarrow()) shown.current?.scrollIntoView();
  }, [opened]);
  const listed = asked.data?.rows.find(({ id }) => id === opened) ?? null;
  useKeys([
    { key: 'u', text: 'hosts: show or hide', run: () => keep({ hosts: withHosts ? 'no' : '' }) },
    {
      key: 'T',
      text: 'show the time of the incident everywhere',
      run: () => listed !== null && go({ at: listed.from }),
    },
  ]);
  return (
    <div class={opened === null ? 'split events' : 'split events opened'}>
      <div class="side lists">
        {withHosts && <Hosts answer={hosts.data} error={hosts.error} />}
        <List answer={asked.data} error={failure ?? asked.error} opened={opened} nowMs={nowMs} />
      </div>
      {opened !== null && (
        <div class="side" ref={shown}>
          <IncidentDetail key={opened} id={opened} listed={listed} hosts={hosts.data} revision={revision} />
        </div>
      )}
    </div>
  );
}

interface ListProps {
  /** A page of them. */
  readonly answer: IncidentsAnswer | null;
  readonly error: string | null;
  readonly opened: string | null;
  readonly nowMs: number;
}

function List({ answer, error, opened, nowMs }: ListProps) {
  const stopped = at.value;
  const paging = usePaging('page', answer, 'incidents', ['n', 'o']);
  const range = rangeText(answer);
  const chosen = chosenBy(filter.value);
  const rows = inOrder((answer?.rows ?? []).filter(chosen.passes).flatMap((row) => asOf(row, stopped)));
  const open = (index: number): void => {
    const row = rows[index];
    if (row !== undefined) go({ item: row.id });
  };
  const { row: selected, select } = useSelectionOf(
    rows.map(({ id }) => id),
    'incident',
    open,
  );
  const isWide = opened === null;
  const count = rows.filter(({ state }) => state === 'open').length;
  return (
    <Panel
      title="Incidents"
      note={`${range === '' ? '' : `${range}: `}${countText(count)} open, ${countText(rows.length - count)} closed${stopped === null ? '' : ' at this time'}`}
      isFlush
      error={error}
      tools={
        <>
          {chosen.ignored.length > 0 && (
            <span class="tag warn">{chosen.ignored.join(', ')}: not of incidents, decides nothing here</span>
          )}
          <Pager paging={paging} what="incidents" />
        </>
      }
    >
      {rows.length === 0 ? (
        <Empty>{emptyText(answer, stopped)}</Empty>
      ) : (
        <table class="list">
          <thead>
            <tr>
              <th>severity</th>
              <th>kind</th>
              <th>where</th>
              <th>since</th>
              {isWide && <th class="num">for</th>}
              <th>state</th>
              {isWide && <th class="num">confidence</th>}
              {isWide && <th>phase</th>}
              {isWide && <th class="num">proposals</th>}
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
                  <SeverityTag row={row} />
                </td>
                <td class="cut rule">
                  <a href={addressOf({ item: row.id })}>{row.kind}</a>
                </td>
                <td class="cut rule where">{row.name}</td>
                <td class="mono">{clockText(row.from, 0)}</td>
                {isWide && <td class="num">{durationText((row.to ?? stopped ?? nowMs) - row.from)}</td>}
                <td>{row.state === 'open' ? <b>open</b> : <span class="dim">closed</span>}</td>
                {isWide && <td class="num">{percentText(row.confidence)}</td>}
                {isWide && <td class="dim">{row.phase ?? '–'}</td>}
                {isWide && <td class="num">{row.proposals.length}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

/** An incident as it was at a time; nothing, if it had not begun. */
function asOf(row: IncidentRow, timeMs: number | null): readonly IncidentRow[] {
  if (timeMs === null) return [row];
  if (row.from > timeMs) return [];
  return [row.to !== null && row.to > timeMs ? { ...row, state: 'open', to: null } : row];
}

function emptyText(answer: IncidentsAnswer | null, stopped: number | null): string {
  if (answer === null) return 'Asking for incidents…';
  if (answer.rows.length > 0) return `No incident passes the filter${stopped === null ? '.' : ' at this time.'}`;
  if (stopped !== null) return 'No incident had begun at this time.';
  return `No incident yet: ${answer.empty ?? 'no detector has found anything'}.`;
}
