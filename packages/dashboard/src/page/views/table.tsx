import { useState } from 'preact/hooks';
import type { FlowRow, FlowsAnswer } from '../../client/index.js';
import { Filter, FilterError } from '../../filter/index.js';
import { countText, flowFilter, historyText } from '../format/text.js';
import { Empty, Panel } from '../parts/panel.js';
import { useAnswer } from '../state/answers.js';
import { client, isLive, messageOf, useLive } from '../state/connection.js';
import { useKeys } from '../state/keyboard.js';
import { at, filter, go, keep, kept } from '../state/location.js';
import { useSelection } from '../state/selection.js';
import { type Column, compare, FLOW_COLUMNS, hopColumns, type Row } from '../table/columns.js';
import { csvOf, download, jsonOf } from '../table/export.js';

/** Flows that are asked for, and rows that are drawn. */
const MOST_FLOWS = 200;
const MOST_ROWS = 300;
/** Flows of an export. */
const MOST_EXPORTED = 1000;

/** All parameters per flow and per hop, each second anew. */
export function TableView() {
  const isHops = kept('per') === 'hop';
  const sort = kept('sort') === '' ? '-rate' : kept('sort');
  const { answer, error } = useFlows(serverSort(sort));
  const flows = answer?.rows ?? [];
  const all = isHops ? hopColumns(flows) : FLOW_COLUMNS;
  const hidden = new Set(
    kept('hide')
      .split(',')
      .filter((name) => name !== ''),
  );
  const columns = all.filter(({ name }) => !hidden.has(name));
  const rows = sorted(rowsOf(flows, isHops), all, sort);
  const shown = rows.slice(0, MOST_ROWS);
  const open = (index: number): void => {
    const row = shown[index];
    if (row === undefined) return;
    if (isHops) go({ filter: flowFilter(row.flow) });
    else go({ filter: flowFilter(row.flow), rest: { per: 'hop' } });
  };
  const { row: selected, select } = useSelection(shown.length, isHops ? 'hop' : 'flow', open);
  const [isChoosing, setChoosing] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);

  const order = (name: string): void => keep({ sort: sort === `-${name}` ? name : `-${name}` });
  const moveSort = (by: number): void => {
    const index = columns.findIndex(({ name }) => name === sort.replace(/^-/, ''));
    const next = columns[(index + by + columns.length) % columns.length];
    if (next !== undefined) keep({ sort: `-${next.name}` });
  };
  const save = async (kind: 'csv' | 'json'): Promise<void> => {
    setFailure(null);
    try {
      const whole = await client.flows({
        filter: filter.value,
        sort: serverSort(sort),
        limit: MOST_EXPORTED,
        at: at.value ?? undefined,
      });
      const found = sorted(rowsOf(whole.rows, isHops), all, sort);
      if (kind === 'csv') download(isHops ? 'hops.csv' : 'flows.csv', 'text/csv', csvOf(columns, found));
      else download(isHops ? 'hops.json' : 'flows.json', 'application/json', jsonOf(columns, found));
    } catch (reason) {
      setFailure(messageOf(reason));
    }
  };
  useKeys([
    { key: 'h', text: 'a row per hop, or per flow', run: () => keep({ per: isHops ? '' : 'hop' }) },
    { key: 's', text: 'sort by the next column', run: () => moveSort(1) },
    { key: 'S', text: 'sort by the column before', run: () => moveSort(-1) },
    { key: 'r', text: 'turn the order round', run: () => order(sort.replace(/^-/, '')) },
    { key: 'c', text: 'choose columns', run: () => setChoosing((now) => !now) },
    { key: 'e', text: 'export as CSV', run: () => void save('csv') },
    { key: 'E', text: 'export as JSON', run: () => void save('json') },
  ]);
  const ignored = ignoredOf(filter.value);
  return (
    <div class="split">
      <Panel
        title={isHops ? 'Hops' : 'Flows'}
        note={noteOf(answer, rows.length)}
        isFlush
        error={error ?? failure}
        tools={
          <>
            {ignored.length > 0 && (
              <span class="tag warn">{ignored.join(', ')}: not of flows, decides nothing here</span>
            )}
            <button type="button" aria-pressed={!isHops} onClick={() => keep({ per: '' })}>
              per flow
            </button>
            <button type="button" aria-pressed={isHops} onClick={() => keep({ per: 'hop' })}>
              per hop
            </button>
            <button type="button" aria-expanded={isChoosing} onClick={() => setChoosing((now) => !now)}>
              Columns
            </button>
            <button type="button" onClick={() => void save('csv')}>
              CSV
            </button>
            <button type="button" onClick={() => void save('json')}>
              JSON
            </button>
          </>
        }
      >
        {isChoosing && (
          <fieldset class="row wrap columns" aria-label="Columns">
            {all.map(({ name, title }) => (
              <label key={name} class="row">
                <input
                  type="checkbox"
                  checked={!hidden.has(name)}
                  onChange={() => {
                    if (!hidden.delete(name)) hidden.add(name);
                    keep({ hide: [...hidden].join(',') });
                  }}
                />
                {title === 'port' ? name : title}
              </label>
            ))}
          </fieldset>
        )}
        {shown.length === 0 ? (
          <Empty>
            {answer?.empty ?? (at.value === null ? 'Waiting for the first flows.' : 'Looking for the flows…')}
          </Empty>
        ) : (
          <table class="list flows">
            <thead>
              <tr>
                {columns.map(({ name, title, isNumber }) => (
                  <th key={name} class={isNumber ? 'num' : ''} aria-sort={ariaSort(name, sort)}>
                    <button type="button" onClick={() => order(name)}>
                      {title}
                      {sort === name ? ' ↑' : sort === `-${name}` ? ' ↓' : ''}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((row, index) => (
                <tr
                  key={row.id}
                  data-row
                  aria-selected={index === selected}
                  onClick={() => select(index)}
                  onDblClick={() => open(index)}
                >
                  {columns.map((column) => (
                    <td key={column.name} class={cellClass(column, row)}>
                      {column.text(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {rows.length > MOST_ROWS && (
          <p class="empty">{countText(rows.length - MOST_ROWS)} more rows: filter, or export them.</p>
        )}
      </Panel>
    </div>
  );
}

function noteOf(answer: FlowsAnswer | null, rows: number): string {
  if (answer === null) return '';
  const beyond = answer.untracked > 0 ? `; ${countText(answer.untracked)} reports of flows beyond the table` : '';
  return `${countText(rows)} rows of ${countText(answer.matched)} flows${beyond}${historyText(answer)}`;
}

const ariaSort = (name: string, sort: string): 'ascending' | 'descending' | undefined =>
  sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;

function cellClass({ name, isNumber }: Column, { flow }: Row): string {
  const tone = name === 'congested' || (name === 'events' && flow.events > 0) ? ' warn' : '';
  return `${isNumber ? 'num' : name === 'flow' || name === 'path' ? 'cut flow' : ''}${tone}`;
}

/** Live ones come each second; those of another time are asked for. */
function useFlows(sort: string): { readonly answer: FlowsAnswer | null; readonly error: string | null } {
  const [live, setLive] = useState<FlowsAnswer | null>(null);
  const [refusal, setRefusal] = useState<string | null>(null);
  useLive(isLive.value ? { type: 'flows', filter: filter.value, sort, limit: MOST_FLOWS } : null, (message) => {
    if (message.type === 'flows') {
      setLive(message.data);
      setRefusal(null);
    } else if (message.type === 'refused') setRefusal(message.message);
  });
  const stopped = at.value;
  const asked = useAnswer(
    `${stopped} ${filter.value} ${sort}`,
    stopped === null
      ? null
      : (signal) => client.flows({ filter: filter.value, sort, limit: MOST_FLOWS, at: stopped }, { signal }),
  );
  return stopped === null ? { answer: live, error: refusal } : { answer: asked.data, error: asked.error };
}

/** The order in which the server chooses the flows; of a column that it does not know, the busiest. */
function serverSort(sort: string): string {
  const column = FLOW_COLUMNS.find(({ name }) => name === sort.replace(/^-/, ''));
  return column?.sort === undefined ? '-reportsPerSecond' : `${sort.startsWith('-') ? '-' : ''}${column.sort}`;
}

function rowsOf(flows: readonly FlowRow[], isHops: boolean): Row[] {
  if (!isHops) return flows.map((flow) => ({ id: flow.id, flow, hop: null, position: null }));
  return flows.flatMap((flow) =>
    flow.hops.map((hop, position) => ({ id: `${flow.id} ${position}`, flow, hop, position })),
  );
}

function sorted(rows: Row[], columns: readonly Column[], sort: string): Row[] {
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ''));
  if (column === undefined) return rows;
  const sign = sort.startsWith('-') ? -1 : 1;
  // What is missing comes last either way.
  return rows.sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    return x === null || y === null ? compare(x, y) : sign * compare(x, y);
  });
}

function ignoredOf(text: string): readonly string[] {
  try {
    return new Filter(text).ignored('flow');
  } catch (error) {
    if (FilterError.is(error)) return [];
    throw error;
  }
}
