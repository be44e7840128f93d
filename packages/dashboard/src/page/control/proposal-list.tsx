import type { ProposalsAnswer } from '../../client/index.js';
import { ENDED_STATES } from '../../protocol/control-words.js';
import { clockText, countText, sentenceOf } from '../format/text.js';
import { Pager, rangeText } from '../parts/pager.js';
import { Empty, Panel } from '../parts/panel.js';
import { addressOf, at, filter, go, keep } from '../state/location.js';
import { usePaging } from '../state/pages.js';
import { useSelectionOf } from '../state/selection.js';
import { StageTrack, stateAt, waitText } from './stages.js';

const ENDED: ReadonlySet<string> = new Set(ENDED_STATES);
const isEnded = (state: string): boolean => ENDED.has(state);

interface ProposalListProps {
  /** A page of them. */
  readonly answer: ProposalsAnswer | null;
  readonly error: string | null;
  /** Those that are asked for; `null`: all. */
  readonly state: 'live' | 'ended' | null;
  readonly opened: string | null;
  /** Whether the filter lets an incident pass, by its id; one that nobody remembers passes. */
  readonly passes: (incident: string) => boolean;
}

/** Proposals with the way that they have gone: those under way first. */
export function ProposalList({ answer, error, state: asked, opened, passes }: ProposalListProps) {
  const stopped = at.value;
  const paging = usePaging('page', answer, 'proposals', ['n', 'o']);
  const known = (answer?.rows ?? []).flatMap((row) => {
    const state = stateAt(row, stopped);
    const isChosen = row.incident === null || passes(row.incident);
    return state === null || !isChosen ? [] : [{ row, state }];
  });
  const rows = [...known.filter(({ state }) => !isEnded(state)), ...known.filter(({ state }) => isEnded(state))];
  const open = (index: number): void => {
    const shown = rows[index];
    if (shown !== undefined) go({ item: shown.row.id });
  };
  const { row: selected, select } = useSelectionOf(
    rows.map(({ row }) => row.id),
    'proposal',
    open,
  );
  const live = known.filter(({ state }) => !isEnded(state)).length;
  const range = rangeText(answer);
  return (
    <Panel
      title="Proposals"
      note={`${range === '' ? '' : `${range}: `}${countText(live)} under way, ${countText(known.length - live)} ended${stopped === null ? '' : ' at this time'}`}
      isFlush
      error={error}
      tools={
        <>
          {filter.value !== '' && <span class="tag">those without an incident pass the filter</span>}
          {stopped === null && (
            <select
              aria-label="Which proposals"
              value={asked ?? ''}
              onChange={(event) => keep({ state: event.currentTarget.value, page: '' }, false)}
            >
              <option value="">all</option>
              <option value="live">under way</option>
              <option value="ended">ended</option>
            </select>
          )}
          <Pager paging={paging} what="proposals" />
        </>
      }
    >
      {rows.length === 0 ? (
        <Empty>
          {answer === null
            ? 'Asking for proposals…'
            : answer.rows.length > 0
              ? 'No proposal answers an incident that passes the filter.'
              : stopped !== null
                ? 'Nothing had been proposed at this time.'
                : `${sentenceOf(answer.empty ?? 'Nothing was proposed yet')} An incident, a failed link or a hot one makes a proposal.`}
        </Empty>
      ) : (
        <table class="list">
          <thead>
            <tr>
              <th>since</th>
              <th>what</th>
              <th title="proposed, approved, installed, verified">way</th>
              <th>state</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ row, state }, index) => {
              const wait = stopped === null ? waitText(row) : null;
              return (
                <tr
                  key={row.id}
                  data-row
                  aria-selected={row.id === opened || index === selected}
                  onClick={() => {
                    select(index);
                    open(index);
                  }}
                >
                  <td class="mono">{clockText(row.stages[0]?.atMs ?? 0, 0)}</td>
                  <td class="cut what">
                    <a href={addressOf({ item: row.id })} title={row.reason}>
                      {row.text}
                    </a>
                  </td>
                  <td>
                    <StageTrack row={row} timeMs={stopped} />
                  </td>
                  <td title={wait ?? row.stages.at(-1)?.reason}>
                    <span class={stateClass(state)}>{state}</span>
                    {wait !== null && row.waitsFor === 'approval' && row.autonomy !== 'observe' && (
                      <span class="tag warn">needs you</span>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function stateClass(state: string): string | undefined {
  if (state === 'refused' || state === 'rolled-back') return 'bad';
  if (state === 'verified') return 'good';
  return isEnded(state) ? 'dim' : undefined;
}
