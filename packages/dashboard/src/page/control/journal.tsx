import type { JournalRow } from '../../client/index.js';
import { clockText, countText } from '../format/text.js';
import { addressOf } from '../state/location.js';
import { ChangeList } from './changes.js';

/** Who did what, when and why; of what was written to a switch also what was there before and is after. */
export function JournalList({ rows }: { readonly rows: readonly JournalRow[] }) {
  return (
    <table class="journal">
      <thead>
        <tr>
          <th>time</th>
          <th>what, by whom</th>
          <th>why</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, atMs, what, by, reason, proposal, switchName, changes, leftOut }) => (
          <tr key={id}>
            <td class="mono">{clockText(atMs)}</td>
            <td>
              <b>{what}</b>
              {switchName !== null && <span class="dim"> to {switchName}</span>}
              <div class="cut by dim" title={by}>
                by {by}
              </div>
            </td>
            <td class="reason">
              {proposal !== null && (
                <>
                  <a href={addressOf({ view: 'control', item: proposal })}>{proposal}</a>{' '}
                </>
              )}
              {reason}
              {changes.length > 0 && (
                <details>
                  <summary>before and after: {entriesText(changes.length + leftOut)}</summary>
                  <ChangeList changes={changes} />
                  {leftOut > 0 && <p class="dim">and {countText(leftOut)} more</p>}
                </details>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const entriesText = (count: number): string => (count === 1 ? 'one entry' : `${countText(count)} entries`);
