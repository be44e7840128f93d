import type { ChangeRow, ProposalAnswer } from '../../client/index.js';
import { Empty } from '../parts/panel.js';

const SIGNS = { insert: '+', modify: '~', delete: '−' } as const;
const WORDS = { insert: 'added', modify: 'changed', delete: 'removed' } as const;

/** Entries that a proposal adds, changes and removes, switch by switch. */
export function EntryDiff({ diff }: { readonly diff: ProposalAnswer['diff'] }) {
  const { switches, leftOut, problems } = diff;
  return (
    <>
      {problems.length > 0 && (
        <p class="failure" role="note">
          {problems.join('; ')}
        </p>
      )}
      {switches.length === 0 && problems.length === 0 && <Empty>{emptyText(diff.of)}</Empty>}
      {switches.map(({ switchId, name, changes }) => (
        <section key={switchId} class="entries" aria-label={`Entries of ${name}`}>
          <h3>
            {name} <span class="dim">{countsText(changes)}</span>
          </h3>
          <ChangeList changes={changes} />
        </section>
      ))}
      {leftOut > 0 && <p class="notice">{leftOut} more changes are not shown.</p>}
    </>
  );
}

const emptyText = (of: ProposalAnswer['diff']['of']): string =>
  of === 'planned'
    ? 'The switches have all of it already: nothing would change.'
    : 'Nothing was written for it, or the journal no longer remembers what.';

function countsText(changes: readonly ChangeRow[]): string {
  const counted = (['insert', 'modify', 'delete'] as const).flatMap((type) => {
    const count = changes.filter((each) => each.type === type).length;
    return count === 0 ? [] : [`${count} ${WORDS[type]}`];
  });
  return counted.join(', ');
}

export function ChangeList({ changes }: { readonly changes: readonly ChangeRow[] }) {
  return (
    <ul class="changes">
      {changes.map(({ type, before, after, result, message, intents }, index) => (
        <li key={index} class={type} title={intents.length === 0 ? "the network's own" : intents.join(', ')}>
          <span class="sign mono" aria-hidden="true">
            {SIGNS[type]}
          </span>
          <span class="hidden">{WORDS[type]}: </span>
          <span>
            {type === 'modify' ? (
              <>
                <del>
                  <EntityText text={before} />
                </del>
                <ins>
                  <EntityText text={after} />
                </ins>
              </>
            ) : (
              <EntityText text={after ?? before} />
            )}
            {(result === 'refused' || result === 'unknown') && (
              <span class="bad"> {result === 'refused' ? `refused: ${message}` : 'the switch gave no answer'}</span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** `TABLE: MATCH => ACTION`: the action stands out. */
function EntityText({ text }: { readonly text: string | null }) {
  const [, table, match, action] = /^([^:]+): (.*) => (.*)$/s.exec(text ?? '') ?? [];
  if (table === undefined) return <code>{text ?? 'unknown'}</code>;
  return (
    <code>
      <span class="dim">{table}</span> {match} <span class="dim">⇒</span> <b>{action}</b>
    </code>
  );
}
